-- Eq 9, and the state that came in: every query over its own past, pair by pair.
local function spec(x)
  local q, k, v, before = x.q:totable(), x.k:totable(), x.v:totable(), x.S:totable()
  local out, S = {}, {}
  for m = 1, x.M do out[m] = {} end
  for i = 1, x.N do
    local num = {}
    for row = 1, x.M + 1 do
      num[row] = 0
      for c = 1, x.C do num[row] = num[row] + q[c][i] * before[row][c] end
    end
    for j = 1, i do
      local similarity = 0
      for c = 1, x.C do similarity = similarity + q[c][i] * k[c][j] end
      for row = 1, x.M do num[row] = num[row] + similarity * v[row][j] end
      num[x.M + 1] = num[x.M + 1] + similarity
    end
    for m = 1, x.M do out[m][i] = num[m] / (num[x.M + 1] + x.eps) end
  end
  for row = 1, x.M + 1 do
    S[row] = {}
    for c = 1, x.C do
      local sum = before[row][c]
      for j = 1, x.N do sum = sum + k[c][j] * (row <= x.M and v[row][j] or 1) end
      S[row][c] = sum
    end
  end
  return {S = S, out = out}
end

local function inputs(draw, N, C, M, L, S)
  return {N = N, C = C, M = M, L = L, eps = 0.25, q = draw.rand(C, N) + 0.1,
    k = draw.rand(C, N) + 0.1, v = draw.randn(M, N), S = S or draw.rand(M + 1, C) + 0.1}
end
local tol = {k = 128, why = "sums of up to 128 terms"}

return {
  title = "From the loop to chunks", chapter = 9, order = 1, language = "c", minutes = 45,
  points = 10, summary = "the same causal sums, L tokens at a time, tokens as columns",
  equations = "eqs 9.1 to 9.3",
  entry = "attend",
  parameters = {
    {"size_t N"}, {"size_t C"}, {"size_t M"}, {"size_t L"}, {"const float *q", "C", "N"},
    {"const float *k", "C", "N"}, {"const float *v", "M", "N"}, {"float eps"},
    {"float *S", "M + 1", "C"}, {"float *out", "M", "N"},
  },
  hints = {
    "Which tokens are in S while query i of a chunk is asked? Which of its keys are still "
      .. "missing then?",
    "eq 9.2: what the query gets from the state before the chunk, and pair by pair from "
      .. "the keys of its own chunk up to itself. Numerator and denominator both have two "
      .. "parts.",
    "for each chunk: for each i in it: pairs[j - start] = q_i . k_j for j <= i; den = eps "
      .. "+ q_i . z + sum of pairs; num_m = q_i . S_m + sum of pairs[j] v_mj. After that, for "
      .. "each row and c: a sum over j of the chunk in a local variable, and one store to S.",
  },
  spec = spec,
  cases = {
    {name = "a single chunk", equation = "eq 9.2", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 8, 3, 2, 8, zeros(3, 3)) end},
    {name = "five chunks, the last one short", equation = "eq 9.3", points = 3, tol = tol,
      inputs = function(draw) return inputs(draw, 18, 4, 3, 4, zeros(4, 4)) end},
    {name = "from a state on", equation = "eq 9.1", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 21, 3, 5, 7) end},
    {name = "the state is stored once a chunk", equation = "eq 9.3", points = 3, tol = tol,
      inputs = function(draw) return inputs(draw, 128, 16, 16, 16) end,
      limit = {stores = function(x) return x.N * x.C * (x.M + 1) // 3 end}},
    {name = "twice the tokens, twice the work", equation = "eq 9.3", points = 2, tol = tol,
      inputs = function(draw, scale) return inputs(draw, 64 * scale, 4, 4, 8) end,
      limit = {growth = 2.1}},
  },
  wrong = {
    {name = "no-eps", fails = "a single chunk", because = "eps is missing",
      change = {{"den = eps;", "den = 0;"}}},
    {name = "one-chunk", fails = "twice the tokens, twice the work", says = "times the work",
      because = "the sequence is one chunk: right, and quadratic",
      change = {
        {"start += L) {", "start = N) {"},
        {"const size_t end = N - start < L ? N : start + L;", "const size_t end = N;"},
        {"float pairs[MOST], den = eps;", "float pairs[128], den = eps;"},
      }},
    {name = "state-first", fails = "a single chunk",
      because = "the chunk is added to the state before its queries ask: pairs count twice",
      change = {
        {[[
        for (size_t row = 0; row <= M; row++)
            for (size_t c = 0; c < C; c++) {
                float sum = 0;
                for (size_t j = start; j < end; j++)
                    sum += k[c * N + j] * (row < M ? v[row * N + j] : 1);
                S[row * C + c] += sum;
            }]], ""},
        {[[
        const size_t end = N - start < L ? N : start + L;]], [[
        const size_t end = N - start < L ? N : start + L;
        for (size_t row = 0; row <= M; row++)
            for (size_t c = 0; c < C; c++) {
                float sum = 0;
                for (size_t j = start; j < end; j++)
                    sum += k[c * N + j] * (row < M ? v[row * N + j] : 1);
                S[row * C + c] += sum;
            }]]},
      }},
    {name = "past-the-end", fails = "five chunks, the last one short",
      because = "the last chunk is taken to have L tokens",
      change = {
        {"const size_t end = N - start < L ? N : start + L;", "const size_t end = start + L;"},
      }},
    {file = "wrong/loop.c", fails = "the state is stored once a chunk",
      because = "the loop of chapter 4: right, and it stores the state for each token"},
  },
  paste = {{region = "src/stages/prefix.c:prefix_chunk", file = "paste/prefix_chunk.c"}},
}
