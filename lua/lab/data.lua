-- data.lua: reads a file that holds a table in Lua's notation, and runs nothing.
--
--   data.read(text, name)   the table, or an error "name:3: expected a value, found 'os'"
--
-- What it takes: one table, `return` before it or not, of strings, numbers, true, false and
-- tables; keys as name = or ["any text"] =; comments. No operators, calls or variables: a
-- course file that comes from elsewhere can do nothing but be wrong.

local data = {}

local reader = {}
reader.__index = reader

local DEEPEST = 20

function reader:fail(expected)
  local line = select(2, self.text:sub(1, self.at - 1):gsub("\n", "")) + 1
  local found = self.text:match("^[%w_]+", self.at) or self.text:sub(self.at, self.at)
  error(("%s:%d: expected %s, found %s"):format(self.name, line, expected,
    found == "" and "the end" or "'" .. found .. "'"), 0)
end

-- Skips blanks and comments.
function reader:skip()
  while true do
    local at = self.text:match("^%s*()", self.at)
    local after = self.text:match("^%-%-%[%[.-%]%]()", at) or
      (not self.text:find("^%-%-%[%[", at) and self.text:match("^%-%-[^\n]*()", at))
    self.at = after or at
    if not after then return end
  end
end

-- Takes what a pattern matches at this place, and the blanks behind it; nil if it does not.
function reader:take(pattern)
  local found, after = self.text:match("^(" .. pattern .. ")()", self.at)
  if not found then return nil end
  self.at = after
  self:skip()
  return found
end

local escapes = {n = "\n", t = "\t", ["\\"] = "\\", ['"'] = '"', ["'"] = "'", ["\n"] = "\n"}

function reader:string()
  local quote = self.text:sub(self.at, self.at)
  if self.text:find("^%[%[", self.at) then
    local whole = self:take("%[%[.-%]%]") or self:fail("]] after this")
    return (whole:sub(3, -3):gsub("^\n", ""))
  end
  local parts, at = {}, self.at + 1
  while true do
    local sign = self.text:sub(at, at)
    if sign == quote then break end
    if sign == "" or sign == "\n" then self:fail("a string that ends on its line") end
    if sign == "\\" then
      at = at + 1
      sign = escapes[self.text:sub(at, at)] or self:fail("one of \\n \\t \\\\ \\\" in a string")
    end
    parts[#parts + 1], at = sign, at + 1
  end
  self.at = at + 1
  self:skip()
  return table.concat(parts)
end

function reader:number()
  local word = self:take("%-?[%d.]+[eE][+-]?%d+") or self:take("%-?[%d.][%w.]*")
  return tonumber(word) or self:fail("a number")
end

local words = {["true"] = true, ["false"] = false}

function reader:value(depth)
  local sign = self.text:sub(self.at, self.at)
  if sign == "{" then return self:table(depth + 1) end
  if sign == '"' or sign == "'" or self.text:find("^%[%[", self.at) then return self:string() end
  if self.text:find("^%-?[%d.]", self.at) then return self:number() end
  local word = self.text:match("^[%a_][%w_]*", self.at)
  if words[word] == nil then self:fail("a value") end
  self:take("[%a_][%w_]*")
  return words[word]
end

-- A key before `=`, or nil where a value stands for itself.
function reader:key(depth)
  if self.text:find("^%[[^%[]", self.at) then
    self:take("%[")
    local key = self:value(depth)
    if not self:take("%]") then self:fail("]") end
    if not self:take("=") then self:fail("=") end
    return key
  end
  if self.text:find("^[%a_][%w_]*%s*=", self.at) then
    local key = self:take("[%a_][%w_]*")
    self:take("=")
    return key
  end
end

function reader:table(depth)
  if depth > DEEPEST then self:fail("fewer tables inside each other") end
  local result, count = {}, 0
  self:take("{")
  while not self:take("}") do
    local key = self:key(depth)
    if key == nil then
      count = count + 1
      key = count
    end
    result[key] = self:value(depth)
    if not self:take("[,;]") and self.text:sub(self.at, self.at) ~= "}" then self:fail("} or ,") end
  end
  return result
end

function data.read(text, name)
  local source = setmetatable({text = text, name = name, at = 1}, reader)
  source:skip()
  if source.text:find("^return%W", source.at) then source:take("return") end
  if source.text:sub(source.at, source.at) ~= "{" then source:fail("a table") end
  local result = source:table(1)
  if source.at <= #text then source:fail("nothing more") end
  return result
end

return data
