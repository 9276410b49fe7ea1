-- compare.lua: whether an output is the expected one, and where it is not.
--
-- - Blanks at the end of a line do not count, and a run of blanks is as good as another:
--   columns move when a number gets longer.
-- - A line "..." stands for any lines, none included; "..." in a line for any text.
-- - Numbers are compared as numbers: |a - b| <= tol * max(|a|, |b|, 0.001). So with the
--   usual tol of 1e-4 differences below 1e-7, the rounding of float32 next to 1, are
--   none. Two integers must be the same; nan and inf have their names (nan has no sign).
--   Digits that belong to a name (float32) are text, and so are those next to "...".

local compare = {}

local USUAL_TOLERANCE = 1e-4

-- More pairs of lines than this are not aligned one by one.
local MOST_PAIRS = 1000000

-- ---- numbers ----------------------------------------------------------------------------

-- The number that begins at a position: its text and the position after it; or nil.
local function number_at(text, position)
  local before = position > 1 and text:sub(position - 1, position - 1) or " "
  if before:find("[%w_.]") then return nil end
  local start = position
  if text:find("^[+-]", start) and not before:find("[%])]") then start = start + 1 end
  local last = text:match("^%d+%.%d+()", start) or text:match("^%.?%d+()", start)
  if last then
    last = text:match("^[eE][+-]?%d+()", last) or last
  else
    last = text:match("^nan%f[^%w_]()", start) or text:match("^inf%f[^%w_]()", start)
  end
  if last then return text:sub(position, last - 1), last end
end

-- An integer without its sign + and leading zeros; nil for another number.
local function integer(text)
  local sign, digits = text:match("^([+-]?)0*(%d+)$")
  return digits and (sign == "-" and digits ~= "0" and "-" or "") .. digits
end

local function same_number(a, b, tolerance)
  if a == b then return true end
  local whole_a, whole_b = integer(a), integer(b)
  if whole_a and whole_b then return whole_a == whole_b end
  local x, y = tonumber(a), tonumber(b)
  if not (x and y) then -- nan or inf
    a, b = a:gsub("^%+", ""), b:gsub("^%+", "")
    return a == b or a:find("nan", 1, true) ~= nil and b:find("nan", 1, true) ~= nil
  end
  return x == y or math.abs(x - y) <= tolerance * math.max(math.abs(x), math.abs(y), 1e-3)
end

-- ---- one line ---------------------------------------------------------------------------

-- The part that begins at a position, and where it ends; nil within text.
local function part_at(line, position, after_any)
  if line:sub(position, position + 2) == "..." then return {any = true}, position + 3 end
  local blanks = line:match("^%s+()", position)
  if blanks then return {blank = true}, blanks end
  local number, after = number_at(line, position)
  if not number then return nil end
  local cut = after_any or line:sub(after, after + 2) == "..."
  return {[cut and "text" or "number"] = number}, after
end

