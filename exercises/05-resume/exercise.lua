-- Eq 9: every query over its own past, with no state and no cut; and the sums at the cut.
local function spec(x)
  local q, k, v, out, saved = x.q:totable(), x.k:totable(), x.v:totable(), {}, {}
  for m = 1, x.M do out[m] = {} end
  for i = 1, x.N do
    local num, den = {}, x.eps
    for j = 1, i do
      local similarity = 0
      for c = 1, x.C do similarity = similarity + q[c][i] * k[c][j] end
      den = den + similarity
      for m = 1, x.M do num[m] = (num[m] or 0) + similarity * v[m][j] end
    end
    for m = 1, x.M do out[m][i] = num[m] / den end
  end
  for row = 1, x.M + 1 do
    saved[row] = {}
    for c = 1, x.C do
      local sum = 0
      for j = 1, x.cut do sum = sum + k[c][j] * (row <= x.M and v[row][j] or 1) end
      saved[row][c] = sum
    end
  end
  return {saved = saved, out = out}
end

local function inputs(draw, N, C, M, cut)
  return {N = N, C = C, M = M, cut = cut, eps = 1e-6, q = draw.rand(C, N) + 0.1,
    k = draw.rand(C, N) + 0.1, v = draw.randn(M, N)}
end
local tol = {k = 64, why = "sums of up to 200 terms"}

return {
  title = "Find the bug: half of a state", chapter = 5, order = 6, language = "c", minutes = 10,
  points = 5, summary = "a cell that is saved and started again, and what it forgets",
  equations = "eqs 16 to 20",
  entry = "in_two_parts",
  parameters = {
    {"size_t N"}, {"size_t C"}, {"size_t M"}, {"size_t cut"}, {"const float *q", "C", "N"},
    {"const float *k", "C", "N"}, {"const float *v", "M", "N"}, {"float eps"},
    {"float *saved", "M + 1", "C"}, {"float *out", "M", "N"},
  },
  hints = {
    "In the first case features are 1, so the outputs are means. Of the values 1, 2, 3 "
      .. "and then 4 the mean is 2.5. What quotient gives 10?",
    "eq 20 divides two sums over the same tokens. Which of the two goes on after the cut?",
    "saved has M + 1 rows and restore() reads M of them.",
  },
  spec = spec,
  cases = {
    {name = "the mean of 1, 2, 3 | 4", equation = "eq 19", points = 2, tol = tol,
      inputs = function()
        return {N = 4, C = 1, M = 2, cut = 3, eps = 0, q = ones(1, 4), k = ones(1, 4),
          v = tensor {{1, 2, 3, 4}, {1, 1, 1, 1}}}
      end},
    {name = "a cut in the middle", equation = "eqs 18 to 20", points = 2, tol = tol,
      inputs = function(draw) return inputs(draw, 40, 6, 4, 20) end},
    {name = "a cut after the first token, then a long part", equation = "eqs 18 to 20", points = 1,
      tol = tol, inputs = function(draw) return inputs(draw, 200, 3, 3, 1) end},
  },
  wrong = {
    {name = "z-only", fails = "a cut in the middle",
      because = "now z is restored and s is not",
      change = {
        {[[
    for (size_t m = 0; m < M; m++)
        for (size_t c = 0; c < C; c++) cell.s[c][m] = saved[m * C + c];]], ""},
      }},
    {name = "not-turned", fails = "a cut in the middle",
      because = "the rows of saved are read as rows of s, but they are its columns",
      change = {{"cell.s[c][m] = saved[m * C + c];", "cell.s[c][m] = saved[c * M + m];"}}},
  },
}
