-- cursor.lua: what stands at the cursor of a line that is still being typed.
--
-- The line is read as Lua up to the cursor, by its words alone: it need not be complete
-- or right, and nothing is looked up or run. The answer is a table:
--
--   where     "code", "string" or "nothing" (a comment, a number)
--   word      the word that ends at the cursor, maybe ""
--   base      the expression before the word's "." or ":", which is `separator`
--   bracket   the innermost open one, or nil
--   seen      the names that the text has used as variables before
--   callee    in a string without brackets, as in require "name: what is called with it
--
-- An expression is {root = name}, {text = true} (a string), {call = expression}, or {} (who
-- knows), with the steps {separator, key} that follow. A bracket is {sign, callee, commas,
-- key, given, outer}: `key` is the field that is being given its value, `given` those that
-- were named.

local cursor = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]]):gmatch("%a+") do
  keywords[word] = true
end
cursor.keywords = keywords

-- ---- the state of the reading -----------------------------------------------------------
-- expression  the one that has just ended, or nil;  separator  its "." or ":" at the end
-- name        a name that has just ended, which `=` may make a key

local function open(state, sign)
  local callee = not state.separator and state.expression
  if state.defining then callee = nil end
  state.bracket = {sign = sign, callee = callee or nil, commas = 0, given = {},
    outer = state.bracket}
  state.expression, state.separator, state.defining = nil, nil, false
end

-- A name in parentheses stays what it is, a call may give anything.
local function close(state)
  local bracket = state.bracket
  if not bracket then return end
  local plain = not bracket.callee and not bracket.mixed and bracket.sign == "("
  state.expression = plain and state.expression or {call = bracket.callee}
  state.separator, state.bracket = nil, bracket.outer
end

local function take_operator(state, sign)
  local bracket = state.bracket
  if bracket then
    bracket.mixed = true
    if sign == "," or sign == ";" then
      bracket.commas, bracket.key = bracket.commas + 1, nil
    elseif sign == "=" and state.name then
      bracket.key, bracket.given[state.name] = state.name, true
    end
  end
  state.expression, state.separator = nil, nil
end

local function extended(expression, separator, key)
  local longer = {root = expression.root, text = expression.text, call = expression.call,
    table.unpack(expression)}
  longer[#longer + 1] = {separator, key}
  return longer
end
cursor.extended = extended

local function take_name(state, name)
  if state.separator then
    state.expression = extended(state.expression, state.separator, name)
    state.separator = nil
  elseif keywords[name] then
    state.expression = name == "end" and {} or nil
    state.defining = name == "function"
  else
    state.expression = {root = name}
    state.used = name
  end
end

-- A string after an expression is the argument of a call.
local function take_string(state)
  state.expression = state.expression and {call = state.expression} or {text = true}
  state.separator = nil
end

-- ---- the words of Lua -------------------------------------------------------------------
-- Each reader gets the text and a position and gives the position after its word; or nil
-- if the word has no end.

local function after_long_bracket(text, at)
  local level = text:match("^%[(=*)%[", at)
  local _, last = text:find("]" .. level .. "]", at + #level + 2, true)
  return last and last + 1
end

local function after_comment(text, at)
  if text:find("^%-%-%[=*%[", at) then return after_long_bracket(text, at + 2) end
  return text:find("\n", at, true)
end

local function after_quoted(text, at)
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote or c == "\n" then return i + 1 end
    i = i + (c == "\\" and 2 or 1)
  end
end

-- Reads one word at a position into the state: the position after it, or nil and where
-- the cursor is if the word has no end.
local function take(state, text, at)
  local c, name = text:sub(at, at), text:match("^[%a_][%w_]*", at)
  local before = state.name
  state.name = nil
  if state.used then state.seen[state.used], state.used = true, nil end
  if name then
    state.last = {start = at, base = state.separator and state.expression,
      separator = state.separator}
    state.name = not state.separator and name or nil
    take_name(state, name)
    return at + #name
  elseif text:find("^%-%-", at) then
    return after_comment(text, at), "nothing"
  elseif text:find("^%[=*%[", at) then
    local after = after_long_bracket(text, at)
    take_string(state)
    return after, "nothing"
  elseif c == '"' or c == "'" then
    local after = after_quoted(text, at)
    if not after then return nil, "string" end
    take_string(state)
    return after
  end
  local number = text:match("^%.?%d[%w.]*", at)
  if number then
    take_operator(state, "number")
    state.expression = {}
    return at + #number
  end
  local dots = text:match("^%.%.+", at) or text:match("^::", at) or
    text:match("^[=~<>]=", at)
  if dots then
    take_operator(state, dots)
    return at + #dots
  elseif (c == "." or c == ":") and state.expression then
    state.separator = c
  elseif c:find("[({[]") then
    open(state, c)
  elseif c:find("[)}%]]") then
    close(state)
  else
    state.name = before
    take_operator(state, c)
    state.name = nil
  end
  return at + 1
end

-- The answer for a string that is open at the cursor.
local function in_string(state, text, at)
  return {where = "string", word = text:sub(at + 1), bracket = state.bracket,
    callee = not state.separator and state.expression or nil}
end

-- Looks at the first `point` bytes of the line.
function cursor.look(line, point)
  local text, state, at = line:sub(1, point), {seen = {}}, 1
  while at <= #text do
    local blank = text:match("^%s+()", at)
    local after, where = blank
    if not blank then
      state.last = nil
      after, where = take(state, text, at)
    end
    if not after and where == "string" then return in_string(state, text, at) end
    local number = after and after > #text and text:find("^%.?%d", at)
    if not after or number then return {where = "nothing", word = ""} end
    at = after
  end
  local last = state.last and text:find("[%w_]$") and state.last or
    {start = #text + 1, base = state.separator and state.expression,
      separator = state.separator}
  return {where = "code", word = text:sub(last.start), base = last.base or nil,
    separator = last.separator, bracket = state.bracket, seen = state.seen}
end

return cursor
