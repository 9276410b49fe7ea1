-- Operators, element-wise functions, products, comparison, and what puts tensors together.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function matrix() return tensor({{1, 2, 3}, {4, 5, 6}}) end
local nan, inf = 0 / 0, 1 / 0

test("operators work element by element and broadcast", function()
  local t, row, column = matrix(), tensor({10, 20, 30}), tensor({{100}, {200}})
  is(t + t, {{2, 4, 6}, {8, 10, 12}})
  is(t + row, {{11, 22, 33}, {14, 25, 36}})
  is(row - column, {{-90, -80, -70}, {-190, -180, -170}})
  is(t * t, {{1, 4, 9}, {16, 25, 36}})
  is(row / tensor({5}), {2, 4, 6})
  is(t ^ tensor(2), {{1, 4, 9}, {16, 25, 36}})
  is(-row, {-10, -20, -30})
end)

test("a number may stand on either side and takes the tensor's type", function()
  local t = tensor({1, 2, 4})
  is(t + 1, {2, 3, 5})
  is(1 - t, {0, -1, -3})
  is(t * 2, {2, 4, 8})
  is(8 / t, {8, 4, 2})
  is(2 ^ t, {2, 4, 16})
  is(t ^ 2, {1, 4, 16})
  is((t + 0.1).dtype, "float32")
  is(full(1, 0.1):eq(0.1), {1})
end)

test("float32 with float64 gives float64", function()
  is((matrix() + ones(3, {dtype = "float64"})).dtype, "float64")
end)

test("shapes that do not fit are refused", function()
  local ok, why = pcall(function() return matrix() + zeros(2) end)
  assert(not ok and why:find("[2, 3]", 1, true) and why:find("[2]", 1, true), why)
end)

test("other operands are refused by name", function()
  raises("+: the second operand is a string, expected a tensor or a number",
    function() return matrix() + "1" end)
  raises("+: the second operand is a value of type FILE*, expected a tensor or a number",
    function() return matrix() + io.stdout end)
  raises("*: the first operand is nil, expected a tensor or a number",
    function() return nil * matrix() end)
  raises("maximum: the second operand is missing, expected a tensor or a number",
    function() return matrix():maximum() end)
  raises("maximum: both operands are numbers, expected a tensor", tarn.maximum, 1, 2)
end)

test("operators that Lua would turn into one boolean are refused", function()
  local a, b = matrix(), matrix()
  raises("==: two tensors have no single answer; use allclose or eq",
    function() return a == b end)
  raises("==: two tensors have no single answer; use allclose or eq",
    function() return a ~= b end)
  raises("<: a tensor has no single answer; use t:lt(u) or t:gt(u)",
    function() return a < b end)
  raises("<: a tensor has no single answer; use t:lt(u) or t:gt(u)",
    function() return a > 1 end)
  raises("<=: a tensor has no single answer; use t:le(u) or t:ge(u)",
    function() return 1 <= a end)
  assert(a ~= io.stdout and a == a and a ~= 1 and a ~= nil)
end)

test("a tensor is not a string", function()
  raises("..: a tensor is not a string; use tostring(t) to join it to text, " ..
    "cat({a, b}, dim) to join tensors", function() return "t = " .. matrix() end)
end)

test("tostring begins with shape and type", function()
  is(tostring(zeros(2, 3)):match("^tensor %[2, 3%] float32") ~= nil, true)
  is(tostring(tensor(1, {dtype = "float64"})):match("^tensor %[%] float64") ~= nil, true)
end)

test("comparisons give 0 and 1, with NaN 0", function()
  local t = tensor({1, 2, 3, nan})
  is(t:eq(2), {0, 1, 0, 0})
  is(t:lt(2), {1, 0, 0, 0})
  is(t:le(2), {1, 1, 0, 0})
  is(t:gt(2), {0, 0, 1, 0})
  is(t:ge(2), {0, 1, 1, 0})
  is(tarn.gt(2, t), {1, 0, 0, 0})
  is(t:eq(t), {1, 1, 1, 0})
end)

