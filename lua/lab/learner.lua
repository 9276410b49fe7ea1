-- learner.lua: the commands that a learner works with: start, check, hint, solution.
--
-- Each takes the desk, the words behind its name and the options, and gives the exit status.

local run = require "tarn.lab.run"
local files = require "tarn.lab.files"
local page = require "tarn.lab.page"
local predict = require "tarn.lab.predict"
local show = require "tarn.lab.show"
local start = require "tarn.lab.start"
local arguments = require "tarn.lab.arguments"

local learner = {}

local DEFAULT_SEED = 1
local levels = {"a nudge", "the equation", "near-code"}

-- ---- start ------------------------------------------------------------------------------

-- Puts the start of an exercise into the learner's folder; never over a file that is there.
function learner.put_start(desk, exercise)
  local path = desk:path(exercise)
  if files.kind(path) then
    error(("%s is there already; tarn-lab reset %s keeps a copy and starts over"):format(path,
      exercise.name), 0)
  end
  files.write("start", path, start.text(exercise))
  desk:note(exercise, function(record) record.max = exercise.points end)
  return path
end

local function introduce(out, desk, exercise, path)
  out:labelled("bold", exercise.number .. " " .. exercise.name, exercise.title)
  out:text(exercise.summary, "  ")
  out:text(("chapter %d%s, about %d minutes, %g points"):format(exercise.chapter,
    exercise.equations and ", " .. exercise.equations or "", exercise.minutes,
    exercise.points), "  ")
  out:text("your file: " .. path, "  ")
  out:text("then: tarn-lab check " .. exercise.name, "  ")
end

local function all_done(out)
  out:line(page.paint("green", "All exercises are done.") .. " tarn-lab list shows them.")
end

-- Without a name: the first that is left, which may be there already.
function learner.start(desk, words)
  local out = page.new()
  local exercise = words[1] and desk:find(words[1]) or desk:next()
  if not exercise then
    all_done(out)
  else
    local begun = not words[1] and desk:has(exercise)
    introduce(out, desk, exercise,
      begun and desk:path(exercise) or learner.put_start(desk, exercise))
  end
  out:print()
  return 0
end

-- ---- check ------------------------------------------------------------------------------

-- The exercise that is meant, and its file; without a word the one that was changed last.
local function chosen(desk, word)
  local exercise = word and desk:find(word) or desk:latest()
  if not exercise then
    error("no exercise is started here; tarn-lab start begins the first one", 0)
  end
  if not desk:has(exercise) then
    error(("%s is not there; tarn-lab start %s puts it there"):format(desk:path(exercise),
      exercise.name), 0)
  end
  return exercise
end

local function insist_on_predictions(desk, exercise)
  local text = files.read(desk:path(exercise)) or ""
  local question, advice = predict.unanswered(exercise, text)
  if question then error(("%s: %s %s"):format(desk:path(exercise), advice, question), 0) end
  return predict.answers(exercise, text)
end

-- A result becomes the record; what was passed once stays passed.
local function keep(desk, exercise, result)
  local passed = result.points == result.max
  local before = desk:status(exercise)
  desk:note(exercise, function(record)
    record.seed = result.seed
    if before == "passed" and not passed then return end
    record.status = passed and "passed" or "failed"
    record.points, record.max = result.points, result.max
  end)
  return passed, before == "passed" and not passed
end

local function what_next(out, desk, exercise, passed)
  if not passed then
    out:text(("help: tarn-lab hint %s"):format(exercise.name))
    return
  end
  local following = desk:next(exercise)
  out:blank()
  if exercise.capstone then
    out:text(("the other exercises of chapter %d are optional now"):format(exercise.chapter))
  end
  out:text("solution: tarn-lab solution " .. exercise.name)
  if not following then return all_done(out) end
  out:text(("next: %s %s, tarn-lab %s %s"):format(following.number, following.title,
    desk:has(following) and "check" or "start", following.name))
end

-- What options say of a run: its seed, and the processor time of a child.
function learner.run_options(options)
  return {seed = arguments.number(options, "seed", DEFAULT_SEED),
    limits = {seconds = arguments.number(options, "seconds")}}
end

-- Checks one exercise and tells; true if it passed.
function learner.check_one(desk, exercise, how)
  local answers = insist_on_predictions(desk, exercise)
  page.passing("running " .. desk:path(exercise) .. " ...")
  local ok, result = pcall(run.check, exercise, desk:path(exercise), how)
  page.passing("")
  if not ok then error(result, 0) end
  local out = page.new()
  show.result(out, exercise, result)
  if result.skipped then
    out:print()
    return false
  end
  local kept, passed, stays = pcall(keep, desk, exercise, result)
  if not kept then
    out:print()
    error(passed, 0)
  end
  if stays then out:text("it had passed before, and stays so in progress.txt") end
  if not result.problem then show.answers(out, answers) end
  if passed then show.after(out, exercise) end
  what_next(out, desk, exercise, passed)
  out:print()
  return passed
end

function learner.check(desk, words, options)
  local exercise = chosen(desk, words[1])
  return learner.check_one(desk, exercise, learner.run_options(options)) and 0 or 1
end

-- ---- hint, solution ---------------------------------------------------------------------

function learner.hint(desk, words)
  local exercise = desk:find(words[1])
  local _, record = desk:status(exercise)
  local level = words[2] and math.tointeger(tonumber(words[2])) or math.min(record.hints + 1, 3)
  if not levels[level] then
    arguments.usage("hint %s %s: expected 1, 2 or 3", words[1], words[2])
  end
  local out = page.new()
  out:line(("hint %d of 3 for %s: %s"):format(level, exercise.name, levels[level]))
  out:text(exercise.hints[level], "  ")
  desk:note(exercise, function(changed)
    changed.hints, changed.max = math.max(changed.hints, level), exercise.points
  end)
  out:print()
  return 0
end

function learner.solution(desk, words, options)
  local exercise = desk:find(words[1])
  local status = desk:status(exercise)
  local text = start.solution(exercise)
  if not text then
    error(("%s: this package of exercises has no solutions"):format(exercise.name), 0)
  end
  if status ~= "passed" and not options["give-up"] then
    error(("%s has not passed yet; tarn-lab solution %s --give-up shows it all the same, and " ..
      "progress.txt says so"):format(exercise.name, exercise.name), 0)
  end
  if status ~= "passed" then
    desk:note(exercise, function(record) record.solution, record.max = true, exercise.points end)
  end
  io.write(text)
  return 0
end

return learner
