-- run_arguments.lua: the arguments of an exercise's function in C or CUDA: what the manifest
-- declares, what a case's inputs make of it, and the files that a harness reads.
--
-- A parameter is {"const float *q", "N", "D"}: a declaration in C, then the extents of what it
-- points to, numbers, letters or expressions of letters. A pointer to const is an input, any
-- other a result, also if a case gives what it holds before the call.

local tarn = require "tarn"
local system = require "tarn.lab.system"
local compare = require "tarn.lab.run_compare"
local process = require "tarn.lab.run_process"

local arguments = {}

local TYPES = {float = "float32", double = "float64", int = "float64", size_t = "float64"}


-- read(parameters) -> a list of {name, type, declaration, pointer, constant, extents, scratch}.
function arguments.read(parameters)
  local list = {}
  for i, p in ipairs(parameters) do
    local text = type(p) == "table" and p[1] or p
    local plain, constant = text:gsub("^%s*const%s+", "")
    local kind, star, name = plain:match("^%s*([%a_][%w_]*)%s*(%*?)%s*([%a_][%w_]*)%s*$")
    if not name or not TYPES[kind] then
      error(("parameter %d is '%s', expected a declaration such as 'const float *q'; types " ..
        "are float, double, int, size_t"):format(i, text), 0)
    end
    list[i] = {name = name, type = kind, declaration = text, pointer = star == "*",
      constant = constant == 1, extents = type(p) == "table" and {table.unpack(p, 2)} or {},
      scratch = type(p) == "table" and p.scratch, dtype = TYPES[kind]}
  end
  return list
end

-- The shape of an input as a table; of nested tables too.
local function shape_of(value)
  if type(value) == "userdata" then return value.shape end
  return select(2, compare.flatten(value))
end

-- The values of letters: what inputs say, and what the shapes of arrays say beyond it.
local function letters_of(list, inputs)
  local letters = setmetatable({}, {__index = math})
  for name, value in pairs(inputs) do
    if type(value) == "number" then letters[name] = value end
  end
  for _, p in ipairs(list) do
    if p.pointer and inputs[p.name] ~= nil then
      local shape = shape_of(inputs[p.name])
      for d, extent in ipairs(p.extents) do
        local is_letter = type(extent) == "string" and extent:find("^[%a_][%w_]*$")
        if is_letter and rawget(letters, extent) == nil then letters[extent] = shape[d] end
      end
    end
  end
  return letters
end

local function extent_value(extent, letters)
  if type(extent) == "number" then return extent end
  local value = assert(load("return " .. extent, "=extent", "t", letters))()
  return assert(math.tointeger(value), "the extent " .. extent .. " is no whole number")
end

-- complete(list, inputs) -> the letters; each is put into the inputs that lack it, for specs
-- and limits.
function arguments.complete(list, inputs)
  local letters = letters_of(list, inputs)
  for name, value in pairs(letters) do
    if inputs[name] == nil then inputs[name] = value end
  end
  return letters
end

-- shape(p, letters) -> the extents of an array as numbers, and their product.
function arguments.shape(p, letters)
  local shape, count = {}, 1
  for d, extent in ipairs(p.extents) do
    shape[d] = extent_value(extent, letters)
    count = count * shape[d]
  end
  return shape, count
end

local function check_input(p, value, count)
  local numel = type(value) == "userdata" and value:numel() or #compare.flatten(value)
  if numel ~= count then
    error(("input %s has %d elements, its extents say %d"):format(p.name, numel, count), 0)
  end
end

-- A tensor of the type that a harness reads.
local function as_tensor(value, dtype)
  if type(value) ~= "userdata" then return tarn.tensor(value, {dtype = dtype}) end
  return value:to(dtype):contiguous()
end

-- write(list, inputs, stem): the files STEM.values and STEM.NAME.npy of a case.
function arguments.write(list, inputs, stem)
  local letters, values = arguments.complete(list, inputs), {}
  for i, p in ipairs(list) do
    local value = inputs[p.name]
    if p.pointer then
      local _, count = arguments.shape(p, letters)
      values[i] = ("%d"):format(count)
      if value ~= nil then
        check_input(p, value, count)
        as_tensor(value, p.dtype):save(stem .. "." .. p.name .. ".npy")
      elseif p.constant then
        error("inputs have no " .. p.name, 0)
      end
    else
      local number = value ~= nil and value or letters[p.name]
      if type(number) ~= "number" then error("inputs have no " .. p.name, 0) end
      values[i] = math.type(number) == "integer" and ("%d"):format(number) or
        ("%.17g"):format(number)
    end
  end
  process.write(stem .. ".values", table.concat(values, "\n") .. "\n")
end

-- results(list, returns) -> what a call changes: a list of {name, dtype, unwritten, p}.
function arguments.results(list, returns)
  local found = {}
  for _, p in ipairs(list) do
    if p.pointer and not p.constant and not p.scratch then
      found[#found + 1] = {name = p.name, dtype = p.dtype, p = p}
    end
  end
  if returns then found[#found + 1] = {name = "returned", dtype = TYPES[returns]} end
  return found
end

local LARGEST_RESULT = 64 << 20

-- read_result(path) -> the tensor of a file that a child left, or nil and what is wrong with
-- it: it may have left anything.
function arguments.read_result(path)
  if system.kind(path) ~= "file" then return nil, "was not written" end
  if system.stat(path).size > LARGEST_RESULT then return nil, "is too large" end
  local ok, got = pcall(tarn.read, path)
  if not ok then return nil, "can't be read" end
  return got
end

-- result_files(results, folder, number) -> of each result of a run: path, dtype, parameter.
function arguments.result_files(results, folder, number)
  local files = {}
  for _, result in ipairs(results) do
    files[result.name] = {path = ("%s/%d.%s.npy"):format(folder, number, result.name),
      dtype = result.dtype, parameter = result.p}
  end
  return files
end

-- shaped(file, got, run) -> what was read from such a file in the shape of its parameter; nil
-- if it has another number of elements.
function arguments.shaped(file, got, run)
  if not file.parameter then return got:numel() == 1 and got:reshape(1):item() or nil end
  local shape, count = arguments.shape(file.parameter, run.inputs)
  if got:numel() ~= count then return nil end
  return (#shape > 0 and got:reshape(shape) or got):to(file.dtype)
end

return arguments
