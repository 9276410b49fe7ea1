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
--     predict =,                   questions to answer before one looks at the numbers
--     questions =,                 questions whose answers are handed in
--   }
--
-- A row with ok = false is beyond its bound: the lab says so and ends with status 1.

local arguments = require "arguments"
local files = require "files"
local page = require "page"
local panels = require "panels"

local lab = {}

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
  local lacks = page.unanswered(text:read("a"), given.questions)
  for _, what in ipairs(lacks) do print(what) end
  print(("%d of %d questions answered in %s"):format(#given.questions - #lacks,
    #given.questions, path))
  return #lacks == 0
end

local function report_of(given, rows, opt, no_plot)
  local lines = {"# " .. given.title .. "\n", page.machine()}
  if given.head then given.head(lines, opt) end
  lines[#lines + 1] = "\n## Before you look: predict\n"
  for i, question in ipairs(given.predict) do lines[#lines + 1] = i .. ". " .. question end
  lines[#lines + 1] = ""
  lines[#lines + 1] = no_plot and ("There is no picture: %s.\n"):format(no_plot) or
    ("![%s](plot.svg)\n"):format(given.picture)
  given.page(lines, rows, opt)
  page.questions(lines, given.questions, given.name)
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

function lab.run(given)
  local help = HELP:format(given.name, given.summary, given.usage, given.name)
  local opt = arguments.read(given.name, help, options_of(given))
  if given.prepare then given.prepare(opt) end
  if opt.check then os.exit(look_through(given, opt.check)) end
  local folder = files.open(given.name, opt.out)
  local rows = given.measure(opt)
  folder:write("results.csv", files.csv(given.columns, rows))
  local drawn, why = panels.write(folder, given.panels(rows, opt))
  local kept = folder:keep("report.md")
  folder:write("report.md", report_of(given, rows, opt, not drawn and why or nil))
  local ok = verdict(rows)
  print("results.csv, report.md" .. (drawn and ", plot.svg" or "") .. " are in " .. opt.out)
  if not drawn then print("no plot.svg: " .. why) end
  if kept then print("the report that was there is " .. opt.out .. "/" .. kept) end
  os.exit(ok)
end

return lab
