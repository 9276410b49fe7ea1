-- Eq 9 as it stands: every query sums over its own past.
local function spec(x)
  local q, k, v, out = x.q:totable(), x.k:totable(), x.v:totable(), {}
  for i = 1, x.N do
    local num, den = {}, x.eps
    for j = 1, i do
      local similarity = 0
      for c = 1, x.C do similarity = similarity + q[c][i] * k[c][j] end
      den = den + similarity
      for m = 1, x.M do num[m] = (num[m] or 0) + similarity * v[m][j] end
    end
    for m = 1, x.M do
      out[m] = out[m] or {}
      out[m][i] = num[m] / den
    end
  end
  return {out = out}
end

local function inputs(draw, N, C, M, L)
  return {N = N, C = C, M = M, L = L, eps = 1e-6, q = draw.rand(C, N) + 0.1,
    k = draw.rand(C, N) + 0.1, v = draw.randn(M, N)}
end
local tol = {k = 64, why = "sums of up to 90 positive terms"}

return {
  title = "Find the bug: a sum that forgets", chapter = 4, order = 2, language = "c",
  minutes = 15, points = 6,
  summary = "two pieces are right, the third is not", equations = "eqs 10 to 12",
  entry = "attend",
  parameters = {
    {"size_t N"}, {"size_t C"}, {"size_t M"}, {"size_t L"}, {"const float *q", "C", "N"},
    {"const float *k", "C", "N"}, {"const float *v", "M", "N"}, {"float eps"},
    {"float *out", "M", "N"},
  },
  predict = {
    {ask = "Features of 1, the values 1 to 6, pieces of two tokens. Which output will be the first "
        .. "wrong one, and what will it be?",
      answer = "The fifth. It should be the mean of 1 to 5, which is 3; it is (3 + 4 + 5) / 3 = 4"},
  },
  hints = {
    "Look at the first case: features are 1, so every output is the mean of some values. "
      .. "Of which ones, in the third piece?",
    "eq 10: S_i holds all tokens up to i. Before piece n begins, `total` must be the sum "
      .. "of all pieces before it. What is in it before the third?",
    "What happens to the old content of `total` at the end of a piece? It should become "
      .. "total[c][m] + part[c][m], for all c < C and all m <= M.",
  },
  spec = spec,
  cases = {
    {name = "features of 1 give running means", equation = "eq 12", points = 2, tol = tol,
      inputs = function()
        return {N = 6, C = 2, M = 2, L = 2, eps = 0, q = ones(2, 6), k = ones(2, 6),
          v = tensor {{1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}}}
      end},
    {name = "eight pieces, the last one short", equation = "eq 12", points = 2, tol = tol,
      inputs = function(draw) return inputs(draw, 30, 5, 3, 4) end},
    {name = "pieces of one token", equation = "eqs 10 and 11", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 9, 3, 7, 1) end},
    {name = "sums that fill their array", equation = "eqs 10 and 11", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 11, 8, 7, 3) end},
  },
  wrong = {
    {name = "above-only", fails = "pieces of one token",
      because = "z of the pieces before, column M, is copied and not added",
      change = {
        {"m <= M; m++) total[c][m] += part", "m < M; m++) total[c][m] += part"},
        {[[
        for (size_t c = 0; c < C; c++)
            for (size_t m = 0; m < M; m++) total[c][m] += part[c][m];]], [[
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) total[c][m] += part[c][m];
            total[c][M] = part[c][M];
        }]]},
      }},
    {name = "twice", fails = "features of 1 give running means",
      because = "part is not cleared between pieces, so earlier tokens count twice",
      change = {
        {"float part[ROWS][COLUMNS] = {0};", ""},
        {"float total[ROWS][COLUMNS] = {0};",
         "float total[ROWS][COLUMNS] = {0}, part[ROWS][COLUMNS] = {0};"},
      }},
  },
  paste = {{region = "src/stages/prefix.c:prefix_naive", file = "paste/prefix_naive.c"}},
}
