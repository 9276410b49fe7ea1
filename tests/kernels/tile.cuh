/* tile.cuh: what transpose.cu includes. */
const int TILE = 16;
