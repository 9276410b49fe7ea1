-- start.lua: the start of an exercise, made from its solution, and the solution as one reads it.
--
--   start.text(exercise)      what the learner begins with
--   start.solution(exercise)  the solution without the marks below, or nil in a student package
--   start.regions(text, exercise)   how many todo regions a text has
--   start.answer(exercise)    the solution with its regions' marks, without the lines below
--   start.outside(text, exercise)   what stands outside of a text's regions, marks included
--
-- A solution has a region between two lines that say `//> todo` and `//< todo` (in Lua `-->`
-- and `--<`). In the start the region holds what stands behind `//:` in it, and the two
-- lines stay, so that one sees where to write. Questions that ask for a prediction stand
-- above the region, with a line `//= ` for the answer (see predict.lua).

local files = require "tarn.lab.files"
local predict = require "tarn.lab.predict"

local start = {}

-- How the marks begin in each language, as a pattern.
local comment = {c = "//", cu = "//", lua = "%-%-"}

-- What a line is: "open", "close", "instead" with its text, or nil.
local function mark(line, sign)
  if line:find("^%s*" .. sign .. ">%s*todo%s*$") then return "open" end
  if line:find("^%s*" .. sign .. "<%s*todo%s*$") then return "close" end
  local indent, text = line:match("^(%s*)" .. sign .. ":%s?(.*)$")
  if indent then return "instead", (indent .. text):gsub("%s+$", "") end
end

local function lines_of(text) return (text:gsub("\n*$", "\n")):gmatch("(.-)\n") end

local function read(path)
  local text, why = files.read(path)
  if not text then error(why, 0) end
  return text
end

function start.regions(text, exercise)
  local sign, count, open = comment[exercise.extension], 0, false
  for line in lines_of(text) do
    local kind = mark(line, sign)
    if kind == "open" then
      if open then return nil, "a todo region begins inside another" end
      count, open = count + 1, true
    elseif kind == "close" then
      if not open then return nil, "a todo region ends that has not begun" end
      open = false
    elseif kind == "instead" and not open then
      return nil, "a line for the start stands outside of the todo region: " .. line
    end
  end
  if open then return nil, "the todo region has no end" end
  return count
end

-- The lines of a text that `keep(kind, inside)` wants, in the form that it gives them.
local function filter(text, sign, keep)
  local out, inside = {}, false
  for line in lines_of(text) do
    local kind, instead = mark(line, sign)
    if kind == "open" then inside = true end
    local kept = keep(kind, inside, line, instead)
    if kind == "close" then inside = false end
    if kept then out[#out + 1] = kept end
  end
  return table.concat(out, "\n") .. "\n"
end

function start.text(exercise)
  if not exercise.solution then return read(exercise.start) end
  local asked = false
  return filter(read(exercise.solution), comment[exercise.extension],
    function(kind, inside, line, instead)
      if kind == "open" and not asked then
        asked = true
        return predict.questions(exercise, line:match("^%s*")) .. line
      end
      if kind == "instead" then return instead end
      return (not inside or kind) and line or nil
    end)
end

function start.answer(exercise)
  return filter(read(exercise.solution), comment[exercise.extension],
    function(kind, _, line) return kind ~= "instead" and line or nil end)
end

function start.outside(text, exercise)
  return filter(text, comment[exercise.extension],
    function(kind, inside, line) return (kind or not inside) and line or nil end)
end

function start.solution(exercise)
  if not exercise.solution then return nil end
  return filter(read(exercise.solution), comment[exercise.extension],
    function(kind, _, line) return not kind and line or nil end)
end

return start
