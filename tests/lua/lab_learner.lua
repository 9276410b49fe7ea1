-- lab_learner.lua: the commands of tarn-lab as a learner gives them. What would run his code is
-- played: a file with the word "right" in it passes, another fails its second case.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local lab = dofile(arg[0]:match("^.*/") .. "lab.lua")
local test, is = tap.test, tap.is

local host = require "tarn.host"
local files = require "tarn.lab.files"
local page = require "tarn.lab.page"
local show = require "tarn.lab.show"
local system = require "tarn.lab.system"

lab.play()
local folder = lab.course()
local desk -- the learner's folder
local desks = 0

local function fresh_desk()
  desks = desks + 1
  desk = lab.path("desk " .. desks)
  files.make_folder("test", desk)
end

local has = lab.has

local function run(...) return lab.run("--exercises", folder, "--dir=" .. desk, ...) end

local function read(name) return files.read(files.join(desk, name)) end

local function edit(name, text) files.write("test", files.join(desk, name), text) end

-- The field of an exercise in progress.txt.
local function recorded(name, field)
  local line = ("\n" .. read("progress.txt")):match("\n(" .. name:gsub("%-", "%%-") .. "%s[^\n]*)")
  return line and line:match(field .. "=(%S+)") or line
end

test("start puts the start there, of the next exercise where none is named", function()
  fresh_desk()
  local status, out = run("start")
  is(status, 0)
  has(out, "4.1 prefix-loop")
  is(read("04-prefix-loop.c"), "/* 04-prefix-loop */\n//> todo\nwrong\n//< todo\n")
  is(run("start", "memory"), 0)
  assert(read("05-memory.c"))
end)

test("start without a name leads to the one that is begun", function()
  local status, out = run("start")
  is(status, 0)
  has(out, "4.1 prefix-loop")
  has(out, "your file: " .. files.join(desk, "04-prefix-loop.c"))
end)

test("start touches no file that is there", function()
  edit("04-prefix-loop.c", "mine")
  local status, _, err = run("start", "4.1")
  is(status, 1)
  has(err, "is there already; tarn-lab reset prefix-loop keeps a copy and starts over")
  is(read("04-prefix-loop.c"), "mine")
end)

test("a check that fails names equation, index, expected and got, and neighbours", function()
  local status, out = run("check", "prefix-loop")
  is(status, 1)
  has(out, "FAILED 0/8 sums are causal (eq 9)")
  has(out, "out[3, 2] is 0.5, expected 0.25")
  has(out, "0.25*")
  has(out, "0.5*  nan")
  has(out, "2 of 10 points")
  has(out, "tarn-lab hint prefix-loop")
  assert(not out:find("\27"), "colours without a terminal")
end)

-- What is shown of a result with these cases, and more.
local function shown(result)
  local exercise = {number = "4.1", name = "prefix-loop", title = "A title"}
  local out = page.new()
  result.points, result.max = result.points or 0, 4
  show.result(out, exercise, result)
  return table.concat(out.lines, "\n")
end

test("an error that comes again is told once, and what was printed is shown", function()
  local function case(name, message)
    return {name = name, ok = false, points = 0, max = 2, message = message}
  end
  local text = shown {output = "here\n  there\n",
    cases = {case("one", "a.lua:2: oh"), case("two", "a.lua:2: oh"), case("three", "no"),
      case("four", "a.lua:2: oh")}}
  is(select(2, text:gsub("a.lua:2: oh", "")), 1)
  has(text, "two\n        the same error\n")
  has(text, "four\n        the same error as in 'one'\n  it printed:\n    here\n      there\n[")
end)

test("what can't be run here was skipped, and did not fail", function()
  local why = "there is no compiler"
  is(shown {cases = {}, problem = why, skipped = why}, "4.1 prefix-loop A title\nSKIPPED " .. why)
end)

