-- own-phi: design a feature map: positive, finite, differentiable, sharper than elu + 1.

local function dot(a, b)
  local sum = 0
  for c, value in ipairs(a) do sum = sum + value * b[c] end
  return sum
end

local function is_rows(f, N)
  if type(f) ~= "userdata" then
    return false, ("apply gives %s, expected a tensor of features"):format(type(f))
  end
  if #f.shape ~= 2 or f.shape[1] ~= N then
    return false, ("expected one row of features for each of %d rows"):format(N)
  end
  return true
end

local function by_itself(inputs, got)
  local ok, why = is_rows(got.all, inputs.x.shape[1])
  if not ok then return false, why end
  local all, alone = got.all:totable(), got.alone:totable()
  if dot(all[1], all[1]) == dot(all[2], all[2]) then
    return false, "two different rows have the same features"
  end
  for c, value in ipairs(alone[1]) do
    if not (math.abs(value - all[2][c]) <= 1e-12 * (1 + math.abs(value))) then
      return false, ("feature %d of row 2 is %.9g among others and %.9g alone"):format(
        c, all[2][c], value)
    end
  end
  return true
end

local function positive(inputs, got)
  local ok, why = is_rows(got.all, inputs.x.shape[1])
  if not ok then return false, why end
  local f = got.all:totable()
  for i = 1, #f do
    for j = 1, #f do
      local s = dot(f[i], f[j])
      if not (s > 0) then
        return false, ("phi(x_%d).phi(x_%d) is %.9g, expected a number above 0"):format(i, j, s)
      end
      if s == math.huge then
        return false, ("phi(x_%d).phi(x_%d) is infinite"):format(i, j)
      end
    end
  end
  return true
end

-- The difference of the features on both sides of x along t, seen by d, against dx along t.
local function slopes(inputs, got)
  local ok, why = is_rows(got.plus, inputs.x.shape[1])
  if not ok then return false, why end
  local plus, minus, d = got.plus:totable(), got.minus:totable(), got.d:totable()
  local dx, t = got.dx:totable(), inputs.t:totable()
  for i = 1, #plus do
    local measured = (dot(plus[i], d[i]) - dot(minus[i], d[i])) / (2 * inputs.h)
    local claimed, size = dot(dx[i], t[i]), 0
    for c, value in ipairs(dx[i]) do size = size + math.abs(value * t[i][c]) end
    if not (math.abs(measured - claimed) <= 1e-5 * (1 + size + math.abs(measured))) then
      return false, ("row %d: along t the loss changes by %.9g, grad says %.9g"):format(
        i, measured, claimed)
    end
  end
  return true
end

-- The mean of the largest weights of the queries, which are the keys as well.
local function sharpness(f)
  local sum = 0
  for i = 1, #f do
    local largest, total = 0, 0
    for j = 1, #f do
      local s = dot(f[i], f[j])
      largest, total = math.max(largest, s), total + s
    end
    sum = sum + largest / total
  end
  return sum / #f
end

-- Weights are shares, so they have to be positive here as well.
local function sharper(inputs, got)
  local ok, why = positive(inputs, got)
  if not ok then return false, why end
  local theirs, ours = sharpness(got.all:totable()), sharpness(phi.elu1(inputs.x):totable())
  if theirs >= 2 * ours then return true end
  if theirs ~= theirs then return false, "the similarities of a query add up to 0" end
  return false, ("the largest weight is %.4f on average, with elu + 1 it is %.4f; expected twice "
    .. "as much"):format(theirs, ours)
end

