-- kernel_words.lua: what a user's own kernel may say: words of CUDA, vectors, shared memory in
-- CUDA's way; and what is told where a word is wrong.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local compiler = os.getenv("TARN_CXX") or require("tarn.loader").cxx
local there = pcall(zeros, 1, {device = "emu"}) and
  os.execute(compiler .. " --version >/dev/null 2>&1")
if not there then
  tap.skip("words of CUDA in kernels of a user's own", "no emulated device, or no compiler")
  return tap.done()
end

local function path(name) return folder:gsub("lua/$", "kernels/") .. name end
local function zeros_there(...) return zeros(..., {device = "emu"}) end
local both = {false, true} -- unchecked, checked

local function message(f, ...)
  local ok, why = pcall(f, ...)
  assert(not ok, "it did not fail")
  return why
end

local function has(text, piece)
  if not text:find(piece, 1, true) then error(("%q is not in: %s"):format(piece, text), 2) end
end

-- "vectors.cu:5:", the line that has a mark.
local function line_of(name, mark)
  local n = 0
  for line in io.lines(path(name)) do
    n = n + 1
    if line:find("// " .. mark, 1, true) then return ("%s:%d: "):format(name, n) end
  end
end

local function row_of(report, space, op)
  for _, row in ipairs(report.rows) do
    if row.space == space and row.op == op then return row end
  end
end

-- ---- words --------------------------------------------------------------------------------

test("functions of numbers", function()
  for _, check in ipairs(both) do
    local y = zeros_there(8)
    kernel(path "words.cu", "numbers", {check = check})({grid = 1, block = 1}, y, 7)
    is(y:to("cpu"), {1.0, 2.5, 7.0, 2.0, 43.0, 1.5, -18.0, 1.0})
  end
end)

test("atomics of integers and floats", function()
  for _, check in ipairs(both) do
    local y = zeros_there(11)
    kernel(path "words.cu", "atomics", {check = check})({grid = 1, block = 64}, y)
    local got = y:to("cpu"):totable()
    is(got[8] >= 1 and got[8] <= 64, true) -- whose turn it was is left open
    got[8] = 0
    is(got, {2016.0, -64.0, 63.0, -63.0, 63.0, 0.0, -64.0, 0, 1.0, 4.0, 32.0})
  end
end)

test("an atomic past the end is found where the kernel has it", function()
  local y = zeros_there(8)
  for _, check in ipairs(both) do
    local atomics = kernel(path "words.cu", "atomics", {check = check})
    has(message(atomics, {grid = 1, block = 64}, y), "words.cu:34: byte 40 of an array of 32 bytes")
  end
end)

test("an atomic is one load and one store of a request", function()
  local y = zeros_there(11)
  local atomics = kernel(path "words.cu", "atomics")
  local report = profile(function() atomics({grid = 1, block = 64}, y) end)
  for _, row in ipairs(report.rows) do
    if row.line == 34 then is(row.requests, 2) end
  end
end)

test("assert ends the kernel and not the program", function()
  local y = zeros_there(4)
  has(message(kernel(path "words.cu", "sure"), {grid = 1, block = 4}, y, 2),
    "thread (2, 0, 0): tests/kernels/" .. line_of("words.cu", "NOT SO") ..
    "assert(threadIdx.x < n) fails")
  kernel(path "words.cu", "sure")({grid = 1, block = 4}, y, 4)
  is(y:to("cpu"), {1.0, 1.0, 1.0, 1.0})
end)

-- ---- vectors ------------------------------------------------------------------------------

test("vectors arrive whole, as pointers of a kernel too", function()
  for _, check in ipairs(both) do
    local x, y = range(0, 127):to("emu"), zeros_there(128)
    kernel(path "vectors.cu", "scale", {check = check})({grid = 1, block = 32}, y, x, 3)
    is(maxdiff(y:to("cpu"), 3 * range(0, 127)), 0.0)
    local z = zeros(2, {device = "emu", dtype = "float64"})
    kernel(path "vectors.cu", "norms", {check = check})({grid = 1, block = 2},
      tensor({3, 4, 5, 12}, {dtype = "float64", device = "emu"}), z)
    is(z:to("cpu"), {25.0, 169.0})
  end
end)

