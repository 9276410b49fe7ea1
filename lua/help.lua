-- help.lua: help(), help("name"), help(value), ?name and apropos("text").
--
--   1. What was asked for is reduced to a name: "t:sum", "sum", ":save", "phi.elu1". It is
--      never run, and nothing in it is an error.
--   2. The entries of that name are found: a method of tensors and one of cells may share it.
--   3. They are laid out (entry.lua) and shown (pager.lua).
--
-- What entries say stands above the functions that they are about; names.lua lists them.

local tarn = require "tarn"
local host = require "tarn.host"
local names = require "tarn.names"
local entry = require "tarn.entry"
local pager = require "tarn.pager"
local show = require "tarn.show"

local help = {}

local LONGEST = 100 -- letters of a name that is looked for
local RECEIVERS = {st = "rnn", rnn = "rnn", kv = "kv", t = "tensor", tensor = "tensor"}

-- ---- feature maps: entries made of what phis() tells -------------------------------------

local maps = {}
help.maps = maps
for i, map in ipairs(tarn.phis()) do
  local key = "phi." .. map.name
  maps[i] = {
    key = key, name = map.name, signature = key .. "(t)", returns = "tensor",
    sentence = ("Feature map %s: each row of t by itself; phi=\"%s\" as an option."):format(
      map.name, map.name),
    shapes = "t [.., D] -> [.., C], C = " .. map.width,
    math = (map.name == "elu1" and "eq 7: " or "") .. "phi(x) = " .. map.equation,
    cost = "O(numel of out)",
    errors = "a tensor of rank 0",
    note = ("features are %s; derivative: %s"):format(map.positivity, map.derivative),
    see = "phi, phis", chapter = names.by_key.phi.chapter,
  }
end

-- The example is what the map gives now: it can't be wrong.
function help.with_example(e)
  if not e.example and e.key == "phi." .. e.name then
    e.example = ("> %s(tensor{-1, 0, 2})\n%s"):format(e.key,
      show.text(tarn.phi[e.name](tarn.tensor {-1, 0, 2})))
  end
  return e
end

-- ---- kinds of values --------------------------------------------------------------------

-- The metatables of cells, whose methods are in no other table.
local rnn_cell = getmetatable(tarn.rnn {D = 1, M = 1})
local kv_cell = getmetatable(tarn.kv {D = 1, M = 1})

-- What a value is to help: "tensor", "rnn", "kv", or nil.
local function kind_of(value)
  local meta = type(value) == "userdata" and getmetatable(value)
  if meta == host.tensor_metatable then return "tensor" end
  return meta and (meta == rnn_cell and "rnn" or meta == kv_cell and "kv") or nil
end

local library_names = {}
for _, name in next, show.library do library_names[name] = true end

-- ---- finding -----------------------------------------------------------------------------

