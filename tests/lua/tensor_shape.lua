-- Views and copies: reshape, transpose, permute, squeeze, expand, clone, to and the like.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function matrix() return tensor({{1, 2, 3}, {4, 5, 6}}) end

-- Tells whether writing to b writes to a.
local function shares(a, b)
  local before = a:sum()
  b:fill(1000)
  return a:sum() ~= before
end

test("reshape takes numbers or a table, and infers one size", function()
  is(matrix():reshape(3, 2), {{1, 2}, {3, 4}, {5, 6}})
  is(matrix():reshape({6}), {1, 2, 3, 4, 5, 6})
  is(matrix():reshape(-1, 2).shape, {3, 2})
  is(matrix():reshape(2, -1, 1).shape, {2, 3, 1})
  is(zeros(0, 3):reshape(3, -1).shape, {3, 0})
  is(tensor(5):reshape(1, 1), {{5}})
  is(tensor({5}):reshape({}):rank(), 0)
end)

test("reshape refuses sizes that do not fit", function()
  local function reshape(...) return matrix():reshape(...) end
  raises("reshape: sizes 1 and 2 are both -1; only one can be inferred", reshape, -1, -1)
  raises("reshape: size 2 can't be inferred: the 6 elements of tensor [2, 3] float32 do not " ..
    "divide by 4", reshape, 4, -1)
  raises("reshape: size 1 is -2, expected 0 or more, or -1 to infer it", reshape, -2, 3)
  raises("reshape: the sizes are more than memory could hold", reshape, 1 << 40, 1 << 40)
  raises("reshape: unknown option 'dim'; it takes none", reshape, 6, {dim = 1})
  raises("reshape: argument 3 is the number 3, expected a table of options", reshape, {2}, 3)
  assert(not pcall(reshape, 4))
  assert(not pcall(reshape, 0, 3))
end)

test("reshape is a view where possible", function()
  local t = matrix()
  assert(shares(t, t:reshape(6)))
end)

test("a strided view reshapes to its own elements (REP-13)", function()
  local t = tensor({{1, 2}, {3, 4}})
  is(t[{{}, 2}]:reshape(2), {2, 4})
  is(t[{{}, {2, 2}}]:reshape(2), {2, 4})
  is(t:t():reshape(4), {1, 3, 2, 4})
  is(t[{{2, 1, -1}}]:reshape(4), {3, 4, 1, 2})
end)

test("t and transpose swap dimensions", function()
  is(matrix():t(), {{1, 4}, {2, 5}, {3, 6}})
  is(matrix():transpose(1, 2), matrix():t():totable())
  is(matrix():transpose(-1, 1), matrix():t():totable())
  is(zeros(2, 3, 4):transpose(1, 3).shape, {4, 3, 2})
  is(zeros(2, 3, 4):t().shape, {2, 4, 3})
  raises("t: the tensor has rank 1, expected 2 or more", tarn.t, zeros(3))
  raises("transpose: dim is 3, expected 1 to 2, or -1 to -2 from the end",
    tarn.transpose, matrix(), 1, 3)
  raises("transpose: dim is missing, expected an integer", tarn.transpose, matrix(), 1)
end)

test("permute puts dimensions in any order", function()
  local t = range(1, 24):reshape(2, 3, 4)
  local p = t:permute(3, 1, 2)
  is(p.shape, {4, 2, 3})
  is(p[{4, 2, 1}], t[{2, 1, 4}])
  is(t:permute({-1, 1, 2}), p:totable())
  raises("permute: dim 1 is there twice, expected each once", tarn.permute, t, 1, 1, 2)
  raises("permute: 2 dims for a tensor of rank 3, expected each once", tarn.permute, t, 1, 2)
  raises("permute: dim is 4, expected 1 to 3, or -1 to -3 from the end",
    tarn.permute, t, 1, 2, 4)
end)

test("transposed and permuted tensors are views", function()
  local t = matrix()
  assert(shares(t, t:t()[1]))
  assert(shares(t, t:permute(2, 1)[2]))
end)

test("squeeze drops extents of 1, one or all", function()
  is(zeros(1, 2, 1).squeeze(zeros(1, 2, 1)).shape, {2})
  is(zeros(1, 2, 1):squeeze(1).shape, {2, 1})
  is(zeros(1, 2, 1):squeeze(-1).shape, {1, 2})
  is(zeros(1, 1):squeeze():rank(), 0)
  raises("squeeze: dimension 2 has extent 3, expected 1", tarn.squeeze, matrix(), 2)
end)

