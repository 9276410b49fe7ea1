-- child.lua: runs a learner's Lua, or kernels, in the child process. What it is to do stands in
-- order.lua, which run_lua.lua or run_cuda.lua wrote; expected values are not among that.
--
-- What is reached is said on descriptor 3, and at the end the word that comes on standard
-- input once the learner's file is loaded: code that leaves before that has not finished. A
-- learner's Lua is restricted as by --restricted. All that is needed here is taken now: when it
-- runs, most of it is gone.

local tarn = require "tarn"
local host = require "tarn.host"
local system = require "tarn.lab.system"
local environment = require "tarn.env"
local child_cuda = require "tarn.lab.child_cuda"

local open, stdin, load, pcall, xpcall = io.open, io.stdin, load, pcall, xpcall
local say, count, limit = system.say, system.count, system.limit
local traceback = debug.traceback
local tensor, read_tensor = tarn.tensor, tarn.read
local save = host.tensor_metatable.__methods.save
local type, tostring, error, ipairs, pairs = type, tostring, error, ipairs, pairs
local math_type, getmetatable = math.type, debug.getmetatable
local rawget = rawget
local concat, pack, unpack = table.concat, table.pack, table.unpack
local gsub, gmatch, find = string.gsub, string.gmatch, string.find
local format, sub = string.format, string.sub
local exit = os.exit
local tensor_metatable = host.tensor_metatable

local child = {}

local function read(path)
  local file, why = open(path, "rb")
  if not file then error(why, 0) end
  local text = file:read("a")
  file:close()
  return text
end

-- A text of one line that means any text.
local function escaped(text)
  return (gsub(sub(text, 1, 4000), "[%c%%]", function(c) return format("%%%02x", c:byte()) end))
end

local function is_tensor(value) return getmetatable(value) == tensor_metatable end

-- ---- results ---------------------------------------------------------------------------

-- One line about a result: name, type, value. Tensors, and tables of numbers, are files.
local function line_of(value, name, stem)
  local kind = type(value)
  if kind == "table" then
    local ok, made = pcall(tensor, value, {dtype = "float64"})
    if not ok then return name .. " table" end
    value = made
  end
  if is_tensor(value) then
    save(value.device == "cpu" and value or value:to("cpu"), stem .. "." .. name .. ".npy")
    return name .. " tensor"
  end
  if kind == "number" then
    return name .. (math_type(value) == "integer" and format(" number %d", value) or
      format(" number %a", value))
  end
  if kind == "string" then return name .. " string " .. escaped(value) end
  if kind == "boolean" then return name .. " boolean " .. tostring(value) end
  return name .. " " .. (kind == "nil" and "nil" or "other " .. kind)
end

local function write_results(run, values)
  local lines, stem = {}, "out/" .. run.number
  for i, name in ipairs(run.results) do lines[i] = line_of(values[i], name, stem) end
  local file = open(stem .. ".results", "wb")
  if not file or not file:write(concat(lines, "\n"), "\n") or not file:close() then
    error("results can't be written", 0)
  end
end

-- ---- the learner's Lua -----------------------------------------------------------------

-- Takes names away that an exercise is to be solved without: functions and methods.
local function take_away(names)
  for _, name in ipairs(names or {}) do
    tarn[name] = nil
    environment.public[name] = nil
    tensor_metatable.__methods[name] = nil
  end
end

-- Finalizers run where nothing is counted.
local function take_finalizers()
  local original = environment.own.setmetatable
  local function without(value, meta)
    if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
      error("setmetatable: there is no __gc in an exercise", 0)
    end
    return original(value, meta)
  end
  environment.own.setmetatable, _G.setmetatable = without, without
  tensor_metatable.__metatable = false
end

local function argument(given, run)
  if given.npy then return read_tensor(format("in/%d.%s.npy", run.number, given.name)) end
  return given.value
end

-- The function that a run calls, of what the file returned.
local function entry_of(loaded, name)
  local f = loaded
  if type(loaded) == "table" and name then f = loaded[name] end
  if type(f) == "function" then return f end
  if type(loaded) ~= "table" then
    error("the file returns " .. (loaded == nil and "nothing" or "a " .. type(loaded)) ..
      ", expected " .. (name and "a table with the function " .. name or "a function"), 0)
  end
  error("the table that the file returns has no function " .. tostring(name), 0)
end

local function run_one(run, loaded)
  local values = {}
  for i, given in ipairs(run.arguments) do values[i] = argument(given, run) end
  local f = entry_of(loaded, run.entry)
  say("call " .. run.number .. "\n")
  count()
  local results = pack(f(unpack(values, 1, #run.arguments)))
  write_results(run, results) -- may call the learner's metamethods
  say(format("cost %d instructions %d\n", run.number, count(true)))
end

-- A message about a name that is not there says so if it was taken away.
local away = {}
local function about_name(text)
  for _, name in ipairs(away) do
    if find(text, "'" .. name .. "'", 1, true) then
      return gsub(text, ": did you mean.*", "") .. ": this exercise is solved without it"
    end
  end
  return text
end

-- The message of an error with the line of the learner's file where it happened.
local learners_file
local function explain(problem)
  local text = type(problem) == "string" and about_name(problem) or
    "error object: " .. tostring(problem)
  if find(text, "^[^\n]-:%d+:") then return text end
  for name, line in gmatch(traceback("", 2), "\n%s*([^\n:]+):(%d+): in ") do
    if name == learners_file then return name .. ":" .. line .. ": " .. text end
  end
  return text
end

local function protected_run(run, f, ...)
  say(format("begin %d\n", run.number))
  local ok, why = xpcall(f, explain, run, ...)
  if not ok then say(format("fail %d %s\n", run.number, escaped(why))) end
  say(format("end %d\n", run.number))
end

local function load_file(order)
  local chunk, why = load(read(order.file), "@" .. order.file, "t", environment.env)
  if not chunk then error(why, 0) end
  return chunk()
end

local function run_lua(order)
  take_away(order.without)
  take_finalizers()
  learners_file, away = order.file, order.without or away
  limit(order.memory)
  count() -- coroutines that are made while loading are counted too
  local ok, loaded = xpcall(load_file, explain, order)
  if not ok then
    say("unloadable " .. escaped(loaded) .. "\n")
    exit(1)
  end
  say "loaded\n"
  local word = stdin:read("l")
  for _, run in ipairs(order.runs) do protected_run(run, run_one, loaded) end
  limit()
  say("done " .. word .. "\n")
end

-- ---- the program -----------------------------------------------------------------------

function child.main(arguments)
  local order = load(read("order.lua"), "=order", "t", {})()
  if arguments[1] == "--child=lua" then
    run_lua(order)
  else
    child_cuda.run(order, {say = say, escaped = escaped, protected_run = protected_run})
  end
  return 0
end

return child
