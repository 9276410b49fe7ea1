-- Find the bug: the gradient of the keys without the denominator's path. Keys count as often as
-- their share says, and values stand in columns.

-- Pair by pair, from out_i = num_i / den_i.
local function spec(inputs)
  local x, dk = {}, {}
  for _, name in ipairs {"q", "k", "v", "share", "dout"} do x[name] = inputs[name]:totable() end
  local N, C, M = inputs.N, inputs.C, inputs.M
  for j = 1, N do
    dk[j] = {}
    for c = 1, C do dk[j][c] = 0 end
  end
  for i = 1, N do
    local den, num, weight = inputs.eps, {}, {}
    for m = 1, M do num[m] = 0 end
    for j = 1, i do
      weight[j] = 0
      for c = 1, C do weight[j] = weight[j] + x.q[i][c] * x.k[j][c] * x.share[j] end
      den = den + weight[j]
      for m = 1, M do num[m] = num[m] + weight[j] * x.v[m][j] end
    end
    for j = 1, i do
      local dweight = 0
      for m = 1, M do dweight = dweight + x.dout[m][i] * (x.v[m][j] - num[m] / den) / den end
      for c = 1, C do dk[j][c] = dk[j][c] + dweight * x.share[j] * x.q[i][c] end
    end
  end
  return {dk = dk}
end

local function drawn(N, C, M, share)
  return function(draw)
    return {q = draw.double.rand(N, C), k = draw.double.rand(N, C),
      v = draw.double.randn(M, N), dout = draw.double.randn(M, N),
      share = share and ones(N, {dtype = "float64"}) or draw.double.rand(N), eps = 1e-6}
  end
end

-- The table of two tokens that shows the fault: without its second path dk would be 0, 1/3.
local function by_hand()
  local function t(x) return tensor(x, {dtype = "float64"}) end
  return {q = t {{1}, {1}}, k = t {{1}, {2}}, v = t {{0, 1}}, dout = t {{1, 1}},
    share = t {1, 1}, eps = 0}
end

-- Values that are all 1: whatever the keys are, every output is 1.
local function constant(draw)
  local inputs = drawn(8, 3, 2, true)(draw)
  inputs.v, inputs.eps = ones(2, 8, {dtype = "float64"}), 0
  return inputs
end

local function all_zero(_, got)
  for i, row in ipairs(got.dk:totable()) do
    for c, x in ipairs(row) do
      if not (math.abs(x) < 1e-12) then
        return false, ("dk[%d, %d] is %g, expected 0"):format(i, c, x)
      end
    end
  end
  return true
end

return {
  title = "Find the bug: the lost normaliser", chapter = 7, order = 3, language = "c",
  minutes = 25, points = 10,
  summary = "outputs are right, the gradient of the keys is not",
  equations = "eqs 14, 7.2",
  entry = "key_gradient",
  parameters = {
    "size_t N", "size_t C", "size_t M",
    {"const double *q", "N", "C"}, {"const double *k", "N", "C"}, {"const double *v", "M", "N"},
    {"const double *share", "N"}, {"const double *dout", "M", "N"}, "double eps",
    {"double *dk", "N", "C"},
  },
  spec = spec,
  tol = {k = 1024, why = "sums of a few dozen terms in double, where terms cancel"},
  cases = {
    {name = "two tokens by hand: -2/9 and 1/9", equation = "eq 7.2", points = 3, inputs = by_hand},
    {name = "equal values: no key has a gradient", equation = "eq 7.2", points = 2,
      inputs = constant, check = all_zero},
    {name = "every key counts once", equation = "eq 7.2", points = 2,
      inputs = drawn(9, 4, 3, true)},
    {name = "a key counts as its share says", equation = "eq 7.2", points = 3,
      inputs = drawn(11, 3, 4)},
  },
  hints = {
    "In the second case all values are 1, so every output is 1 whatever the keys are: their "
      .. "gradient has to be 0. What does the code compute there, and what is missing?",
    "dk_j = share_j (R_j v_j + r_j), where r_j = sum_{i >= j} g_i q_i and g_i = -(G_i . "
      .. "out_i) is the "
      .. "gradient of the denominator of output i.",
    "Keep g[i] = -sum_m G[m][i] out[m] on the way there. On the way back add g[i] * q[i][c] "
      .. "to r[c] where R is "
      .. "added to, and begin the sum for dk[i][c] with r[c].",
  },
  wrong = {
    {name = "wrong-sign", fails = "two tokens by hand: -2/9 and 1/9", says = "dk[",
      because = "g has the wrong sign",
      change = {{"g[i] -= G[m * N + i] * out;", "g[i] += G[m * N + i] * out;"}}},
    {name = "late", fails = "two tokens by hand: -2/9 and 1/9", says = "dk[",
      because = "the token itself is missing in r: it is added after it is read",
      change = {
        {[[
            z[c] += g[i] * q[i * C + c];
            double sum = z[c];]], [[
            double sum = z[c];
            z[c] += g[i] * q[i * C + c];]]},
      }},
    {name = "float", fails = "every key counts once", says = "dk[",
      because = "the sum is a float, and all arguments are double",
      change = {{"double sum = z[c];", "float sum = (float)z[c];"}}},
    {name = "no-share", fails = "a key counts as its share says", says = "dk[",
      because = "r is not multiplied by the share of the key",
      change = {
        {"dk[i * C + c] = share[i] * sum;", "dk[i * C + c] = share[i] * (sum - z[c]) + z[c];"},
      }},
  },
}
