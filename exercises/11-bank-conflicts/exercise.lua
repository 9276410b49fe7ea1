-- A transposition through 32 x 32 words of shared memory, without bank conflicts.

-- out[c][i] = w_i k[i][c].
local function spec(inputs)
  local k, w, out = inputs.k:totable(), inputs.w:totable(), {}
  for c = 1, inputs.C do
    out[c] = {}
    for i = 1, inputs.N do out[c][i] = w[i] * k[i][c] end
  end
  return {out = out}
end

local function keys(N, C)
  return function(draw) return {k = draw.randn(N, C), w = draw.rand(N)} end
end

return {
  title = "Turned without conflicts", chapter = 11, order = 2, language = "cuda", minutes = 40,
  points = 10,
  summary = "features turned in shared memory that has no room for padding",
  equations = "the table of banks",
  entry = "turned",
  -- A block has the dynamic 4096 bytes and no others, by whatever name.
  without = {"SHARED", "__shared__", "__thread", "thread_local", "tarn_emu_shared"},
  parameters = {{"float *out", "C", "N"}, {"const float *k", "N", "C"}, {"const float *w", "N"},
    "int N", "int C"},
  launch = function(inputs)
    return {grid = {(inputs.N + 31) // 32, (inputs.C + 31) // 32}, block = {32, 8}, shared = 4096}
  end,
  spec = spec,
  tol = {k = 4, why = "one product"},
  cases = {
    {name = "one square", equation = "out[c][i] = w_i k[i][c]", points = 1, inputs = keys(32, 32)},
    {name = "squares that stick out", equation = "out[c][i] = w_i k[i][c]", points = 2,
      inputs = keys(45, 70)},
    {name = "no two lanes wait for one bank", equation = "bank = word mod 32", points = 7,
      inputs = keys(64, 96), limit = {shared = 1.0, global = 1.0}},
  },
  predict = {
    {ask = "How many wavefronts does a warp take to read a column of the square as it is?",
      answer = "32: the words of a column are 32 apart, so all of them lie in one bank."},
  },
  hints = {
    "A row has to lie in 32 different banks, and a column too. A row may be stored in " ..
      "another order of its entries.",
    "Entry (row, column) at word 32 row + (column + row) mod 32: which banks has a column now?",
    "static __device__ int place(int row, int column) { return 32 * row + (column + row) % " ..
      "32; } for both the write and the read.",
  },
  wrong = {
    {name = "half-turned", fails = "no two lanes wait for one bank", says = "shared",
      because = "rows are turned by half their number: two lanes meet in each bank",
      change = {
        {"(x + r) % 32]", "(x + r / 2) % 32]"},
        {"(r + x) % 32];", "(r + x / 2) % 32];"},
      }},
    {name = "padded", fails = "one square", says = "shared",
      because = "rows of 33 words, for which there is no room in 32 x 32",
      change = {
        {"s[32 * r + (x + r) % 32]", "s[33 * r + x]"},
        {"s[32 * x + (r + x) % 32];", "s[33 * x + r];"},
      }},
    {name = "straight", fails = "no two lanes wait for one bank", says = "global",
      because = "no shared memory at all: neighbours write far apart",
      change = {
        {[[
            s[32 * r + (x + r) % 32] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (c0 + r < C && i0 + x < N) out[(c0 + r) * N + i0 + x] = s[32 * x + (r + x) % 32];]], [[
            out[(c0 + x) * N + i0 + r] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
    (void)s;]]},
      }},
    {name = "no-barrier", fails = "one square",
      because = "a column is read before other warps have written it",
      change = {{"__syncthreads();", ""}}},
  },
}
