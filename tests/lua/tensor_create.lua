-- Making tensors: from tables, of one number, evenly spaced, random.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

test("tensor takes a number or nested tables", function()
  is(tensor(3).shape, {})
  is(tensor(3):item(), 3)
  is(tensor({1, 2, 3}), {1, 2, 3})
  is(tensor({{1, 2}, {3, 4}, {5, 6}}).shape, {3, 2})
  is(tensor({{{1}}}).shape, {1, 1, 1})
end)

test("tensor takes empty tables", function()
  is(tensor({}).shape, {0})
  is(tensor({{}, {}}).shape, {2, 0})
end)

test("float32 is the default, float64 on request", function()
  is(tensor(1).dtype, "float32")
  is(tensor(0.1, {dtype = "float64"}):item(), 0.1)
  assert(tensor(0.1):item() ~= 0.1)
  is(zeros(2, {dtype = "float64"}).dtype, "float64")
  is(eye(2, {dtype = "float64", device = "cpu"}).dtype, "float64")
end)

test("NaN and infinities are data", function()
  is(tensor({0 / 0, 1 / 0, -1 / 0}), {0 / 0, 1 / 0, -1 / 0})
end)

test("a ragged table is refused at its place", function()
  raises("tensor: element [2] has length 1, expected 2 like those before it",
    tensor, {{1, 2}, {3}})
  raises("tensor: element [1][2] has length 3, expected 2 like those before it",
    tensor, {{{1, 2}, {3, 4, 5}}})
  raises("tensor: element [2] is the number 5, expected a table of 2", tensor, {{1, 2}, 5})
  raises("tensor: element [2] is a table, expected a number", tensor, {1, {2}})
  raises("tensor: element [2] is nil, expected a number", tensor, {1, nil, 3})
end)

test("other things in a table are refused at their place", function()
  raises("tensor: element [2][1] is a string, expected a number", tensor, {{1}, {"2"}})
  raises("tensor: element [1] is true, expected a number", tensor, {true})
  raises("tensor: the table has the key 'dtype', expected a list; options are a table of " ..
    "their own", tensor, {1, 2, dtype = "float64"})
  raises("tensor: the table has a gap, or the key the number 7 outside the list",
    tensor, {1, 2, [7] = 3})
  raises("tensor: argument 1 is a string, expected a number or nested tables of numbers",
    tensor, "12")
  local loop = {}
  loop[1] = loop
  raises("tensor: tables are nested more than 8 deep, the highest rank", tensor, loop)
end)

test("zeros, ones and full take a shape as numbers or as a table", function()
  is(zeros(2, 3), {{0, 0, 0}, {0, 0, 0}})
  is(zeros({2, 3}).shape, {2, 3})
  is(ones({2, 1}, {dtype = "float64"}), {{1}, {1}})
  is(full({2}, 7.5), {7.5, 7.5})
  is(full(2, -1), {-1, -1})
  is(full({}, 4):item(), 4)
  is(zeros().shape, {})
  is(zeros(2, 0, 3).shape, {2, 0, 3})
  is(zeros(2.0, 3, nil).shape, {2, 3})
end)

test("a size that is none is refused", function()
  raises("zeros: size 2 is -3, expected 0 or more", zeros, 2, -3)
  raises("zeros: size 1 is the number 2.5, expected an integer", zeros, 2.5)
  raises("ones: size 2 is a string, expected an integer", ones, {1, "2"})
  raises("zeros: size 1 is a table, expected an integer", zeros, {{2, 3}})
  raises("rand: more than 8 sizes, the highest rank of a tensor",
    rand, 1, 1, 1, 1, 1, 1, 1, 1, 1)
end)

test("a size that no memory holds is an error, and the session lives on", function()
  assert(not pcall(zeros, 1 << 62, 1 << 62))
  assert(not pcall(zeros, 1 << 60))
  assert(not pcall(rand, {math.maxinteger}))
  is(zeros(1), {0})
end)

