-- author.lua: what holds for every exercise, checked: the table of tarn-lab author.
--
--   solution   earns all points, and so agrees with the naive spec
--   start      compiles, and does not pass
--   wrong      two or more wrong answers, each of which fails the case that it names
--   todo       one region to fill in; the head comment names the chapter
--   texts      three hints that differ; after.md, which names the chapter
--   pasted     points that the library's own regions earn, a quarter of all at most; in Lua those
--              that its functions earn, a quarter of each exercise at most
--
-- Exercises are checked at the same time; one that breaks is a row of its own.

local run = require "tarn.lab.run"
local course = require "tarn.lab.course"
local files = require "tarn.lab.files"
local start = require "tarn.lab.start"
local system = require "tarn.lab.system"
local page = require "tarn.lab.page"
local paste = require "tarn.lab.paste"
local forms = require "tarn.lab.forms"
local change = require "tarn.lab.change"
local arguments = require "tarn.lab.arguments"
local report = require "tarn.report"

local author = {}

local MOST_PASTED = 0.25

-- ---- one exercise -----------------------------------------------------------------------

-- Collects what is wrong: finding.fail("solution", "...") marks the column, too.
local function new_finding(exercise)
  local finding = {exercise = exercise, cells = {}, reasons = {}, pasted = 0}
  function finding.fail(column, format, ...)
    finding.cells[column] = "FAIL"
    finding.reasons[#finding.reasons + 1] = ("%s: %s: "):format(exercise.id, column) ..
      format:format(...)
  end
  return finding
end

local function first_failure(result)
  if result.problem then return result.problem end
  for _, case in ipairs(result.cases) do
    if not case.ok then return case.name .. ": " .. (case.message or "failed") end
  end
end

local function check_solution(finding)
  local exercise = finding.exercise
  local result = run.check(exercise, exercise.solution, {})
  if result.skipped then
    finding.skipped = result.skipped
  elseif result.problem or result.points ~= result.max then
    finding.fail("solution", "%s", first_failure(result))
  end
end

local function check_start(finding, folder)
  local exercise = finding.exercise
  local path = files.join(folder, exercise.file)
  files.write("author", path, start.text(exercise))
  local result = run.check(exercise, path, {})
  if result.problem then
    finding.fail("start", "%s", result.problem)
  elseif result.points == result.max then
    finding.fail("start", "it passes as it is")
  end
end

local function case_named(result, name)
  for _, case in ipairs(result.cases) do
    if case.name == name then return case end
  end
end

-- The path of a wrong answer, which is a file, or made from the solution in a scratch folder; nil
-- and why not where there is none.
local function path_of_wrong(exercise, wrong, folder)
  if wrong.file then
    local path = files.join(exercise.folder, wrong.file)
    if files.is_file(path) then return path end
    return nil, "it is not there"
  end
  local text, why = change.text(exercise, wrong.change)
  if not text then return nil, why end
  local path = files.join(folder, exercise.file)
  files.write("author", path, text)
  return path
end

local function check_wrong_answer(finding, wrong, folder)
  local exercise, name = finding.exercise, wrong.file or wrong.name
  local path, why = path_of_wrong(exercise, wrong, folder)
  if not path then return finding.fail("wrong", "%s: %s", name, why) end
  local result = run.check(exercise, path, {})
  if result.problem then return finding.fail("wrong", "%s: %s", name, result.problem) end
  local case = case_named(result, wrong.fails)
  if not case then
    finding.fail("wrong", "%s: there is no case '%s'", name, tostring(wrong.fails))
  elseif case.ok then
    finding.fail("wrong", "%s passes '%s', though %s", name, case.name,
      wrong.because or "it should not")
  elseif wrong.says and not (case.message or ""):find(wrong.says, 1, true) then
    finding.fail("wrong", "%s fails '%s' with another message than '%s': %s", name, case.name,
      wrong.says, case.message or "none")
  end
end

local function check_wrong(finding, folder)
  local wrong = finding.exercise.wrong or {}
  if #wrong < 2 then finding.fail("wrong", "%d wrong answers, expected two or more", #wrong) end
  for _, one in ipairs(wrong) do check_wrong_answer(finding, one, folder) end
end

-- Whether a text says "chapter 4", also as in "Chapters 3 and 4".
local function names_chapter(text, exercise)
  for numbers in text:gmatch("[Cc]hapters?%s+([%d,%sando]+)") do
    if numbers:find("%f[%d]" .. exercise.chapter .. "%f[%D]") then return true end
  end
  return false
end

local function check_todo(finding)
  local exercise = finding.exercise
  local text = files.read(exercise.solution)
  local count, why = start.regions(text, exercise)
  if not count then finding.fail("todo", "%s", why)
  elseif count == 0 then finding.fail("todo", "no region to fill in") end
  local head = text:match("^.-\n%s*\n") or text
  if not names_chapter(head, exercise) then
    finding.fail("todo", "the head comment does not say 'chapter %d'", exercise.chapter)
  end
end

local function check_texts(finding)
  local exercise = finding.exercise
  local hints = exercise.hints
  if hints[1] == hints[2] or hints[2] == hints[3] or hints[1] == hints[3] then
    finding.fail("texts", "two hints are the same")
  end
  local after = files.read(files.join(exercise.folder, "after.md"))
  if not after or not after:find("%S") then finding.fail("texts", "after.md is missing or empty")
  elseif not names_chapter(after, exercise) then
    finding.fail("texts", "after.md does not say 'chapter %d'", exercise.chapter)
  end
  for _, case in ipairs(exercise.cases) do
    if not (exercise.spec or exercise.check or case.spec or case.check) then
      finding.fail("texts", "the case '%s' has no spec", case.name)
    end
  end
end

-- In Lua nothing needs to be pasted, one calls it.
local function check_forms(finding)
  local exercise = finding.exercise
  local points, calls = forms.points(exercise)
  finding.pasted = points
  if points > MOST_PASTED * exercise.points then
    finding.fail("pasted", "%g of %g points are earned by %s; take that away (without)", points,
      exercise.points, table.concat(calls, ", "))
  end
end

local function check_pasted(finding)
  if finding.exercise.language == "lua" then check_forms(finding) end
  for _, one in ipairs(finding.exercise.paste or {}) do
    local points, why = paste.points(finding.exercise, one)
    if points then finding.pasted = math.max(finding.pasted, points)
    else finding.fail("pasted", "%s", why) end
  end
end

local function check(exercise)
  local finding = new_finding(exercise)
  if not exercise.solution then
    finding.fail("solution", "it is missing: a student package can't be checked")
    return finding
  end
  check_todo(finding)
  check_texts(finding)
  check_solution(finding)
  if finding.skipped or finding.cells.solution then return finding end
  local folder = system.temporary("tarn-author")
  local ok, why = pcall(function()
    check_start(finding, folder)
    check_wrong(finding, folder)
    check_pasted(finding)
  end)
  system.remove(folder)
  if not ok then finding.fail("solution", "%s", tostring(why)) end
  return finding
end

-- ---- all of them ------------------------------------------------------------------------

local checked = {"solution", "start", "wrong", "todo", "texts"}

-- Whether something was tried that a learner would not have to write.
local function is_pasted(exercise)
  return #(exercise.paste or {}) > 0 or exercise.language == "lua"
end

local function row_of(finding)
  local exercise = finding.exercise
  local cells = {exercise.id, ("%g"):format(exercise.points)}
  for _, column in ipairs(checked) do
    cells[#cells + 1] = finding.cells[column] or finding.skipped and "skipped" or "ok"
  end
  cells[#cells + 1] = finding.cells.pasted or
    is_pasted(exercise) and ("%g"):format(finding.pasted) or "-"
  return cells
end

local function chosen(list, words)
  if #words == 0 then return list end
  local some = {}
  for i, word in ipairs(words) do some[i] = course.find(list, word) end
  return some
end

-- What pasting earns over the whole course; true if that is little enough.
local function judge_pasted(out, findings)
  local pasted, all, count = 0, 0, 0
  for _, finding in ipairs(findings) do
    if is_pasted(finding.exercise) then count = count + 1 end
    pasted, all = pasted + finding.pasted, all + finding.exercise.points
  end
  local enough = pasted <= MOST_PASTED * all
  out:text(("library code earns %g of %g points (%.0f %%) in %d exercises, %s %.0f %%")
    :format(pasted, all, 100 * pasted / all, count, enough and "at most" or "more than",
      100 * MOST_PASTED))
  return enough
end

local function tell(findings, problems, whole)
  local out, rows, bad = page.new(), {}, #problems
  for i, finding in ipairs(findings) do
    rows[i] = row_of(finding)
    if #finding.reasons > 0 then bad = bad + 1 end
  end
  local heads = {"exercise", ">points", "solution", "start", "wrong", "todo", "texts", ">pasted"}
  for line in report.layout(heads, rows):gmatch("[^\n]+") do out:line(line) end
  for _, problem in ipairs(problems) do out:text(problem.why) end
  for _, finding in ipairs(findings) do
    for _, reason in ipairs(finding.reasons) do out:text(reason) end
    if finding.skipped then out:text(finding.exercise.id .. ": skipped: " .. finding.skipped) end
  end
  local enough = not whole or judge_pasted(out, findings)
  out:line(bad == 0 and "every exercise holds what it promises" or
    ("%d of %d exercises do not hold what they promise"):format(bad, #findings + #problems))
  out:print()
  return bad == 0 and enough
end

function author.author(words, options)
  local list, problems = course.open(course.folder(options.exercises))
  local some = chosen(list, words)
  if #words > 0 then problems = {} end
  local tasks = {}
  for i, exercise in ipairs(some) do tasks[i] = function() return check(exercise) end end
  local findings = {}
  local jobs = math.max(1, arguments.number(options, "jobs", system.cores()))
  for i, outcome in ipairs(run.parallel(tasks, jobs)) do
    findings[i] = outcome[1] and outcome[2] or new_finding(some[i])
    if not outcome[1] then findings[i].fail("solution", "%s", tostring(outcome[2])) end
  end
  return tell(findings, problems, #words == 0) and 0 or 1
end

return author
