-- The gradient of one row of a weighted average whose weights may be negative.

local function sign(x)
  return x > 0 and 1 or x < 0 and -1 or 0
end

-- By hand, from out_m = num_m / den with den = sum |s_j| + eps.
local function spec(inputs)
  local s, v, dout = inputs.s:totable(), inputs.v:totable(), inputs.dout:totable()
  local den, num = inputs.eps, {}
  for m = 1, #dout do num[m] = 0 end
  for j = 1, #s do
    den = den + math.abs(s[j])
    for m = 1, #dout do num[m] = num[m] + s[j] * v[j][m] end
  end
  local ds, dv = {}, {}
  for j = 1, #s do
    ds[j], dv[j] = 0, {}
    for m = 1, #dout do
      ds[j] = ds[j] + dout[m] * (v[j][m] / den - num[m] / den ^ 2 * sign(s[j]))
      dv[j][m] = dout[m] * s[j] / den
    end
  end
  return {ds = ds, dv = dv}
end

local function row(s, v, dout, eps)
  return function()
    local function t(x) return tensor(x, {dtype = "float64"}) end
    return {s = t(s), v = t(v), dout = t(dout), eps = eps}
  end
end

local function drawn(N, M, make, eps)
  return function(draw)
    return {s = make(draw.double, N), v = draw.double.randn(N, M),
      dout = draw.double.randn(M), eps = eps}
  end
end

return {
  title = "The denominator's gradient", chapter = 7, order = 1, language = "lua", minutes = 20,
  points = 8,
  summary = "one row of a weighted average, differentiated through numerator and denominator",
  equations = "eq 7.1",
  entry = "row_gradient",
  parameters = {"s", "v", "dout", "eps"},
  results = {"ds", "dv"},
  without = {"sim_grad", "assoc_grad", "prefix_grad", "rnn_grad", "gradcheck"},
  spec = spec,
  tol = {k = 256, why = "sums of a dozen terms in double, some of which cancel"},
  cases = {
    {name = "one key of weight 1: the similarity has no gradient", equation = "eq 7.1", points = 1,
      inputs = row({2}, {{5, 3}}, {1, 1}, 0)},
    {name = "eps takes a share of the weight", equation = "eq 7.1", points = 1,
      inputs = row({2}, {{5, 3}}, {1, 1}, 2)},
    {name = "positive similarities", equation = "eq 7.1", points = 2,
      inputs = drawn(7, 3, function(draw, N) return draw.rand(N) end, 1e-3)},
    {name = "similarities of both signs", equation = "eq 7.1", points = 3,
      inputs = drawn(12, 4, function(draw, N) return draw.randn(N) end, 0.5)},
    {name = "a similarity of 0 has the slope 0 in the denominator", equation = "eq 7.1", points = 1,
      inputs = row({0, 1, -3}, {{1}, {2}, {4}}, {1}, 0)},
  },
  hints = {
    "s_j occurs twice in out: in the numerator with v_j, and in the denominator. Differentiate "
      .. "the quotient for one entry m first, then sum over m with dout_m.",
    "With G = dout / den and g = -(G . out), the gradient of the denominator: ds_j = G . v_j + "
      .. "g d(den)/d(s_j), and den = sum |s_j| + eps.",
    "den = s:abs():sum() + eps; out = s:reshape(1, N):mm(v) / den; G = dout / den; "
      .. "ds = (v * G):sum(2) - (s:gt(0) - s:lt(0)) * (G * out):sum(); "
      .. "dv = s:reshape(N, 1) * G:reshape(1, M).",
  },
  wrong = {
    {name = "numerator-only", fails = "one key of weight 1: the similarity has no gradient",
      says = "ds[",
      because = "the denominator is taken for a constant",
      change = {{"(v * G):sum(2) + g * sign", "(v * G):sum(2)"}}},
    {name = "no-sign", fails = "similarities of both signs", says = "ds[",
      because = "the slope of |s| is taken to be 1 everywhere",
      change = {{"g * sign", "g"}}},
    {name = "float32", fails = "positive similarities", says = "ds[",
      because = "the denominator's gradient is rounded to float32, and the inputs are float64",
      change = {{"local G = dout / den", 'local G = (dout / den):to("float32"):to("float64")'}}},
    {name = "slope-at-zero", fails = "a similarity of 0 has the slope 0 in the denominator",
      says = "ds[1]",
      because = "|s| is given the slope 1 at 0",
      change = {{"local sign = s:gt(0) - s:lt(0)", "local sign = s:ge(0) - s:lt(0)"}}},
  },
}
