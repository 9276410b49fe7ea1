-- options.lua: checks what functions in tarn's own Lua are given.
--
--   options.check("hist", opt, {bins = "count", title = "text"})   the table that is last
--   options.tensor("hist", t, "a list")             a tensor, of a table or a number too
--
-- Unknown options are refused, with a suggestion, and values of another kind. What becomes
-- a line of a picture has no line ends or other control characters afterwards.

local tarn = require "tarn"
local host = require "tarn.host"
local show = require "tarn.show"
local tensors = require "tarn.tensors"

local options = {}

local function finite(x) return type(x) == "number" and x - x == 0 end

local function is_text(x) return type(x) == "string" end

-- Names end at a NUL for the system: "a.svg\0" is another file.
local function is_path(x) return is_text(x) and not x:find("\0", 1, true) end

local function is_list_of_texts(x)
  if type(x) ~= "table" then return false end
  for _, entry in ipairs(x) do
    if not is_text(entry) then return false end
  end
  return true
end

local function one_line(text) return (text:gsub("%c", " ")) end

local function one_line_each(list)
  local clean = {}
  for i, text in ipairs(list) do clean[i] = one_line(text) end
  return clean
end

-- Each kind: the words that a message has for it, its test, and what cleans it.
local kinds = {
  path = {"the name of a file", is_path},
  text = {"a string", is_text, one_line},
  texts = {"a list of strings", is_list_of_texts, one_line_each},
  flag = {"true or false", function(x) return type(x) == "boolean" end},
  count = {"a whole number from 1 to 1000", function(x)
    return math.type(x) == "integer" and x >= 1 and x <= 1000
  end},
  times = {"a whole number, 0 or more", function(x)
    return math.type(x) == "integer" and x >= 0
  end},
  amount = {"a number, 0 or more", function(x) return finite(x) and x >= 0 end},
  range = {"{low, high}, two finite numbers in this order", function(x)
    return type(x) == "table" and finite(x[1]) and finite(x[2]) and x[1] < x[2] and #x == 2
  end},
}

local function unknown(name, key, known)
  local meant = type(key) == "string" and host.nearest(key, known)
  local list = {}
  for option in pairs(known) do list[#list + 1] = option end
  table.sort(list)
  error(("%s: unknown option %s%s"):format(name, type(key) == "string" and "'" .. key .. "'" or
    show.text(key), meant and "; did you mean '" .. meant .. "'?" or
    ", expected one of " .. table.concat(list, ", ")), 0)
end

-- Gives the options in a table of their own.
function options.check(name, opt, known)
  local clean = {}
  if opt == nil then return clean end
  if type(opt) ~= "table" then
    error(("%s: the options are %s, expected a table"):format(name, (show.summary(opt))), 0)
  end
  for key, value in next, opt do
    if not known[key] then unknown(name, key, known) end
    local kind = kinds[known[key]]
    if not kind[2](value) then
      error(("%s: %s is %s, expected %s"):format(name, key, (show.summary(value)), kind[1]), 0)
    end
    clean[key] = value
    if kind[3] then clean[key] = kind[3](value) end
  end
  return clean
end

-- Gives a tensor for what may stand for one; `expected` says what may, in a message.
function options.tensor(name, value, expected)
  if show.is_tensor(value) then return tensors.on_host(value) end
  if type(value) ~= "table" and type(value) ~= "number" then
    error(("%s: t is %s, expected %s"):format(name, show.text(value), expected), 0)
  end
  local ok, t = pcall(tarn.tensor, value, {dtype = "float64", device = "cpu"})
  if not ok then error((tostring(t):gsub("^tensor: ", name .. ": t: ")), 0) end
  return t
end

return options
