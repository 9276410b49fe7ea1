-- run_judge.lua: whether a case is right: results beside what the spec says, and the costs.

local arguments = require "tarn.lab.run_arguments"
local compare = require "tarn.lab.run_compare"
local costs = require "tarn.lab.run_costs"

local judge = {}

local MOST_SHOWN = 4000 -- bytes of a message, and of what a program prints

-- Results of a language that has files for them: name -> tensor in its shape.
local function results_of(work, one, folder)
  if work.language.results then return work.language.results(one, folder) end
  local values = {}
  for name, file in pairs(work.language.result_files(work, one, folder)) do
    local got, why = arguments.read_result(file.path)
    if not got then return nil, name .. " " .. why end
    values[name] = work.language.shaped(file, got, one)
    if values[name] == nil then return nil, name .. " has another number of elements" end
  end
  return values
end

-- The precision that a Lua answer can have: that of its inputs. Numbers of Lua are doubles.
local function precision_of(inputs)
  local found = "float64"
  for _, value in pairs(inputs) do
    if type(value) == "userdata" then
      if value.dtype == "float64" then return "float64" end
      found = "float32"
    end
  end
  return found
end

-- What a result has to be compared with, and how.
local function options_for(work, one, name, report)
  local tol, files = one.case.tol or work.exercise.tol or {}, work.language.result_files
  local file = files and files(work, one, report.left)[name]
  return {k = tol.k, dtype = tol.dtype or file and file.dtype or precision_of(one.inputs),
    blanks = report.blanks[name]}
end

local function expected_of(work, one, got)
  local spec = one.case.spec or work.exercise.spec
  one.expected = one.expected or spec(one.inputs)
  local expected = one.expected
  if type(expected) ~= "table" or expected[1] ~= nil then
    local name = next(got)
    expected = {[name] = expected}
  end
  return expected
end

-- Lets the case's own check look at the results; what it can't read is the learner's.
local function ask_check(one, got)
  local ran, ok, message = pcall(one.case.check, one.inputs, got)
  if not ran then return {message = "the check could not read the result: " .. tostring(ok)} end
  return not ok and {message = message or "it is not what was asked for"} or nil
end

-- Compares what a run gave with the spec, or has it checked: nil, or what is wrong.
local function compare_run(work, one, report)
  local got, why = results_of(work, one, report.left)
  if not got then return {message = why or "there are no results"} end
  if one.case.check then return ask_check(one, got) end
  local names, expected = {}, expected_of(work, one, got)
  for name in pairs(expected) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local wrong = compare.values(name, got[name], expected[name],
      options_for(work, one, name, report))
    if wrong then return wrong end
  end
end

-- Compares a run that was counted, which may be another than the first of its case: an answer
-- has to be right where it is cheap.
local function compare_counted(work, one)
  local report = one.counted
  if report.problem then return {message = report.problem, kind = report.kind} end
  local wrong = compare_run(work, one, report)
  if wrong and one.scale > 1 then
    wrong.message = "for a sequence twice as long: " .. wrong.message
  end
  return wrong
end

-- What is wrong with a case: nil, or a table with message and kind: "wrong", "cost", "crash",
-- "time", "memory", "output", "processes".
local function problem_of(work, one, done)
  local report = done[one.number] or {problem = "it was not run", kind = "crash"}
  if report.problem then return {message = report.problem, kind = report.kind} end
  local wrong = compare_run(work, one, report)
  for _, other in ipairs(not wrong and one.case.limit and work.runs or {}) do
    if other.at == one.at and other.counted ~= report then
      wrong = wrong or compare_counted(work, other)
    end
  end
  if wrong then
    wrong.kind = wrong.kind or "wrong"
    return wrong
  end
  wrong = costs.judge(work, one)
  if wrong then wrong.kind = "cost" end
  return wrong
end

-- harmless(text) -> what a program has written, fit for a terminal.
function judge.harmless(text)
  return text and text:sub(1, MOST_SHOWN):gsub("[^%g%s\x80-\xff]", "?") or nil
end

-- case(work, one, done) -> the result of a case, from its run and what became of it.
function judge.case(work, one, done)
  local case, wrong = one.case, problem_of(work, one, done)
  local result = {name = case.name, ok = not wrong, max = case.points, costs = one.costs,
    points = wrong and 0 or case.points, equation = case.equation}
  for key, value in pairs(wrong or {}) do result[key] = value end
  result.message = judge.harmless(result.message)
  return result
end

return judge
