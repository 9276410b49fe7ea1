-- report.lua: where a learner stands: list, for the eye, and report, as text or as JSON.
--
-- The JSON is {"exercises": [{"name", "chapter", "language", "status", "points", "max"}, ...],
-- "score": x}; status is "open", "passed" or "failed", the score the sum of the points.

local host = require "tarn.host"
local tables = require "tarn.report"
local page = require "tarn.lab.page"
local show = require "tarn.lab.show"

local report = {}

local colors = {passed = "green", failed = "red", optional = "dim"}

local function note_problems(desk)
  for _, problem in ipairs(desk.problems) do host.note("left out: " .. problem.why) end
end

-- ---- list -------------------------------------------------------------------------------

local function status_text(entry)
  local record = entry.record
  if entry.status ~= "failed" then return entry.status end
  return ("failed %g/%g"):format(record.points, record.max)
end

-- The help that was taken: hints, and whether the solution was seen before passing.
local function help_text(record)
  local hints = record.hints > 0 and tostring(record.hints) or ""
  return record.solution and (hints .. " solution"):gsub("^ ", "") or hints
end

local function line_of(entry)
  local exercise = entry.exercise
  return {exercise.number, exercise.name .. (exercise.capstone and " *" or ""), exercise.language,
    tostring(exercise.minutes), ("%g"):format(exercise.points), status_text(entry),
    help_text(entry.record)}
end

function report.list(desk)
  local standing, lines, capstones = desk:standing(), {}, false
  for i, entry in ipairs(standing) do
    lines[i] = line_of(entry)
    capstones = capstones or entry.exercise.capstone
  end
  local text = tables.layout({"no.", "name", "in", ">min", ">points", "status", "hints"},
    lines, {"min", "in", "points", "hints"})
  local out, row = page.new(), 0
  for line in text:gmatch("[^\n]+") do
    local color = standing[row] and colors[standing[row].status]
    out:line(color and page.paint(color, line) or line)
    row = row + 1
  end
  if capstones then out:text("* passed, it makes the others of its chapter optional") end
  out:print()
  note_problems(desk)
  return 0
end

-- ---- report -----------------------------------------------------------------------------

local function totals(standing)
  local points, max = 0, 0
  for _, entry in ipairs(standing) do
    points, max = points + entry.record.points, max + entry.exercise.points
  end
  return points, max
end

local function json(standing, score)
  local rows = {}
  for i, entry in ipairs(standing) do
    local exercise = entry.exercise
    rows[i] = ('  {"name": "%s", "chapter": %d, "language": "%s", "status": "%s", ' ..
      '"points": %g, "max": %g}'):format(exercise.name, exercise.chapter, exercise.language,
      entry.record.status, entry.record.points, exercise.points)
  end
  return ('{"exercises": [\n%s\n], "score": %g}\n'):format(table.concat(rows, ",\n"), score)
end

-- Counts by chapter: {chapter =, points =, max =, passed =, count =}.
local function by_chapter(standing)
  local list, current = {}, nil
  for _, entry in ipairs(standing) do
    if not current or current.chapter ~= entry.exercise.chapter then
      current = {chapter = entry.exercise.chapter, points = 0, max = 0, passed = 0, count = 0}
      list[#list + 1] = current
    end
    current.points = current.points + entry.record.points
    current.max = current.max + entry.exercise.points
    current.count = current.count + 1
    if entry.status == "passed" then current.passed = current.passed + 1 end
  end
  return list
end

-- A bar with its label: before it, or above it where the window is narrow.
local function add_bar(out, label, bar)
  if not show.narrow() then return out:line(("%-10s  %s"):format(label, bar)) end
  out:line(label)
  out:text(bar, "  ")
end

local function text(standing, points, max)
  local out = page.new()
  for _, chapter in ipairs(by_chapter(standing)) do
    add_bar(out, "chapter " .. chapter.chapter, ("%s, %d of %d passed"):format(
      show.bar(chapter.points, chapter.max), chapter.passed, chapter.count))
  end
  add_bar(out, "all", show.bar(points, max))
  out:print()
end

function report.report(desk, _, options)
  local standing = desk:standing()
  local points, max = totals(standing)
  if options.json then io.write(json(standing, points)) else text(standing, points, max) end
  note_problems(desk)
  return 0
end

return report