test("a float4 is one access of 16 bytes: a warp's are 16 sectors, none of them twice", function()
  local x, y = zeros_there(128), zeros_there(32)
  local sums = kernel(path "vectors.cu", "sums")
  local report = profile(function() sums({grid = 1, block = 32}, x, y, 0) end)
  local load = row_of(report, "global", "load")
  is({load.width, load.requests, load.bytes, load.actual, load.least}, {16, 1, 512, 16, 16})
end)

test("fours in shared memory go by quarters of a warp", function()
  local column, y = kernel(path "vectors.cu", "column"), zeros_there(32)
  -- Eight lanes want 32 words. Side by side they are in 32 banks; two fours apart, in 16 of them.
  for pitch, actual in pairs {[0] = 4, [1] = 4, [2] = 8, [3] = 4} do
    local load = row_of(profile(function() column({grid = 1, block = 32}, y, pitch) end),
      "shared", "load")
    is({pitch, load.requests, load.actual, load.least}, {pitch, 1, actual, 4})
  end
end)

test("an access begins at a multiple of its bytes, or is an error as on a GPU", function()
  local x, y = zeros_there(132), zeros_there(32)
  for _, check in ipairs(both) do
    local sums = kernel(path "vectors.cu", "sums", {check = check})
    has(message(sums, {grid = 1, block = 32}, x, y, 1), line_of("vectors.cu", "FOURS") ..
      "16 bytes at once at 0x")
    sums({grid = 1, block = 32}, x, y, 4)
  end
  has(message(kernel(path "vectors.cu", "crooked", {check = true}), {grid = 1, block = 1}, x),
    line_of("vectors.cu", "CROOKED") .. "8 bytes at once at 0x")
end)

-- ---- dynamic shared memory ------------------------------------------------------------------

test("extern __shared__ in a kernel is its dynamic shared memory", function()
  for _, check in ipairs(both) do
    local x = range(1, 64):to("emu")
    kernel(path "external.cu", "external", {check = check})({grid = 1, block = 64, shared = 256}, x)
    is(maxdiff(x:to("cpu"), range(64, 1, -1)), 0.0)
    kernel(path "external.cu", "aligned<float>", {check = check})(
      {grid = 1, block = 64, shared = 256}, x)
    is(maxdiff(x:to("cpu"), range(128, 2, -2)), 0.0)
  end
  has(message(kernel(path "external.cu", "external"), {grid = 1, block = 64, shared = 128},
    zeros_there(64)), "external.cu:5: byte 128 of 128 bytes of shared memory: past the end")
end)

test("outside of a kernel it is refused, with what to write", function()
  raises("kernel: " .. path "outside.cu" .. ":2: extern __shared__ outside of a kernel is not " ..
    "possible on the emulated device; put DYN_SHARED(float, row); into the kernel",
    kernel, path "outside.cu", "outside")
end)

-- ---- names that are wrong -------------------------------------------------------------------

test("a template without its types, and a function that is no kernel, are told by name", function()
  raises("kernel: " .. path "words.cu" .. ": doubled is a template; name it with its types, such " ..
    'as "doubled<float>"', kernel, path "words.cu", "doubled")
  raises("kernel: " .. path "words.cu" .. ": 'twice' is no kernel; one begins with __global__ " ..
    "void", kernel, path "words.cu", "twice")
  has(message(kernel, path "words.cu", "doubled<flaot>"),
    "words.cu: doubled<flaot>: there is no type 'flaot'")
end)

test("a word of CUDA that is not quite right has a suggestion of CUDA's, none of tarn's", function()
  local why = message(kernel, path "misspelt.cu", "misspelt")
  has(why, "misspelt.cu:4:5: ")
  has(why, "'syncthreads'")
  is(why:find("tarn_", 1, true), nil)
end)

test("what follows in tarn's own lines from an error of the file is left out", function()
  local why = message(kernel, path "unfit.cu", "not_void")
  is(select(2, why:gsub("\n", "")), 1)
  has(why, "unfit.cu: a kernel returns void")
end)

tap.done()
