-- Find the bug: a query's row is scaled on the way there and back, its eps only on the way there.

-- In double, without any scale.
local function spec(inputs)
  local x = {}
  for _, name in ipairs {"q", "S", "z", "dout"} do x[name] = inputs[name]:totable() end
  local C, M, out, dq = inputs.C, inputs.M, {}, {}
  for i = 1, inputs.N do
    local den, f = inputs.eps, {}
    out[i], dq[i] = {}, {}
    for c = 1, C do
      f[c] = math.exp(x.q[i][c])
      den = den + f[c] * x.z[c]
    end
    for m = 1, M do
      out[i][m] = 0
      for c = 1, C do out[i][m] = out[i][m] + f[c] * x.S[c][m] / den end
    end
    for c = 1, C do
      dq[i][c] = 0
      for m = 1, M do
        dq[i][c] = dq[i][c] + x.dout[i][m] * f[c] * (x.S[c][m] - out[i][m] * x.z[c]) / den
      end
    end
  end
  return {out = out, dq = dq}
end

local function drawn(N, C, M, at, eps)
  return function(draw)
    return {q = draw.randn(N, C) + at, S = draw.randn(C, M), z = 1 + draw.rand(C),
      dout = draw.randn(N, M), eps = eps}
  end
end

-- Each query has its largest entry in another place, far above its others.
local function places(draw)
  local inputs = drawn(4, 4, 3, -120, 1e-6)(draw)
  for i = 1, 4 do inputs.q[{i, i}] = -10 - i end
  return inputs
end

-- One key that was written with its feature 1: out = f / (f + eps), and its slope is f eps over
-- the square of that, never more than 1/4.
local function one(draw)
  local inputs = drawn(1, 1, 1, 0, 1e-6)(draw)
  inputs.q, inputs.S, inputs.z = full({1, 1}, -20), ones(1, 1), ones(1)
  inputs.dout = ones(1, 1)
  return inputs
end

return {
  title = "Find the bug: one eps for two denominators", chapter = 8, order = 3, language = "c",
  minutes = 20, points = 10,
  summary = "outputs are right, and for small features the gradient explodes",
  equations = "eqs 2.5, 7.1",
  entry = "read_and_back",
  parameters = {
    "size_t N", "size_t C", "size_t M",
    {"const float *q", "N", "C"}, {"const float *S", "C", "M"}, {"const float *z", "C"},
    {"const float *dout", "N", "M"}, "float eps",
    {"float *out", "N", "M"}, {"float *dq", "N", "C"},
  },
  spec = spec,
  tol = {k = 400, why = "exp of differences of entries near 20, terms that cancel"},
  cases = {
    {name = "ordinary queries", equation = "eq 7.1", points = 1, inputs = drawn(4, 3, 2, 0, 1e-6),
      limit = {heap = 4096}},
    {name = "q = -20, eps = 1e-6: the slope is 0.002053", equation = "eq 2.5", points = 3,
      inputs = one},
    {name = "queries near -13", equation = "eq 2.5", points = 2,
      inputs = drawn(5, 4, 3, -13, 1e-6)},
    {name = "each query has its largest entry elsewhere", equation = "eq 2.5", points = 1,
      inputs = places},
    {name = "eps = 0.5 is not small", equation = "eq 2.5", points = 2,
      inputs = drawn(5, 3, 3, 1, 0.5)},
    {name = "queries near 100, where exp ends in float32", equation = "eq 2.5", points = 1,
      inputs = drawn(3, 4, 2, 100, 1e-6)},
  },
  predict = {
    {
      ask = "out = f / (f + eps) with f = exp(q). For which f is the slope d out / d q the "
        .. "largest, and how large is it?",
      answer = "For f = eps, and it is 1/4. Anything above that is a bug.",
    },
  },
  hints = {
    "With ordinary queries all is well, and outputs are always right. What is different in "
      .. "the two "
      .. "places where the code computes a denominator?",
    "A row that is divided by s = exp(a) has the denominator f.z + eps / s, in the output and "
      .. "in its "
      .. "gradient: they are the same denominator.",
    "Compute eps_i = eps * exp(-a) once, and den once, and use it in both halves.",
  },
  wrong = {
    {name = "unscaled-there", fails = "q = -20, eps = 1e-6: the slope is 0.002053", says = "[",
      because = "eps is now left as it was in both halves",
      change = {{"float den = eps * expf(-a);", "float den = eps;"}}},
    {name = "no-scale", fails = "queries near 100, where exp ends in float32",
      because = "the rows are no longer scaled, so the two denominators agree",
      change = {
        {[[
        float a = q[i * C];
        for (size_t c = 1; c < C; c++) a = fmaxf(a, q[i * C + c]);]], [[
        const float a = 0;]]},
      }},
    {name = "first-entry", fails = "each query has its largest entry elsewhere",
      because = "a query's first entry is taken for its largest",
      change = {{"for (size_t c = 1; c < C; c++) a = fmaxf(a, q[i * C + c]);", ""}}},
    {name = "kept", fails = "ordinary queries", says = "free them",
      because = "the features are never given back",
      change = {{"free(f);", ""}}},
    {name = "no-eps-back", fails = "q = -20, eps = 1e-6: the slope is 0.002053", says = "dq[",
      because = "eps is left out on the way back",
      change = {{"dout[i * M + m] / den;", "dout[i * M + m] / (den - eps * expf(-a));"}}},
  },
}
