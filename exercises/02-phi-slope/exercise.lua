-- phi-slope: a feature map with a width of its own in each column, and its slope.

local function maps(inputs)
  local x, a, out = inputs.x:totable(), inputs.a:totable(), {}
  for i = 1, #x do
    out[i] = {}
    for c, value in ipairs(x[i]) do
      if value > 0 then
        out[i][c] = {value + a[c], 1}
      else
        out[i][c] = {a[c] * math.exp(value / a[c]), math.exp(value / a[c])}
      end
    end
  end
  return {out = out}
end

local function widths(draw, D) return draw.rand(D) + 2 end

-- Entries x with x / a between low and high.
local function between(low, high)
  return function(draw)
    local a = widths(draw, 5)
    return {x = (draw.rand(6, 5) * (high - low) + low) * a, a = a}
  end
end

local tol = {k = 64, why = "x / a is rounded, and exp multiplies the error by |x / a| <= 30"}

return {
  title = "A feature map and its slope",
  chapter = 2,
  order = 1,
  language = "c",
  minutes = 15,
  points = 10,
  summary = "elu + 1 with a width for each column; small features must survive",
  equations = "eq 7",
  entry = "phi_and_slope",
  parameters = {
    {"size_t N"}, {"size_t D"}, {"const float *x", "N", "D"}, {"const float *a", "D"},
    {"float *out", "N", "D", "2"},
  },
  hints = {
    "Two pieces. Decide which one holds before you compute anything: the other one may overflow.",
    "For x <= 0 the value is a exp(x / a). Its derivative by x has the factor 1 / a from inside.",
    "const float e = expf(x / a); out = x > 0 ? {x + a, 1} : {a * e, e}, where expf is only "
      .. "called for x <= 0.",
  },
  spec = maps,
  cases = {
    {
      name = "on both sides of 0", equation = "eq 7", points = 2, tol = tol,
      inputs = between(-4, 4),
    },
    {
      name = "at 0 the value is a and the slope is 1, from either side", equation = "eq 7",
      points = 2, tol = {k = 0, why = "both are exact"},
      inputs = function(draw)
        return {x = tensor {{0, -0.0, 0}, {1e-45, -1e-45, 0}}, a = widths(draw, 3)}
      end,
    },
    {
      name = "small features survive", equation = "eq 7", points = 4, tol = tol,
      inputs = between(-21, -20),
    },
    {
      name = "large entries give large features, no NaN", equation = "eq 7", points = 2, tol = tol,
      inputs = between(1000, 1e30),
    },
  },
  wrong = {
    {name = "sum", fails = "small features survive", says = "is 0,",
      because = "elu comes first: exp(x / a) - 1 + 1 has lost nearly all digits of exp(x / a)",
      change = {
        {[[
            *slope = expf(x[e] / width);
            *value = width * *slope;]], [[
            const float elu = width * (expf(x[e] / width) - 1);
            *value = elu + width;
            *slope = *value / width;]]},
      }},
    {name = "inside", fails = "on both sides of 0",
      because = "the factor 1 / a of the inner function is missing from the slope",
      change = {{"*value = width * *slope;", "*value = *slope = width * *slope;"}}},
    {name = "blend", fails = "large entries give large features, no NaN", says = "nan",
      because = "both pieces are blended: the other one is infinite, and infinity times 0 is NaN",
      change = {
        {[[
        if (x[e] > 0) {
            *value = x[e] + width;
            *slope = 1;
        } else {
            *slope = expf(x[e] / width);
            *value = width * *slope;
        }]], [[
        const float right = x[e] > 0, left = 1 - right;
        *value = right * (x[e] + width) + left * width * expf(x[e] / width);
        *slope = right + left * expf(x[e] / width);]]},
      }},
  },
  paste = {{region = "src/stages/phi.c:elu1", file = "paste/elu1.c"}},
}
