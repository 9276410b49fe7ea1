-- kernel.lua: a user's own kernels: compiled, called, and what is said of those that are wrong.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

-- No file of the user's cache is read or written: tests/run gives a home of its own.
local compiler = os.getenv("TARN_CXX") or require("tarn.loader").cxx
local there = pcall(zeros, 1, {device = "emu"}) and
  os.execute(compiler .. " --version >/dev/null 2>&1")
if not there then
  tap.skip("kernels of a user's own", "no emulated device, or no compiler")
  return tap.done()
end

local function path(name) return folder:gsub("lua/$", "kernels/") .. name end

local function on_emu(t) return t:to("emu") end

-- The message of a call that fails.
local function message(f, ...)
  local ok, why = pcall(f, ...)
  assert(not ok, "it did not fail")
  return why
end

local function has(text, piece)
  if not text:find(piece, 1, true) then error(("%q is not in: %s"):format(piece, text), 2) end
end

-- The line of wrong.cu that says "BUG name".
local function line_of(name)
  local n = 0
  for line in io.lines(path "wrong.cu") do
    n = n + 1
    if line:find("// BUG " .. name, 1, true) then return "kernels/wrong.cu:" .. n .. ":" end
  end
end

-- ---- kernels that are right ------------------------------------------------------------

local scale = kernel(path "scale.cu", "scale")

test("a kernel takes tensors and numbers", function()
  local x, y = on_emu(range(1, 100)), zeros(100, {device = "emu"})
  is(select("#", scale({grid = 4, block = 32}, y, x, 99, 0.5)), 0)
  local got = y:to("cpu")
  is(got[99], 49.5)
  is(got[100], 0.0)
end)

test("it says what it is", function()
  is((tostring(scale):gsub("%s+", " ")),
    "kernel scale(float *y, const float *x, int n, float a) in " .. path "scale.cu" .. ", on emu")
  is(scale.name, "scale")
  is(scale.check, false)
end)

test("a template is named with its types, and every kind of number arrives", function()
  for _, dtype in ipairs {"float32", "float64"} do
    local mix = kernel(path "scale.cu", dtype == "float32" and "mix<float>" or "mix<double>")
    local x, y = on_emu(range(1, 8):to(dtype)), zeros(8, {device = "emu", dtype = dtype})
    mix({grid = {2}, block = {2, 1, 1}}, y, x, 7, 2, 3, 0.5, true)
    is(y:to("cpu"):totable(), {0.0, 0.0, -1.5, 0.0, 0.0, -3.0, 0.0, 0.0})
  end
end)

test("extern \"C\", and no arguments", function()
  kernel(path "scale.cu", "nothing")({grid = 1, block = 1})
end)

test("a kernel may have a name that tarn's headers have as well", function()
  local x = ones(2, {device = "emu"})
  kernel(path "scale.cu", "update")({grid = 1, block = 2}, x)
  is(x:to("cpu"), {2.0, 2.0})
end)

test("tiles in shared memory, grids of two dimensions, a file that is included", function()
  local x = rand(37, 50, {seed = 1})
  for _, check in ipairs {false, true} do
    local out = zeros(50, 37, {device = "emu"})
    local transpose = kernel(path "transpose.cu", "transpose", {check = check})
    transpose({grid = {4, 3}, block = {16, 16}}, out, on_emu(x), 37, 50)
    is(maxdiff(out:to("cpu"), x:t()), 0.0)
  end
end)

test("shuffles, SHARED and atomics, checked as well", function()
  local x = range(1, 1000, 1, {dtype = "float64"})
  for _, check in ipairs {false, true} do
    local out = zeros(1, {device = "emu", dtype = "float64"})
    kernel(path "sum.cu", "sum", {check = check})({grid = 4, block = 256}, out, on_emu(x), 1000)
    is(out:to("cpu")[1], 500500.0)
  end
end)

test("dynamic shared memory", function()
  local x = on_emu(range(1, 64))
  kernel(path "reverse.cu", "reverse", {check = true})({grid = 1, block = 64, shared = 256}, x)
  is(maxdiff(x:to("cpu"), range(64, 1, -1)), 0.0)
end)

-- ---- what a kernel does wrong ------------------------------------------------------------

