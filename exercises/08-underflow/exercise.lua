-- Full attention with exp for a feature map, on queries and keys that float32 cannot take. Tokens
-- stand in columns.

-- In double, where exp(-350) is an ordinary number.
local function spec(inputs)
  local q, k, v, out = inputs.q:totable(), inputs.k:totable(), inputs.v:totable(), {}
  for i = 1, inputs.Q do
    local den, num = inputs.eps, {}
    for m = 1, inputs.M do num[m] = 0 end
    for j = 1, inputs.N do
      local weight = 0
      for d = 1, inputs.D do weight = weight + math.exp(q[d][i] + k[d][j]) end
      den = den + weight
      for m = 1, inputs.M do num[m] = num[m] + weight * v[j][m] end
    end
    for m = 1, inputs.M do num[m] = num[m] / den end
    out[i] = num
  end
  return {out = out}
end

local function drawn(Q, N, D, M, at_q, at_k, eps)
  return function(draw, scale)
    return {q = draw.randn(D, Q * scale) + at_q, k = draw.randn(D, N * scale) + at_k,
      v = draw.randn(N * scale, M), eps = eps}
  end
end

-- One entry of the keys lies far above the others, the last or the first one: a largest of some is
-- not that of all.
local function last_above(draw)
  local x = drawn(3, 6, 3, 2, -5, -20, 0)(draw, 1)
  x.k[{3, 6}] = 80
  return x
end

local function first_above(draw)
  local x = drawn(3, 5, 3, 2, 90, 60, 0)(draw, 1)
  x.k[{1, 1}] = 190
  return x
end

-- Each query has its largest entry in another place, far above its others.
local function places(draw)
  local x = drawn(4, 6, 3, 2, -100, -20, 0)(draw, 1)
  for i = 1, 4 do x.q[{(i - 1) % 3 + 1, i}] = 70 - 10 * i end
  return x
end

-- The formula gives about 1e-84, which in float32 is 0.
local function all_zero(_, got)
  for i, row in ipairs(got.out:totable()) do
    for m, x in ipairs(row) do
      if not (math.abs(x) < 1e-37) then
        return false, ("out[%d, %d] is %g, expected 0"):format(i, m, x)
      end
    end
  end
  return true
end

