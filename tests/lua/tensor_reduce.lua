-- Reductions, softmax, cumsum.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function matrix() return tensor({{1, 5, 3}, {4, 2, 6}}) end
local nan, inf = 0 / 0, 1 / 0

test("over everything a reduction is a Lua number", function()
  is(matrix():sum(), 21)
  is(matrix():mean(), 3.5)
  is(matrix():max(), 6)
  is(matrix():min(), 1)
  is(tensor({3, 4}):norm(), 5)
  is(matrix():argmax(), 6)
  is(math.type(matrix():argmax()), "integer")
  is(tarn.sum(matrix()), 21)
  is(tensor(4):sum(), 4)
end)

test("over one dimension it is a tensor", function()
  is(matrix():sum(1), {5, 7, 9})
  is(matrix():sum(2), {9, 12})
  is(matrix():mean(-1), {3, 4})
  is(tensor({{3, 4}, {0, 2}}):norm(2), {5, 2})
  is(matrix():argmax(1), {2, 1, 2})
  is(tensor({1, 2}):sum(1):rank(), 0)
end)

test("max and min of a dimension also give 1-based positions", function()
  local values, positions = matrix():max(2)
  is(values, {5, 6})
  is(positions, {2, 3})
  values, positions = matrix():min(1)
  is(values, {1, 2, 3})
  is(positions, {1, 2, 1})
  is(select("#", matrix():max()), 1)
end)

test("positions are those of the first of equals", function()
  is(tensor({2, 7, 7}):argmax(), 2)
  local _, positions = zeros(2, 3):min(2)
  is(positions, {1, 1})
end)

test("keepdim keeps an extent of 1", function()
  is(matrix():sum(2, {keepdim = true}), {{9}, {12}})
  is(matrix():sum({keepdim = true}), {{21}})
  is(matrix():sum(nil, {keepdim = true}), {{21}})
  is(matrix():sum(1, {keepdim = false}), {5, 7, 9})
  is(matrix():argmax(2, {keepdim = true}), {{2}, {3}})
  local values, positions = matrix():max(1, {keepdim = true})
  is(values, {{4, 5, 6}})
  is(positions, {{2, 1, 2}})
end)

test("NaN goes where it belongs, and the position is its own", function()
  local t = tensor({{1, nan, 3}, {4, 2, 6}})
  is(t:sum(2), {nan, 12})
  local values, positions = t:max(2)
  is(values, {nan, 6})
  is(positions, {2, 3})
  values, positions = t:min(2)
  is(values, {nan, 2})
  is(positions, {2, 2})
  is(t:argmax(), 2)
end)

test("sums over nothing are 0, extremes of nothing an error", function()
  is(zeros(0):sum(), 0)
  is(zeros(2, 0):sum(2), {0, 0})
  is(zeros(2, 0):norm(), 0)
  assert(not pcall(tarn.max, zeros(0)))
  assert(not pcall(tarn.argmax, zeros(2, 0), 2))
  is((zeros(0, 2):max(2)), {})
end)

test("a wrong dimension or option is refused", function()
  raises("sum: dim is 3, expected 1 to 2, or -1 to -2 from the end", tarn.sum, matrix(), 3)
  raises("max: dim is 0, expected 1 to 2, or -1 to -2 from the end", tarn.max, matrix(), 0)
  raises("mean: dim is a string, expected an integer", tarn.mean, matrix(), "1")
  raises("sum: dim is 1, but a tensor of rank 0 has no dimensions", tarn.sum, tensor(1), 1)
  raises("sum: unknown option 'keepdims'; did you mean 'keepdim'?",
    tarn.sum, matrix(), 1, {keepdims = true})
  raises("sum: keepdim is the number 1, expected true or false",
    tarn.sum, matrix(), 1, {keepdim = 1})
  raises("argmax: argument 3 is true, expected a table of options",
    tarn.argmax, matrix(), 1, true)
end)

test("softmax makes weights that sum to 1", function()
  local x = tensor({{1, 2, 3}, {1000, 1000, -inf}}, {dtype = "float64"})
  local w = x:softmax(2)
  assert(allclose(w:sum(2), 1, {rtol = 1e-15, atol = 0}))
  is(w[2], {0.5, 0.5, 0})
  local e = {math.exp(-2), math.exp(-1), 1}
  assert(math.abs(w[{1, 1}] - e[1] / (e[1] + e[2] + e[3])) < 1e-15)
  raises("softmax: dim is missing, expected an integer", function() return x:softmax() end)
end)

test("cumsum keeps each partial sum", function()
  is(tensor({1, 2, 3}):cumsum(1), {1, 3, 6})
  is(matrix():cumsum(1), {{1, 5, 3}, {5, 7, 9}})
  is(matrix():cumsum(-1), {{1, 6, 9}, {4, 6, 12}})
  is(zeros(0):cumsum(1), {})
end)

tap.done()
