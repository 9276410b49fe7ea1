-- The recurrence in register tiles: loads of memory are counted.

-- Token after token: the state fades, takes the token in, is read.
local function spec(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local S, out = inputs.S:totable(), {}
  for m = 1, inputs.M do out[m] = {} end
  for i = 1, inputs.N do
    for m = 1, inputs.M do out[m][i] = 0 end
    for c = 1, inputs.C do
      for m = 1, inputs.M do
        S[c][m] = inputs.fade * S[c][m] + k[c][i] * v[m][i]
        out[m][i] = out[m][i] + q[c][i] * S[c][m]
      end
    end
  end
  return {S = S, out = out}
end

local function tokens(N, C, M, fade)
  return function(draw)
    return {q = draw.rand(C, N), k = draw.rand(C, N), v = draw.randn(M, N),
      S = draw.randn(C, M), fade = fade}
  end
end

-- The loop of the start loads S, k, v, then S, q, out for each entry of the state: 6 N C M.
local function quarter(i) return 6 * i.N * i.C * i.M // 4 end

-- A CPU has 16 or 32 registers of 4 to 16 floats, 2 KB at most. Two rows or two columns of
-- the state below would fill this: who keeps as many has a memory of his own, and no registers.
local REGISTERS = 2048

return {
  title = "A tile of registers", chapter = 10, order = 2, language = "c", minutes = 75,
  points = 12,
  summary = "the recurrence with a quarter of the loads: each row of the state meets four tokens",
  equations = "eqs 10.1 and 10.2",
  entry = "recur",
  parameters = {
    "size_t N", "size_t C", "size_t M", "float fade", {"const float *q", "C", "N"},
    {"const float *k", "C", "N"}, {"const float *v", "M", "N"}, {"float *S", "C", "M"},
    {"float *out", "M", "N"},
  },
  spec = spec,
  tol = {k = 256, why = "sums of up to 256 products in float32, in another order"},
  cases = {
    {name = "one token", equation = "eq 10.1", points = 1, inputs = tokens(1, 3, 2, 1)},
    {name = "eight tokens and nothing fades", equation = "eq 10.1", points = 1,
      inputs = tokens(8, 4, 8, 1)},
    {name = "a state that fades", equation = "eq 10.1", points = 1,
      inputs = tokens(12, 5, 4, 0.75)},
    {name = "tokens and columns that fill no tile", equation = "eq 10.1", points = 2,
      inputs = tokens(11, 5, 7, 0.9)},
    {name = "a quarter of the loads", equation = "eq 10.2", points = 7,
      inputs = tokens(16, 256, 256, 0.9), limit = {loads = quarter, stack = REGISTERS}},
  },
  hints = {
    "A row of the state needs no other row. What can you do with it before you put it back, " ..
      "and which numbers have to be at hand for that?",
    "For a tile of 4 tokens and 4 columns: 16 values and 16 sums stay in local variables " ..
      "while c runs; each c loads 4 numbers of S, 4 of k and 4 of q, does 32 multiply-adds, " ..
      "stores 4.",
    "for i by 4, m by 4: float values[4][4], sums[4][4] (zeros); for c: float row[4] from " ..
      "S; for t < 4: row[x] = fade * row[x] + k[c N + i + t] * values[t][x]; sums[t][x] += " ..
      "q[..] * row[x]; put row back. Then out. Loops of constant length over local arrays " ..
      "need no memory; what is left over at the ends can go through a plain loop.",
  },
  wrong = {
    {file = "wrong/textbook.c", fails = "a quarter of the loads", says = "floats read",
      because = "the loop of the text: right, with all its loads"},
    {name = "state-in-an-array", fails = "a quarter of the loads", says = "local variables",
      because = "the whole state is copied into a local array, which is memory, not registers",
      change = {
        {[[
    for (size_t i = 0, T; i < N; i += T) {
        T = N - i < 4 ? N - i : 4;
        for (size_t m = 0, V; m < M; m += V) {
            V = M - m < 4 ? M - m : 4;
            tile((int)T, (int)V, N, C, M, i, m, fade, q, k, v, S, out);
        }
    }]], [[
    float copy[256][256];
    for (size_t c = 0; c < C; c++)
        for (size_t m = 0; m < M; m++) copy[c][m] = S[c * M + m];
    for (size_t i = 0; i < N; i++) {
        float sums[256] = {0}, value[256];
        for (size_t m = 0; m < M; m++) value[m] = v[m * N + i];
        for (size_t c = 0; c < C; c++) {
            const float k_i = k[c * N + i], q_i = q[c * N + i];
            for (size_t m = 0; m < M; m++) {
                copy[c][m] = fade * copy[c][m] + k_i * value[m];
                sums[m] += q_i * copy[c][m];
            }
        }
        for (size_t m = 0; m < M; m++) out[m * N + i] = sums[m];
    }
    for (size_t c = 0; c < C; c++)
        for (size_t m = 0; m < M; m++) S[c * M + m] = copy[c][m];]]},
        {"static inline void tile", "__attribute__((unused)) static inline void tile"},
      }},
    {name = "column-in-an-array", fails = "a quarter of the loads", says = "local variables",
      because = "two columns of the state are kept for all tokens, in a long array",
      change = {
        {"float values[4][4], sums[4][4] = {{0}};", "float column[256][2];"},
        {[[
    for (int t = 0; t < T; t++)
        for (int x = 0; x < V; x++) values[t][x] = v[(m + x) * N + i + t];
    for (size_t c = 0; c < C; c++) {
        float row[4];
        for (int x = 0; x < V; x++) row[x] = S[c * M + m + x];
        for (int t = 0; t < T; t++) {
            const float k_t = k[c * N + i + t], q_t = q[c * N + i + t];
            for (int x = 0; x < V; x++) {
                row[x] = fade * row[x] + k_t * values[t][x];
                sums[t][x] += q_t * row[x];
            }
        }
        for (int x = 0; x < V; x++) S[c * M + m + x] = row[x];
    }
    for (int t = 0; t < T; t++)
        for (int x = 0; x < V; x++) out[(m + x) * N + i + t] = sums[t][x];]], [[
    for (size_t c = 0; c < C; c++)
        for (int x = 0; x < V; x++) column[c][x] = S[c * M + m + x];
    for (; i < N; i++) {
        float value[2] = {0}, sum[2] = {0};
        for (int x = 0; x < V; x++) value[x] = v[(m + x) * N + i];
        for (size_t c = 0; c < C; c++) {
            const float k_i = k[c * N + i], q_i = q[c * N + i];
            for (int x = 0; x < V; x++) {
                column[c][x] = fade * column[c][x] + k_i * value[x];
                sum[x] += q_i * column[c][x];
            }
        }
        for (int x = 0; x < V; x++) out[(m + x) * N + i] = sum[x];
    }
    for (size_t c = 0; c < C; c++)
        for (int x = 0; x < V; x++) S[c * M + m + x] = column[c][x];
    (void)T;]]},
        {"for (size_t i = 0, T; i < N; i += T) {\n        T = N - i < 4 ? N - i : 4;",
         "for (size_t i = 0, T = N; i < N; i += T) {"},
        {"V = M - m < 4 ? M - m : 4;", "V = M - m < 2 ? M - m : 2;"},
      }},
    {name = "no-rest", fails = "tokens and columns that fill no tile",
      because = "tokens and columns beyond the last whole tile are left out",
      change = {
        {[[
    for (size_t i = 0, T; i < N; i += T) {
        T = N - i < 4 ? N - i : 4;]], [[
    for (size_t i = 0, T = N < 4 ? 1 : 4; i + T <= N; i += T) {]]},
        {[[
        for (size_t m = 0, V; m < M; m += V) {
            V = M - m < 4 ? M - m : 4;]], [[
        for (size_t m = 0, V = T; m + V <= M; m += V) {]]},
      }},
    {name = "late-read", fails = "eight tokens and nothing fades", says = "out[",
      because = "the row is read when all four tokens are in it: a token sees later ones",
      change = {
        {", q_t = q[c * N + i + t];", ";"},
        {"sums[t][x] += q_t * row[x];", ""},
        {[[
        for (int x = 0; x < V; x++) S[c * M + m + x] = row[x];]], [[
        for (int t = 0; t < T; t++)
            for (int x = 0; x < V; x++) sums[t][x] += q[c * N + i + t] * row[x];
        for (int x = 0; x < V; x++) S[c * M + m + x] = row[x];]]},
      }},
    {name = "fades-once", fails = "a state that fades",
      because = "the row fades when it is loaded, once for four tokens",
      change = {
        {"row[x] = S[c * M + m + x];", "row[x] = fade * S[c * M + m + x];"},
        {"fade * row[x] + k_t", "row[x] + k_t"},
      }},
  },
  paste = {{region = "src/stages/prefix.c:prefix_naive", file = "paste/prefix_naive.c"}},
  predict = {
    {ask = "How many loads of S, k and q does a multiply-add take in a tile of 4 tokens and 4 " ..
      "columns?", answer = "12 loads for 32 multiply-adds: 0.375."},
  },
}
