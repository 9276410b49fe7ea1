-- env.lua: the environment of the user's own code, in scripts and at the prompt.
--
-- Chunks of the user have the proxy below as _ENV. It holds nothing itself:
--   - what is read comes from `own` (the few functions of Lua's that must know the proxy),
--     then from Lua's real globals, then from the public names of tarn; reading what is
--     in none of them is an error that says which name may have been meant;
--   - what is written goes to the real globals, where modules expect it; making a new
--     variable inside a function is an error, for it is a misspelt local most of the time.
-- Modules that are required have Lua's real globals as ever, unguarded: those that try
-- whether a name exists work. A metatable that someone puts on _G stays in force.

local tarn = require "tarn"
local host = require "tarn.host"
local meant = require "tarn.meant"
local names = require "tarn.names"
local show = require "tarn.show"
local help = require "tarn.help"
local commands = require "tarn.commands"
local complete = require("tarn.complete").complete
local transcript = require "tarn.transcript"
local doctest = require "tarn.doctest"

local getinfo, getlocal = debug.getinfo, debug.getlocal
local get, set = host.get, host.set
local rawget, rawset, getmetatable, type, next = rawget, rawset, getmetatable, type, next
local real = _G

-- The public names that are global, filled by `open` when every module is there.
local public = {}

local proxy = {}
local own = host.functions_for(proxy, host.restricted)
own._G = proxy
local declared = {_ = true} -- variables that exist, though they may be nil

local function read(_, name)
  local value = own[name]
  if value == nil then value = rawget(real, name) end
  if value == nil then value = public[name] end
  if value ~= nil then return value end
  if getmetatable(real) then
    value = get(real, name)
    if value ~= nil then return value end
  end
  if declared[name] or type(name) ~= "string" then return nil end
  error("undefined variable '" .. name .. "'" .. meant.variable(name, public), 0)
end

local noted = {}

local function write(_, name, value)
  if rawget(real, name) == nil and not declared[name] then
    local caller = getinfo(2, "S")
    if caller and caller.what == "Lua" then
      error("undefined variable '" .. tostring(name) .. "' is assigned inside a function: " ..
        "write `local` before it, or assign it once outside of functions", 0)
    end
    declared[name] = true
    if public[name] ~= nil and not noted[name] then
      noted[name] = true
      host.note(name .. " hides tarn." .. name)
    end
  end
  own[name] = nil
  set(real, name, value)
end

setmetatable(proxy, {
  __index = read,
  __newindex = write,
  __pairs = function() return next, real, nil end,
  __name = "environment",
  __tostring = function() return "_G: the global variables; who() lists those that are yours" end,
})

-- Says once a session which local variables end with this input. The prompt lets it be
-- called at the end of the input itself, so its caller is the user's chunk.
local local_noted = false
local function note_locals()
  local name = getlocal(2, 1)
  if local_noted or not name or name:sub(1, 1) == "(" then return end
  local_noted = true
  host.note(("local %s ends with this input; write %s = ... without local to keep it")
    :format(name, name))
end

-- Shows what an input gave, and keeps the first value as `_`. A file that is written to
-- is not shown: io.write(x) gives it back only so that calls can be chained.
local function show_results(silent, ...)
  rawset(real, "_", (...))
  commands.note_values(select("#", ...), silent)
  if silent or (select("#", ...) == 1 and ... == io.output()) then return end
  show.print_results(...)
end

-- The names that Lua itself has brought: who() leaves them out.
local at_start = {arg = true, _ = true, tarn = true}
for name in next, real do at_start[name] = true end

-- help: who()
-- Lists your own variables: what they are, tensors with their bytes.
-- shapes: none
-- math: none  cost: O(variables)
-- errors: none
-- example:
--   > answer = 42
--   > who()
--   ...
--   answer  42
--   ...
-- see: show, help
function tarn.who()
  local found, total = {}, 0
  for name, value in next, real do
    if type(name) == "string" and not at_start[name] then found[#found + 1] = name end
  end
  table.sort(found)
  local width = 0
  for _, name in ipairs(found) do width = math.max(width, #name) end
  for _, name in ipairs(found) do
    local line, bytes = show.summary(rawget(real, name))
    total = total + (bytes or 0)
    io.write(("%-" .. width .. "s  %s%s\n"):format(name, line,
      bytes and ", " .. bytes .. " bytes" or ""))
  end
  if total > 0 then io.write("tensors: ", total, " bytes\n") end
  if #found == 0 then io.write("no variables of your own yet\n") end
end

-- Makes the public names visible; none of them may be one of Lua's own.
local function open()
  meant.guard("tarn", tarn)
  meant.guard("rnn", tarn.rnn)
  for _, name in ipairs(names.globals) do
    assert(rawget(real, name) == nil, name)
    public[name] = rawget(tarn, name)
  end
end

return {
  open = open,
  own = own,
  env = proxy,
  public = public,
  note_locals = note_locals,
  show_results = show_results,
  help = help.topic,
  called = meant.called,
  syntax = meant.syntax,
  command = commands.run,
  note_input = commands.note_input,
  note_no_error = commands.note_no_error,
  complete = function(line, point) return complete(public, line, point) end,
  typed_inputs = transcript.inputs,
  doctest = doctest.run,
}
