-- run_lua.lua: exercises in Lua. The child is this program itself, restricted (child.lua).

local system = require "tarn.lab.system"
local arguments = require "tarn.lab.run_arguments"
local faults = require "tarn.lab.run_faults"
local literal = require "tarn.lab.run_literal"
local process = require "tarn.lab.run_process"

local lua = {name = "Lua"}

local MEMORY = 1 << 30 -- of Lua and tensors together

-- What the child is to do with one run; its tensors become files.
local function run_of(work, run)
  local exercise, case, given = work.exercise, run.case, {}
  for i, name in ipairs(case.parameters or exercise.parameters) do
    local value = run.inputs[name]
    local is_tensor = type(value) == "userdata"
    if is_tensor then
      value:save(("%s/in/%d.%s.npy"):format(work.folder, run.number, name))
    end
    given[i] = {name = name, npy = is_tensor, value = not is_tensor and value or nil}
  end
  return {number = run.number, entry = case.entry or exercise.entry, arguments = given,
    results = case.results or exercise.results}
end

-- prepare(work) -> nil, or why the learner's file is no Lua. It is not run here.
function lua.prepare(work)
  local text = assert(system.read(work.folder .. "/" .. work.file, 1 << 20))
  local loaded, why = load(text, "@" .. work.file, "t", {})
  if not loaded then return "does not compile: " .. why end
  work.all = {}
  for _, run in ipairs(work.runs) do work.all[run.number] = run_of(work, run) end
end

function lua.order(work, numbers)
  local runs = {}
  for i, number in ipairs(numbers) do runs[i] = work.all[number] end
  process.write(work.folder .. "/order.lua", "return " .. literal.write {file = work.file,
    runs = runs, without = work.exercise.without, memory = MEMORY})
  return {argv = {process.PROGRAM, "--child=lua"}, alone = true, threads = true, own = true}
end

-- The results of a run: name -> value. Of what the child wrote nothing is believed but numbers
-- and text.
function lua.results(run, folder)
  local stem = ("%s/%d"):format(folder, run.number)
  local text = system.read(stem .. ".results", 1 << 20)
  if not text then return nil end
  local values = {}
  for line in text:gmatch("[^\n]+") do
    local name, kind, rest = line:match("^([%w_]+) (%a+) ?(.*)$")
    if kind == "tensor" then
      values[name] = arguments.read_result(stem .. "." .. name .. ".npy")
    elseif kind == "number" then
      values[name] = math.tointeger(rest) or tonumber(rest) or
        tonumber((rest:gsub("^-?nan$", "0"))) and 0 / 0 or rest:sub(1, 1) == "-" and -math.huge or
        math.huge
    elseif kind == "string" then
      values[name] = literal.unescape(rest)
    elseif kind == "boolean" then
      values[name] = rest == "true"
    end
  end
  return values
end

function lua.fault(_, ended)
  local why = ended.said:match("unloadable ([^\n]*)")
  if why then return literal.unescape(why) end
  if ended.err:find("not enough memory", 1, true) then
    return "it takes more memory than any exercise needs"
  end
  return faults.run(ended, "")
end

return lua
