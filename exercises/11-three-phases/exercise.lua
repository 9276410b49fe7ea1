-- The three-phase scan: strict causal attention, heads inside of tokens.

local function zeros_of(n)
  local row = {}
  for x = 1, n do row[x] = 0 end
  return row
end

-- One token of one head: its features and its value with a 1 behind it, into a state.
local function add(state, k, v, width)
  for c, x in ipairs(k) do
    for m = 1, width do
      local e = (c - 1) * width + m
      state[e] = state[e] + x * (v[m] or 1)
    end
  end
end

-- What stands before each chunk, and the strict sum over pairs.
local function spec(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local width, states, out = inputs.M + 1, {}, {}
  for n = 1, inputs.P do states[n] = {} end
  for i = 1, inputs.N do out[i] = {} end
  for h = 1, inputs.H do
    local state = zeros_of(inputs.C * width)
    for i = 1, inputs.N do
      if (i - 1) % inputs.L == 0 then
        states[(i - 1) // inputs.L + 1][h] = table.move(state, 1, #state, 1, {})
      end
      add(state, k[i][h], v[i][h], width)
      local den, num = inputs.eps, zeros_of(inputs.M)
      for j = 1, i - 1 do
        local s = 0
        for c = 1, inputs.C do s = s + q[i][h][c] * k[j][h][c] end
        den = den + s
        for m = 1, inputs.M do num[m] = num[m] + s * v[j][h][m] end
      end
      for m = 1, inputs.M do num[m] = num[m] / den end
      out[i][h] = num
    end
  end
  return {states = states, out = out}
end

local function tokens(length, H, C, M, L)
  return function(draw, scale)
    local N = length * scale
    return {N = N, H = H, C = C, M = M, L = L, P = (N + L - 1) // L, E = H * C * (M + 1),
      eps = 1e-3,
      q = draw.rand(N, H, C), k = draw.rand(N, H, C), v = draw.randn(N, H, M)}
  end
end

local sizes = {"N", "H", "C", "M", "L"}
local function with_sizes(...)
  local names = {...}
  return table.move(sizes, 1, #sizes, #names + 1, names)
end

local function launch(inputs)
  local outputs = with_sizes("out", "states", "q", "k", "v")
  outputs[#outputs + 1] = "eps"
  return {
    {kernel = "chunk_sums", grid = {inputs.P, inputs.H}, block = 64,
      arguments = with_sizes("states", "k", "v")},
    {kernel = "prefixes", grid = (inputs.E + 63) // 64, block = 64,
      arguments = {"states", "P", "E"}},
    {kernel = "outputs", grid = {inputs.P, inputs.H}, block = 64, arguments = outputs},
  }
end

return {
  title = "Three phases", chapter = 11, order = 4, language = "cuda", minutes = 120, points = 20,
  capstone = true,
  summary = "causal attention parallel in time: sums of chunks, their prefixes, outputs",
  equations = "eqs 9.1 to 9.3",
  entry = "outputs",
  parameters = {
    {"float *states", "P", "H", "C * (M + 1)"}, {"float *out", "N", "H", "M"},
    {"const float *q", "N", "H", "C"}, {"const float *k", "N", "H", "C"},
    {"const float *v", "N", "H", "M"}, "int N", "int H", "int C", "int M", "int L", "float eps",
    "int P", "int E",
  },
  launch = launch,
  spec = spec,
  tol = {k = 512, why = "sums of up to 70 terms in float32, in another order; the first tokens " ..
    "divide by little"},
  cases = {
    {name = "one chunk, one head", equation = "eq 9.2", points = 3, inputs = tokens(8, 1, 3, 2, 8)},
    {name = "three whole chunks", equation = "eq 9.3", points = 4, inputs = tokens(24, 1, 4, 3, 8)},
    {name = "heads lie inside of tokens", equation = "eq 9.3", points = 3,
      inputs = tokens(16, 3, 4, 5, 8)},
    {name = "a last chunk that is not full", equation = "eq 9.3", points = 4,
      inputs = tokens(37, 2, 5, 6, 16)},
    {name = "more entries than threads", equation = "eq 9.3", points = 3,
      inputs = tokens(70, 2, 9, 10, 32)},
    {name = "twice the tokens, twice the work", equation = "eq 9.1", points = 3,
      inputs = tokens(64, 1, 4, 3, 8), limit = {growth = 2.2}},
  },
  hints = {
    "Write one kernel after the other, and check in between: `states` is compared too. What " ..
      "is one block's work in each phase, and what is one thread's?",
    "Phase 2 turns sums into exclusive prefixes: entry e of all chunks belongs to one " ..
      "thread. Phase 3: num = q_i . E_n + the sum over j < i of the chunk; column M of the " ..
      "state is the denominator's.",
    "outputs: SHARED(float, w, [32][33]); all threads fill w[i][j] = q_i . k_j for j < i, " ..
      "else 0; barrier; then entries (i, m) of the chunk over the threads: den = eps + sum " ..
      "over c of q[c] state[c][M] + sum of w[i][j]; num likewise with state[c][m] and " ..
      "v[j][m].",
  },
  wrong = {
    {name = "inclusive", fails = "one chunk, one head",
      because = "the prefix of a chunk has the chunk in it",
      change = {
        {[[
        states[n * E + e] = before;
        before += sum;]], [[
        before += sum;
        states[n * E + e] = before;]]},
      }},
    {name = "sees-itself", fails = "one chunk, one head", says = "out",
      because = "a token sees itself",
      change = {
        {"for (int c = 0; j < i && c < C; c++)", "for (int c = 0; j <= i && c < C; c++)"},
        {"for (int j = 0; j < i; j++) {", "for (int j = 0; j <= i; j++) {"},
      }},
    {name = "no-barrier", fails = "one chunk, one head", says = "nobody has written",
      because = "weights are used before other threads have written them",
      change = {{"__syncthreads();", ""}}},
    {name = "no-phases", fails = "twice the tokens, twice the work", says = "times the work",
      because = "every chunk sums all tokens before it, and nothing is left to the second phase",
      change = {
        {"const int end = (n + 1) * L < N ? (n + 1) * L : N;", "(void)N;"},
        {"for (int j = n * L; j < end; j++)", "for (int j = 0; j < n * L; j++)"},
        {"        states[n * E + e] = before;\n        before += sum;", "        before += 0 * sum;"},
      }},
    {name = "whole-chunks", fails = "a last chunk that is not full",
      because = "the last chunk is taken to have L tokens",
      change = {
        {"const int end = (n + 1) * L < N ? (n + 1) * L : N;", "const int end = (n + 1) * L;"},
      }},
  },
  paste = {{region = "cuda/chunks.cuh:scan_chunks", file = "paste/scan_chunks.cu"}},
}