test("in 40 columns no line is longer", function()
  local columns = host.columns
  host.columns = function() return 40 end
  local _, out = run("check", "prefix-loop")
  local _, list = run("list")
  local _, report = run("report")
  host.columns = columns
  for line in (out .. list .. report):gmatch("[^\n]+") do assert(#line <= 40, line) end
end)

test("a check that passes tells why it works and what is next", function()
  edit("04-prefix-loop.c", "right")
  local status, out = run("check", "04-prefix-loop.c")
  is(status, 0)
  has(out, "10 of 10 points")
  has(out, "Because of *04-prefix-loop*.")
  has(out, "the other exercises of chapter 4 are optional now")
  has(out, "next: 5.1 The title of memory")
  has(read("progress.txt"), "prefix-loop  passed  10/10")
end)

test("a capstone makes the others of its chapter optional", function()
  local _, out = run("list")
  assert(out:find("step +c +5 +10 +optional"), out)
  assert(out:find("memory +c +5 +10 +started"), out)
end)

test("what has passed stays passed when it fails later", function()
  edit("04-prefix-loop.c", "mine")
  local status, out = run("check", "4.1")
  is(status, 1)
  has(out, "it had passed before")
  has(read("progress.txt"), "prefix-loop  passed  10/10")
end)

test("a file that is named says which folder is meant", function()
  local _, out = lab.run("--exercises", folder, "check", files.join(desk, "05-memory.c"))
  has(out, "2 of 10 points")
  assert(recorded("memory", "seed"))
end)

test("without a name the file that was changed last is checked", function()
  system.sleep(0.02)
  edit("05-memory.c", "wrong")
  local _, out = run("check")
  has(out, "5.1 memory")
end)

test("the seed of a check is the one asked for, and recorded", function()
  run("check", "memory", "--seed", "7")
  is({lab.asked.seed, recorded("memory", "seed")}, {7, "7"})
end)

test("hints come one after the other and are counted", function()
  local _, first = run("hint", "memory")
  local _, second = run("hint", "memory")
  has(first, "hint 1 of 3 for memory: a nudge\n  the nudge")
  has(second, "  the equation")
  is(recorded("memory", "hints"), "2")
  run("hint", "memory", "1")
  is(recorded("memory", "hints"), "2")
  is(run("hint", "memory", "4"), 2)
end)

test("reset restores one file, keeps a copy and leaves the rest alone", function()
  edit("05-memory.c", "broken")
  local before = read("progress.txt")
  local status, out = run("reset", "memory")
  is(status, 0)
  has(out, "05-memory.c.1~")
  is(read("05-memory.c"), "/* 05-memory */\n//> todo\nwrong\n//< todo\n")
  is({read("05-memory.c.1~"), read("04-prefix-loop.c"), read("progress.txt")},
    {"broken", "mine", before})
  run("reset", "memory")
  assert(read("05-memory.c.2~"))
end)

test("reset --all wants a word first, and is given it by --yes", function()
  local status, _, err = run("reset", "--all")
  is(status, 1)
  has(err, "--all starts 2 files over: say so with --yes")
  is(read("04-prefix-loop.c"), "mine")
  is(run("reset", "--all", "--yes"), 0)
  is(read("04-prefix-loop.c.1~"), "mine")
  is(run("reset"), 2)
  is(run("reset", "memory", "--all"), 2)
end)

test("the solution is shown after passing, or when one gives up, which is recorded", function()
  local _, solved = run("solution", "prefix-loop")
  is(solved, "/* 04-prefix-loop */\nright\n")
  local status, _, err = run("solution", "memory")
  is(status, 1)
  has(err, "--give-up")
  is(select(2, run("solution", "memory", "--give-up")), "/* 05-memory */\nright\n")
  is({recorded("memory", "solution"), recorded("prefix-loop", "solution")}, {"yes", "no"})
end)

test("copies and what editors leave change nothing", function()
  local _, before = run("list")
  for _, name in ipairs {"04-step copy.c", "04-step.c~", ".#04-step.c", ".04-step.c.swp",
    "step.c"} do
    edit(name, "right")
  end
  is(select(2, run("list")), before)
end)

test("report --json has the form that programs read", function()
  local _, out = run("report", "--json")
  local function line(name, chapter, status, points)
    return ('  {"name": "%s", "chapter": %d, "language": "c", "status": "%s", "points": %d, ' ..
      '"max": 10}'):format(name, chapter, status, points)
  end
  is(out, '{"exercises": [\n' .. line("prefix-loop", 4, "passed", 10) .. ",\n" ..
    line("step", 4, "open", 0) .. ",\n" .. line("memory", 5, "failed", 2) ..
    '\n], "score": 12}\n')
end)

test("report has bars that are words too", function()
  local _, out = run("report")
  has(out, "chapter 4   [##########----------] 10 of 20 points, 1 of 2 passed")
  has(out, "all         [########------------] 12 of 30 points")
end)

test("at the end a closing line says so, and again at once", function()
  edit("05-memory.c", "right")
  local status, out = run("check", "memory")
  is(status, 0)
  has(out, "All exercises are done.")
  has(select(2, run("start")), "All exercises are done.")
end)

test("wrong command lines are told with what may have been meant", function()
  local function says(expected, ...)
    local status, out, err = run(...)
    is({status, out}, {2, ""})
    is(err, "tarn-lab: " .. expected .. "\nTry 'tarn-lab --help' for more information.\n")
  end
  says("which command? try start, check or list")
  says("unknown command 'chek'; did you mean 'check'?", "chek")
  says("unknown option '--jsn'; did you mean '--json'?", "report", "--jsn")
  says("list has no option '--json'", "list", "--json")
  says("expected tarn-lab hint NAME [LEVEL]", "hint")
  says("option '--json' takes no value", "report", "--json=yes")
  says("option '--seed' needs a value: --seed=N", "check", "--seed")
  says("--seed=two: expected a whole number, 0 or more", "check", "--seed=two")
  says("unknown option '-j'", "report", "-j")
end)

test("a broken exercise keeps the others from nothing, and is told when it is asked for", function()
  lab.exercise("course", "06-torn", {title = "nil"})
  local status, out, err = run("list")
  is(status, 0)
  has(out, "memory")
  has(err, "note: left out: ")
  status, _, err = run("start", "torn")
  is(status, 1)
  has(err, "06-torn/exercise.lua: title is missing")
  is(run("hint", "memory"), 0)
end)

test("a folder that is not there, and one without exercises, are told", function()
  local status, _, err = run("list", "--dir", "/nowhere")
  is({status, err}, {1, "tarn-lab: /nowhere: there is no such folder\n"})
  status, _, err = run("list", "--exercises=" .. desk)
  is({status, err}, {1, "tarn-lab: no exercises in " .. desk .. "\n"})
end)

tap.done()
