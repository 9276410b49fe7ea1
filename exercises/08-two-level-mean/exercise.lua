-- A weighted mean of very many values in float32; values in rows, one for each column of an
-- output.

local function spec(inputs)
  local w, v, out, den = inputs.w:totable(), inputs.v:totable(), {}, 0
  for i = 1, #w do den = den + w[i] end
  for m = 1, #v do
    local num, row = 0, v[m]
    for i = 1, #w do num = num + w[i] * row[i] end
    out[m] = num / den
  end
  return {out = out}
end

local function drawn(N, M)
  return function(draw)
    return {w = 0.5 + draw.rand(N), v = 1 + draw.rand(M, N)}
  end
end

-- Constant weights, whose roundings all go the same way.
local function constant(N, M)
  return function(draw)
    return {w = full({N}, 1.1), v = draw.rand(M, N)}
  end
end

return {
  title = "A mean of a million", chapter = 8, order = 1, language = "c", minutes = 40, points = 10,
  summary = "sums in two levels, and keeping what the rounding of a total loses",
  equations = "eqs 8.3, 8.4",
  entry = "mean",
  parameters = {
    "size_t N", "size_t M", {"const float *w", "N"}, {"const float *v", "M", "N"},
    {"float *out", "M"},
  },
  spec = spec,
  without = {"double"},
  tol = {k = 8, why = "a dozen roundings"},
  cases = {
    {name = "three values", equation = "eq 3", points = 1, inputs = drawn(3, 2)},
    {name = "200 values in three columns: the last block is not full", equation = "eq 3",
      points = 2, inputs = drawn(200, 3), tol = {k = 16, why = "64 roundings of either sign"}},
    {name = "65,536 values within 2e-5", equation = "eq 8.3", points = 3,
      inputs = constant(65536, 2), tol = {k = 80, why = "64 + N / 64 roundings, eq 8.3"}},
    {name = "a million values within 4e-6", equation = "eq 8.4", points = 4,
      inputs = constant(1048576, 1), tol = {k = 16, why = "64 roundings; totals lose nothing"}},
  },
  predict = {
    {
      ask = "N weights of 1.1 are added to one float. What is the relative error, about, for "
        .. "N = 65,536, and "
        .. "of which sign are the single roundings near the end?",
      answer = "7e-4, and all of one sign: near 65,536 each step adds 141/128 = 1.1016.",
    },
  },
  hints = {
    "The error of a step is proportional to the sum that it is added to. Which sums can be "
      .. "kept small? And "
      .. "what happens to the last digits of a small sum when it is added to a large one?",
    "part += x for 64 values, then sum = total + part. What the rounding lost is (total - "
      .. "(sum - added)) + "
      .. "(part - added) with added = sum - total: begin the next part with it.",
    "struct {float total, part;} for each sum. After 64 values and at the end: s = t + p; a = "
      .. "s - t; p = "
      .. "(t - (s - a)) + (p - a); t = s. In the end num = t + p.",
  },
  wrong = {
    {file = "wrong/running.c", fails = "65,536 values within 2e-5", says = "out[",
      because = "one running sum drifts"},
    {name = "blocks-only", fails = "a million values within 4e-6", says = "out[",
      because = "what rounding cuts off is lost: totals of 16,384 blocks drift as well",
      change = {
        {[[
    const float total = s->total + s->part, added = total - s->total;
    s->part = (s->total - (total - added)) + (s->part - added);
    s->total = total;]], [[
    s->total += s->part;
    s->part = 0;]]},
      }},
    {name = "no-tail", fails = "three values",
      because = "what is in the last part is never added",
      change = {
        {[[
    carry(&s);
    return s.total + s.part;]], [[
    return s.total;]]},
      }},
  },
  paste = {{region = "src/stages/sim.c:weighted_sum", file = "paste/weighted_sum.c"}},
}