test("minimum, maximum and clamp keep NaN", function()
  local t = tensor({-1, 0.5, 2, nan})
  is(t:maximum(0), {0, 0.5, 2, nan})
  is(tarn.minimum(1, t), {-1, 0.5, 1, nan})
  is(t:clamp(0, 1), {0, 0.5, 1, nan})
  is(t:clamp(0), {0, 0.5, 2, nan})
  is(t:clamp(nil, 1), {-1, 0.5, 1, nan})
  is(t, {-1, 0.5, 2, nan})
  raises("clamp: lo and hi are both missing", tarn.clamp, t)
  raises("clamp: lo is 2, more than hi, which is 1", tarn.clamp, t, 2, 1)
  raises("clamp: hi is a string, expected a number or nil", tarn.clamp, t, 0, "1")
end)

test("element-wise functions are methods and functions", function()
  local x = tensor({-1, 0, 2}, {dtype = "float64"})
  local definitions = {
    exp = math.exp, abs = math.abs,
    tanh = function(v) return (math.exp(2 * v) - 1) / (math.exp(2 * v) + 1) end,
    sigmoid = function(v) return 1 / (1 + math.exp(-v)) end,
    relu = function(v) return math.max(v, 0) end,
    elu = function(v) return v > 0 and v or math.exp(v) - 1 end,
  }
  for name, f in pairs(definitions) do
    local expected = {}
    for i, v in ipairs(x:totable()) do expected[i] = f(v) end
    -- a few operations, each rounded to eps = 2.2e-16
    assert(allclose(x[name](x), tensor(expected, {dtype = "float64"}),
      {rtol = 1e-15, atol = 1e-15}), name)
    is(maxdiff(tarn[name](x), x[name](x)), 0)
  end
  is(tensor({0, 1}):log(), {-inf, 0})
  is(tensor({4, -1}):sqrt(), {2, nan})
end)

test("mm multiplies matrices, vectors and batches", function()
  is(matrix():mm(matrix():t()), {{14, 32}, {32, 77}})
  is(matrix():mm(tensor({1, 0, 1})), {4, 10})
  is(tensor({1, 1}):mm(matrix()), {5, 7, 9})
  is(ones(4, 2, 3):mm(ones(3, 5)).shape, {4, 2, 5})
  is(zeros(2, 0):mm(zeros(0, 3)), {{0, 0, 0}, {0, 0, 0}})
  assert(not pcall(tarn.mm, matrix(), matrix()))
  raises("mm: the second matrix is the number 2, expected a tensor", tarn.mm, matrix(), 2)
end)

test("where takes from one or the other", function()
  local mask = tensor({1, 0, 1})
  is(where(mask, tensor({1, 2, 3}), 0), {1, 0, 3})
  is(where(mask, 5, tensor({1, 2, 3}, {dtype = "float64"})).dtype, "float64")
  is(where(mask, 1, 2), {1, 2, 1})
  is(where(mask, matrix(), -1), {{1, -1, 3}, {4, -1, 6}})
  raises("where: the mask is true, expected a tensor", where, true, 1, 2)
  raises("where: b is nil, expected a tensor or a number",
    function() return where(mask, 1) end)
end)

test("cat joins along a dimension", function()
  is(cat({tensor({1}), tensor({2, 3})}), {1, 2, 3})
  is(cat({matrix(), matrix()}, 2), {{1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}})
  is(cat({matrix(), zeros(0, 3)}, 1), matrix():totable())
  is(cat({matrix(), matrix()}, -1).shape, {2, 6})
  raises("cat: the list of tensors is empty", cat, {}, 1)
  raises("cat: entry 2 of the list is the number 5, expected a tensor", cat, {matrix(), 5}, 1)
  raises("cat: argument 1 is tensor [2, 3] float32, expected a list of tensors",
    cat, matrix(), matrix())
  raises("cat: dim is 3, expected 1 to 2, or -1 to -2 from the end", cat, {matrix()}, 3)
  assert(not pcall(cat, {matrix(), zeros(3, 4)}, 1))
end)