test("a missing barrier is a race, by the file's line, and the session goes on", function()
  local no_barrier = kernel(path "wrong.cu", "no_barrier", {check = true})
  local why = message(no_barrier, {grid = 1, block = 64}, ones(64, {device = "emu"}))
  has(why, "no_barrier, block (0, 0, 0), thread (")
  has(why, (line_of("no_barrier"):gsub(":$", "")))
  has(why, "race: what thread")
  scale({grid = 1, block = 1}, zeros(1, {device = "emu"}), ones(1, {device = "emu"}), 1, 1)
end)

test("an index past the end is found with and without checks", function()
  for _, check in ipairs {false, true} do
    local off = kernel(path "wrong.cu", "off_by_one", {check = check})
    local why = message(off, {grid = 1, block = 65}, ones(64, {device = "emu"}), 64)
    has(why, "thread (64, 0, 0): ")
    has(why, line_of "off_by_one" .. " byte 256 of an array of 256 bytes: past the end")
  end
end)

test("__shared__ is fresh in every block, and has an end", function()
  local x = ones(64, {device = "emu"})
  has(message(kernel(path "wrong.cu", "shared_off_by_one", {check = true}),
    {grid = 1, block = 64}, x), "bytes of shared memory: past the end")
  has(message(kernel(path "wrong.cu", "unwritten", {check = true}), {grid = 1, block = 64}, x),
    line_of "unwritten" .. " reads shared memory that nobody has written yet")
  kernel(path "wrong.cu", "unwritten")({grid = 1, block = 64}, x)
  is(x:to("cpu")[1] ~= x:to("cpu")[1], true)
end)

test("a barrier that some never reach is found", function()
  has(message(kernel(path "wrong.cu", "never_meets"), {grid = 1, block = 64},
    ones(64, {device = "emu"})), line_of "never_meets" .. " __syncthreads")
end)

test("launches are limited as on a GPU", function()
  local x = ones(1, {device = "emu"})
  has(message(scale, {grid = 1, block = 2000}, x, x, 1, 1),
    "scale: launched with threads in a block 2000, expected 1 to 1024")
end)

-- ---- arguments that do not fit -------------------------------------------------------------

test("arguments are named with what was expected", function()
  local x = ones(4, {device = "emu"})
  local go = {grid = 1, block = 4}
  raises("scale: argument 3 (n) is tensor [4] float32, expected an integer",
    scale, go, x, x, x, 1)
  raises("scale: argument 3 (n) is the number 2.5, expected an integer", scale, go, x, x, 2.5, 1)
  raises("scale: argument 3 (n) is the number 2147483648, expected an integer from " ..
    "-2147483648 to 2147483647", scale, go, x, x, 1 << 31, 1)
  raises("scale: argument 4 (a) is missing, expected a number", scale, go, x, x, 4)
  raises("scale: argument 1 (y) is the number 1, expected a tensor of float32 on emu",
    scale, go, 1, x, 4, 1)
  raises("scale: 5 arguments, expected 4", scale, go, x, x, 4, 1, 2)
  raises("scale: argument 2 (x) is on cpu, expected a tensor of float32 on emu; " ..
    'hint: t:to("emu")', scale, go, x, ones(4), 4, 1)
  raises("scale: argument 2 (x) is float64, expected a tensor of float32 on emu",
    scale, go, x, ones(4, {device = "emu", dtype = "float64"}), 4, 1)
  has(message(scale, go, x, ones(4, 2, {device = "emu"}):t(), 4, 1), "contiguous first")
  has(message(kernel(path "scale.cu", "mix<float>"), go, x, x, -1, 0, 1, 1, true),
    "argument 3 (n) is the number -1, expected an integer from 0 to 4294967295")
  has(message(kernel(path "scale.cu", "mix<float>"), go, x, x, 1, 0, 1, 1, 1),
    "argument 7 (negate) is the number 1, expected true or false")
end)

test("so is the launch", function()
  local x = ones(4, {device = "emu"})
  raises("scale: the launch is nil, expected a table such as {grid=4, block=64} before " ..
    "the kernel's arguments", scale)
  raises("scale: block is nil, expected a positive whole number or up to three of them, " ..
    "{x, y, z}", scale, {grid = 1}, x, x, 4, 1)
  raises("scale: grid is a table, expected a positive whole number or up to three of them, " ..
    "{x, y, z}", scale, {grid = {1, 2, 3, 4}, block = 1}, x, x, 4, 1)
  has(message(scale, {gird = 1, block = 1}, x, x, 4, 1), "did you mean 'grid'?")
  has(message(scale, {grid = 1, block = 1, shared = -4}, x, x, 4, 1), "shared is -4")
end)

