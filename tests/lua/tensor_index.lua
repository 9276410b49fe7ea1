-- t[i], t[{..}]: what they pick, what they write, what they refuse.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function get(t, key) return t[key] end
local function set(t, key, value) t[key] = value end
local function matrix() return tensor({{11, 12, 13}, {21, 22, 23}}) end
local function counted() return range(1, 24):reshape(2, 3, 4) end

test("t[i] of a vector is a number, of a matrix a row", function()
  is(tensor({5, 6})[2], 6)
  is(matrix()[1], {11, 12, 13})
  is(matrix()[2][3], 23)
end)

test("negative indices count from the end", function()
  is(tensor({5, 6})[-1], 6)
  is(matrix()[-2], {11, 12, 13})
  is(matrix()[{-1, -1}], 23)
end)

test("an integer may come as a float", function()
  is(tensor({5, 6})[2.0], 6)
end)

test("one past the end is nil, so ipairs stops", function()
  is(tensor({5, 6})[3], nil)
  local rows = {}
  for i, row in ipairs(matrix()) do rows[i] = row:totable() end
  is(rows, matrix():totable())
  for _ in ipairs(zeros(0)) do error("zeros(0) has no element") end
end)

test("further out is an error that names index and extent", function()
  raises("t[i]: i is 4, out of range for an extent of 2", get, tensor({5, 6}), 4)
  raises("t[i]: i is -3, out of range for an extent of 2", get, matrix(), -3)
  raises("t[{..}]: index 2 is 4, out of range for an extent of 3", get, matrix(), {1, 4})
  raises("t[i]: i is 3, out of range for an extent of 2", set, tensor({5, 6}), 3, 0)
end)

test("0 and fractions are no indices", function()
  raises("t[i]: i is 0: indices start at 1 (or at -1 from the end)", get, matrix(), 0)
  raises("t[i]: i is the number 1.5, expected an integer", get, matrix(), 1.5)
  raises("t[{..}]: index 2 is 0: indices start at 1 (or at -1 from the end)",
    get, matrix(), {1, 0})
  raises("t[{..}]: index 2 is a string, expected an integer", get, matrix(), {1, "2"})
  raises("t[i]: i is true, expected an integer or a table such as {i, {first, last}, {}}",
    get, matrix(), true)
end)

test("a tensor of rank 0 has no index", function()
  raises("t[i]: a tensor of rank 0 has no index; use t:item()", get, tensor(3), 1)
  is(tensor(3)[{}], 3)
end)

test("t[{i, j}] picks one element, fewer indices leave the rest whole", function()
  is(counted()[{2, 3, 4}], 24)
  is(counted()[{2, 3}], {21, 22, 23, 24})
  is(counted()[{1}].shape, {3, 4})
  is(counted()[{}].shape, {2, 3, 4})
  raises("t[{..}]: 3 indices for a tensor of rank 2", get, matrix(), {1, 2, 3})
end)

test("ranges include both ends", function()
  is(matrix()[{{}, {2, 3}}], {{12, 13}, {22, 23}})
  is(matrix()[{{2}, {}}], {{21, 22, 23}})
  is(counted()[{{1, 2}, {}, 3}], {{3, 7, 11}, {15, 19, 23}})
  is(matrix()[{1, {-2, -1}}], {12, 13})
  is(range(1, 9)[{{2, 8, 3}}], {2, 5, 8})
  is(range(1, 9)[{{2, 9, 3}}], {2, 5, 8})
  is(range(1, 3)[{{3, 1, -1}}], {3, 2, 1})
  is(range(1, 3)[{{2, 2, -1}}], {2})
end)

test("a range that ends just before it starts is empty", function()
  is(range(1, 3)[{{4, 3}}], {})
  is(matrix()[{{}, {1, 0}}].shape, {2, 0})
end)

test("a range outside, or against its step, is refused", function()
  local t = range(1, 3)
  raises("t[{..}]: range 2 to 4 is out of range for an extent of 3", get, t, {{2, 4}})
  raises("t[{..}]: range 0 to 2 is out of range for an extent of 3", get, t, {{0, 2}})
  raises("t[{..}]: range 3 to 1 goes backwards; say so with a negative step, {3, 1, -1}",
    get, t, {{3, 1}})
  raises("t[{..}]: range 1 to 3 goes forwards, but its step is -1", get, t, {{1, 3, -1}})
  raises("t[{..}]: the step of a range is 0", get, t, {{1, 3, 0}})
  raises("t[{..}]: the end of a range is a string, expected an integer", get, t, {{1, "3"}})
end)

test("what is picked is a view: writing to it writes through", function()
  local t = matrix()
  t[1]:fill(0)
  is(t, {{0, 0, 0}, {21, 22, 23}})
  t[{{}, {2, 3}}]:fill(7)
  is(t, {{0, 7, 7}, {21, 7, 7}})
end)

test("a number is assigned to one element or to all that is picked", function()
  local t = matrix()
  t[{1, 2}] = 0
  t[2] = 5
  is(t, {{11, 0, 13}, {5, 5, 5}})
  t[{{}, -1}] = 1
  is(t, {{11, 0, 1}, {5, 5, 1}})
  t[{}] = 9
  is(t, {{9, 9, 9}, {9, 9, 9}})
end)

test("a tensor is assigned with broadcasting and conversion", function()
  local t = zeros(2, 3)
  t[{}] = tensor({1, 2, 3}, {dtype = "float64"})
  is(t, {{1, 2, 3}, {1, 2, 3}})
  t[{{}, {1, 2}}] = tensor({{4}, {5}})
  is(t, {{4, 4, 3}, {5, 5, 3}})
  t[{1, 1}] = tensor(8)
  is(t[1][1], 8)
  assert(not pcall(set, t, 1, zeros(2)))
  is(t, {{8, 4, 3}, {5, 5, 3}})
end)

test("a vector may be assigned to its own reverse", function()
  local t = range(1, 5)
  t[{}] = t[{{5, 1, -1}}]
  is(t, {5, 4, 3, 2, 1})
end)

test("other values are not assigned", function()
  raises("t[i] = x: x is nil, expected a number or a tensor", set, matrix(), 1, nil)
  raises("t[i] = x: x is a table, expected a number or a tensor", set, matrix(), 1, {1, 2, 3})
  raises("t.shape: the fields of a tensor can only be read", set, matrix(), "shape", {1})
end)

test("a fresh table comes from shape and strides", function()
  local t = matrix()
  t.shape[1] = 99
  is(t.shape, {2, 3})
  is(t.strides, {3, 1})
  is(t:t().strides, {1, 3})
  is(t.device, "cpu")
end)

test("# is the first extent, rank and numel count", function()
  is(#matrix(), 2)
  is(matrix():rank(), 2)
  is(matrix():numel(), 6)
  is(zeros(0, 5):numel(), 0)
  raises("#: a tensor of rank 0 has no first extent; use t:item()",
    function() return #tensor(1) end)
end)

test("an unknown name is an error with a suggestion", function()
  raises("tensor has no method 'sume'; did you mean 'sum'?", get, matrix(), "sume")
  raises("tensor has no method 'shap'; did you mean 'shape'?", get, matrix(), "shap")
  raises("tensor has no method 'quux'", get, matrix(), "quux")
end)

test("NaN can be told: it differs from itself (NUM-15)", function()
  local x = tensor({0 / 0, 1})
  assert(x[1] ~= x[1] and x[2] == x[2])
  is(x:eq(x), {0, 1})
end)

tap.done()