test("unsqueeze adds an extent of 1 at any place", function()
  is(matrix():unsqueeze(1).shape, {1, 2, 3})
  is(matrix():unsqueeze(3).shape, {2, 3, 1})
  is(matrix():unsqueeze(-1).shape, {2, 3, 1})
  is(tensor(1):unsqueeze(1).shape, {1})
  raises("unsqueeze: dim is 4, expected 1 to 3, or -1 to -3 from the end",
    tarn.unsqueeze, matrix(), 4)
  raises("unsqueeze: the tensor has rank 8, the highest there is",
    tarn.unsqueeze, zeros(1, 1, 1, 1, 1, 1, 1, 1), 1)
end)

test("squeezed and unsqueezed tensors are views, of strided ones too", function()
  local t = matrix()
  assert(shares(t, t:unsqueeze(2)))
  t = matrix()
  assert(shares(t, t:t():unsqueeze(2)))
  t = matrix()
  assert(shares(t, t[{{}, {2, 2}}]:squeeze(2)))
  is(t, {{1, 1000, 3}, {4, 1000, 6}})
end)

test("expand repeats extents of 1", function()
  local t = tensor({{1}, {2}})
  is(t:expand(2, 3), {{1, 1, 1}, {2, 2, 2}})
  is(t:expand({2, 2, 1}), {{{1}, {2}}, {{1}, {2}}})
  is(t:expand(2, 3).strides[2], 0)
  assert(not pcall(tarn.expand, matrix(), 2, 4))
  raises("expand: size 2 is -1, expected 0 or more", tarn.expand, matrix(), 2, -1)
end)

test("a view gives the same answers as its copy (SHP-05)", function()
  local big = rand(8, 6, {seed = 1})
  local views = {big:t(), big[{{1, 8, 2}}], big[{{}, {2, 4}}], big[{{8, 1, -1}}],
    big[{1}]:expand(3, 6)}
  for _, view in ipairs(views) do
    local copy = view:clone()
    for _, name in ipairs({"exp", "sum", "mean", "max", "norm", "argmax", "clone", "t"}) do
      local a, b = view[name](view), copy[name](copy)
      if type(a) == "number" then a, b = tensor(a), tensor(b) end
      assert(maxdiff(a, b) == 0, name)
    end
    is(maxdiff(view:cumsum(2), copy:cumsum(2)), 0)
    is(maxdiff(view:mm(view:t()), copy:mm(copy:t())), 0)
    is(maxdiff(view + view, copy + copy), 0)
    is(view:reshape(-1), copy:reshape(-1):totable())
  end
end)

test("contiguous copies only where it must", function()
  local t = matrix()
  assert(shares(t, t:contiguous()))
  t = matrix()
  assert(not shares(t, t:t():contiguous()))
  is(t:t():contiguous().strides, {2, 1})
end)

test("clone never shares", function()
  local t = matrix()
  assert(not shares(t, t:clone()))
  assert(not shares(t, t:t():clone()))
end)

test("fill and copy change the tensor and return it", function()
  local t = zeros(2, 2)
  assert(rawequal(t:fill(3), t))
  assert(rawequal(t:copy(tensor({1, 2})), t))
  is(t, {{1, 2}, {1, 2}})
  raises("fill: x is a string, expected a number", tarn.fill, t, "3")
  raises("copy: the source is the number 3, expected a tensor", tarn.copy, t, 3)
  assert(not pcall(tarn.copy, t, zeros(3)))
end)

test("to converts the type, or gives the tensor itself", function()
  local t = matrix()
  is(t:to("float64").dtype, "float64")
  is(t:to("float64"), t:totable())
  assert(rawequal(t:to("float32"), t))
  assert(rawequal(t:to("cpu"), t))
end)

test("to refuses what is not there", function()
  raises("to: there is no device 'quantum', expected 'cpu', 'emu' or 'cuda'", tarn.to, matrix(),
    "quantum")
  raises("to: there is no type 'flaot32'; did you mean 'float32'?",
    tarn.to, matrix(), "flaot32")
  raises("to: the target is nil, expected a type ('float32', 'float64') or a device " ..
    "('cpu', 'emu', 'cuda')",
    tarn.to, matrix(), nil)
end)

test("totable and tensor are each other's inverse", function()
  local nested = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}
  is(tensor(nested), nested)
  is(tensor(3):totable(), 3)
  is(zeros(2, 0), {{}, {}})
end)

test("item needs exactly one element", function()
  is(tensor({{7}}):item(), 7)
  raises("item: tensor [2, 3] float32 has 6 elements, expected exactly 1", tarn.item, matrix())
  raises("item: tensor [0] float32 has 0 elements, expected exactly 1", tarn.item, zeros(0))
end)

tap.done()
