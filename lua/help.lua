-- help.lua: help(), help("name"), help(value) and ?name, out of the table in names.lua.

local tarn = require "tarn"
local host = require "tarn.host"
local names = require "tarn.names"

local help = {}

local function print_wrapped(text, indent)
  local width = math.max(20, host.columns() - 1)
  local line = indent
  for word in text:gmatch("%S+") do
    if #line > #indent and #line + 1 + #word > width then
      print(line)
      line = indent
    end
    line = line .. (#line > #indent and " " or "") .. word
  end
  print(line)
end

-- All names by topic.
local function overview()
  for _, topic in ipairs(names.topics) do
    local list = {}
    for _, entry in ipairs(topic) do
      if help.exists(entry) then list[#list + 1] = entry.topic.about and entry.key or entry.name end
    end
    if #list > 0 then
      print(topic.title)
      print_wrapped(table.concat(list, " "), "  ")
    end
  end
  print()
  print_wrapped('help("sim") or ?sim says more about one name. The prompt shows the values ' ..
    "of what you type; ; at the end silences it, and _ is the last value.", "")
end

-- True if this build has what an entry describes.
function help.exists(entry)
  return entry.topic.method or entry.topic.about or rawget(tarn, entry.name) ~= nil
end

local function print_entry(entry)
  print_wrapped(entry.signature, "")
  print_wrapped(entry.sentence, "  ")
end

-- The feature map of a name, "phi.elu1" or "elu1", or of a function.
local function find_map(name, value)
  for _, map in ipairs(tarn.phis()) do
    local found = rawget(tarn.phi, map.name)
    if name == "phi." .. map.name or name == map.name or value ~= nil and value == found then
      return map
    end
  end
end

local function print_map(map)
  print_wrapped(("phi.%s(t)"):format(map.name), "")
  print_wrapped(("Feature map %s"):format(map), "  ")
end

-- Help on a name as one may write it: sim, tarn.sim, t:sum, "sim".
function help.topic(text)
  local name = text:match("^[%s'\"]*(.-)[%s'\"()]*$")
  if name == "" then return overview() end
  local map = find_map(name)
  local entry = names.by_name[name:match("[^.:]*$")]
  if map and (not entry or name:find("^phi%.")) then return print_map(map) end
  if entry and help.exists(entry) then return print_entry(entry) end
  local meant = host.nearest(name, names.by_name)
  print(("no help on '%s'%s; help() lists what there is"):format(name,
    meant and ": did you mean '" .. meant .. "'?" or ""))
end

-- The entry of a public function, or of what else stands in the table `tarn`.
function help.entry_of(value)
  for name, entry in pairs(names.by_name) do
    if rawequal(rawget(tarn, name), value) then return entry end
  end
end

-- help: help() | help("name") | help(value)
-- Says what there is, or how a name is used; ?name at the prompt does the same.
-- shapes: none  math: none  cost: O(names)
-- errors: none, whatever it is asked
-- note: a function or cell will do as well as its name; a string is never run.
-- example:
--   > help("no_such_name")
-- see: who, ?name
function tarn.help(...)
  local value = ...
  if select("#", ...) == 0 then return overview() end
  if type(value) == "string" then return help.topic(value) end
  local entry = value ~= nil and help.entry_of(value)
  if entry then return print_entry(entry) end
  local map = find_map(nil, value)
  if map then return print_map(map) end
  if value ~= nil and getmetatable(value) == host.tensor_metatable then
    print("a tensor; " .. 't.shape, t:sum(), ...: help("sum") says more about a method')
    for _, topic in ipairs(names.topics) do
      if topic.method and not topic.cell then
        local list = {}
        for _, e in ipairs(topic) do list[#list + 1] = e.name end
        print(topic.title)
        print_wrapped(table.concat(list, " "), "  ")
      end
    end
    return
  end
  print(("no help on this %s; help() lists what there is"):format(type(value)))
end

return help
