-- kernel.lua: a kernel of the user's own, from a .cu file to something that can be called.
-- Chapter 11.
--
-- The file is put between two lines that look its arguments up (cuda/user.cuh) and compiled
-- into a shared object, for the emulated device by the compiler that tarn was built with, or
-- $TARN_CXX, for a GPU by nvcc, or $TARN_NVCC. What it is called with is checked in C
-- (src/repl/lua_kernel.c).
--
-- Objects lie in a cache under a name that is made of all that goes into them: the file with
-- what it includes, tarn's headers, the command. They are written under another name first.
-- The emulated device has two of each, the second instrumented for the checks and the
-- profiler; each is compiled when it is wanted.

local tarn = require "tarn"
local host = require "tarn.host"
local entry = require "tarn.entry"
local loader = require "tarn.loader"
local options = require "tarn.options"
local show = require "tarn.show"
local source = require "tarn.source"

-- Taken now: under --restricted these are gone later.
local open, rename, remove, getenv = io.open, os.rename, os.remove, os.getenv
local execute = os.execute

local function fail(format, ...) error(("kernel: " .. format):format(...), 0) end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- ---- files ----------------------------------------------------------------------------

local function read(path)
  local file, why = open(path, "rb")
  if not file then return nil, why end
  local text, problem = file:read("a")
  file:close()
  return text, problem and path .. ": " .. problem
end

local function write(path, text)
  local file, why = open(path, "wb")
  if file then
    file, why = file:write(text)
    if file then file, why = file:close() end
  end
  if not file then fail("%s", why) end
end

-- The folder of the cache: $XDG_CACHE_HOME/tarn, ~/.cache/tarn, or one in $TMPDIR.
local function cache_folder()
  local cache, home = getenv("XDG_CACHE_HOME"), getenv("HOME")
  if not cache and home then cache = home .. "/.cache" end
  if cache and cache:sub(1, 1) == "/" then
    loader.folder(cache)
    if loader.folder(cache .. "/tarn") then return cache .. "/tarn" end
  end
  local folder = (getenv("TMPDIR") or "/tmp") .. "/tarn-" .. loader.user
  local ok, why = loader.folder(folder)
  if not ok then fail("no folder for what is compiled: %s: %s", folder, why) end
  return folder
end

