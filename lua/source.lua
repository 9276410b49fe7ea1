-- source.lua: what can be read in the text of a .cu file, and in what a compiler says of it,
-- for kernel.lua: the kernels that it has, their arguments, errors in few words.

local host = require "tarn.host"

local source = {}

-- How the line behind the user's file is called, in the compiler's messages.
source.BEHIND = "behind the file"

-- The text without comments; their lines stay, so that lines can be counted.
local function strip(text)
  local out, at = {}, 1
  while true do
    local from, _, sign = text:find("/([/*])", at)
    if not from then break end
    out[#out + 1] = text:sub(at, from - 1)
    local first, last = text:find(sign == "/" and "\n" or "*/", from + 2, true)
    at = sign == "/" and first or (last or #text) + 1
    at = at or #text + 1
    out[#out + 1] = " " .. text:sub(from, at - 1):gsub("[^\n]", "")
  end
  return table.concat(out) .. text:sub(at)
end

-- The kernels of a file: name -> what stands in its parentheses.
local function kernels_of(text)
  local found = {}
  text = text:gsub("__launch_bounds__%s*%b()", " ")
  for name, parameters in text:gmatch("__global__[^;{}()]-([%a_][%w_]*)%s*(%b())") do
    found[name] = parameters:sub(2, -2):gsub("%s+", " ")
  end
  return found
end

-- The names of arguments, "x" of "const float *__restrict__ x"; false where there is none.
local function argument_names(parameters)
  local names = {}
  for one in parameters:gmatch("[^,]+") do
    local type_words, name = one:match("^(.*[%s*&])([%a_][%w_]*)%s*$")
    names[#names + 1] = name and type_words:find("%a") and name or false
  end
  return names
end

local function line_of(text, position)
  return select(2, text:sub(1, position - 1):gsub("\n", "")) + 1
end

-- extern __shared__ names memory whose size a host compiler can't know, DYN_SHARED(float, s) in
-- a kernel is the same. Outside of all braces it can't be.
local EXTERN = "extern[ \t]+__shared__[ \t]+([^;\n%[]-)([%a_][%w_]*)[ \t]*%[[ \t]*%][ \t]*;"

local function dynamic(words, name)
  local kind = words:gsub("__align__%s*%b()", ""):gsub("alignas%s*%b()", "")
  return ("DYN_SHARED(%s, %s);"):format(kind:match("^%s*(.-)%s*$"), name)
end

local function is_outside(text, position)
  local before = text:sub(1, position - 1)
  return select(2, before:gsub("{", "")) == select(2, before:gsub("}", ""))
end

-- The text as the emulated device takes it, line by line the same.
function source.for_emu(self)
  local text = strip(self.text)
  local at, _, words, name = text:find(EXTERN)
  if at and is_outside(text, at) then
    error(("kernel: %s:%d: extern __shared__ outside of a kernel is not possible on the " ..
      "emulated device; put %s into the kernel"):format(self.file, line_of(text, at),
      dynamic(words, name)), 0)
  end
  return (self.text:gsub(EXTERN, dynamic))
end

local function list_names(kernels)
  local names = {}
  for name in pairs(kernels) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

-- Says that a file has no such kernel.
local function no_kernel(self, name, kernels)
  local meant, has = host.nearest(name, kernels), list_names(kernels)
  return ("kernel: %s has no kernel '%s'%s"):format(self.file, name,
    meant and "; did you mean '" .. meant .. "'?" or
    has ~= "" and ", it has " .. has or "; one begins with __global__ void")
end

-- Says that a function with this name is no kernel, or that a template lacks its types. A macro
-- of the file may make a kernel of anything.
local function check_kind(self, name, text)
  local body = "%f[%w_]" .. name .. "%s*%b()%s*{"
  local made_by_macro = text:find("#%s*define[^\n]*__global__")
  if text:find("[%w_*&]%s+" .. body) and not kernels_of(text)[name] and not made_by_macro then
    error(("kernel: %s: '%s' is no kernel; one begins with __global__ void"):format(self.file,
      name), 0)
  end
  if text:find("template%s*%b<>%s*__global__[^;{}]-" .. body) and not self.name:find("<") then
    error(("kernel: %s: %s is a template; name it with its types, such as \"%s<float>\""):format(
      self.file, name, name), 0)
  end
end

-- How the kernel is called, "scale(float *x, int n)", and the names of its arguments. Where
-- a macro or another file may have the kernel, the compiler has to say whether it is there.
function source.describe(self)
  local text = strip(self.text)
  local name = self.name:match("[%w_]+%f[<\0]") or self.name
  local kernels = kernels_of(text)
  local there = kernels[name] or self.included ~= "" or
    text:find("%f[%w_]" .. name .. "%f[^%w_]")
  if not there then
    error(no_kernel(self, name, kernels), 0)
  end
  check_kind(self, name, text)
  local parameters = kernels[name]
  return self.name .. "(" .. (parameters or "..") .. ")", argument_names(parameters or "")
end

-- The text of all files that a file includes by "name", and that these include.
function source.included(path, text, read, seen)
  seen = seen or {}
  local folder, all = path:match("^.*/") or "", {}
  for name in strip(text):gmatch('#%s*include%s*"([^"\n]+)"') do
    local other = name:sub(1, 1) == "/" and name or folder .. name
    local content = not seen[other] and read(other)
    seen[other] = true
    if content then
      all[#all + 1] = content .. source.included(other, content, read, seen)
    end
  end
  return table.concat(all)
end

-- ---- what a compiler says ------------------------------------------------------------------

local MOST_ERRORS, MOST_LINES = 3, 8

-- "file:12:5: error: words", or nvcc's "file(12): error: words".
local function error_in(line)
  local place, words = line:match("^(.-:%d+:%d+): [%a ]*error: (.*)$")
  if place then return place, (words:gsub(" %[%-[^%]]*%]$", "")) end
  local file, number, said = line:match("^(.-)%((%d+)%): error[^:]*: (.*)$")
  if file then return file .. ":" .. number, said end
end

-- Words of CUDA that one may have meant.
local CUDA = {"__syncthreads", "__syncwarp", "__shfl_sync", "__shfl_xor_sync", "__shfl_up_sync",
  "__shfl_down_sync", "__ballot_sync", "__any_sync", "__all_sync", "threadIdx", "blockIdx",
  "blockDim", "gridDim", "warpSize", "atomicAdd", "atomicMax", "atomicMin", "atomicCAS",
  "make_float4", "__expf", "__ldg", "__popc", "SHARED", "DYN_SHARED"}
local cuda_words = {}
for _, word in ipairs(CUDA) do cuda_words[word] = true end

-- The name that a compiler does not know, of "'x' was not declared in this scope".
local function unknown_name(words)
  return words:match("^'([%w_]+)' was not declared") or
    words:match("undeclared identifier '([%w_]+)'") or
    words:match("identifier \"([%w_]+)\" is undefined")
end

-- What a compiler says, without the names that are tarn's own and nobody's business.
local function without_ours(words)
  if not words:find("did you mean '[%w_]*tarn") then return words end
  words = words:gsub(";? did you mean '[^']*'%??", "")
  local name = unknown_name(words)
  local meant = name and host.nearest(name, cuda_words)
  return words .. (meant and "; did you mean '" .. meant .. "'?" or "")
end

-- An error in words of the user's file; nil for one in tarn's lines that follows from others.
local function in_own_words(self, place, words)
  local assertion = words:match("static assertion failed:? ?\"?([^\"]*)")
    or words:match("static_assert failed.-\"([^\"]*)")
  if place:find("cuda/user%.cuh") then return assertion and self.file .. ": " .. assertion end
  if not place:find(source.BEHIND, 1, true) then return place .. ": " .. without_ours(words) end
  local name, unknown = self.name:match("^[%w_]+"), unknown_name(words)
  if unknown == name then return self.file .. ": there is no kernel '" .. name .. "'" end
  if unknown then return ("%s: %s: there is no type '%s'"):format(self.file, self.name, unknown) end
  if words:find("user_signature", 1, true) then return nil end
  return self.file .. ", at its end: " .. words
end

local function first_lines(log)
  local lines = {}
  for line in log:gmatch("[^\n]+") do
    if #lines < MOST_LINES then lines[#lines + 1] = "  " .. line end
  end
  return lines
end

-- What is wrong with a file that did not compile, from the compiler's log.
function source.problems(self, log)
  local text = strip(self.text)
  local lines, more = {}, 0
  for line in log:gmatch("[^\n]+") do
    local place, words = error_in(line)
    local problem = place and in_own_words(self, place, words)
    if problem and #lines < MOST_ERRORS then
      lines[#lines + 1] = "  " .. problem
    elseif problem then
      more = more + 1
    end
  end
  if more > 0 then lines[#lines + 1] = ("  and %d more"):format(more) end
  if #lines == 0 then lines = first_lines(log) end
  if text:find("<<<", 1, true) then
    lines[#lines + 1] = "  hint: tarn launches the kernel, k({grid=4, block=64}, ..); leave " ..
      "<<<..>>> and the rest of the host's code out"
  end
  return ("kernel: %s does not compile:\n"):format(self.file) .. table.concat(lines, "\n")
end

return source
