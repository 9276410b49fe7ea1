-- show.lua: what a check has found, for the learner: case by case, and for a case that failed
-- the equation, the index, what was expected and what was got with their neighbours.
--
--   show.result(page, exercise, result)     adds lines to a page
--   show.bar(points, max)                   "[######----] 6 of 10 points"
--   show.narrow()                           whether labels stand above what they label
--
-- The words say everything; colours repeat it.

local report = require "tarn.report"
local host = require "tarn.host"
local files = require "tarn.lab.files"

local show = {}

local INDENT = "        "
local NARROW = 64

function show.points(points, max)
  return ("%g of %g point%s"):format(points, max, max == 1 and "" or "s")
end

function show.narrow() return host.columns() < NARROW end

function show.bar(points, max)
  local signs = show.narrow() and 10 or 20
  local full = max > 0 and math.floor(signs * points / max) or 0
  return ("[%s%s] %s"):format(("#"):rep(full), ("-"):rep(signs - full), show.points(points, max))
end

-- ---- neighbours -------------------------------------------------------------------------

local function number(x, digits)
  if x ~= x then return "nan" end -- Lua says -nan for some
  return type(x) == "number" and ("%." .. (digits or 6) .. "g"):format(x) or tostring(x)
end

-- A table of neighbours as lines; the entry in question has a star.
local function grid(title, near, values, index)
  local heads, rows = {title}, {}
  for c, column in ipairs(near.columns) do heads[c + 1] = ">" .. column end
  for r, row in ipairs(near.rows) do
    local cells = {tostring(row)}
    for c, column in ipairs(near.columns) do
      local at = row == near.at[1] and column == near.at[2]
      local value = values[r] and values[r][c]
      cells[c + 1] = (value == nil and "-" or number(value, near.digits)) .. (at and "*" or " ")
    end
    rows[r] = cells
  end
  local lines = {}
  for line in report.layout(heads, rows):gmatch("[^\n]+") do lines[#lines + 1] = line end
  return lines
end

-- Two blocks of lines side by side, or one under the other where the window is narrow.
local function beside(page, left, right)
  local width = 0
  for _, line in ipairs(left) do width = math.max(width, #line) end
  local widest = 0
  for _, line in ipairs(right) do widest = math.max(widest, #line) end
  local narrow = #INDENT + width + 4 + widest > host.columns()
  for i, line in ipairs(left) do
    local rest = narrow and "" or (" "):rep(width + 4 - #line) .. (right[i] or "")
    page:line((INDENT .. line .. rest):gsub("%s+$", ""))
  end
  if narrow then
    for _, line in ipairs(right) do page:line(INDENT .. line) end
  end
end

local function add_neighbours(page, case)
  local near = case.near
  near.at = near.at or {case.index[#case.index - 1] or 1, case.index[#case.index]}
  beside(page, grid("expected", near, near.expected, case.index),
    grid("got", near, near.got, case.index))
end

-- ---- cases ------------------------------------------------------------------------------

local cost_names = {"heap", "loads", "stores", "growth", "instructions", "global", "shared"}
local units = {heap = " bytes of heap", loads = " loads", stores = " stores",
  instructions = " instructions"}

-- What a case has cost: "1,024 bytes of heap, growth 2.01".
local function costs_of(case)
  local parts = {}
  for _, name in ipairs(cost_names) do
    local value = case.costs and case.costs[name]
    if value and units[name] then parts[#parts + 1] = report.count(value) .. units[name]
    elseif value then parts[#parts + 1] = ("%s %.2f"):format(name, value) end
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

-- What is wrong, unless an earlier case has said just that: `told` has the messages, each with its
-- case, and the last one.
local function add_message(page, case, told)
  local earlier = told.cases[case.message]
  if not earlier then
    page:text(case.message, INDENT)
  elseif told.last == case.message then
    page:text("the same error", INDENT)
  else
    page:text(("the same error as in '%s'"):format(earlier), INDENT)
  end
  told.cases[case.message], told.last = earlier or case.name, case.message
end

-- Only the first that failed shows its neighbours: the others often fail for the same reason.
local function add_case(page, case, told)
  local eq = case.equation and not case.name:find(case.equation, 1, true) and
    " (" .. case.equation .. ")" or ""
  page:labelled(case.ok and "green" or "red", case.ok and "passed" or "FAILED",
    ("%g/%g  %s%s"):format(case.points, case.max, case.name, eq))
  local cost = costs_of(case)
  if cost then page:text("it took " .. cost, INDENT) end
  if case.ok then return end
  local in_full = not told.last
  if case.message then add_message(page, case, told) end
  if in_full and case.near then add_neighbours(page, case) end
end

-- What the learner's code has printed, for those who look for a bug that way.
local function add_output(page, output)
  if not output or not output:find("%S") then return end
  page:text("it printed:", "  ")
  page:text((output:gsub("[^\n]+", "    %0"))) -- lines that begin with blanks are not wrapped
end

function show.result(page, exercise, result)
  page:labelled("bold", exercise.number .. " " .. exercise.name, exercise.title)
  for _, warning in ipairs(result.warnings or {}) do page:text("warning: " .. warning, "  ") end
  if result.skipped then
    return page:labelled("yellow", "SKIPPED", result.skipped)
  elseif result.problem then
    page:labelled("red", "FAILED", result.problem)
  else
    local told = {cases = {}}
    for _, case in ipairs(result.cases) do add_case(page, case, told) end
    add_output(page, result.output)
  end
  page:line(show.bar(result.points, result.max))
end

-- Predictions beside what is right.
function show.answers(page, answers)
  for _, one in ipairs(answers) do
    page:blank()
    page:text(one.ask)
    page:text("you said: " .. one.said, "  ")
    if one.answer ~= nil then page:text("it is:    " .. tostring(one.answer), "  ") end
  end
end

-- The note that explains why it works, once it does.
function show.after(page, exercise)
  local text = files.read(files.join(exercise.folder, "after.md"))
  if not text then return end
  page:blank()
  page:markdown(text)
end

return show