return {
  title = "A feature map of your own",
  chapter = 2,
  order = 3,
  language = "lua",
  minutes = 45,
  points = 12,
  summary = "positive, finite, row by row, with its gradient, and sharper than elu + 1",
  equations = "eq 4",
  hints = {
    "Any function of one number that is positive gives positive features, entry by entry. Grow "
      .. "faster than a straight line to be sharper, but mind entries of 50.",
    "The gradient of a map that works entry by entry is dx = f'(x) dfeatures. If you put several "
      .. "functions of x side by side, C = 2 D, each half of dfeatures has a slope of its own.",
    "Try cat({(x * a):exp(), (x * -a):exp()}, 2) and increase a. Its gradient is a exp(a x) "
      .. "times the left half of dfeatures minus a exp(-a x) times the right half.",
  },
  parameters = {"x"},
  cases = {
    {
      name = "row by row: no row knows of the others",
      equation = "eq 4", points = 2, check = by_itself,
      entry = "rows", results = {"all", "alone"},
      inputs = function(draw)
        local x = draw.double.randn(5, 4)
        x[{1, 1}], x[{3, 2}] = 5, -5 -- the extremes are in other rows than the second
        return {x = x}
      end,
    },
    {
      name = "similarities are above 0", equation = "eq 4", points = 1, check = positive,
      entry = "rows", results = {"all", "alone"},
      inputs = function(draw) return {x = draw.double.randn(20, 4) * 3} end,
    },
    {
      name = "and finite, for entries from -50 to 50",
      equation = "eq 4", points = 1, check = positive,
      entry = "rows", results = {"all", "alone"},
      inputs = function(draw) return {x = draw.double.rand(12, 4) * 100 - 50} end,
    },
    {
      name = "grad is the derivative of apply", points = 4, check = slopes,
      entry = "slopes", parameters = {"x", "t", "h"}, results = {"plus", "minus", "d", "dx"},
      inputs = function(draw)
        return {x = draw.double.randn(6, 4), t = draw.double.randn(6, 4), h = 1e-6}
      end,
    },
    {
      name = "twice as sharp as elu + 1", equation = "eq 4", points = 4, check = sharper,
      entry = "rows", results = {"all", "alone"},
      inputs = function(draw) return {x = draw.double.randn(60, 8)} end,
    },
  },
  wrong = {
    {name = "signed", fails = "similarities are above 0", says = "is -",
      because = "features of both signs have products of both signs",
      change = {
        {"cat({(x * SHARP):exp(), (x * -SHARP):exp()}, 2)", "x * SHARP"},
        {[[
  local right, left = df[{{}, {1, D}}], df[{{}, {D + 1, 2 * D}}]
  return ((x * SHARP):exp() * right - (x * -SHARP):exp() * left) * SHARP]], [[
  return SHARP * df]]},
      }},
    {name = "batch", fails = "row by row: no row knows of the others",
      because = "the largest entry of all rows is subtracted: a token changes when others do",
      change = {
        {"cat({(x * SHARP):exp(), (x * -SHARP):exp()}, 2)", "((x - x:max()) * SHARP):exp()"},
        {[[
  local right, left = df[{{}, {1, D}}], df[{{}, {D + 1, 2 * D}}]
  return ((x * SHARP):exp() * right - (x * -SHARP):exp() * left) * SHARP]], [[
  return apply(x) * SHARP * df]]},
      }},
    {name = "half-gradient", fails = "grad is the derivative of apply",
      because = "the minus of the inner function is missing in the right half",
      change = {{":exp() * right - (", ":exp() * right + ("}}},
    {name = "float32", fails = "grad is the derivative of apply", says = "along t",
      because = "features are rounded to float32: a step of 1e-6 is lost in them",
      change = {{"return cat({(x * SHARP):exp(), (x * -SHARP):exp()}, 2)",
        'return cat({(x * SHARP):exp(), (x * -SHARP):exp()}, 2):to("float32"):to("float64")'}}},
    {name = "flat", fails = "twice as sharp as elu + 1",
      because = "it is elu + 1",
      change = {
        {"cat({(x * SHARP):exp(), (x * -SHARP):exp()}, 2)", "phi.elu1(x)"},
        {[[
  local right, left = df[{{}, {1, D}}], df[{{}, {D + 1, 2 * D}}]
  return ((x * SHARP):exp() * right - (x * -SHARP):exp() * left) * SHARP]], [[
  return phi.elu1(x):minimum(1) * df]]},
      }},
    {name = "overflow", fails = "and finite, for entries from -50 to 50", says = "infinite",
      because = "exp(20 x) is infinite at x = 50, also in float64",
      change = {{"local SHARP = 2", "local SHARP = 20"}}},
  },
}
