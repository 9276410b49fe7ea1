-- complete.lua: what the word at the cursor may go on as.
--
-- Knows names (globals, fields, methods), options and their words, help topics, modules
-- and the prompt's commands. Nothing of the user's is run: tables are read raw, through
-- `__index` only where that is a table, and through what the metatables of tarn's values
-- list for this purpose, `__methods` and `__fields`.

local tarn = require "tarn"
local commands = require "tarn.commands"
local cursor = require "tarn.cursor"
local texts = require "tarn.entry"
local names = require "tarn.names"
local signatures = require "tarn.signatures"

local getmetatable = debug.getmetatable
local rawget, rawequal, type, next = rawget, rawequal, type, next
local loaded, preload = package.loaded, package.preload
local real = _G

local MAX_DEPTH = 8 -- inheritance is followed so deep

local takes_file = {save = true} -- of the prompt's commands

-- ---- collecting ---------------------------------------------------------------------------

-- What goes on from `word`: name -> what it stands for.
local function collector(word)
  local found = {}
  return found, function(name, value)
    if type(name) ~= "string" or name:sub(1, #word) ~= word or found[name] then return end
    found[name] = {value = value}
  end
end

local function is_name(text)
  return type(text) == "string" and text:find("^[%a_][%w_]*$") ~= nil
end

local function add_words(add, list)
  for _, word in ipairs(list) do add(word) end
end

local function raw_field(value, field)
  local meta = getmetatable(value)
  local found = type(meta) == "table" and rawget(meta, field)
  return type(found) == "table" and found or nil
end

-- Adds the names a value has, its own and inherited; after ":" only those of functions.
local function add_members(add, value, methods)
  local function add_keys(keys)
    for name, member in next, keys do
      if is_name(name) and (not methods or type(member) == "function") then
        add(name, member)
      end
    end
  end
  if not methods then add_words(add, raw_field(value, "__fields") or {}) end
  add_keys(raw_field(value, "__methods") or {})
  for _ = 1, MAX_DEPTH do
    if type(value) == "table" then add_keys(value) end
    value = raw_field(value, "__index")
    if not value then return end
  end
end

-- ---- what an expression stands for --------------------------------------------------------

-- A value of each kind stands for all that calls and fields would give.
local stand_in = {tensor = tarn.zeros(0), cell = tarn.rnn {D = 1, M = 1}}

-- What a field of tarn's own value is, which only reading it would tell.
local function field_of(value, name)
  local kind = signatures.kind(value)
  local entry = kind and names.by_key[(kind == "cell" and "st." or "t.") .. name]
  return entry and stand_in[signatures.result(entry)]
end

local function member(value, name)
  local field = field_of(value, name)
  if field then return field end
  for _ = 1, MAX_DEPTH do
    local found = type(value) == "table" and rawget(value, name)
    if found then return found end
    value = raw_field(value, "__index") or raw_field(value, "__methods")
    if not value then return nil end
  end
end

local entry_of

-- The value of an expression as cursor.lua reads it, up to its n-th step; nil if only
-- running it would tell.
local function value_of(public, expression, n)
  local value
  if expression.text then
    value = ""
  elseif expression.call then
    local entry = entry_of(public, expression.call)
    value = entry and stand_in[signatures.result(entry)]
  elseif expression.root then
    value = member(real, expression.root) or public[expression.root]
  end
  for i = 1, n or #expression do
    if value == nil then return nil end
    value = member(value, expression[i][2])
  end
  return value
end

-- The entry of help of what an expression calls, or nil, and the value if it is another.
function entry_of(public, expression)
  local last = expression[#expression]
  if last and last[1] == ":" then
    local kind = signatures.kind(value_of(public, expression, #expression - 1))
    if kind then return signatures.of_method(kind, last[2]) end
  end
  local value = value_of(public, expression)
  if value == nil then return nil end
  return signatures.of_value(value), value
end

local function path_of(expression)
  local path = expression.root or ""
  for _, step in ipairs(expression) do path = path .. step[1] .. step[2] end
  return path
end

-- How the expression is called, or nil.
local function signature_of(public, expression)
  local entry, value = entry_of(public, expression)
  if entry then return texts.call(entry) end
  return type(value) == "function" and
    signatures.of_parameters(path_of(expression), value) or nil
end

-- Whether a value that only running would tell may well be a tensor: functions in C that
-- are not tarn's give none.
local function may_be_tensor(public, expression)
  if expression.root or expression.text or #expression > 0 then return false end
  local entry, value
  if expression.call then entry, value = entry_of(public, expression.call) end
  return not entry and
    (type(value) ~= "function" or signatures.of_parameters("", value) ~= nil)
end

-- ---- the places a word may stand in -------------------------------------------------------

-- The call whose table of options is open, and whether the table can be one: the first
-- argument of a function is something else, unless it is the only one.
local function options_call(bracket)
  if bracket.sign ~= "{" then return nil end
  if bracket.callee then return bracket.callee, true end
  local call = bracket.outer
  if not call or call.sign ~= "(" or not call.callee then return nil end
  local last = call.callee[#call.callee]
  return call.callee, call.commas > 0 or last and last[1] == ":"
end

-- The names of the options that may stand in this bracket, or nil.
local function options_of(public, bracket)
  local call, possible = options_call(bracket)
  local entry = call and possible and entry_of(public, call)
  if not entry then return nil end
  if bracket.callee and not entry.signature:find("^[%w_.]+{") then return nil end
  return signatures.options(entry.signature)
end

-- The words an open string may be as the value of an option, `by="` or `dtypes={"`.
local function option_words(public, bracket)
  if not bracket or bracket.sign ~= "{" then return nil end
  local list = not bracket.key and bracket.outer and bracket.outer.key and bracket.outer
  local place = list or bracket
  for _, name in ipairs(options_of(public, place) or {}) do
    if name == place.key then return signatures.words[name] end
  end
end

local function module_names()
  local found = {}
  for _, modules in ipairs {loaded, preload} do
    for name in next, modules do
      if type(name) == "string" then found[#found + 1] = name end
    end
  end
  return found
end

-- What help knows: every entry by its full name and by the name alone, and feature maps.
local function topics()
  local found = {}
  for key, entry in next, names.by_key do
    found[#found + 1] = key
    if entry.topic and not entry.topic.about then found[#found + 1] = entry.name end
  end
  for name in next, tarn.phi do found[#found + 1] = "phi." .. name end
  return found
end

-- The words an open string may be as the argument of a call.
local function argument_words(public, at)
  local call = at.callee or at.bracket and at.bracket.sign == "(" and
    at.bracket.commas == 0 and at.bracket.callee
  if not call then return nil end
  local last = call[#call]
  if last and last[1] == ":" then
    local kind = signatures.kind(value_of(public, call, #call - 1))
    return kind == "tensor" and signatures.argument_words[last[2]] or nil
  end
  local f = value_of(public, call)
  if f == nil then return nil end
  if rawequal(f, rawget(real, "require")) then return module_names() end
  if rawequal(f, rawget(tarn, "help")) then return topics() end
  for name, words in next, signatures.argument_words do
    if rawequal(f, rawget(tarn, name)) then return words end
  end
end

-- ---- candidates -----------------------------------------------------------------------------

local function opener(signature, value)
  if signature and signature:find("^[%w_.]+{") then return "{" end
  return type(value) == "function" and "(" or ""
end

-- Makes the answer out of what was collected: names in order; for a single one what comes
-- after it, unless that is there already, and how it is called.
local function answer(at, found, after, signature_for)
  local list = {}
  for name in next, found do list[#list + 1] = name end
  table.sort(list)
  local result = {word = at.word, names = list, append = "", quoted = at.where == "string"}
  local only = #list == 1 and list[1]
  if only and after then result.append = after end
  if only and signature_for then
    result.note = signature_for(only)
    result.append = cursor.keywords[only] and not found[only].value and " " or
      opener(result.note, found[only].value)
  end
  return result
end

local function complete_words(at, list)
  local found, add = collector(at.word)
  add_words(add, list)
  return answer(at, found)
end

local function complete_string(public, at)
  local words = option_words(public, at.bracket) or argument_words(public, at)
  if words then return complete_words(at, words) end
  return {word = at.word, names = {}, append = "", quoted = true, files = true}
end

local function complete_option(at, options)
  local found, add = collector(at.word)
  for _, name in ipairs(options) do
    if not at.bracket.given[name] then add(name) end
  end
  return answer(at, found, "=")
end

-- A member of an expression; of one that only running would tell, those of a tensor.
local function complete_member(public, at)
  local found, add = collector(at.word)
  local methods = at.separator == ":"
  local value = value_of(public, at.base)
  local guess = value == nil and methods and may_be_tensor(public, at.base)
  if value ~= nil then
    add_members(add, value, methods)
  elseif guess then
    add_members(add, stand_in.tensor, true)
  end
  return answer(at, found, nil, function(name)
    if guess then return texts.call(signatures.of_method("tensor", name)) end
    return signature_of(public, cursor.extended(at.base, at.separator, name))
  end)
end

local function complete_global(public, at)
  local found, add = collector(at.word)
  add_members(add, real)
  add_members(add, public)
  for word in next, cursor.keywords do add(word) end
  for name in next, at.seen do add(name) end
  return answer(at, found, nil, function(name)
    return signature_of(public, {root = name})
  end)
end

local function complete_code(public, at)
  if at.base then return complete_member(public, at) end
  local options = at.bracket and not at.bracket.key and options_of(public, at.bracket)
  if options and #options > 0 then return complete_option(at, options) end

  -- Say how the function is called where an argument begins and nothing is typed yet.
  local call = at.word == "" and at.bracket and at.bracket.sign == "(" and at.bracket.callee
  local note = call and signature_of(public, call)
  if note then
    return {word = "", names = {}, append = "", note = note}
  end
  return complete_global(public, at)
end

-- A line that is not Lua: ?topic, :command, !command; nil for others.
local function complete_other(text)
  local sign, rest = text:match("^%s*([?:!])%s*(.*)$")
  if not sign then return nil end
  local at = {word = rest}
  if sign == "?" then return complete_words(at, topics()) end
  local command, argument = rest:match("^(%S+)%s+(.*)$")
  if sign == "!" or takes_file[command] then
    local word = (argument or rest):match("%S*$")
    return {word = word, names = {}, append = "", files = true}
  end
  local found, add = collector(command and "\0" or rest)
  add_words(add, commands.names)
  return answer(at, found, " ")
end

-- Gives the completion of a line at a cursor that stands after `point` bytes, for a user
-- who sees the table `public` behind Lua's globals:
--   word    what stands before the cursor and is to be replaced, maybe ""
--   names   what it may become, sorted
--   append  what to put after a single one, "" for nothing
--   note    how the function at hand is called, if that is sure
--   quoted  true in a string;  files  true if a file's name may stand there
local function complete(public, line, point)
  local result = complete_other(line:sub(1, point))
  if not result then
    local at = cursor.look(line, point)
    if at.where == "nothing" then
      result = {word = "", names = {}, append = ""}
    elseif at.where == "string" then
      result = complete_string(public, at)
    else
      result = complete_code(public, at)
    end
  end
  if result.note then
    local lines = {}
    texts.wrap(lines, result.note, "", "      ")
    result.note = table.concat(lines, "\n")
  end
  if result.append ~= "" and line:sub(point + 1, point + 1) == result.append then
    result.append = ""
  end
  return result
end

return {complete = complete}
