-- main.lua: the command line of tarn-lab: which command, with which options, and --help.
--
--   main.main(words) -> exit status: 0 success (for check: passed), 1 an error or not passed,
--                       2 a wrong command line
--
-- A command is a row below; its function, in a module that is loaded when it is called, takes
-- the desk (or nothing, where it has no need of one), the words behind its name and the options.

local tarn = require "tarn"
local host = require "tarn.host"
local arguments = require "tarn.lab.arguments"

local main = {}

local NAME = "tarn-lab"

-- What every command takes.
local general = {color = "WHEN", dir = "DIR", exercises = "DIR", help = true, version = true}

local commands = {
  list = {module = "report", most = 0, call = "list"},
  start = {module = "learner", most = 1, call = "start [NAME]"},
  check = {module = "learner", most = 1, call = "check [NAME]", options = {seed = "N", seconds = "N"}},
  hint = {module = "learner", least = 1, most = 2, call = "hint NAME [LEVEL]"},
  reset = {module = "reset", most = 1, call = "reset NAME|--all",
    options = {all = true, yes = true}},
  solution = {module = "learner", least = 1, most = 1, call = "solution NAME",
    options = {["give-up"] = true}},
  watch = {module = "watch", most = 1, call = "watch [NAME]",
    options = {seed = "N", seconds = "N"}},
  report = {module = "report", most = 0, call = "report", options = {json = true}},
  grade = {module = "grade", least = 1, call = "grade DIR...", alone = true,
    options = {course = "FILE", out = "DIR", jobs = "N", trust = true}},
  package = {module = "package", least = 1, most = 1, call = "package DIR", alone = true},
  author = {module = "author", call = "author [NAME]...", alone = true, options = {jobs = "N"}},
}

local HELP = [[
Usage: tarn-lab [OPTION]... COMMAND [NAME]...
Work on the exercises of tarn: fill in a file in a folder of your own, check it.

For learners:
  list               the exercises and how far you are
  start [NAME]       put the file of an exercise, or the next, into the folder
  check [NAME]       run what you wrote; without NAME the file changed last
      --seed=N         draw other inputs
      --seconds=N      stop what takes longer, in seconds of the processor
  hint NAME [LEVEL]  the next of three hints, or that of a level
  reset NAME         start over; a copy of your file stays
      --all            start all of them over
      --yes            without asking
  solution NAME      the solution, after you passed
      --give-up        or before, which is recorded
  watch [NAME]       check whenever you save, until all is done
  report             points by chapter
      --json           for programs

For teachers and authors:
  grade DIR...       grade folders of students' folders: grades.csv, grades.md
      --course=FILE    by a course file: deadline, weights, seeds, hidden tests
      --out=DIR        put the tables into DIR
      --jobs=N         check N files at a time, instead of one for each core
      --trust          run students' code without bubblewrap around it
  package DIR        put the exercises without solutions into a new DIR
  author [NAME]...   check what exercises promise: solutions pass, starts and
                     wrong answers fail, pasted code earns little

NAME is a name as in the list, 04-name, its number such as 4.2, or a file.

Options:
      --dir=DIR       work in DIR instead of the working folder
      --exercises=DIR take the exercises in DIR instead of tarn's own
      --color=WHEN    use colours: auto (on a terminal), always or never
      --help          show this help and exit
      --version       show the version and exit

Exit status: 0 success (check: passed), 1 an error or not passed, 2 a wrong
command line.

Files and environment:
  progress.txt      in your folder: one line an exercise, to be merged at will
  TARN_EXERCISES    the same as --exercises
  NO_COLOR          no colours unless --color=always

Examples:
  tarn-lab start
  tarn-lab check prefix-loop
]]

local VERSION = NAME .. " " .. tarn.version .. [[

Copyright (C) 2026 the tarn authors
License MIT <https://opensource.org/licenses/MIT>.
This is free software: you are free to change and redistribute it.
There is NO WARRANTY, to the extent permitted by law.
]]

-- All options there are: which of them belong to the command is told when it is known.
local function all_options()
  local known = {}
  for name, value in pairs(general) do known[name] = value end
  for _, command in pairs(commands) do
    for name, value in pairs(command.options or {}) do known[name] = value end
  end
  return known
end

local function command_of(words)
  local name = table.remove(words, 1)
  if not name then arguments.usage("which command? try start, check or list") end
  local command = commands[name]
  if not command then
    local near = host.nearest(name, commands)
    arguments.usage("unknown command '%s'%s", name,
      near and "; did you mean '" .. near .. "'?" or "")
  end
  return command, name
end

local function check_call(command, name, words, options)
  if #words < (command.least or 0) or (command.most and #words > command.most) then
    arguments.usage("expected %s %s", NAME, command.call)
  end
  for option in pairs(options) do
    if not general[option] and not (command.options or {})[option] then
      arguments.usage("%s has no option '--%s'", name, option)
    end
  end
end

-- The learner's folder: the one asked for, else that of the file he names, else this one.
local function folder_of(words, options)
  local files = require "tarn.lab.files"
  if options.dir or not words[1] or not files.is_file(words[1]) then return options.dir end
  return words[1]:match("^(.*)/[^/]*$")
end

local function set_color(when)
  if when == "always" or when == "never" then host.color = when == "always"
  elseif when and when ~= "auto" then
    arguments.usage("--color=%s: expected auto, always or never", when)
  end
end

local function run(words)
  local rest, options = arguments.read(words, all_options())
  set_color(options.color)
  if options.help then io.write(HELP) return 0 end
  if options.version then io.write(VERSION) return 0 end
  local command, name = command_of(rest)
  check_call(command, name, rest, options)
  local act = require("tarn.lab." .. command.module)[name]
  if command.alone then return act(rest, options) end
  local desk = require("tarn.lab.desk").open {folder = folder_of(rest, options),
    exercises = options.exercises}
  return act(desk, rest, options)
end

local function complain(problem)
  io.stdout:flush()
  if type(problem) == "table" and problem.usage then
    io.stderr:write(NAME, ": ", problem.usage, "\nTry '", NAME, " --help' for more information.\n")
    return 2
  end
  io.stderr:write(NAME, ": ", tostring(problem), "\n")
  return 1
end

function main.main(words)
  local ok, status = pcall(run, words)
  return ok and status or complain(status)
end

return main
