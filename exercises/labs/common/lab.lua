-- lab.lua: what all labs do: read the command line, measure, write results.csv, plot.svg and
-- report.md into a folder; or look through a report that is handed in.
--
-- A report that is there already is kept under another name.
--
--   lab.run {
--     name =, summary =,           of the program, and what it does, for --help
--     usage =,                     lines about the options of this lab
--     options =,                   as arguments.lua reads them
--     columns =,                   names, in order, of what a row of the CSV has
--     measure = function(opt) -> rows
--     panels = function(rows, opt) -> list for panels.write
--     prepare = function(opt)      optional: refuses what can't be done
--     title =, head = function(lines, opt)     the first lines of the report
--     picture =, page = function(lines, rows, opt)     what one sees; the body
--     predict =,                   questions to answer before one looks at the numbers, shown first
--     questions =,                 questions whose answers are handed in
--   }
--
-- A row with ok = false is beyond its bound: the lab says so and ends with status 1.
--
--   lab.inputs(N, D) -> q, k, v    random, of one head, for labs that measure the CPU

local arguments = require "arguments"
local files = require "files"
local page = require "page"
local panels = require "panels"
local tarn = require "tarn"

local lab = {}

-- On the CPU, wherever a session makes its tensors.
function lab.inputs(N, D)
  local function input(seed) return tarn.randn(N, D, {seed = seed, device = "cpu"}) end
  return input(1), input(2), input(3)
end

local HELP = [[
Usage: tarn %s.lua [OPTION]...
%s

  --quick          small and soon done: less than a minute
%s  --out=FOLDER     where the files go; %s-results unless given
  --check=REPORT   measures nothing: looks whether a report answers all questions
  --help           this text

Exit status: 0 all is well, 1 something is wrong, 2 usage.
]]

local function options_of(given)
  local options = {
    quick = {kind = "flag"},
    out = {kind = "text", default = given.name .. "-results"},
    check = {kind = "text"},
  }
  for name, option in pairs(given.options) do options[name] = option end
  return options
end

-- Says what a report lacks; gives whether it lacks nothing.
local function look_through(given, path)
  local file, why = io.open(path)
  if not file then error(("%s: can't read %s"):format(given.name, why), 0) end
  local text <close> = file
  local report = text:read("a")
  local guesses = page.unanswered(report, page.prediction, given.predict)
  local lacks = page.unanswered(report, page.question, given.questions)
  for _, what in ipairs(guesses) do print(what) end
  for _, what in ipairs(lacks) do print(what) end
  print(("%d of %d questions answered, %d of %d predictions made in %s"):format(
    #given.questions - #lacks, #given.questions, #given.predict - #guesses, #given.predict, path))
  return #lacks + #guesses == 0
end

-- Whoever reads these while the lab measures has not seen a number yet.
local function ask_first(given)
  print("Before you look, predict; the report has a place for it:")
  for i, question in ipairs(given.predict) do print(("%3d. %s"):format(i, question)) end
end

local function report_of(given, rows, opt, no_plot)
  local lines = {"# " .. given.title .. "\n", page.machine()}
  if given.head then given.head(lines, opt) end
  lines[#lines + 1] = "\n## Before you look: predict\n"
  page.ask(lines, page.prediction, given.predict)
  lines[#lines + 1] = "## What was measured\n"
  lines[#lines + 1] = no_plot and ("There is no picture: %s.\n"):format(no_plot) or
    ("![%s](plot.svg)\n"):format(given.picture)
  given.page(lines, rows, opt)
  lines[#lines + 1] = "## Questions\n"
  lines[#lines + 1] = "Answer below each, in whole sentences, with numbers of " ..
    ("the tables above. `tarn %s.lua --check=FILE` tells what is missing.\n"):format(given.name)
  page.ask(lines, page.question, given.questions)
  return table.concat(lines, "\n")
end

local function verdict(rows)
  local bounded, beyond = false, 0
  for _, row in ipairs(rows) do
    bounded = bounded or row.ok ~= nil
    if row.ok == false then beyond = beyond + 1 end
  end
  local about = beyond == 0 and ", all within their bounds" or
    (", %d beyond their bounds"):format(beyond)
  print(#rows .. " rows" .. (bounded and about or ""))
  return beyond == 0
end

local function perform(given, opt)
  if opt.check then return look_through(given, opt.check) end
  local folder = files.open(given.name, opt.out)
  ask_first(given)
  local rows = given.measure(opt)
  folder:write("results.csv", files.csv(given.columns, rows))
  local drawn, why = panels.write(folder, given.panels(rows, opt))
  local kept = folder:keep("report.md")
  folder:write("report.md", report_of(given, rows, opt, not drawn and why or nil))
  local ok = verdict(rows)
  print("results.csv, report.md" .. (drawn and ", plot.svg" or "") .. " are in " .. opt.out)
  if not drawn then print("no plot.svg: " .. why) end
  if kept then print("the report that was there is " .. opt.out .. "/" .. kept) end
  return ok
end

function lab.run(given)
  local help = HELP:format(given.name, given.summary, given.usage, given.name)
  local opt = arguments.read(given.name, help, options_of(given))
  if given.prepare then given.prepare(opt) end
  -- What the lab says in its own name is for the student, anything else for who wrote it.
  local ran, result = xpcall(perform, function(message)
    local own = type(message) == "string" and message:find(given.name .. ": ", 1, true) == 1
    return own and message or debug.traceback(message, 2)
  end, given, opt)
  if not ran then io.stderr:write(result, "\n") end
  os.exit(ran and result)
end

return lab
