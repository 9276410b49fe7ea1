-- show_tensors.lua: how tensors look. Columns are 80 here: there is no terminal.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

local ellipsis = tostring(zeros(1, 500)):match("…") or "..."

local function lines_of(t)
  local lines = {}
  for line in (tostring(t) .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  return lines
end

local function looks(t, ...) is(lines_of(t), {...}) end

test("the head names extents, type and device", function()
  is(lines_of(zeros(4, 8))[1], "tensor [4, 8] float32 cpu")
  is(lines_of(zeros({2}, {dtype = "float64"}))[1], "tensor [2] float64 cpu")
end)

test("whole numbers have no point", function()
  looks(tensor {{1, -20}, {300, 4}}, "tensor [2, 2] float32 cpu", "    1  -20", "  300    4")
end)

test("fractions are aligned at the point, with as many digits as needed", function()
  looks(tensor {{0.5, -1.25}, {100, 2}}, "tensor [2, 2] float32 cpu", "    0.50   -1.25",
    "  100.00    2.00")
end)

test("REP-01: NaN and infinities are shown in their columns", function()
  looks(tensor {0 / 0, 1 / 0, -1 / 0, 1.5, -2}, "tensor [5] float32 cpu",
    "   nan     inf    -inf       1.5    -2.0")
  looks(tensor {{0 / 0, 0 / 0}}, "tensor [1, 2] float32 cpu", "  nan  nan")
  looks(tensor {{1 / 0}, {-1 / 0}}, "tensor [2, 1] float32 cpu", "   inf", "  -inf")
end)

test("REP-03: zeros are as wide as ones, and keep their sign", function()
  is(#tostring(zeros(2, 2)), #tostring(ones(2, 2)))
  looks(tensor {{0, -0.0}}, "tensor [1, 2] float32 cpu", "   0  -0")
end)

test("REP-03: tiny and huge numbers stand aligned, and none is shown as 0", function()
  looks(tensor({1e-30, -1e30}, {dtype = "float64"}), "tensor [2] float64 cpu",
    "   1.0000e-30  -1.0000e+30")
  looks(tensor({{1e-300}, {1e5}}, {dtype = "float64"}), "tensor [2, 1] float64 cpu",
    "  1.0000e-300", "  1.0000e+05")
  assert(not tostring(tensor {0.00001, 1}):find(" 0.0000 "))
end)

test("no common factor is taken out", function()
  assert(tostring(tensor {12345.5, 0.5}):find("12345.5", 1, true))
end)

test("REP-04: a big tensor takes at most 40 lines, with its edges", function()
  local big = tensor(1):expand(1000000, 1000)
  local before = os.clock()
  local lines = lines_of(big)
  assert(os.clock() - before < 0.1, "took " .. os.clock() - before .. " s")
  assert(#lines <= 40 and lines[1] == "tensor [1000000, 1000] float32 cpu")
  assert(lines[2]:find(ellipsis, 1, true) and #lines[2] <= 82)
  local gaps = 0
  for _, line in ipairs(lines) do if line == "  " .. ellipsis then gaps = gaps + 1 end end
  is(gaps, 1)
end)

test("10^9 elements are shown at once", function()
  assert(#lines_of(tensor(2):expand(1000, 1000, 1000)) <= 40)
  assert(#lines_of(tensor(2):expand(1000000000)) <= 40)
end)

test("edges are those of the tensor", function()
  local t = range(1, 1000):reshape(1000, 1)
  local lines = lines_of(t)
  is(lines[2]:match("%d+"), "1")
  is(lines[#lines]:match("%d+"), "1000")
end)

test("a long vector is a paragraph", function()
  local lines = lines_of(range(1, 100))
  assert(#lines > 3 and #lines <= 40)
  for _, line in ipairs(lines) do assert(#line <= 80, line) end
  assert(lines[#lines]:find("100", 1, true))
end)

test("slices of higher ranks have titles", function()
  looks(range(1, 4):reshape(2, 1, 2), "tensor [2, 1, 2] float32 cpu", "[1, :, :]", "  1  2",
    "[2, :, :]", "  3  4")
  assert(#lines_of(zeros(10, 10, 10, 10)) <= 40)
  assert(lines_of(zeros(10, 10, 10, 10))[2] == "[1, 1, :, :]")
end)

test("rank 0 and tensors without elements", function()
  looks(tensor(2.5), "tensor [] float32 cpu", "  2.5")
  looks(zeros(0, 3), "tensor [0, 3] float32 cpu", "  (no elements)")
  looks(zeros(0), "tensor [0] float32 cpu", "  (no elements)")
end)

test("views are shown by their own order", function()
  looks(tensor({{1, 2}, {3, 4}}):t(), "tensor [2, 2] float32 cpu", "  1  3", "  2  4")
end)

-- What show() writes, caught in a file.
local function shown(value, opt)
  local path = os.tmpname()
  local file, before = assert(io.open(path, "w")), io.output()
  io.output(file)
  local ok, why = pcall(show, value, opt)
  io.output(before)
  file:close()
  local text = assert(io.open(path)):read("a")
  os.remove(path)
  assert(ok, why)
  return text
end

test("show takes digits", function()
  is(shown(tensor {1 / 3}, {digits = 2}), "tensor [1] float32 cpu\n  0.33\n")
  is(shown(tensor {1, 2}, {digits = 1}), "tensor [2] float32 cpu\n  1.0  2.0\n")
  is(shown(tensor {0.3}, {digits = 0}), "tensor [1] float32 cpu\n  3e-01\n")
end)

test("show with full leaves nothing out", function()
  local _, breaks = shown(zeros(100, 200), {full = true}):gsub("\n", "\n")
  is(breaks, 101)
  local _, numbers = shown(zeros(1000), {full = true}):gsub("0  ", "")
  assert(numbers > 900)
end)

test("show refuses what it does not know", function()
  tap.raises("show: unknown option 'digit'; did you mean 'digits'?", show, 1, {digit = 2})
  tap.raises("show: unknown option 'x', expected digits or full", show, 1, {x = 2})
  tap.raises("show: digits is -1, expected a whole number from 0 to 17", show, 1, {digits = -1})
  tap.raises('show: digits is "a", expected a whole number from 0 to 17', show, 1, {digits = "a"})
  tap.raises("show: options are a number, expected a table {digits=, full=}", show, 1, 2)
end)

tap.done()
