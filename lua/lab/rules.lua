-- rules.lua: by what a class is graded: the course file, and what stands where there is none.
--
--   rules.read(path, list)    the rules; path nil: those without a course file
--   rules.lateness(rules, student, mtime)   days late, each begun one whole
--   rules.score(rules, exercise, points, days)   what counts: weighted, less what is late
--   rules.hidden(rules, exercise)   the hidden cases of an exercise, as those of a manifest
--
-- A course file is a table (see data.lua: nothing in it is run):
--
--   return {
--     exercises = {"prefix-loop", "step"},       which are graded; all of them if left out
--     weights = {step = 2},                      what a point of an exercise counts
--     deadline = "2026-12-24 23:59",             in the local time of the machine that grades
--     late = {per_day = 10, at_most = 50, free_days = 1},   percent of the points
--     handed_in = {alice = "2026-12-25 08:00"},  in place of the time of her files
--     seeds = {1, 17},                           a case counts if it passes with each
--     limits = {seconds = 20, bytes = 1e9, output = 1e6},
--     hidden = {step = {{like = "one step", points = 2, seed = 99},
--       {like = "one step", name = "no token", points = 1, inputs = {N = 0}}}},
--   }

local tarn = require "tarn"
local course = require "tarn.lab.course"
local data = require "tarn.lab.data"
local entries = require "tarn.lab.entries"
local files = require "tarn.lab.files"

local rules = {}

local DAY = 24 * 60 * 60

local known = {exercises = "table", weights = "table", deadline = "string", late = "table",
  handed_in = "table", seeds = "table", limits = "table", hidden = "table", title = "string"}
local known_late = {per_day = "number", at_most = "number", free_days = "number"}
local known_limits = {seconds = "number", bytes = "number", output = "number"}
local known_hidden = {like = "string", name = "string", points = "number", seed = "number",
  inputs = "table"}

local fail = entries.fail

-- "2026-12-24 23:59" as the system's seconds.
local function time_of(path, where, text)
  local year, month, day, hour, min = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d) (%d%d):(%d%d)$")
  if not year then fail(path, "%s is '%s', expected as in 2026-12-24 23:59", where, text) end
  return os.time {year = year, month = month, day = day, hour = hour, min = min, sec = 0}
end

-- Names of exercises as keys or values: each must be one.
local function named(path, list, where, word)
  local ok, found = pcall(course.find, list, tostring(word))
  if not ok then fail(path, "%s: %s", where, found) end
  return found
end

local function choose(path, list, names)
  if not names then return list end
  local chosen = {}
  for _, name in ipairs(names) do chosen[#chosen + 1] = named(path, list, "exercises", name) end
  return chosen
end

local function by_exercise(path, list, where, given)
  local found = {}
  for name, value in pairs(given or {}) do found[named(path, list, where, name).name] = value end
  return found
end

local function case_named(exercise, name)
  for _, case in ipairs(exercise.cases) do
    if case.name == name then return case end
  end
end

local function check_hidden(path, list, hidden)
  for name, cases in pairs(hidden) do
    local exercise = course.find(list, name)
    for i, case in ipairs(cases) do
      local where = ("hidden.%s[%d]: "):format(name, i)
      entries.check(path, where, case, known_hidden)
      if not case_named(exercise, case.like) then
        fail(path, "%slike is '%s', expected the name of a case", where, tostring(case.like))
      end
      if case_named(exercise, case.name) then
        fail(path, "%sname is that of another case, '%s'", where, case.name)
      end
    end
  end
end

function rules.read(path, list)
  local given = {}
  if path then
    local text, why = files.read(path)
    if not text then error(why, 0) end
    given = data.read(text, path)
  end
  entries.check(path, "", given, known)
  entries.check(path, "late: ", given.late or {}, known_late)
  entries.check(path, "limits: ", given.limits or {}, known_limits)
  local handed_in = {}
  for student, text in pairs(given.handed_in or {}) do
    handed_in[student] = time_of(path, "handed_in." .. student, text)
  end
  local result = {
    exercises = choose(path, list, given.exercises),
    weights = by_exercise(path, list, "weights", given.weights),
    deadline = given.deadline and time_of(path, "deadline", given.deadline),
    late = given.late or {}, handed_in = handed_in, seeds = given.seeds or {1},
    limits = given.limits or {}, hidden = by_exercise(path, list, "hidden", given.hidden),
  }
  check_hidden(path, list, result.hidden)
  return result
end

function rules.lateness(by, student, mtime)
  local time = by.handed_in[student] or mtime
  if not by.deadline or not time or time <= by.deadline then return 0 end
  return math.max(0, math.ceil((time - by.deadline) / DAY) - (by.late.free_days or 0))
end

function rules.score(by, exercise, points, days)
  local lost = math.min((by.late.per_day or 0) * days, by.late.at_most or 100) / 100
  return points * (1 - lost) * (by.weights[exercise.name] or 1)
end

-- Numbers in nested tables are tensors to the learner's code.
local function as_inputs(given)
  return function()
    local inputs = {}
    for name, value in pairs(given) do
      inputs[name] = type(value) == "table" and tarn.tensor(value) or value
    end
    return inputs
  end
end

function rules.hidden(by, exercise)
  local cases = {}
  for i, hidden in ipairs(by.hidden[exercise.name] or {}) do
    local case = {}
    for key, value in pairs(case_named(exercise, hidden.like)) do case[key] = value end
    case.name = hidden.name or ("hidden %d, like '%s'"):format(i, hidden.like)
    case.points, case.seed = hidden.points or case.points, hidden.seed
    if hidden.inputs then case.inputs = as_inputs(hidden.inputs) end
    cases[i] = case
  end
  return cases
end

return rules
