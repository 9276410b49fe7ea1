-- signatures.lua: how functions are called, which options they take, and which words the
-- options may be.
--
-- Options stand in the signatures, `prefix(q, k, v, {phi="elu1", method=, ...})`; words
-- stand here. Tests hold both to what the functions themselves accept.

local tarn = require "tarn"
local host = require "tarn.host"
local names = require "tarn.names"
local profiler = require "tarn.profiler"

local getmetatable, getinfo, getlocal = debug.getmetatable, debug.getinfo, debug.getlocal
local rawget, type = rawget, type

local signatures = {}

-- ---- options and their words --------------------------------------------------------------

-- The names of the options in a signature, in its order.
function signatures.options(signature)
  local found = {}
  for braces in signature:gmatch("%b{}") do
    if braces:find("[%w_]+%s*=") then found = {} end
    for name in braces:gmatch("([%a_][%w_]*)%s*=") do found[#found + 1] = name end
  end
  return found
end

local function names_of(list)
  local found = {}
  for i, entry in ipairs(list) do found[i] = entry.name end
  return found
end

local maps = names_of(tarn.phis())
local similarities = {"softmax", "rbf", table.unpack(maps)}
local types = {"float32", "float64"}
local devices = {"cpu", "emu", "cuda"}
local implementations = names_of(tarn.backends())
local kernels = {"fast", "plain", "k1", "k2", "k3", "k4", "tf32", "tf32k2",
  "bf16", "bf16k2"}

-- What the value of an option may be, where that is one of a few words.
signatures.words = {
  phi = maps,
  by = similarities,
  method = {"chunked", "sequential", "scan"},
  precision = {"accurate", "fast", "tf32", "bf16"},
  dtype = types, dtypes = types,
  device = devices, devices = devices,
  gpu = profiler.gpus(), order = {"forward", "reversed", "random"},
  impl = kernels, impls = implementations,
}

-- The same for arguments: those of functions in `tarn`, and of methods of tensors.
signatures.argument_words = {
  phi = maps,
  gradcheck = {"sim", "assoc", "prefix", "rnn"},
  to = {"float32", "float64", table.unpack(devices)},
}

-- ---- finding the entry of what is called ----------------------------------------------------

-- What kind of tarn's own values a userdata is: "tensor", "cell" or nil.
function signatures.kind(value)
  if type(value) ~= "userdata" then return nil end
  local meta = getmetatable(value)
  if meta == host.tensor_metatable then return "tensor" end
  return meta and rawget(meta, "__methods") and "cell" or nil
end

-- The entry of a method of that kind of value.
function signatures.of_method(kind, name)
  return names.by_key[(kind == "cell" and "st:" or "t:") .. name]
end

-- The entry of a value of tarn's, or nil.
function signatures.of_value(value)
  for name, entry in next, names.by_name do
    local own = rawget(tarn, name)
    if own ~= nil and rawequal(own, value) then return entry end
  end
  for name, map in next, tarn.phi do
    if rawequal(map, value) then
      return {signature = "phi." .. name .. "(t)", returns = "tensor"}
    end
  end
  if rawequal(rawget(tarn.rnn, "load"), value) then return names.by_key["rnn.load"] end
end

-- The kind of value that a call of the entry gives first, if it is one of tarn's.
function signatures.result(entry)
  local gives = entry.returns or ""
  if gives:find("tensor") or gives:find("^out") then return "tensor" end
  return gives:find("^st") and "cell" or nil
end

-- A function of the user's that is called by the path `name`, by its parameters; nil for
-- one in C.
function signatures.of_parameters(name, f)
  local info = getinfo(f, "Su")
  if info.what == "C" then return nil end
  local parameters = {}
  for i = 1, info.nparams do parameters[i] = getlocal(f, i) end
  if info.isvararg then parameters[#parameters + 1] = "..." end
  return name .. "(" .. table.concat(parameters, ", ") .. ")"
end

return signatures
