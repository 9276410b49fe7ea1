-- How many pairs a state holds: features in columns, codes of different lengths, the nearest in
-- distance.

local function dot(x, y)
  local sum = 0
  for c = 1, #x do sum = sum + x[c] * y[c] end
  return sum
end

local function column(rows, j)
  local x = {}
  for c = 1, #rows do x[c] = rows[c][j] end
  return x
end

-- The weighted average of the values for a query that is key j.
local function read_key(f, codes, names, j)
  local query, den, num = column(f, j), 0, {}
  for m = 1, #codes[1] do num[m] = 0 end
  for l = 1, #names do
    local weight = dot(query, column(f, l))
    den = den + weight
    for m = 1, #num do num[m] = num[m] + weight * codes[names[l]][m] end
  end
  for m = 1, #num do num[m] = den == 0 and 0 or num[m] / den end
  return num
end

local function nearest(x, codes)
  local best, least = 0, math.huge
  for r, code in ipairs(codes) do
    local distance = 0
    for m = 1, #x do distance = distance + (x[m] - code[m]) ^ 2 end
    if distance < least then best, least = r, distance end
  end
  return best
end

local function spec(inputs)
  local f, codes, names = inputs.f:totable(), inputs.codes:totable(), inputs.names:totable()
  local answers, right = {}, 0
  for j = 1, #names do
    answers[j] = nearest(read_key(f, codes, names, j), codes)
    if answers[j] == names[j] then right = right + 1 end
  end
  return {answers = answers, right = right}
end

-- N normal keys of width D through a feature map, and codes of lengths from 1 to 3.
local function drawn(map, N, D)
  return function(draw)
    local codes = draw.double.randn(40, 12)
    codes = codes / codes:norm(2, {keepdim = true}) * (1 + 2 * draw.double.rand(40, 1))
    return {f = map(draw.double.randn(N, D)):t():contiguous(), codes = codes,
      names = tensor(draw.permutation(40))[{{1, N}}]}
  end
end

local function small(f, codes, names)
  return function()
    local function t(x) return tensor(x, {dtype = "float64"}) end
    return {f = t(f), codes = t(codes), names = tensor(names)}
  end
end

local function square(x) return phi.poly2(x) end

return {
  title = "How many pairs a state holds", chapter = 6, order = 1, language = "lua", minutes = 30,
  points = 10,
  summary = "store pairs in S and z, read every key, count what comes back",
  equations = "eqs 6.1, 6.2",
  entry = "pairs_held",
  parameters = {"f", "codes", "names"},
  results = {"right", "answers"},
  without = {"sim", "assoc", "prefix", "rnn", "kv"},
  spec = spec,
  tol = {k = 64, why = "the results are whole numbers"},
  cases = {
    {name = "orthogonal features lose nothing, small as they are", equation = "eq 6.1", points = 1,
      inputs = small({{1e-3, 0, 0}, {0, 2e-4, 0}, {0, 0, 3e-5}}, {{8}, {4}, {2}, {1}}, {4, 1, 3})},
    {name = "elu + 1 of one-hot keys reads the mean", equation = "eq 6.1", points = 2,
      inputs = small({{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}},
        {{8}, {4}, {2}, {1}}, {1, 2, 3, 4})},
    {name = "a key without features reads 0", equation = "eq 6.1", points = 1,
      inputs = small({{1, 0, 0}, {0, 1, 0}}, {{5}, {0.1}, {7}}, {1, 3, 3})},
    {name = "4 pairs through elu + 1", equation = "eq 6.2", points = 2,
      inputs = drawn(phi.elu1, 4, 64)},
    {name = "24 pairs through elu + 1", equation = "eq 6.2", points = 2,
      inputs = drawn(phi.elu1, 24, 64)},
    {name = "24 pairs through products of entries", equation = "eq 6.2", points = 2,
      inputs = drawn(square, 24, 24)},
  },
  predict = {
    {
      ask = "Normal keys with D = 64, elu + 1. How many of 24 pairs come back right, among "
        .. "the codes of the chapter: 24, 12, 3?",
      answer = "About 3: the right key has a weight of 1.46 / 24.46 = 0.06.",
    },
    {
      ask = "The same with D = 640. More, fewer, or as many?",
      answer = "The average weight is the same, for D cancels in eq 6.2; it only varies less. "
        .. "So hardly more.",
    },
  },
  hints = {
    "Two steps: write all pairs into S and z, then read with every key. A feature vector is a "
      .. "column of f, so which of the products in chapter 3 needs a transpose here?",
    "S = f V with V the rows codes[names], z = f 1, the row sums of f. The answers are "
      .. "(f^T S) / (f^T z), row by row. Nearest is the least sum of squares, "
      .. "|x|^2 - 2 x.code + |code|^2, of which |x|^2 is the same for all codes.",
    "V = index(codes, 1, names); out = f:t():mm(f:mm(V)) / f:t():mm(f:sum(2, "
      .. "{keepdim=true})), 0 where "
      .. "the denominator is 0; score = 2 * out:mm(codes:t()) - (codes * codes):sum(2); "
      .. "answers = score:argmax(2).",
  },
  wrong = {
    {name = "eps", fails = "orthogonal features lose nothing, small as they are", says = "answers[",
      because = "eps pulls what a small feature reads to 0",
      change = {{"where(den:eq(0), 0, num / where(den:eq(0), 1, den))", "num / (den + 1e-6)"}}},
    {name = "inner-product", fails = "elu + 1 of one-hot keys reads the mean", says = "[",
      because = "the code with the largest inner product is taken for the nearest",
      change = {{"out:mm(codes:t()) - (codes * codes):sum(2)", "out:mm(codes:t())"}}},
    {name = "no-denominator", fails = "elu + 1 of one-hot keys reads the mean",
      because = "nothing is divided by q.z",
      change = {
        {[[
  local den = f:t():mm(f:sum(2, {keepdim = true}))
  local out = where(den:eq(0), 0, num / where(den:eq(0), 1, den))]], [[
  local out = num]]},
      }},
    {name = "nan", fails = "a key without features reads 0",
      because = "0 is divided by 0, and NaN is near to nothing",
      change = {{"where(den:eq(0), 0, num / where(den:eq(0), 1, den))", "num / den"}}},
  },
}
