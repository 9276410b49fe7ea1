-- arguments.lua: the command line in GNU's way: options anywhere, --name=VALUE or --name VALUE,
-- abbreviated where it is clear, `--` ends them.
--
--   arguments.read(words, known)   words without options, table of options
--   arguments.usage(format, ...)   raises what main.lua tells with status 2
--
-- known: {dir = "DIR", yes = true}: the name of an option's value, or true where it has none.

local host = require "tarn.host"

local arguments = {}

-- A usage error is a table, so that it is told from all others.
function arguments.usage(format, ...) error({usage = format:format(...)}, 0) end

local usage = arguments.usage

-- The option that a word names: itself, or the only one that begins so.
local function option_of(word, known)
  if known[word] then return word end
  local found
  for name in pairs(known) do
    if name:sub(1, #word) == word then
      if found then usage("option '--%s' is not clear: --%s or --%s", word, found, name) end
      found = name
    end
  end
  if found then return found end
  local near = host.nearest(word, known)
  usage("unknown option '--%s'%s", word, near and "; did you mean '--" .. near .. "'?" or "")
end

-- Takes the option at position i; gives the position of the last word that belongs to it.
local function take(words, i, known, options)
  local word, value = words[i]:match("^%-%-([^=]*)=?(.*)$")
  local has_value = words[i]:find("=", 1, true)
  local name = option_of(word, known)
  if known[name] == true then
    if has_value then usage("option '--%s' takes no value", name) end
    options[name] = true
    return i
  end
  if not has_value then
    i = i + 1
    value = words[i] or usage("option '--%s' needs a value: --%s=%s", name, name, known[name])
  end
  options[name] = value
  return i
end

function arguments.read(words, known)
  local rest, options, i = {}, {}, 1
  while i <= #words do
    local word = words[i]
    if word == "--" then
      table.move(words, i + 1, #words, #rest + 1, rest)
      break
    elseif word:find("^%-%-") then i = take(words, i, known, options)
    elseif word:find("^%-.") then usage("unknown option '%s'", word)
    else rest[#rest + 1] = word end
    i = i + 1
  end
  return rest, options
end

-- A whole number from an option, or a usage error.
function arguments.number(options, name, default)
  if not options[name] then return default end
  local number = math.tointeger(tonumber(options[name]))
  if not number or number < 0 then
    usage("--%s=%s: expected a whole number, 0 or more", name, options[name])
  end
  return number
end

return arguments
