-- meant.lua: what may have been meant by a misspelt name.
--
--   meant.variable(name, public)   ": did you mean 'prefix'?" for an undefined variable
--   meant.guard("rnn", members)    makes reading what a table of tarn's does not have an error
--   meant.called(message)          "; did you mean 'math.sqrt'?" for Lua's own message that
--                                  a member of its libraries is nil
--   meant.syntax(message, text)    "; hint: not equal is ~=" for Lua's own message on wrong
--                                  syntax; text, if it is known, is what was typed
--
-- Where there is nothing to say, the first gives "", the others nil.

local host = require "tarn.host"
local names = require "tarn.names"

local type, next, rawget = type, next, rawget
local real, loaded = _G, package.loaded

local meant = {}

-- What to say about names that are no misspelling.
local ways_out = {
  exit = "leave with ^D or os.exit()",
  quit = "leave with ^D or os.exit()",
  ["import"] = 'modules are loaded by require "name"',
  unpack = "it is table.unpack in Lua 5.4",
  loadstring = "it is load in Lua 5.4",
  print_r = "show(x) shows tables",
  null = "it is nil in Lua",
  None = "it is nil in Lua",
  torch = "tarn's functions have no prefix, zeros(2, 3)",
  np = "tarn's functions have no prefix, zeros(2, 3)",
  numpy = "tarn's functions have no prefix, zeros(2, 3)",
  matmul = "it is a:mm(b)",
  arange = "it is range(a, b), the end included",
  len = "it is #x",
  str = "it is tostring(x)",
  inf = "it is math.huge in Lua",
  nan = "it is 0/0 in Lua",
}

-- Every name that a variable could be: name -> how it is written.
local function variables(public)
  local known = {["true"] = "true", ["false"] = "false", ["nil"] = "nil",
    ["function"] = "function"}
  for _, names_of in ipairs {public, real} do
    for key in next, names_of do
      if type(key) == "string" then known[key] = key end
    end
  end
  for key, entry in next, names.by_name do
    if entry.topic.method and #key > 1 then known[key] = known[key] or entry.signature end
  end
  return known
end

function meant.variable(name, public)
  if ways_out[name] then return ": " .. ways_out[name] end
  local known = variables(public)
  local near = known[name] and name or host.nearest(name, known)
  return near and ": did you mean '" .. known[near] .. "'?" or ""
end

-- Names that may be missing in tarn's tables: settings of tests.
local optional = {quiet_times = true}

function meant.guard(name, members)
  local meta = getmetatable(members) or {}
  function meta.__index(_, key)
    if type(key) ~= "string" or optional[key] then return nil end
    local near = host.nearest(key, members)
    error(("%s has no '%s'%s"):format(name, key,
      near and "; did you mean '" .. near .. "'?" or ""), 0)
  end
  setmetatable(members, meta)
end

-- The members of Lua's libraries, "sqrt" -> "math.sqrt", and the methods of strings.
local members, methods = {}, {}
for _, library in ipairs {"coroutine", "debug", "io", "math", "os", "string", "table", "utf8"} do
  for name in next, loaded[library] do members[name] = library .. "." .. name end
end
for name in next, loaded.string do methods[name] = "s:" .. name .. "()" end

function meant.called(message)
  local kind, name = message:match("attempt to call a nil value %((%a+) '([%w_]+)'%)$")
  local known = kind == "field" and members or kind == "method" and methods
  local near = known and host.nearest(name, known)
  return near and "; did you mean '" .. rawget(known, near) .. "'?" or nil
end

-- Signs in Lua's message on wrong syntax, and what they may stand for in other languages.
local signs = {
  ["!"] = "not equal is ~=, and not x negates",
  ["&"] = "and, or, not are words",
  ["|"] = "and, or, not are words",
  ["+"] = "there is no += or ++; write x = x + 1",
  ["//"] = "comments begin with --",
  ["*"] = "a power is x ^ 2",
  ["@"] = "a product of matrices is a:mm(b)",
  ["["] = "a list is {1, 2, 3}",
  [":"] = "blocks are if .. then .. end, for .. do .. end, function f() .. end",
}

-- Words at the beginning of a text that is no Lua.
local words = {
  import = 'modules are loaded by require "name"',
  from = 'modules are loaded by require "name"',
  def = "functions are function f(x) .. end",
  print = "print is a function, print(x)",
  elif = "it is elseif",
}

-- About a sign that begins with this byte and is not in ASCII.
local function odd_sign(byte, text)
  local sign = text and text:match(string.char(byte) .. "[\128-\191]+")
  return "outside of strings and comments Lua knows ASCII alone" ..
    (sign and ", not " .. sign or "")
end

function meant.syntax(message, text)
  local near = message:match(" near '([^']+)'$")
  if not near then return nil end
  local hint = text and words[text:match("^%s*(%a+)%s")] or signs[near]
  if message:find("'%]' expected near ':'", 1) then hint = "a range is t[{{a, b}}], b included" end
  if message:find("'%)' expected near '='", 1) then
    hint = "names of arguments stand in braces, f(x, {name=value})"
  end
  local byte = tonumber(near:match("^<\\(%d+)>$"))
  if byte then hint = odd_sign(byte, text) end
  return hint and "; hint: " .. hint or nil
end

return meant
