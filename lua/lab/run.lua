-- run.lua: runs a learner's file against an exercise's cases. Chapter by chapter the exercises
-- differ; how one is run does not:
--
--   1. inputs are drawn from the seed and become files of a private folder,
--   2. the learner's file is compiled, where it has to be, and called in a child process,
--   3. results come back as files, and only then the spec says what was expected.
--
-- A result is believed if its child said at the very end the word that was made for it. After
-- a case that ends the child the others get a new one.

local system = require "tarn.lab.system"
local draw = require "tarn.lab.run_draw"
local costs = require "tarn.lab.run_costs"
local judge = require "tarn.lab.run_judge"
local literal = require "tarn.lab.run_literal"
local process = require "tarn.lab.run_process"

local languages = {c = require "tarn.lab.run_c", lua = require "tarn.lab.run_lua",
  cuda = require "tarn.lab.run_cuda"}

local run = {isolation = process.isolation, parallel = process.parallel}

local LARGEST_FILE = 1 << 20
local SHARE = 0.1 -- of the time is given to all other cases after one that did not end

-- ---- the folder ------------------------------------------------------------------------

-- The learner's file under a name that no compiler minds.
local function file_name(path)
  return (path:match("[^/]*$"):gsub("[^%w_.-]", "_"):gsub("^[-.]", "_"))
end

-- The folder is gone when what this gives is closed.
local function make_folder(work, text)
  work.folder = assert(system.temporary("tarn-lab"))
  local guard = system.guard(work.folder)
  assert(system.folder(work.folder .. "/in"))
  assert(system.folder(work.folder .. "/out"))
  process.write(work.folder .. "/" .. work.file, text)
  return guard
end

-- ---- the runs: each case once, and those whose growth is limited twice -----------------

local function inputs_of(case, seed, scale)
  return case.inputs(draw.from(draw.seed_of(case.seed or seed, case.name)), scale)
end

local function list_runs(cases, seed)
  local runs = {}
  local function add(case, i, scale)
    runs[#runs + 1] = {number = #runs + 1, case = case, at = i, scale = scale,
      inputs = inputs_of(case, seed, scale)}
  end
  for i, case in ipairs(cases) do add(case, i, 1) end
  for i, case in ipairs(cases) do
    if case.limit and case.limit.growth then add(case, i, 2) end
  end
  return runs
end

-- ---- children --------------------------------------------------------------------------

local function hex(bytes)
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- What a child has left goes to a folder of its own: the next finds nothing.
local function put_away(work)
  work.children = (work.children or 0) + 1
  local kept = ("%s/out%d"):format(work.folder, work.children)
  assert(os.rename(work.folder .. "/out", kept))
  assert(system.folder(work.folder .. "/out"))
  return kept
end

-- A learner waits for an endless loop once: what comes after it has little time, together.
local function limits_now(work)
  if not work.endless then return work.limits end
  local seconds = math.max(1, SHARE * work.limits.seconds)
  return setmetatable({seconds = seconds}, {__index = work.limits})
end

local function start_child(work, numbers, counted)
  local order = work.language.order(work, numbers, counted)
  local word = hex(system.random())
  order.folder, order.isolate, order.limits = work.folder, work.isolate, limits_now(work)
  order.writes, order.answer = "out", word .. "\n"
  local ended, why = process.run(order)
  if not ended then error("can't run the exercise: " .. why, 0) end
  ended.finished = ended.ending == "exit" and ended.code == 0 and
    ended.said:find("\ndone " .. word .. "\n", 1, true) ~= nil
  ended.left = put_away(work)
  return ended
end

-- What a child said of each run: {begun=, ended=, failed=, costs={}}.
local function reports(said)
  local by_number = {}
  local function of(number)
    number = tonumber(number)
    by_number[number] = by_number[number] or {costs = {}, blanks = {}}
    return by_number[number]
  end
  for line in said:gmatch("([^\n]*)\n") do
    local word, number, rest = line:match("^(%a+) (%d+) ?(.*)$")
    if word == "begin" then of(number).begun = true end
    if word == "end" then of(number).ended = true end
    if word == "fail" then of(number).failed = literal.unescape(rest) end
    if word == "note" then of(number).note = literal.unescape(rest) end
    local key, value = (rest or ""):match("^([%w_]+) (%d+)$")
    if word == "cost" and key then
      local counts = of(number).costs
      counts[key] = math.max(counts[key] or 0, tonumber(value)) -- nobody can say less later
    end
    if word == "blank" and key then of(number).blanks[key] = tonumber(value) end
  end
  return by_number
end

-- The run during which a child ended: the last that has begun. It may have said that it had
-- ended, but then the harness would have gone on.
local function interrupted_run(numbers, said)
  for i = #numbers, 1, -1 do
    if said[numbers[i]] and said[numbers[i]].begun then return i end
  end
  return 1
end

-- What the ways to end are called in a case's result.
local ENDINGS = {time = "time", memory = "memory", output = "output", processes = "processes"}

