-- change.lua: a wrong answer told as a change of the solution, made into the text of an answer.
--
--   change.text(exercise, {{old, new}, ..})   that text; or nil and which pair does not fit, why
--
-- Each pair puts `new` in the place of `old`, in the order that they stand in. An old text has to
-- be there exactly once, so that a solution that was edited is noticed by those changes that it
-- touches. What a learner does not write, outside of the todo region, stays as it is; lines for
-- the start (see start.lua) are no part of the solution here.

local files = require "tarn.lab.files"
local start = require "tarn.lab.start"

local change = {}

-- How a text is named in a message: its first line that is not blank.
local function quoted(text)
  return "'" .. (text:match("[^%s\n][^\n]*") or text) .. "'"
end

-- A text with one pair exchanged, or nil and why not.
local function exchange(text, pair, file)
  if type(pair) ~= "table" or type(pair[1]) ~= "string" or type(pair[2]) ~= "string" then
    return nil, "it is no pair of texts, expected {old, new}"
  end
  local old, new = pair[1], pair[2]
  if old == new then return nil, "it changes nothing: both texts are " .. quoted(old) end
  local first, last = text:find(old, 1, true)
  if not first or old == "" then return nil, ("%s is not in %s"):format(quoted(old), file) end
  if text:find(old, first + 1, true) then
    return nil, ("%s is in %s more than once"):format(quoted(old), file)
  end
  return text:sub(1, first - 1) .. new .. text:sub(last + 1)
end

function change.text(exercise, pairs_of)
  local file, solution = files.base(exercise.solution), start.answer(exercise)
  local text, outside = solution, start.outside(solution, exercise)
  for i, pair in ipairs(pairs_of) do
    local changed, why = exchange(text, pair, file)
    if changed and start.outside(changed, exercise) ~= outside then
      changed, why = nil, ("%s is not inside the todo region of %s"):format(quoted(pair[1]), file)
    end
    if not changed then return nil, ("change[%d]: %s"):format(i, why) end
    text = changed
  end
  if text == solution then return nil, "change: it leaves the solution as it is" end
  return text
end

return change
