-- The delta rule with long keys, a strength for each token, and the state transposed.

-- Entry by entry: what is found along the key is replaced by a share of what is written.
local function spec(inputs)
  local k, v, beta = inputs.k:totable(), inputs.v:totable(), inputs.beta:totable()
  local S, found = {}, {}
  for m = 1, inputs.M do
    S[m] = {}
    for c = 1, inputs.C do S[m][c] = 0 end
  end
  for i = 1, #k do
    local length = 0
    for c = 1, inputs.C do length = length + k[i][c] ^ 2 end
    length = math.sqrt(length)
    found[i] = {}
    for m = 1, inputs.M do
      found[i][m] = 0
      for c = 1, inputs.C do
        if length > 0 then found[i][m] = found[i][m] + S[m][c] * k[i][c] / length end
      end
    end
    for m = 1, inputs.M do
      for c = 1, inputs.C do
        local add = beta[i] * (v[i][m] - found[i][m])
        if length > 0 then S[m][c] = S[m][c] + add * k[i][c] / length end
      end
    end
  end
  return {S = S, found = found}
end

local function given(k, v, beta)
  return function()
    local function t(x) return tensor(x, {dtype = "float64"}) end
    return {k = t(k), v = t(v), beta = t(beta), C = #k[1], M = #v[1]}
  end
end

local function drawn(N, C, M, strength)
  return function(draw)
    return {k = draw.double.randn(N, C) * 3, v = draw.double.randn(N, M),
      beta = strength and full({N}, strength, {dtype = "float64"}) or draw.double.rand(N),
      C = C, M = M}
  end
end

return {
  title = "Writing over", chapter = 6, order = 2, language = "lua", minutes = 25, points = 10,
  summary = "a state that replaces what a key holds instead of adding to it: the delta rule",
  equations = "eq 6.4",
  entry = "write_over",
  parameters = {"k", "v", "beta"},
  results = {"S", "found"},
  without = {"prefix", "rnn", "assoc", "sim", "kv"},
  spec = spec,
  tol = {k = 256, why = "15 writes in double, each of which takes over the errors before it"},
  cases = {
    {name = "one key: its value can be read", equation = "eq 6.4", points = 1,
      inputs = given({{1, 0}}, {{3, 4}}, {1})},
    {name = "the second value replaces the first", equation = "eq 6.4", points = 2,
      inputs = given({{1, 0}, {1, 0}}, {{8}, {2}}, {1, 1})},
    {name = "a longer key in the same direction is the same key", equation = "eq 6.4", points = 2,
      inputs = given({{3, 4}, {6, 8}}, {{8}, {2}}, {1, 1})},
    {name = "random keys, strength 1", equation = "eq 6.4", points = 2,
      inputs = drawn(12, 5, 3, 1)},
    {name = "each token has its strength", equation = "eq 6.4", points = 2,
      inputs = drawn(15, 4, 6)},
    {name = "a key of zeros writes nothing and finds nothing", equation = "eq 6.4", points = 1,
      inputs = given({{1, 0}, {0, 0}, {0, 1}}, {{8}, {2}, {4}}, {1, 1, 1})},
  },
  predict = {
    {
      ask = "In a plain sum, e_1 is written with 8 and then with 2. What does e_1 read, with the "
        .. "denominator? What with the delta rule?",
      answer = "5, the mean, and 2.",
    },
    {
      ask = "Strength 1/2 instead of 1: e_1 is written with 8 and then with 2. What does it "
        .. "read?",
      answer = "3: first half of 8, then 4 + (2 - 4) / 2.",
    },
  },
  hints = {
    "Read before you write. What has to be added to S so that the same key reads v afterwards?",
    "With the unit vector u = k / |k|: found = S u, then S = S + beta (v - found) u^T. S is "
      .. "[M, C].",
    "for i = 1, N: length = k[i]:norm(); if length > 0 then u = k[i] / length; "
      .. "f = S:mm(u:reshape(C, 1)):reshape(M); found[i] = f; "
      .. "S = S + ((v[i] - f) * beta[i]):reshape(M, 1) * u:reshape(1, C) end",
  },
  wrong = {
    {name = "adds", fails = "the second value replaces the first", says = "S[",
      because = "it adds, as the sums of linear attention do",
      change = {{"((v[i] - found[i])", "(v[i]"}}},
    {name = "long-key", fails = "a longer key in the same direction is the same key", says = "[",
      because = "the key is not divided by its length",
      change = {{"local u = k[i] / length", "local u = k[i]"}}},
    {name = "found-after", fails = "one key: its value can be read", says = "found[",
      because = "found is read after the write",
      change = {
        {[[
      local u = k[i] / length]], [[
      local u = k[i] / length
      local old = S:mm(u:reshape(C, 1)):reshape(M)
      S = S + ((v[i] - old) * beta[i]):reshape(M, 1) * u:reshape(1, C)]]},
        {"S = S + ((v[i] - found[i]) * beta[i]):reshape(M, 1) * u:reshape(1, C)", ""},
      }},
    {name = "float32", fails = "random keys, strength 1", says = "S[",
      because = "directions are rounded to float32, and the inputs are float64",
      change = {{"local u = k[i] / length",
        'local u = (k[i] / length):to("float32"):to("float64")'}}},
    {name = "zero-key", fails = "a key of zeros writes nothing and finds nothing",
      because = "0 is divided by 0",
      change = {{"if length > 0 then", "do"}}},
  },
}
