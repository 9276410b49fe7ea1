-- desk.lua: a learner's folder: which exercises lie in it, how far each is, what comes next.
--
--   local desk = desk.open{folder =, exercises =}
--   desk.list, desk.problems       the course (see course.lua)
--   desk:path(exercise)            the learner's file, there or not
--   desk:has(exercise)             whether it is there
--   desk:find(word)                the exercise that is meant, or an error
--   desk:latest()                  the one whose file was changed last, or nil
--   desk:status(exercise)          "open" | "started" | "failed" | "passed" | "optional", record
--   desk:next(after)               the next that is neither passed nor optional, or nil
--   desk:note(exercise, change)    changes its record in progress.txt
--
-- Only files named after an exercise count: copies and what editors leave are not seen.

local course = require "tarn.lab.course"
local files = require "tarn.lab.files"
local progress = require "tarn.lab.progress"
local system = require "tarn.lab.system"

local desk = {}
desk.__index = desk

function desk.open(where)
  local folder = where.folder or "."
  if not files.is_folder(folder) then error(folder .. ": there is no such folder", 0) end
  local list, problems = course.open(course.folder(where.exercises))
  return setmetatable({folder = folder, list = list, problems = problems}, desk)
end

function desk:path(exercise)
  return self.folder == "." and exercise.file or files.join(self.folder, exercise.file)
end

function desk:has(exercise) return files.is_file(self:path(exercise)) end

-- A broken exercise says what is wrong with it when it is asked for.
function desk:find(word)
  for _, problem in ipairs(self.problems) do
    local name = problem.id:match("^%d+%-(.+)$")
    if name and word:find(name, 1, true) then error(problem.why, 0) end
  end
  return course.find(self.list, word)
end

function desk:latest()
  local found, latest = nil, -math.huge
  for _, exercise in ipairs(self.list) do
    local stat = system.stat(self:path(exercise))
    if stat and stat.kind == "file" and stat.mtime > latest then
      found, latest = exercise, stat.mtime
    end
  end
  return found
end

-- The chapters whose capstone is passed.
local function capped(self, records)
  local chapters = {}
  for _, exercise in ipairs(self.list) do
    local record = records[exercise.name]
    if exercise.capstone and record and record.status == "passed" then
      chapters[exercise.chapter] = true
    end
  end
  return chapters
end

local function status_in(self, records, chapters, exercise)
  local record = records[exercise.name] or progress.new()
  if record.status ~= "open" then
    if record.status == "failed" and chapters[exercise.chapter] then return "optional", record end
    return record.status, record
  end
  if chapters[exercise.chapter] then return "optional", record end
  return self:has(exercise) and "started" or "open", record
end

-- Each exercise with its status and record, in the order of the course.
function desk:standing()
  local records = progress.read(self.folder)
  local chapters, list = capped(self, records), {}
  for i, exercise in ipairs(self.list) do
    local status, record = status_in(self, records, chapters, exercise)
    list[i] = {exercise = exercise, status = status, record = record}
  end
  return list
end

function desk:status(exercise)
  local records = progress.read(self.folder)
  return status_in(self, records, capped(self, records), exercise)
end

local function is_left(entry) return entry.status ~= "passed" and entry.status ~= "optional" end

-- The first that is left behind `after`, or else the first that is left at all.
function desk:next(after)
  local first, behind = nil, after == nil
  for _, entry in ipairs(self:standing()) do
    if behind and is_left(entry) then return entry.exercise end
    if is_left(entry) and not first then first = entry.exercise end
    if entry.exercise == after then behind = true end
  end
  return first
end

function desk:note(exercise, change)
  return progress.note(self.folder, exercise.name, change)
end

return desk
