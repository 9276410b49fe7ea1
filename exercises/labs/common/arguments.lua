-- arguments.lua: the command line of a lab: --name and --name=value, nothing else.
--
--   arguments.read(program, help, {name = {kind =, words =, default =, quick =}})
--
-- Gives a table of values. What is not given has its default, or with --quick its `quick`.
-- Kinds: flag, text, count (a whole number from 1 on), counts (several, in increasing order),
-- word and words (of a list). A mistake is said on stderr, with what may have been meant, and
-- ends the program with status 2.

local host = require "tarn.host"

local arguments = {}

local MOST = 1 << 24 -- of a count: more is a slip

function arguments.complain(program, message)
  io.stderr:write(program, ": ", message, "\nTry --help for more information.\n")
  os.exit(2)
end

local function keys_of(list)
  local keys = {}
  for _, word in ipairs(list) do keys[word] = true end
  return keys
end

local function hint(word, known)
  local meant = host.nearest(word, known)
  return meant and ("; did you mean '%s'?"):format(meant)
end

local function split(text)
  local parts = {}
  for part in (text .. ","):gmatch("([^,]*),") do parts[#parts + 1] = part end
  return parts
end

-- Each kind: gives the value of a text, or nil and what was expected.
local readers = {}

function readers.text(text)
  if text ~= "" and not text:find("%c") then return text end
  return nil, "a name"
end

function readers.count(text)
  local n = text:find("^%d+$") and math.tointeger(tonumber(text))
  if n and n >= 1 and n <= MOST then return n end
  return nil, ("a whole number from 1 to %d"):format(MOST)
end

function readers.counts(text)
  local numbers, why = {}, nil
  for i, part in ipairs(split(text)) do
    numbers[i], why = readers.count(part)
    if why then return nil, why end
  end
  table.sort(numbers)
  for i = #numbers, 2, -1 do
    if numbers[i] == numbers[i - 1] then table.remove(numbers, i) end
  end
  return numbers
end

function readers.word(text, option)
  local known = keys_of(option.words)
  if known[text] then return text end
  return nil, "one of " .. table.concat(option.words, ", ") .. (hint(text, known) or "")
end

-- In the order of the list of words, each once.
function readers.words(text, option)
  local asked, chosen = {}, {}
  for _, part in ipairs(split(text)) do
    local word, why = readers.word(part, option)
    if not word then return nil, why end
    asked[word] = true
  end
  for _, word in ipairs(option.words) do
    if asked[word] then chosen[#chosen + 1] = word end
  end
  return chosen
end

local function read_one(program, text, known)
  local name, value = text:match("^%-%-([^=]+)=(.*)$")
  name = name or text:match("^%-%-(.+)$")
  local option = known[name]
  if not name then
    arguments.complain(program, ("'%s' is no option, expected --name=value"):format(text))
  elseif not option then
    local meant = host.nearest(name, known)
    arguments.complain(program, ("unknown option '--%s'%s"):format(name,
      meant and "; did you mean '--" .. meant .. "'?" or ""))
  elseif option.kind == "flag" then
    if value then arguments.complain(program, ("--%s takes no value"):format(name)) end
    return name, true
  elseif not value then
    arguments.complain(program, ("--%s needs a value: --%s=..."):format(name, name))
  end
  local read, why = readers[option.kind](value, option)
  if not read then
    arguments.complain(program, ("%s is '%s', expected %s"):format(name, value, why))
  end
  return name, read
end

function arguments.read(program, help, known)
  known.help = {kind = "flag"}
  local values = {}
  for _, text in ipairs(arg) do
    local name, value = read_one(program, text, known)
    values[name] = value
  end
  if values.help then
    io.write(help)
    os.exit(0)
  end
  for name, option in pairs(known) do
    if values[name] == nil then
      values[name] = values.quick and option.quick or option.default
    end
  end
  return values
end

return arguments