-- Why a child ended in the middle of a run.
local function problem_of(work, ended)
  local why = work.language.fault(work, ended) or
    "it left the program before it returned (exit?)"
  if ended.ending == "time" and work.endless then
    why = ("%s; after '%s' only a little time was left"):format(why, work.endless.name)
  end
  return {problem = why, kind = ENDINGS[ended.ending] or "crash"}
end

-- What is said of all runs that are left, if none of them is tried: nothing can be loaded, or a
-- second one did not end. The first is remembered.
local function given_up(work, ended, problem, case)
  if not ended.said:find("loaded\n", 1, true) then return problem end
  if problem.kind ~= "time" then return nil end
  local first = work.endless
  work.endless = first or case
  return first and {kind = "time", problem = ("not run, for '%s' and '%s' did not end"):format(
    first.name, case.name)}
end

-- Takes down the runs that a child has ended, before the one at `at`.
local function take_down(numbers, at, said, left, done)
  for i = 1, at - 1 do
    local report = said[numbers[i]] or {costs = {}}
    done[numbers[i]] = {ok = not report.failed, problem = report.failed, kind = "crash",
      costs = report.costs, note = report.note, blanks = report.blanks, left = left}
  end
end

-- Runs the numbered runs, in as many children as it takes; fills `done[number]` with
-- {ok=true, costs=} or {problem=}.
local function run_all(work, numbers, counted, done)
  while #numbers > 0 do
    local ended = start_child(work, numbers, counted)
    work.printed = work.printed or ended.out
    local said = reports(ended.said)
    local at = ended.finished and #numbers + 1 or interrupted_run(numbers, said)
    take_down(numbers, at, said, ended.left, done)
    if at > #numbers then return end
    local problem = problem_of(work, ended)
    local rest = given_up(work, ended, problem, work.runs[numbers[at]].case)
    done[numbers[at]] = problem
    for i = at + 1, rest and #numbers or 0 do done[numbers[i]] = rest end
    numbers = rest and {} or table.move(numbers, at + 1, #numbers, 1, {})
  end
end

-- ---- the whole -------------------------------------------------------------------------

local function all_failed(cases, problem)
  local result = {cases = {}, points = 0, max = 0, problem = judge.harmless(problem)}
  for i, case in ipairs(cases) do
    result.cases[i] = {name = case.name, ok = false, points = 0, max = case.points,
      equation = case.equation, message = result.problem, kind = "compile"}
    result.max = result.max + case.points
  end
  return result
end

local function numbers_of(runs)
  local numbers = {}
  for i, one in ipairs(runs) do numbers[i] = one.number end
  return numbers
end

local function check_in_folder(work, text)
  local folder <close> = make_folder(work, text)
  local problem = work.language.prepare(work)
  if problem then return all_failed(work.cases, problem) end
  local firsts, done = {}, {}
  for _, one in ipairs(work.runs) do
    if one.scale == 1 then firsts[#firsts + 1] = one end
  end
  run_all(work, numbers_of(firsts), false, done)
  costs.measure(work, done, run_all)
  local result = {cases = {}, points = 0, max = 0, warnings = work.warnings,
    output = judge.harmless(work.printed)}
  for i, one in ipairs(firsts) do
    local case = judge.case(work, one, done)
    result.cases[i] = case
    result.points, result.max = result.points + case.points, result.max + case.max
  end
  return result
end

local function limits_of(opt)
  local limits = {}
  for key, value in pairs(process.LIMITS) do
    limits[key] = opt.limits and opt.limits[key] or value
  end
  return limits
end

-- check(exercise, file, {seed=, isolate="bwrap"|"none", limits={seconds=, bytes=, output=},
-- hidden={cases}}) -> {cases={..}, points=, max=, problem=, skipped=, warnings=, output=, seed=}
-- isolate: what is there unless given. Raises only what is wrong with the exercise itself or
-- with this machine.
function run.check(exercise, file, opt)
  opt = opt or {}
  local language = languages[exercise.language]
  if not language then
    error(("%s: language is %s, expected c, lua or cuda"):format(exercise.name,
      tostring(exercise.language)), 0)
  end
  local cases = table.move(exercise.cases, 1, #exercise.cases, 1, {})
  table.move(opt.hidden or {}, 1, #(opt.hidden or {}), #cases + 1, cases)
  local seed = opt.seed or 1
  local work = {exercise = exercise, language = language, cases = cases, file = file_name(file),
    limits = limits_of(opt), isolate = opt.isolate or process.isolation() or "none"}
  local text, why = system.read(file, LARGEST_FILE)
  local result
  if not text then
    result = all_failed(cases, "can't be read: " .. why)
  else
    local missing
    if language.compiler then work.compiler, missing = language.compiler() end
    if missing then
      result = all_failed(cases, missing)
      result.skipped = missing
    else
      work.runs = list_runs(cases, seed)
      result = check_in_folder(work, text)
    end
  end
  result.seed, result.isolate = seed, work.isolate
  return result
end

return run
