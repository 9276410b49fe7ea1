-- warm-up: rows, views and a mask, to get used to tensors.

local function shifted(inputs)
  local rows = inputs.x:totable()
  local out = {}
  for i = 1, #rows do
    out[i] = {}
    for c = 1, #rows[i] do out[i][c] = i > 1 and rows[i - 1][c] or 0 end
  end
  return {out = out, x = inputs.x}
end

local function window(inputs)
  local out = {}
  for i = 1, inputs.N do
    out[i] = {}
    for j = 1, inputs.N do out[i][j] = j <= i and i - j < inputs.width and 1 or 0 end
  end
  return {out = out}
end

return {
  title = "Rows, views and a mask",
  chapter = 0,
  order = 1,
  language = "lua",
  minutes = 5,
  points = 6,
  summary = "move rows down by one; a matrix of 0 and 1 that says who sees whom",
  equations = "eq 1.2",
  hints = {
    "t[{{a, b}}] are the rows a to b. zeros(n, m) makes a new tensor, which you may write into.",
    "Rows 2 to N of the result are rows 1 to N - 1 of x. For the mask, j may be a row of "
      .. "numbers, range(1, N), and i the same as a column, range(1, N):reshape(N, 1).",
    "out[{{2, N}}] = x[{{1, N - 1}}], unless N is 1; and j:le(i) * (i - j):lt(width): a "
      .. "product of 0 and 1 is \"and\".",
  },
  cases = {
    {
      name = "row i of the result is row i - 1 of x, row 1 is zero",
      entry = "shift", parameters = {"x"}, results = {"out", "x"}, points = 2, spec = shifted,
      inputs = function(draw) return {x = draw.randn(5, 3)} end,
    },
    {
      name = "x is as it was, and one row becomes a row of zeros",
      entry = "shift", parameters = {"x"}, results = {"out", "x"}, points = 1, spec = shifted,
      inputs = function(draw) return {x = draw.randn(1, 4)} end,
    },
    {
      name = "token i sees itself and the width - 1 tokens before it",
      entry = "window", parameters = {"N", "width"}, results = {"out"}, points = 2,
      spec = window,
      inputs = function() return {N = 6, width = 3} end,
    },
    {
      name = "a window wider than the sequence is the causal mask",
      entry = "window", parameters = {"N", "width"}, results = {"out"}, points = 1,
      spec = window,
      inputs = function() return {N = 4, width = 9} end,
    },
  },
  wrong = {
    {name = "writes-into-x", fails = "row i of the result is row i - 1 of x, row 1 is zero",
      because = "a view of x is written into, so x changes, row by row",
      change = {
        {[[
  local N, D = x.shape[1], x.shape[2]
  local out = zeros(N, D)
  if N > 1 then out[{{2, N}}] = x[{{1, N - 1}}] end
  return out]], [[
  for i = x.shape[1], 2, -1 do x[i] = x[i - 1] end
  x[1] = 0
  return x]]},
      }},
    {name = "sees-the-future", fails = "token i sees itself and the width - 1 tokens before it",
      because = "the distance is not signed: tokens behind are seen as well",
      change = {{"return j:le(i) * (i - j):lt(width)", "return (i - j):abs():lt(width)"}}},
  },
}