-- All entries: those of topics, feature maps, then functions of the library in C.
local all = {}
for _, topic in ipairs(names.topics) do table.move(topic, 1, #topic, #all + 1, all) end
table.move(maps, 1, #maps, #all + 1, all)
table.move(names.in_c, 1, #names.in_c, #all + 1, all)

-- What was asked for without what is around its name: quotes, blanks, arguments, tarn.
local function name_in(text)
  local name = text:match("^[%s'\"]*(.*)$")
  if name:find("^[?:!]%a") then return name:match("^%S+") end
  if names.by_key[name:match("^%S*")] then return name:match("^%S*") end
  name = name:match("^[^%s'\"({]*")
  return name:match("^tarn%.(.+)$") or name
end

-- What a receiver is, as in st:save: by the variable of that name, else by the name.
local function kind_of_receiver(receiver)
  return kind_of(rawget(_G, receiver)) or RECEIVERS[receiver]
end

-- Puts the entry first that belongs to what the receiver is.
local function prefer(found, kind)
  for i, e in ipairs(found) do
    if kind and e.topic and (e.topic.cell or false) == (kind ~= "tensor") then
      table.insert(found, 1, table.remove(found, i))
      break
    end
  end
  return found
end

-- The entries of a name, the one that is most likely meant first.
local function find(name)
  local bare = name:match("[^.:]*$")
  local found = {}
  for _, e in ipairs(all) do
    if e.key == name then return {e} end
    if e.name == bare and bare ~= "" then found[#found + 1] = e end
  end
  return prefer(found, kind_of_receiver(name:match("^[%w_]+") or ""))
end

-- Commands and operators, of which one entry stands for many spellings.
local function find_sign(name)
  if name:find("^!") then return names.by_key["!cmd"] end
  if name:find("^%?") then return names.by_key["?name"] end
  if name:find("^[-+*/^%%#=<>~]+$") then return names.by_key.operators end
  return names.by_key[":" .. name]
end

-- ---- answering ---------------------------------------------------------------------------

local function say(lines)
  lines[#lines + 1] = ""
  pager.write(table.concat(lines, "\n"))
end

-- Which other entries have the name too.
local function add_others(lines, found)
  if #found < 2 then return end
  local others = {}
  for i = 2, #found do others[#others + 1] = "?" .. found[i].key end
  lines[#lines + 1] = ""
  entry.wrap(lines, "The same name: " .. table.concat(others, ", "), "  ", "  ")
end

local function tell(found)
  local lines = {}
  entry.layout(lines, help.with_example(found[1]))
  add_others(lines, found)
  say(lines)
end

-- A name as it may be repeated in a message: not too long, nothing that a terminal obeys.
local function quoted(name)
  return "'" .. show.text(#name > 40 and name:sub(1, 40) or name):sub(2, -2) .. "'" ..
    (#name > 40 and " .." or "")
end

local function say_text(text)
  local lines = {}
  entry.wrap(lines, text, "", "")
  say(lines)
end

-- Says that a function is one of Lua's own.
local function tell_library(name)
  say_text(("%s is one of Lua's own functions: https://www.lua.org/manual/5.4/manual.html#pdf-%s")
    :format(name, name))
end

local matches -- of apropos, below

-- The first few entries that have a text in them, as "; see sim, lengths.", or nil.
local function see_instead(text)
  local list = {}
  for _, match in ipairs(matches(text:lower())) do
    if #list < 4 and not match.entry.aliasing then list[#list + 1] = match.entry.key end
  end
  return #list > 0 and "; see " .. table.concat(list, ", ") .. "." or nil
end

-- Says that a text was not found, in the words of `what`; `name` is what it may have meant.
local function not_found(what, text, name)
  local known = {}
  for _, e in ipairs(all) do known[e.key], known[e.name] = true, true end
  name = name or text
  local usual = #name > 2 and #name <= LONGEST
  local meant = usual and host.nearest(name, known)
  say_text(("%s %s%s help() lists what there is, apropos(\"text\") looks into it."):format(what,
    quoted(text:match("^%s*(.-)%s*$")), meant and ": did you mean '" .. meant .. "'?" or
      usual and see_instead(name) or "."))
end

-- Adds the names of a topic.
local function add_topic(lines, topic)
  local list = {}
  for i, e in ipairs(topic) do list[i] = topic.about and e.key or e.name end
  lines[#lines + 1] = entry.heading(topic.title)
  entry.wrap(lines, table.concat(list, " "), "  ", "  ")
end

local function overview()
  local lines = {}
  for _, topic in ipairs(names.topics) do add_topic(lines, topic) end
  lines[#lines + 1] = ""
  entry.wrap(lines, '?sim or help("sim") says more about one name, apropos("prefix sum") looks ' ..
    "into all. The prompt shows the values of what you type; ; at the end silences it, and _ " ..
    "is the last value.", "", "")
  say(lines)
end

local tell_methods -- below

-- Says what a variable of the user's is, by its type alone: nothing of it is run.
local function tell_variable(name, value)
  local kind = kind_of(value)
  if kind then return tell_methods(kind) end
  say_text(("%s is a variable, a %s; show(%s) shows it"):format(name, type(value), name))
end

-- Help on a name as one may write it: sim, tarn.sim, t:sum, "sim".
function help.topic(text)
  if not text:find("%S") then return overview() end
  if #text > LONGEST then return not_found("no help on", text) end
  local name = name_in(text)
  if name == "tarn" then return overview() end
  local found = find(name)
  if #found == 0 and library_names[name] then return tell_library(name) end
  if #found == 0 then found = {find_sign(name)} end
  if #found > 0 then return tell(found) end
  local value = rawget(_G, name)
  if value ~= nil then return tell_variable(name, value) end
  not_found("no help on", text, name)
end

-- The key of a function or module of tarn's.
local function key_of(value)
  for _, topic in ipairs(names.topics) do
    for _, e in ipairs(topic) do
      if not topic.about and rawequal(rawget(tarn, e.name), value) then return e.key end
    end
  end
  for _, map in ipairs(maps) do
    if rawequal(tarn.phi[map.name], value) then return map.key end
  end
  for name, method in next, rnn_cell.__methods do
    if rawequal(method, value) then return "st:" .. name end
  end
  return rawequal(tarn.rnn.load, value) and "rnn.load" or nil
end

local kinds = {
  tensor = "a tensor; ?t:sum says more about a method, ?shapes about shapes",
  rnn = "an rnn cell; ?rnn says what it is, ?st:step more about a method",
  kv = "a kv cache; ?kv says what it is, ?st:step more about a method",
}

-- What a tensor or a cell can do.
function tell_methods(kind)
  local lines = {}
  entry.wrap(lines, kinds[kind], "", "")
  for _, topic in ipairs(names.topics) do
    local of_cells = topic.cell or false
    if topic.method and of_cells == (kind ~= "tensor") then add_topic(lines, topic) end
  end
  say(lines)
end

local function help_on(value)
  local kind = kind_of(value)
  if kind then return tell_methods(kind) end
  local key = value ~= nil and key_of(value)
  if key then return help.topic(key) end
  if value ~= nil and show.library[value] then return tell_library(show.library[value]) end
  say_text(("no help on this %s; help() lists what there is"):format(type(value)))
end

-- help: help() | help("name") | help(value)
-- Says what there is, or how a name is used; ?name at the prompt does the same.
-- shapes: none  math: none  cost: O(names)
-- errors: none, whatever it is asked
-- note: a function, a tensor or a cell will do as well as a name. A string is never run.
-- example:
--   > help("prefx")
--   no help on 'prefx': did you mean 'prefix'? help() lists what there is,
--   apropos("text") looks into it.
-- see: apropos, ?name
function tarn.help(...)
  local value = ...
  if select("#", ...) == 0 then return overview() end
  if type(value) == "string" then return help.topic(value) end
  return help_on(value)
end

-- ---- apropos -----------------------------------------------------------------------------

-- Where a text stands in an entry: 1 its name, 2 its sentence, 3 elsewhere.
local function place_of(e, text)
  if e.key:lower():find(text, 1, true) then return 1 end
  if (e.signature .. "\n" .. e.sentence):lower():find(text, 1, true) then return 2 end
  for _, label in ipairs {"about", "shapes", "math", "cost", "errors", "options", "note",
      "aliasing"} do
    if e[label] and e[label]:lower():find(text, 1, true) then return 3 end
  end
end

-- How well an entry answers, lower is better: the whole text, else all of its words.
local function rank(e, text)
  local place = place_of(e, text)
  if place then return place end
  local worst = 3
  for word in text:gmatch("%S+") do
    local at = place_of(e, word)
    if not at then return nil end
    worst = math.max(worst, 3 + at)
  end
  return worst
end

function matches(text)
  local found = {}
  for order, e in ipairs(all) do
    local rank_of_e = rank(e, text)
    if rank_of_e then
      local away = e.aliasing and 20 or e.topic and e.topic.about and 10 or 0
      found[#found + 1] = {entry = e, rank = rank_of_e + away, order = order}
    end
  end
  table.sort(found, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    return a.order < b.order
  end)
  return found
end

-- help: apropos(text)
-- Looks for a text in all entries of help, and lists those that have it, the best first.
-- shapes: none  math: none  cost: O(text of all entries)
-- errors: text that is no string
-- note: small and capital letters are the same; several words may stand apart.
-- example:
--   > apropos("handwritten digit")
--   mnist  Gives the i-th handwritten digit of the MNIST test set: its image, and
--          which digit it is.
--   tour   Walks a handwritten digit through the derivation, stage by stage.
-- see: help, ?name
function tarn.apropos(text)
  if type(text) ~= "string" then
    error(("apropos: text is %s, expected a string"):format(
      type(text) == "number" and "the number " .. text or text == nil and "missing" or
        "a " .. type(text)), 0)
  end
  text = text:lower():match("^%s*(.-)%s*$")
  local found = text ~= "" and matches(text) or {}
  if #found == 0 then return not_found("no entry has", text) end
  local lines, widest = {}, 0
  for _, match in ipairs(found) do widest = math.max(widest, math.min(20, #match.entry.key)) end
  for _, match in ipairs(found) do entry.summary(lines, match.entry, widest) end
  say(lines)
end

return help
