-- grade.lua: grades a class: for every student and exercise one row, in grades.csv and grades.md.
--
--   tarn-lab grade DIR... [--course=FILE] [--out=DIR] [--jobs=N] [--trust]
--
-- A DIR holds a folder for each student, with his files and progress.txt in it. Each check is
-- its own: what crashes, hangs or is missing costs the points of that exercise. Rows are in
-- the order of students and of the course, so that the same files give the same tables; what
-- becomes of marks that were given by hand is in marks.lua.

local tarn = require "tarn"
local host = require "tarn.host"
local run = require "tarn.lab.run"
local course = require "tarn.lab.course"
local files = require "tarn.lab.files"
local identity = require "tarn.lab.identity"
local marks = require "tarn.lab.marks"
local page = require "tarn.lab.page"
local predict = require "tarn.lab.predict"
local printable = require "tarn.lab.printable"
local progress = require "tarn.lab.progress"
local rules = require "tarn.lab.rules"
local system = require "tarn.lab.system"
local arguments = require "tarn.lab.arguments"

local grade = {}

local LARGEST = 1 << 20 -- bytes of a file that is handed in

-- ---- what was handed in -------------------------------------------------------------------

local function students_of(folder, seen)
  local list, names = {}, files.list(folder)
  if not names then error("grade: " .. folder .. ": there is no such folder", 0) end
  for _, name in ipairs(names) do
    local path = files.join(folder, name)
    local kind, student = system.kind(path), printable.text(name)
    if kind == "folder" then
      if seen[student] then
        error(("grade: %s is in %s and in %s"):format(student, seen[student], folder), 0)
      end
      seen[student] = folder
      list[#list + 1] = {name = student, folder = path}
    elseif kind == "link" then
      host.note(("%s in %s is a link: left out"):format(student, folder))
    end
  end
  if #list == 0 then
    error("grade: " .. folder .. ": no students' folders in it; expected one for each", 0)
  end
  return list
end

local no_file = {link = "a link", folder = "a folder", other = "something else"}

-- The path of a student's file, named as start names it or without the number; or nil, why.
local function submission(student, exercise)
  for _, name in ipairs {exercise.file, exercise.name .. "." .. exercise.extension} do
    local path = files.join(student.folder, name)
    local kind = system.kind(path)
    if kind == "file" then return path end
    if kind then return nil, ("%s is %s, not a file"):format(name, no_file[kind]) end
  end
  return nil, "not handed in"
end

-- The hints that progress.txt admits to: it is the student's, so it may say anything.
local function records_of(student)
  local text = system.read(files.join(student.folder, progress.FILE), LARGEST)
  return text and progress.parse(text) or {}
end

-- ---- one exercise of one student ----------------------------------------------------------

-- Points of the cases that passed with every seed so far.
local function merge(merged, result)
  for _, case in ipairs(result.cases) do
    local before = merged.cases[case.name] or math.huge
    merged.cases[case.name] = math.min(before, result.problem and 0 or case.points)
    if not case.ok and not merged.failed then
      merged.failed = case.name .. (case.message and ": " .. case.message or "")
    end
  end
  merged.problem = merged.problem or result.problem
  merged.skipped = merged.skipped or result.skipped
end

-- What a student has written may be in a message, signs that steer a terminal among it.
local function first_line(text)
  return printable.text((text:match("^[^\n]*"):gsub("%s+$", "")))
end

local function check(entry, by, isolate)
  local merged = {cases = {}}
  local hidden = rules.hidden(by, entry.exercise)
  for _, seed in ipairs(by.seeds) do
    merge(merged, run.check(entry.exercise, entry.path,
      {seed = seed, isolate = isolate, limits = by.limits, hidden = hidden}))
  end
  local points = 0
  for _, earned in pairs(merged.cases) do points = points + earned end
  local note = merged.skipped and "skipped: " .. merged.skipped or merged.problem or merged.failed
  return points, note and first_line(note) or ""
end

-- Points and a note; unanswered predictions keep a file from being run, as they do in check.
local function graded(entry, by, isolate)
  if not entry.path then return 0, entry.why end
  local text, why = system.read(entry.path, LARGEST)
  if not text then return 0, printable.text(why) end
  local question = predict.unanswered(entry.exercise, text)
  if question then return 0, "not answered before the run: " .. question end
  return check(entry, by, isolate)
end

-- ---- all of them ----------------------------------------------------------------------------

local function gather(folders, by)
  local entries, seen = {}, {}
  for _, folder in ipairs(folders) do
    for _, student in ipairs(students_of(folder, seen)) do
      local records = records_of(student)
      for place, exercise in ipairs(by.exercises) do
        local path, why = submission(student, exercise)
        entries[#entries + 1] = {student = student.name, exercise = exercise, place = place,
          path = path, why = why, record = records[exercise.name] or progress.new()}
      end
    end
  end
  table.sort(entries, function(a, b)
    if a.student ~= b.student then return a.student < b.student end
    return a.place < b.place
  end)
  return entries
end

local function max_of(exercise, by)
  local max = exercise.points
  for _, case in ipairs(rules.hidden(by, exercise)) do max = max + case.points end
  return max
end

local function row_of(entry, points, note, by)
  local exercise = entry.exercise
  local stat = entry.path and system.stat(entry.path)
  local days = rules.lateness(by, entry.student, stat and stat.mtime)
  local max = max_of(exercise, by)
  if entry.record.solution then
    note = "saw the solution before passing" .. (note ~= "" and "; " .. note or "")
  end
  return {student = entry.student, exercise = exercise.name, tarn = tarn.version,
    hash = identity.of(exercise), seed = table.concat(by.seeds, " "), hints = entry.record.hints,
    points = points, max = max, partial = points / max, late = days,
    score = rules.score(by, exercise, points, days), mark = "", note = note}
end

-- Tells who waits at a terminal how far it is.
local done = 0
local function count_down(all)
  done = done + 1
  page.passing(done < all and ("graded %d of %d"):format(done, all) or "")
end

local function run_all(entries, by, isolate, jobs)
  local tasks = {}
  for i, entry in ipairs(entries) do
    tasks[i] = function()
      local points, note = graded(entry, by, isolate)
      count_down(#entries)
      return {points = points, note = note}
    end
  end
  local rows = {}
  for i, outcome in ipairs(run.parallel(tasks, jobs)) do
    local ok, value = outcome[1], outcome[2]
    local points = ok and value.points or 0
    local note = ok and value.note or "could not be graded: " .. first_line(tostring(value))
    rows[i] = row_of(entries[i], points, note, by)
  end
  return rows
end

-- How learners' code is kept apart; without it one has to say that one trusts it.
local function isolation(options)
  local how, why = run.isolation()
  if how then return how end
  if options.trust then return "none" end
  error(("grade: nothing keeps students' code apart here (%s): install bubblewrap, grade in a " ..
    "container or on a machine that may be lost, and say --trust"):format(why), 0)
end

function grade.grade(words, options)
  local list, problems = course.open(course.folder(options.exercises))
  if problems[1] then error("grade: " .. problems[1].why, 0) end
  local by = rules.read(options.course, list)
  local isolate = isolation(options)
  local out = options.out or "."
  files.make_folder("grade", out)
  local earlier = marks.earlier(out)
  local jobs = math.max(1, arguments.number(options, "jobs", system.cores()))
  marks.write(out, run_all(gather(words, by), by, isolate, jobs), earlier)
  return 0
end

return grade
