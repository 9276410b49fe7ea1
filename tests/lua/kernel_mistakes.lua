-- kernel_mistakes.lua: what is said of a user's kernel with one mistake, such as learners make:
-- kernel, block, thread, the file's line and what is wrong; and the session goes on.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is = tap.test, tap.is

local compiler = os.getenv("TARN_CXX") or require("tarn.loader").cxx
local there = pcall(zeros, 1, {device = "emu"}) and
  os.execute(compiler .. " --version >/dev/null 2>&1")
if not there then
  tap.skip("mistakes in kernels of a user's own", "no emulated device, or no compiler")
  return tap.done()
end

local file = folder:gsub("lua/$", "kernels/") .. "mistakes.cu"

-- The line of a kernel's mistake: the first BUG behind its name; nil if there is none.
local function line_of(name)
  local n, inside = 0, false
  for line in io.lines(file) do
    n = n + 1
    if line:find("__global__", 1, true) then inside = line:find(" " .. name .. "(", 1, true) end
    if inside and line:find("// BUG", 1, true) then return n end
  end
end

local sound = kernel(file, "sound")
local checked_sound = kernel(file, "sound", {check = true})

local function goes_on()
  for _, k in ipairs {sound, checked_sound} do
    local x = ones(64, {device = "emu"})
    k({grid = 1, block = 64}, x, 64)
    is(x:to("cpu")[64], 1.0)
  end
end

-- What is said of a launch; `check`: by the checks alone, or by the device itself as well.
local function said(name, check, grid, n)
  local k = kernel(file, name, {check = check})
  local ok, why = pcall(k, {grid = grid or 1, block = 64, shared = 1024},
    ones(64, {device = "emu"}), n or 64)
  assert(not ok, "nothing was found in " .. name)
  return why
end

local function says(name, words, check, grid)
  local why, line = said(name, check, grid), line_of(name)
  local place = line and "kernels/mistakes.cu:" .. line .. ": " or "kernels/mistakes.cu:"
  for _, piece in ipairs {place, words} do
    if not why:find(piece, 1, true) then error(("%q is not in: %s"):format(piece, why), 0) end
  end
  assert(why:find("^" .. name .. ", block %(%d, 0, 0%), thread %(%d+, 0, 0%): "), why)
  goes_on()
end

local function both(name, words)
  says(name, words, false)
  says(name, words, true)
end

test("a kernel without a mistake runs, its variables of the device, vectors and assert", goes_on)

test("a tree without barriers, and blocks that add to one number, are races", function()
  says("tree_without_barriers", "race: what thread ", true)
  says("sum_of_blocks", "blocks of one launch are not ordered", true, 4)
end)

test("an index below 0 is told by how far it is before which array", function()
  says("before_the_array", "4 bytes before the start of an array of 256 bytes", true)
  says("before_fixed_shared", "4 bytes before the start of 256 bytes of shared memory", true)
  says("before_dynamic_shared", "4 bytes before the start of 1024 bytes of shared memory", true)
end)

test("cp.async from past the end is told by its own line", function()
  both("copy_from_past_the_end", "byte 256 of an array of 256 bytes: past the end")
end)

test("memory that was given back is no array any more", function()
  for _, check in ipairs {false, true} do
    local k = kernel(file, "after_free", {check = check})
    local x, y = ones(64, {device = "emu"}), ones(64, {device = "emu"})
    k({grid = 1, block = 64}, x, 64)
    x = nil
    collectgarbage()
    collectgarbage()
    local ok, why = pcall(k, {grid = 1, block = 64}, y, 1)
    assert(not ok and why:find("mistakes.cu:" .. line_of("after_free"), 1, true) and
      why:find("is device memory, but not allocated", 1, true), why)
    goes_on()
  end
end)

test("a variable of the host's is none of the device's, unless it says __device__", function()
  says("variable_of_the_host", "one of the device begins with __device__", true)
end)

test("sums that begin nowhere are reported", function()
  says("counts_from_nothing", "reads shared memory that nobody has written yet", true)
end)

test("vectors, and longer types, want addresses of their multiples", function()
  both("four_at_once", "16 bytes at once at 0x")
  both("two_at_once", "which is no multiple of 8")
  says("as_double", "8 bytes at once at 0x", true)
end)

test("48 KB of shared memory may have a fixed size, as nvcc has it", function()
  both("much_fixed_shared", "49156 bytes of shared memory of a fixed size in this block, " ..
    "expected at most 49152; DYN_SHARED may have more")
  is(said("much_plain_shared", false), "much_plain_shared: launched with 49156 bytes of " ..
    "__shared__ arrays, expected at most 49152 on every GPU; DYN_SHARED may have more")
  goes_on()
end)

test("local variables that are too many are found, whatever they jump over", function()
  both("much_local", "the thread's local variables need more than 65536 bytes")
  both("recursion", "the thread's local variables need more than 65536 bytes")
end)

test("assert and traps end the launch alone", function()
  both("assertion", "assert(x[threadIdx.x] > n) fails")
  both("trap", "__trap")
  both("builtin_trap", "the kernel is stopped by __builtin_trap")
end)

test("a division by 0, a barrier in a branch, lanes that a mask leaves out", function()
  both("quotient", "an integer is divided by 0")
  both("barrier_in_a_branch", "__syncthreads, where 44 of 64 threads wait")
  says("lanes_left_out", "a warp operation by lane 16 with mask 0000ffff", false)
end)

tap.done()