-- The folders to look for tarn's headers in: beside an installed program, where it was to be
-- installed, or the source that it was built of. A program that lies where it was built takes
-- the source, which may be newer than what is installed.
local function header_folders()
  local built = (loader.program .. "/"):sub(1, #loader.build + 1) == loader.build .. "/"
  local beside = loader.program:gsub("/[^/]*$", "") .. "/share/tarn/kernels"
  for _, root in ipairs {beside, loader.installed} do
    if not built and read(root .. "/cuda/user.cuh") then return {root} end
  end
  return {loader.source, loader.source .. "/src"}
end

local HEADERS = {"cuda/user.cuh", "cuda/user.h", "cuda/launch.cuh", "cuda/forms.h",
  "emu/emu.h", "emu/words.h", "emu/atomics.h", "emu/numbers.h", "emu/vectors.h",
  "emu/include/assert.h", "core/pass.h", "tarn.h"}

-- The text of all headers, for the name in the cache.
local function headers_text(folders)
  local texts = {}
  for i, name in ipairs(HEADERS) do
    for _, folder in ipairs(folders) do texts[i] = texts[i] or read(folder .. "/" .. name) end
    if not texts[i] then
      fail("%s is not in %s: tarn's headers are not installed", name, folders[1])
    end
  end
  return table.concat(texts)
end

-- ---- the command ------------------------------------------------------------------------

-- How a variant is compiled: emu, checked (instrumented), cuda. Names of files are put in by
-- compile; -w: what the compiler warns of is not what a user asked for.
local function recipe(variant)
  if variant == "cuda" then
    local nvcc = getenv("TARN_NVCC") or loader.nvcc
    if nvcc == "" then nvcc = "nvcc" end
    return nvcc, "nvcc", "-std=c++17 -O2 -w -lineinfo -arch=native -ccbin " ..
      quote((getenv("TARN_CXX") or loader.cxx):match("%S*%s*$")) ..
      " --compiler-options -fPIC,-fvisibility=hidden", "-shared -cudart static -Xlinker -Bsymbolic"
  end
  local cxx = getenv("TARN_CXX") or loader.cxx
  local flags = "-std=c++17 -gdwarf-4 -w -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti " ..
    "-fno-threadsafe-statics -ffp-contract=off -ffunction-sections -fdata-sections " ..
    "-fstack-clash-protection "
  -- DWARF 4: addr2line mistakes the files of clang's DWARF 5. -fsanitize=thread never when
  -- linking: what it calls is the program's (emu/hooks.c). Shared memory of the file's other
  -- kernels is left out: what lies behind that of this one is past the end. Stacks are probed
  -- page by page, so that a large array can't reach over the closed page into the next stack.
  return cxx, cxx, flags .. (variant == "checked" and "-O1 -fsanitize=thread" or "-O2"),
    "-shared -Wl,--gc-sections,-Bsymbolic"
end

-- Where the file's own folder is looked in, tarn's headers, and for files that are written for
-- a GPU a cuda_runtime.h that has nothing in it.
local function include_flags(self, variant, folders)
  local own = quote(self.file:match("^(.*)/") or ".")
  local flags = variant == "cuda" and " -I" .. own or " -iquote " .. own
  for _, folder in ipairs(folders) do flags = flags .. " -I" .. quote(folder) end
  return variant == "cuda" and flags or flags .. " -I" .. quote(folders[1] .. "/emu/include")
end

-- FNV-1a, 64 bits.
local function hash(text)
  local h = 0xcbf29ce484222325
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return ("%016x"):format(h)
end

-- Runs a command; its output is written to a log. Says what went wrong, as one error.
local function run(self, command, program, log)
  local ok, how, code = execute("LC_ALL=C " .. command .. " >" .. quote(log) .. " 2>&1")
  if ok then return end
  if how == "signal" or code == 130 then fail("interrupted") end
  if code == 127 then
    fail("there is no compiler '%s'; hint: %s", program, self.device == "cuda" and
      "put nvcc on PATH, or name it in TARN_NVCC" or
      "install one (Debian package g++), or name it in TARN_CXX")
  end
  error(source.problems(self, read(log) or ""), 0)
end

local runs = 0

-- What is compiled. The user's text is a file of its own, whose lines are named as the user
-- knows them.
local WRAPPER = [[
#include "cuda/user.cuh"
#include "%s"
#line 1 "%s"
TARN_USER_KERNEL(%s)
]]

-- Compiles a variant unless the cache has it; the path of the shared object.
local function compile(self, variant)
  local program, name, flags, link = recipe(variant)
  local folders = header_folders()
  local includes = include_flags(self, variant, folders)
  local own = variant == "cuda" and self.text or source.for_emu(self)
  local text = ('#line 1 "%s"\n%s\n'):format(self.file, own)
  local key = hash(table.concat({text, self.name, self.included, headers_text(folders), program,
    flags, link, tarn.version}, "\0"))
  local object = self.cache .. "/" .. key .. ".so"
  if read(object) then return object end
  runs = runs + 1
  local stem = ("%s/%s.%d.%d"):format(self.cache, key, loader.process, runs)
  local files = {text = stem .. ".cuh", source = stem .. ".cu",
    object = stem .. ".o", library = stem .. ".so", log = stem .. ".log"}
  local removed <close> = host.finally(remove, files.text, files.source, files.object,
    files.library, files.log)
  write(files.text, text)
  write(files.source, WRAPPER:format(files.text, source.BEHIND, self.name))
  local here = variant == "cuda" and "" or " -x c++ -fdebug-prefix-map=\"$PWD\"=."
  run(self, ("%s %s%s%s -DTARN_TARGET=%s -c %s -o %s"):format(program, flags, includes, here,
    variant, quote(files.source), quote(files.object)), name, files.log)
  run(self, ("%s %s %s -o %s -lm"):format(program, link, quote(files.object),
    quote(files.library)), name, files.log)
  local ok, why = rename(files.library, object)
  if not ok then fail("%s", why) end
  return object
end

-- The loaded kernel of a variant.
local function variant_of(self, variant)
  if not self.loaded[variant] then
    local object = compile(self, variant)
    local kernel, why = loader.open(object)
    if not kernel then
      remove(object)
      fail("%s: %s", self.file, (why:gsub("^.*%.so: ", "")))
    end
    self.loaded[variant] = kernel
  end
  return self.loaded[variant]
end

local function wanted(self)
  if self.device == "cuda" then return "cuda" end
  return (self.check or loader.watched()) and "checked" or "emu"
end

-- ---- the callable ------------------------------------------------------------------------

-- What a kernel knows of itself; the user sees name, file, device, check, signature.
local inside = setmetatable({}, {__mode = "k"})

local class = {
  __name = "kernel",
  __tostring = function(k)
    local lines = {}
    entry.wrap(lines, ("kernel %s in %s, on %s%s"):format(k.signature, k.file, k.device,
      k.check and ", checked" or ""), "", "  ")
    return table.concat(lines, "\n")
  end,
  __call = function(k, launch, ...)
    local self = inside[k]
    loader.launch(variant_of(self, wanted(self)), self.arguments,
      self.device == "cuda" and "cuda:0" or "emu", self.check, launch, ...)
  end,
}

-- What is known of a kernel before it is compiled.
local function read_kernel(file, name, device, check)
  local text, why = read(file)
  if not text then fail("%s", why) end
  local self = {file = file, name = name, text = text, device = device, check = check,
    loaded = {}, included = source.included(file, text, read), cache = cache_folder()}
  self.signature, self.arguments = source.describe(self)
  return self
end

-- Compiles a kernel for the checks, into the cache: nothing of it is loaded.
local function compile_only(file, name)
  compile(read_kernel(file, name, "emu", true), "checked")
end

local function check_call(file, name, opt)
  if host.restricted then fail("closed by --restricted, for it runs a compiler") end
  if type(file) ~= "string" or file == "" or file:find('[%c"\\]') then
    fail("file is %s, expected the name of a .cu file", (show.summary(file)))
  end
  if type(name) ~= "string" or not name:find("^[%a_][%w_:]*%s*%b<>$") and
    not name:find("^[%a_][%w_:]*$") then
    fail("name is %s, expected that of a kernel, such as \"scale\" or \"scale<float>\"",
      (show.summary(name)))
  end
  opt = options.check("kernel", opt, {device = "text", check = "flag"})
  local device = opt.device or (loader.device() == "cuda" and "cuda" or "emu")
  if device ~= "emu" and device ~= "cuda" then
    fail("device is %s, expected \"emu\" or \"cuda\"", show.text(device))
  end
  local why = loader.why_not(device)
  if why ~= "" then fail("device %s: not available: %s", device, why) end
  if opt.check and device ~= "emu" then fail("check is for the emulated device, device=\"emu\"") end
  return device, opt.check or false
end

-- help: kernel(file, name, {device=, check=false}) -> k
-- Compiles a kernel of your own in CUDA C++ from a .cu file; k({grid=, block=}, ...) runs it.
-- shapes: any; a kernel sees a tensor as a pointer to its contiguous elements
-- math: none  cost: a compiler's run, about a second, unless the same file was compiled before
-- errors: what the compiler says, with lines of the file; arguments that do not fit; what the
--   kernel does wrong
-- options: device  "emu" | "cuda": where it runs, and its tensors have to be; unless given,
--                   cuda with --device=cuda, emu otherwise
--          check   true: races, bounds and memory never written are errors, on emu; slow
-- note: k({grid=4, block={16, 16}, shared=1024}, x, y, 3): first the launch, extents as
--       numbers or {x, y, z}, bytes of dynamic shared memory, then the kernel's arguments:
--       tensors for float *, float4 *, double * and their like, numbers, true or false. k
--       returns when the kernel has ended. "scale<float>" names a kernel that is a template.
--       The file needs no include. Dynamic shared memory is extern __shared__ float s[]; in
--       the kernel, or DYN_SHARED(float, s). Of arrays in __shared__ the end of the last is
--       checked, of those in SHARED(float, s, [64]) the end of each. A changed file is
--       compiled by the next kernel(..). emu{check=true} and profile(f) work with it.
-- example: slow
--   > path = os.tmpname()
--   > file = io.open(path, "w")
--   > file:write[[
--   >> __global__ void scale(float *x, float a)
--   >> {
--   >>     x[threadIdx.x] *= a;
--   >> }
--   >> ]];
--   > file:close();
--   > scale = kernel(path, "scale")
--   > x = ones(3, {device="emu"})
--   > scale({grid=1, block=3}, x, 2.5)
--   > x:to("cpu")
--   tensor [3] float32 cpu
--     2.5000  2.5000  2.5000
-- see: emu, profile, backends
function tarn.kernel(file, name, opt)
  local device, check = check_call(file, name, opt)
  local self = read_kernel(file, name, device, check)
  local k = setmetatable({name = name, file = file, device = device, check = check,
    signature = self.signature}, class)
  inside[k] = self
  variant_of(self, wanted(self))
  return k
end

return {compile = compile_only}