-- ---- files that are wrong ------------------------------------------------------------------

test("what the compiler says is told with the file's lines", function()
  local why = message(kernel, path "mistyped.cu", "mistyped")
  has(why, "kernel: " .. path "mistyped.cu" .. " does not compile:\n")
  has(why, "mistyped.cu:4:12: ")
  has(why, "mistyped.cu:5:")
  is(why:find("user.cuh", 1, true), nil)
end)

test("the host's code is not wanted, and the message says so", function()
  has(message(kernel, path "hosted.cu", "hosted"), "hint: tarn launches the kernel")
end)

test("types that no tensor has are refused", function()
  has(message(kernel, path "unfit.cu", "of_int"),
    "a pointer of a kernel may be float * or double *, as tensors are")
  has(message(kernel, path "unfit.cu", "not_void"), "a kernel returns void")
end)

test("so is a function that is declared and not there, more than once", function()
  for _ = 1, 2 do
    has(message(kernel, path "unfit.cu", "calls"), "unfit.cu: undefined symbol: ")
  end
end)

test("a kernel that is not there, a file that is not there", function()
  raises("kernel: " .. path "scale.cu" .. " has no kernel 'scael'; did you mean 'scale'?",
    kernel, path "scale.cu", "scael")
  raises("kernel: " .. path "sum.cu" .. " has no kernel 'other', it has sum",
    kernel, path "sum.cu", "other")
  raises("kernel: /: Is a directory", kernel, "/", "scale")
  raises("kernel: nowhere.cu: No such file or directory", kernel, "nowhere.cu", "scale")
  has(message(kernel, path "sum.cu", "x; int y"), "expected that of a kernel")
  has(message(kernel, path "sum.cu", "sum", {device = "cpu"}), 'expected "emu" or "cuda"')
  has(message(kernel, path "sum.cu", "sum", {chek = true}), "did you mean 'check'?")
end)

test("without a GPU there is no kernel on one, and the message says why", function()
  local ok, why = pcall(zeros, 1, {device = "cuda"})
  if ok then return end
  raises("kernel: " .. why:match("device cuda: .*"), kernel, path "sum.cu", "sum",
    {device = "cuda"})
end)

-- ---- the cache -----------------------------------------------------------------------------

local home = os.getenv("HOME")

local function objects()
  local names, others = 0, 0
  local list = io.popen("ls '" .. home .. "/.cache/tarn'")
  for name in list:lines() do
    if name:find("^%x+%.so$") then names = names + 1 else others = others + 1 end
  end
  list:close()
  return names, others
end

local function write(name, text)
  local file = assert(io.open(home .. "/" .. name, "w"))
  file:write(text)
  file:close()
  return home .. "/" .. name
end

test("a file is compiled again when it, or what it includes, has changed", function()
  local before = objects()
  local text = '#include "by.h"\n__global__ void times(float *x) { x[0] *= BY; }\n'
  local file = write("times.cu", text)
  for i, by in ipairs {2, 2, 3} do
    write("by.h", "#define BY " .. by)
    local x = ones(1, {device = "emu"})
    kernel(file, "times")({grid = 1, block = 1}, x)
    is(x:to("cpu")[1], by + 0.0)
    is(objects() - before, i == 3 and 2 or 1)
  end
end)

test("failures leave nothing in the cache", function()
  is(select(2, objects()), 0)
end)

-- ---- what else watches -----------------------------------------------------------------------

test("emu{check=true} checks kernels that were compiled without", function()
  local no_barrier = kernel(path "wrong.cu", "no_barrier")
  local x = ones(64, {device = "emu"})
  no_barrier({grid = 1, block = 64}, x)
  emu {check = true}
  local why = message(no_barrier, {grid = 1, block = 64}, x)
  emu {check = false}
  has(why, "race: what thread")
end)

test("the profiler counts their accesses, by their lines", function()
  local x, y = ones(64, {device = "emu"}), zeros(64, {device = "emu"})
  local report = profile(function() scale({grid = 1, block = 64}, y, x, 64, 2) end)
  is(#report.rows, 2)
  for _, row in ipairs(report.rows) do
    is(row.kernel, "scale")
    is(row.line, 7)
    is(row.requests, 2)
  end
end)

tap.done()