-- Cuts an expected line into parts: {any = true}, {blank = true}, {number =}, {text =}.
local function parts_of(line)
  local parts, position, text_from = {}, 1, 1
  local function end_text(before)
    if text_from < before then parts[#parts + 1] = {text = line:sub(text_from, before - 1)} end
  end
  while position <= #line do
    local last = parts[#parts]
    local part, after = part_at(line, position, text_from == position and last and last.any)
    if part then
      end_text(position)
      parts[#parts + 1] = part
      text_from = after
    end
    position = after or line:match("^[^%s%d.+ni-]+()", position) or position + 1
  end
  end_text(position)
  return parts
end

-- Where a part that stands at this position of the line ends; nil if it does not.
local function step(part, line, position, tolerance)
  if part.blank then return line:match("^%s+()", position) end
  if part.number then
    local number, after = number_at(line, position)
    return number and same_number(part.number, number, tolerance) and after or nil
  end
  local after = position + #part.text
  return line:sub(position, after - 1) == part.text and after or nil
end

-- True if the line is made of these parts. After a part that does not fit the last "..."
-- takes one sign more.
local function made_of(parts, line, tolerance)
  local i, position = 1, 1
  local any, any_position
  while i <= #parts or position <= #line do
    local part = parts[i]
    local after
    if part and part.any then
      if i == #parts then return true end
      any, any_position, after = i, position, position
    elseif part then
      after = step(part, line, position, tolerance)
    end
    if after then
      i, position = i + 1, after
    elseif any and any_position <= #line then
      any_position = any_position + 1
      i, position = any + 1, any_position
    else
      return false
    end
  end
  return true
end

-- A line without the blanks at its end.
function compare.trimmed(line) return line:match("^.*%S") or "" end

-- An expected line, ready to be compared. It is cut into parts when that is needed.
local function pattern_of(line)
  local text = compare.trimmed(line)
  return {text = text, any_lines = text == "..."}
end

-- The blanks before a number at the beginning of a line are those of a column.
local function cut(pattern)
  local parts = parts_of(pattern.text)
  if #parts > 1 and parts[1].blank and parts[2].number then table.remove(parts, 1) end
  pattern.parts = parts
  pattern.column = #parts > 0 and parts[1].number ~= nil
end

local function same_line(pattern, line, tolerance)
  line = compare.trimmed(line)
  if line == pattern.text then return true end
  if not pattern.parts then cut(pattern) end
  if pattern.column then line = line:match("^%s*(.*)$") end
  return made_of(pattern.parts, line, tolerance)
end

-- ---- all lines --------------------------------------------------------------------------

-- The number of lines without the blank ones at the end.
local function count(lines)
  local n = #lines
  while n > 0 and not lines[n]:find("%S") do n = n - 1 end
  return n
end

local function patterns_of(lines)
  local patterns = {}
  for i = 1, count(lines) do patterns[i] = pattern_of(lines[i]) end
  return patterns
end

-- True if the lines are the expected ones. Blank lines at the end do not count.
function compare.same(expected, got, tolerance)
  tolerance = tolerance or USUAL_TOLERANCE
  local patterns, n = patterns_of(expected), count(got)
  local i, j = 1, 1
  local any, any_j
  while i <= #patterns or j <= n do
    local pattern = patterns[i]
    if pattern and pattern.any_lines then
      any, any_j, i = i, j, i + 1
    elseif pattern and j <= n and same_line(pattern, got[j], tolerance) then
      i, j = i + 1, j + 1
    elseif any and any_j <= n then
      any_j = any_j + 1
      i, j = any + 1, any_j
    else
      return false
    end
  end
  return true
end

-- The least number of changes that makes the first i expected lines those of the first j:
-- changes[i][j]. A line "..." takes lines in for nothing.
local function count_changes(patterns, got, n, tolerance)
  local changes = {[0] = {}}
  for j = 0, n do changes[0][j] = j end
  for i, pattern in ipairs(patterns) do
    local above, row = changes[i - 1], {}
    row[0] = above[0] + (pattern.any_lines and 0 or 1)
    for j = 1, n do
      if pattern.any_lines then
        row[j] = math.min(above[j], row[j - 1])
      elseif same_line(pattern, got[j], tolerance) then
        row[j] = above[j - 1]
      else
        row[j] = 1 + math.min(above[j - 1], above[j], row[j - 1])
      end
    end
    changes[i] = row
  end
  return changes
end

-- Walks back through the changes: a list of {same =} (an expected line that stays),
-- {missing =} and {new =}, from the last line to the first.
local function walk_back(changes, expected, patterns, got, n, tolerance)
  local list, i, j = {}, #patterns, n
  local function add(kind, line) list[#list + 1] = {[kind] = line} end
  while i > 0 or j > 0 do
    local here, pattern = changes[i][j], patterns[i]
    local both = i > 0 and j > 0
    if pattern and pattern.any_lines then
      if changes[i - 1][j] == here then
        add("same", expected[i])
        i = i - 1
      else
        j = j - 1
      end
    elseif both and same_line(pattern, got[j], tolerance) then
      add("same", expected[i])
      i, j = i - 1, j - 1
    elseif both and changes[i - 1][j - 1] == here - 1 then
      add("new", got[j])
      add("missing", expected[i])
      i, j = i - 1, j - 1
    elseif j > 0 and changes[i][j - 1] == here - 1 then
      add("new", got[j])
      j = j - 1
    else
      add("missing", expected[i])
      i = i - 1
    end
  end
  return list
end

-- What has to change for the expected lines to become what was got, line by line: a list
-- of {same =}, {missing =}, {new =}. Of very long outputs all changes.
function compare.changes(expected, got, tolerance)
  tolerance = tolerance or USUAL_TOLERANCE
  local patterns, n = patterns_of(expected), count(got)
  local list = {}
  if #patterns * n > MOST_PAIRS then
    for i = 1, #patterns do list[i] = {missing = expected[i]} end
    for j = 1, n do list[#list + 1] = {new = got[j]} end
    return list
  end
  local changes = count_changes(patterns, got, n, tolerance)
  local backwards = walk_back(changes, expected, patterns, got, n, tolerance)
  for i = #backwards, 1, -1 do list[#list + 1] = backwards[i] end
  return list
end

return compare