return {
  title = "Tame underflow", chapter = 8, order = 2, language = "c", minutes = 40, points = 10,
  summary = "rows that are scaled, with eps, so that exp(-350) divided by exp(-350) is 1",
  equations = "eq 2.5",
  entry = "tame",
  parameters = {
    "size_t Q", "size_t N", "size_t D", "size_t M",
    {"const float *q", "D", "Q"}, {"const float *k", "D", "N"}, {"const float *v", "N", "M"},
    "float eps", {"float *out", "Q", "M"},
  },
  spec = spec,
  tol = {k = 400, why = "differences of entries near 200 in float32, through exp"},
  cases = {
    {name = "ordinary queries and keys", equation = "eq 5", points = 1,
      inputs = drawn(3, 7, 4, 2, 0, 0, 1e-6)},
    {name = "queries near -200, keys near -150, eps = 0", equation = "eq 2.5", points = 2,
      inputs = drawn(4, 6, 3, 3, -200, -150, 0)},
    {name = "queries near 90, keys near 60, the first entry at 190", equation = "eq 2.5",
      points = 1, inputs = first_above},
    {name = "each query has its largest entry elsewhere", equation = "eq 2.5", points = 1,
      inputs = places},
    {name = "the last entry of a key far above the others", equation = "eq 2.5", points = 1,
      inputs = last_above},
    {name = "queries and keys near -10 with eps = 1e-8", equation = "eq 2.5", points = 2,
      inputs = drawn(4, 5, 3, 2, -10, -10, 1e-8)},
    {name = "queries near -200 with eps = 1e-6: eps outweighs all", equation = "eq 2.5", points = 1,
      inputs = drawn(2, 4, 3, 2, -200, -10, 1e-6), check = all_zero},
    {name = "twice the tokens, twice the work", equation = "eq 6", points = 1,
      inputs = drawn(16, 16, 4, 3, 0, 0, 1e-6), limit = {growth = 2.1, heap = 4096}},
  },
  predict = {
    {
      ask = "One key, q = k = -60, v = 3, eps = 0. What is the output? And what does the "
        .. "plain formula give in "
        .. "float32?",
      answer = "3, and 0/0.",
    },
    {
      ask = "The same with eps = 1e-6. What is the output now, exactly?",
      answer = "3 exp(-120) / (exp(-120) + 1e-6), about 2e-46: in float32 that is 0, and 0 is "
        .. "right.",
    },
  },
  hints = {
    "A factor that stands in the numerator and in the denominator cancels. Which factor can a "
      .. "query have of its "
      .. "own, and which one have all keys to share?",
    "exp(q_i - a_i) and exp(k_j - b), with a_i the largest entry of query i and b that of all "
      .. "keys, "
      .. "and eps exp(-a_i - b) for eps. Compute that last one in double.",
    "b = max of k; S[d][m] = sum_j exp(k[d * N + j] - b) v[j * M + m], z[d] likewise; for "
      .. "each i: a = max of "
      .. "q[d * Q + i]; f = expf(q - a); den = f.z + (float)(eps * exp(-(double)a - b)).",
  },
  wrong = {
    {name = "some-keys", fails = "the last entry of a key far above the others",
      because = "the largest of some keys is taken for that of all",
      change = {{"x < D * N", "x < D + N"}}},
    {name = "smallest", fails = "each query has its largest entry elsewhere",
      because = "a query is divided by its smallest feature",
      change = {
        {"float a = -INFINITY;", "float a = INFINITY;"},
        {"a = fmaxf(a, q[d * Q + i]);", "a = fminf(a, q[d * Q + i]);"},
      }},
    {name = "all-but-one", fails = "queries near 90, keys near 60, the first entry at 190",
      because = "the largest of all keys is looked for from the second entry on",
      change = {{"size_t x = 0; x < D * N", "size_t x = 1; x < D * N"}}},
    {name = "first-entry", fails = "each query has its largest entry elsewhere",
      because = "a query's first entry is taken for its largest",
      change = {{"for (size_t d = 0; d < D; d++) a = fmaxf(a, q[d * Q + i]);", "a = q[i];"}}},
    {name = "kept", fails = "twice the tokens, twice the work", says = "free them",
      because = "the state is never given back",
      change = {{"free(S);", ""}}},
    {name = "plain", fails = "queries near -200, keys near -150, eps = 0",
      because = "nothing is scaled",
      change = {
        {"for (size_t x = 0; x < D * N; x++) b = fmaxf(b, k[x]);", "b = 0;"},
        {[[
        float a = -INFINITY;
        for (size_t d = 0; d < D; d++) a = fmaxf(a, q[d * Q + i]);]], [[
        const float a = 0;]]},
      }},
    {name = "queries-only", fails = "queries near -200, keys near -150, eps = 0",
      because = "keys are not scaled",
      change = {{"for (size_t x = 0; x < D * N; x++) b = fmaxf(b, k[x]);", "b = 0;"}}},
    {name = "same-eps", fails = "queries and keys near -10 with eps = 1e-8", says = "out[",
      because = "the rows are scaled and eps is left as it was",
      change = {
        {"float den = (float)((double)eps * exp(-(double)a - (double)b));", "float den = eps;"},
      }},
    {name = "scale-per-key", fails = "ordinary queries and keys", says = "out[",
      because = "each key has a scale of its own, as if it were a query, which does not cancel",
      change = {
        {"for (size_t x = 0; x < D * N; x++) b = fmaxf(b, k[x]);", ""},
        {[[
            const float f = expf(k[d * N + j] - b);]], [[
            b = k[j];
            for (size_t e = 0; e < D; e++) b = fmaxf(b, k[e * N + j]);
            const float f = expf(k[d * N + j] - b);]]},
      }},
  },
  paste = {{region = "src/stages/assoc.c:assoc_naive", file = "paste/assoc_naive.c"}},
}