test("an unknown option is an error with a suggestion", function()
  raises("zeros: unknown option 'dtyp'; did you mean 'dtype'?", zeros, 2, {dtyp = "float64"})
  raises("zeros: unknown option 'seed', expected one of dtype, device", zeros, 2, {seed = 1})
  raises("rand: dtype is 'float46', expected one of float32, float64; did you mean " ..
    "'float64'?", rand, 2, {dtype = "float46"})
  raises("rand: dtype is the number 64, expected one of float32, float64",
    rand, 2, {dtype = 64})
  raises("randn: seed is the number 1.5, expected an integer", randn, 2, {seed = 1.5})
  raises("rand: dtype is 'half', expected one of float32, float64",
    rand, 2, {dtype = "half"})
  raises("ones: the table of options has the key the number 1, expected names",
    ones, 2, {"float64"})
  raises("full: x is a table, expected a number after the shape",
    full, {2}, {dtype = "float64"})
  raises("eye: argument 2 is the number 3, expected a table of options", eye, 2, 3)
end)

-- Whether a device can be used on this machine.
local function usable(name)
  for _, b in ipairs(backends()) do
    if b.device == name and b.usable then return true end
  end
  return false
end

test("a device that can't be used is refused by name", function()
  for _, name in ipairs{"emu", "cuda"} do
    local ok, why = pcall(zeros, 2, {device = name})
    is(ok, usable(name))
    assert(ok or why:find("zeros: device " .. name .. ": not available: ", 1, true), why)
  end
  raises("zeros: device is the number 0, expected a name such as 'cpu'",
    zeros, 2, {device = 0})
  raises("rand: there is no device 'tpu4', expected 'cpu', 'emu' or 'cuda'", rand, 2, {device = "tpu4"})
  raises("rand: there is no device 'cdua'; did you mean 'cuda'?", rand, 2, {device = "cdua"})
end)

test("eye is the unit matrix", function()
  is(eye(3), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
  is(eye(0).shape, {0, 0})
  raises("eye: n is the number -1, expected an integer of 0 or more", eye, -1)
end)

test("range includes its end, as for does", function()
  is(range(1, 4), {1, 2, 3, 4})
  is(range(1, 6, 2), {1, 3, 5})
  is(range(5, 1, -2), {5, 3, 1})
  is(range(0, 1, 0.3, {dtype = "float64"}).shape, {4})
  is(range(3, 1), {})
  is(range(2, 2), {2})
end)

test("range reaches its end in spite of rounding", function()
  is(#range(0, 1, 0.1), 11)
  is(range(0, 1, 0.1)[-1], 1)
  is(#range(0.1, 0.7, 0.2), 4)
  is(#range(1000000.1, 1000001.1, 0.1), 11)
  is(#range(0, 0.999, 0.1), 10)
  is(#range(0, 1000, 0.001), 1000001)
end)

test("range refuses what never ends", function()
  raises("range: step is 0", range, 1, 2, 0)
  raises("range: b is inf, expected a finite number", range, 1, math.huge)
  raises("range: from 0 to 1e+300 by 1 are more numbers than memory could hold",
    range, 0, 1e300)
  raises("range: b is missing, expected a number", range, 3)
end)

test("linspace includes both ends", function()
  is(linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1})
  is(linspace(2, 3, 1), {2})
  is(linspace(2, 3, 0), {})
  is(linspace(0.1, 0.7, 7, {dtype = "float64"})[7], 0.7)
  is(linspace(-1e308, 1e308, 3, {dtype = "float64"}), {-1e308, 0, 1e308})
end)

test("a seed gives the same numbers again, in any shape", function()
  local a, b = rand(3, 4, {seed = 7}), rand({12}, {seed = 7})
  is(a:reshape(12), b:totable())
  assert(maxdiff(a, rand(3, 4, {seed = 8})) > 0)
  is(randn({5}, {seed = 1}), randn(5, {seed = 1}):totable())
  is(rand({seed = 3}):rank(), 0)
end)

test("seed restarts the numbers of the session", function()
  seed(42)
  local a, b = rand(4), rand(4)
  assert(maxdiff(a, b) > 0)
  seed(42)
  is(rand(4), a:totable())
  raises("seed: n is a string, expected an integer", seed, "42")
end)

test("rand lies in [0, 1), randn has mean 0 and deviation 1", function()
  local u, n = rand(10000, {seed = 5}), randn(10000, {seed = 5, dtype = "float64"})
  assert(u:min() >= 0 and u:max() < 1)
  -- five standard errors of the mean and of the variance
  assert(math.abs(u:mean() - 0.5) < 5 * math.sqrt(1 / 12 / 10000))
  assert(math.abs(n:mean()) < 5 / 100)
  assert(math.abs((n * n):mean() - 1) < 5 * math.sqrt(2 / 10000))
end)

tap.done()