test("flip reverses a dimension, into fresh storage", function()
  local t = matrix()
  is(flip(t, 1), {{4, 5, 6}, {1, 2, 3}})
  is(t:flip(-1), {{3, 2, 1}, {6, 5, 4}})
  flip(t, 1):fill(0)
  is(t, matrix():totable())
  is(flip(zeros(0, 2), 1).shape, {0, 2})
end)

test("index picks positions in order and as often as listed", function()
  is(index(matrix(), 2, {3, 1, 1}), {{3, 1, 1}, {6, 4, 4}})
  is(index(matrix(), 1, tensor({2, -2})), {{4, 5, 6}, {1, 2, 3}})
  is(index(matrix(), 1, {}).shape, {0, 3})
  local _, order = tensor({{5, 9}, {7, 3}}):max(2)
  is(index(tensor({10, 20}), 1, order), {20, 10})
  raises("index: position 2 is 4, out of range for an extent of 3",
    index, matrix(), 2, {1, 4})
  raises("index: position 1 is 0: indices start at 1 (or at -1 from the end)",
    index, matrix(), 2, {0})
  raises("index: position 1 is the number 1.5, expected an integer",
    index, matrix(), 2, tensor({1.5}))
  raises("index: the tensor of positions has rank 2, expected 1",
    index, matrix(), 2, matrix())
  raises("index: list is the number 1, expected a table or a tensor of positions",
    index, matrix(), 2, 1)
end)

test("allclose compares within a tolerance; NaN is close to nothing", function()
  local a = tensor({1, 100})
  assert(allclose(a, a * (1 + 5e-6)))
  assert(not allclose(a, a * 1.001))
  assert(allclose(a, a * 1.001, {rtol = 0.01}))
  assert(allclose(zeros(2), full(2, 1e-3), {atol = 1e-2}))
  assert(allclose(ones(2, 2), 1) and allclose(1, ones(2, 2)))
  assert(not allclose(tensor({nan}), tensor({nan})))
  assert(allclose(tensor({inf}), tensor({inf})) and not allclose(tensor({inf}), -inf))
  raises("allclose: unknown option 'rtoll'; did you mean 'rtol'?",
    allclose, a, a, {rtoll = 1})
  raises("allclose: rtol is a string, expected a number", allclose, a, a, {rtol = "1"})
  raises("allclose: b is a table, expected a tensor or a number", allclose, a, {1, 100})
end)

test("maxdiff is the largest difference; one-sided NaN counts as infinite", function()
  is(maxdiff(tensor({1, 2, 3}), tensor({1, 2.5, 3})), 0.5)
  is(maxdiff(matrix(), 1), 5)
  for _, dtype in ipairs({"float32", "float64"}) do
    is(maxdiff(full(1, 0.1, {dtype = dtype}), 0.1), 0)
  end
  is(maxdiff(tensor({nan, inf}), tensor({nan, inf})), 0)
  is(maxdiff(tensor({nan}), 0), inf)
  is(maxdiff(zeros(0), zeros(0)), 0)
end)

test("a method called without its colon says so", function()
  local t = matrix()
  raises("sum: expected a tensor as argument 1 (use t:sum() with a colon)",
    function() return t.sum() end)
  raises("exp: expected a tensor as argument 1 (use t:exp() with a colon)",
    function() return t.exp() end)
  raises("softmax: expected a tensor as argument 1, not the number 2 " ..
    "(use t:softmax() with a colon)", function() return t.softmax(2) end)
end)

test("a closed tensor is refused, not touched", function()
  local t = matrix()
  do local scope <close> = t end
  raises("sum: expected a tensor as argument 1, not a closed tensor (use t:sum() with a colon)",
    function() return t:sum() end)
  raises("t[i]: t is a closed tensor, expected a tensor", function() return t[1] end)
  raises("t.name: t is a closed tensor, expected a tensor",
    function() return t.shape end)
end)

test("completion finds methods and fields without running code", function()
  local meta = getmetatable(zeros(1))
  is(rawget(meta, "__fields"), {"shape", "dtype", "device", "strides"})
  for name, f in pairs(rawget(meta, "__methods")) do
    assert(rawequal(tarn[name], f), name .. " is a method, but not in tarn")
  end
  assert(rawget(meta, "__methods").sum)
end)

tap.done()
