-- entry.lua: how an entry of help looks: its call, its sentence, then one part a label.
--
--   where(mask, a, b) -> tensor
--     Takes from a where mask is not 0, and from b where it is.
--
--     shapes   mask, a and b broadcast together; a and b may be numbers
--     example  > where(tensor{1, 0}, tensor{1, 2}, 0)
--              ...
--
-- Fitted to the window; where that is narrow, a label has a line of its own. Entries come
-- from help_entries.lua, which the build makes of the blocks in the sources.

local host = require "tarn.host"

local entry = {}

local WIDEST = 92      -- longer lines are hard to read
local NARROW = 60      -- below this, labels stand above their text
local LABEL_WIDTH = 10 -- "aliasing" and two blanks
local LONGEST_GROUP = 20
local labels = {"shapes", "math", "cost", "errors", "aliasing", "note", "options", "example", "chapter", "see"}

local function window() return math.min(WIDEST, math.max(20, host.columns() - 1)) end

local function length(text) return utf8.len(text) or #text end

-- A short list in brackets, such as [B, H, N, D], stays on one line: its blanks are hidden.
local function hide_blanks(group)
  return #group <= LONGEST_GROUP and group:gsub(" ", "\1") or group
end

-- Adds the words of a text to lines: the first one begins with `first`, others with `rest`.
function entry.wrap(lines, text, first, rest)
  local line, fresh = first, true
  text = text:gsub("%b[]", hide_blanks):gsub("%b{}", hide_blanks)
  for word in text:gmatch("[^ \n]+") do
    word = word:gsub("\1", " ")
    if not fresh and length(line) + 1 + length(word) > window() then
      lines[#lines + 1] = line
      line, fresh = rest, true
    end
    line = line .. (fresh and "" or " ") .. word
    fresh = false
  end
  lines[#lines + 1] = line
end

function entry.heading(text)
  return host.color and "\27[1m" .. text .. "\27[0m" or text
end

-- The label before a text: what its first and its other lines begin with.
local function label_of(lines, label)
  if window() < NARROW then
    lines[#lines + 1] = "  " .. entry.heading(label)
    return "    ", "    "
  end
  local first = "  " .. entry.heading(label) .. (" "):rep(LABEL_WIDTH - #label)
  return first, (" "):rep(2 + LABEL_WIDTH)
end

-- A label may be painted, which is no part of its width: it is put in when the text is laid.
local function add_text(lines, label, text)
  local first, rest = label_of(lines, label)
  local from = #lines + 1
  entry.wrap(lines, text, rest, rest)
  lines[from] = first .. lines[from]:sub(#rest + 1)
end

local function add_options(lines, text)
  local first, rest = label_of(lines, "options")
  local widest, from = 0, #lines + 1
  for name in text:gmatch("[^\n]+") do widest = math.max(widest, #name:match("^%S+")) end
  for line in text:gmatch("[^\n]+") do
    local name, words = line:match("^(%S+)%s*(.*)$")
    entry.wrap(lines, words, rest .. name .. (" "):rep(widest + 2 - #name),
      rest .. (" "):rep(widest + 2))
  end
  lines[from] = first .. lines[from]:sub(#rest + 1)
end

-- What stands for the signs of pictures where the terminal has ASCII alone.
local ascii = setmetatable({
  ["│"] = "|", ["┤"] = "+", ["└"] = "+", ["─"] = "-", ["┬"] = "+",
  ["░"] = ".", ["▒"] = ":", ["▓"] = "#", ["█"] = "@",
}, {__index = function() return "*" end})

local function showable(text)
  if host.utf8 then return text end
  return (text:gsub("[\xC2-\xF4][\x80-\xBF]*", function(sign) return ascii[sign] end))
end

local function add_example(lines, text)
  local first, rest = label_of(lines, "example")
  local from = #lines + 1
  for line in (text .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = rest .. showable(line) end
  lines[from] = first .. lines[from]:sub(#rest + 1)
end

-- Adds one or more lines with a key, padded to a width, and its sentence.
function entry.summary(lines, e, widest)
  local narrow = window() < NARROW
  local gap = narrow and 2 or math.max(2, widest + 2 - #e.key)
  entry.wrap(lines, e.sentence, entry.heading(e.key) .. (" "):rep(gap),
    (" "):rep(narrow and 4 or widest + 2))
end

-- The call of an entry with what it gives.
function entry.call(e)
  return e.signature .. (e.returns and e.returns ~= "" and " -> " .. e.returns or "")
end

-- The chapter of an entry, as "4 Causal masking is a prefix sum (doc/en/04-prefix-sum.md)".
function entry.chapter(chapter)
  return ("%d %s (%s)"):format(chapter.number, chapter.title, chapter.file)
end

-- Adds an entry to lines.
function entry.layout(lines, e)
  local from = #lines + 1
  entry.wrap(lines, entry.call(e), "", "      ")
  for i = from, #lines do lines[i] = entry.heading(lines[i]) end
  entry.wrap(lines, e.sentence, "  ", "  ")
  if e.about then
    lines[#lines + 1] = ""
    entry.wrap(lines, e.about, "  ", "  ")
  end
  lines[#lines + 1] = ""
  for _, label in ipairs(labels) do
    local text = e[label]
    if text and label == "chapter" then text = entry.chapter(text) end
    if text and label == "options" then add_options(lines, text)
    elseif text and label == "example" then add_example(lines, text)
    elseif text then add_text(lines, label, text) end
  end
end

return entry
