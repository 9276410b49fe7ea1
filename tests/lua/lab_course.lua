-- lab_course.lua: the course side of tarn-lab without running anything: manifests, names of
-- exercises, the start made from a solution, the file of progress.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local lab = dofile(arg[0]:match("^.*/") .. "lab.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local course = require "tarn.lab.course"
local manifest = require "tarn.lab.manifest"
local start = require "tarn.lab.start"
local progress = require "tarn.lab.progress"
local predict = require "tarn.lab.predict"

local folder = lab.course()
local list = course.open(folder)

-- A manifest with one entry in another way: its error.
local function refused(change, message)
  local path = lab.exercise("broken", "05-broken", change)
  raises(path .. "/exercise.lua: " .. message, manifest.read, path)
end

-- ---- manifests --------------------------------------------------------------------------

test("a manifest that is whole is read, with tarn's names in reach", function()
  is(list[1].title, "The title of prefix-loop")
  is(list[1].cases[1].inputs(), 6)
end)

test("what is missing, unknown or of another kind is named", function()
  refused({title = "nil"}, "title is missing")
  refused({points = '"ten"'}, "points is a string, expected a number")
  refused({titel = '"x"'}, "unknown entry 'titel'; did you mean 'title'?")
  refused({hints = '{"a", "b"}'},
    "hints[3] is missing or empty, expected three: a nudge, the equation, near-code")
  refused({points = "7"}, "points is 7, but the points of the cases add up to 10")
  refused({cases = '{{name = "a", points = 10, equations = "eq 1"}}'},
    "cases[1]: unknown entry 'equations'; did you mean 'equation'?")
  refused({cases = '{{name = "a", points = 5}, {name = "a", points = 5}}'},
    "two cases are named 'a'")
  refused({cases = "{}"}, "cases is empty")
  refused({wrong = '{{name = "a", fails = "x", chagne = {}}}'},
    "wrong[1]: unknown entry 'chagne'; did you mean 'change'?")
  refused({wrong = '{{file = "wrong/a.c"}}'}, "wrong[1]: fails is missing")
  for _, one in ipairs {'name = "a"', 'change = {}', 'name = "a", file = "wrong/a.c"',
    'name = "a", change = {}, file = "wrong/a.c"'} do
    refused({wrong = '{{fails = "sums are causal", ' .. one .. '}}'},
      "wrong[1]: expected either file, or name and change")
  end
  refused({predict = "{{}}"}, 'predict[1] has no question: expected {ask = "...", answer = ...}')
end)

test("a manifest that defines a variable leaves the globals alone", function()
  local path = lab.exercise("globals", "05-globals",
    {title = "(function() leak = 1 return 'x' end)()"})
  is(manifest.read(path).title, "x")
  is(rawget(_G, "leak"), nil)
end)

test("a broken exercise is told, and the others are there", function()
  lab.exercise("mixed", "04-good", {order = "1"})
  lab.exercise("mixed", "04-bad", {order = "2", title = "nil"})
  lab.exercise("mixed", "05-elsewhere", {chapter = "6"})
  lab.exercise("mixed", "04-again", {order = "1"})
  local good, problems = course.open(lab.path("mixed"))
  is({good[1].name, #good}, {"again", 1})
  local said = {}
  for i, problem in ipairs(problems) do said[i] = problem.why:gsub("^.*/mixed/", "") end
  is(said, {"04-bad/exercise.lua: title is missing",
    "05-elsewhere/exercise.lua: chapter is 6, but the folder is 05-elsewhere",
    "04-good: 04-again has its name or its number, 4.1"})
end)

test("files and folders that are no exercise are not seen", function()
  lab.write("course/notes.txt", "x")
  lab.write("course/04-prefix-loop copy/exercise.lua", "return 1")
  lab.write("course/.04-hidden/exercise.lua", "return 1")
  lab.write("course/07-empty/readme", "x")
  local again, problems = course.open(folder)
  is(#again, 3)
  is(problems[1] and problems[1].why:gsub("^.*/course/", ""),
    "04-prefix-loop copy: a folder of an exercise is named as 04-prefix-loop")
end)

test("the hash of an exercise is that of all its files, wherever they lie", function()
  local identity = require "tarn.lab.identity"
  local function hash(course_name, change)
    return identity.of {folder = lab.exercise(course_name, "04-same", change)}
  end
  local one = hash("first")
  is({#one, hash("second")}, {16, one})
  assert(hash("third", {minutes = "6"}) ~= one)
  lab.write("fourth/04-same/wrong/a.c", "x")
  assert(hash("fourth") ~= one)
end)

-- ---- names ------------------------------------------------------------------------------

test("an exercise is found by every form of its name", function()
  for _, word in ipairs {"prefix-loop", "04-prefix-loop", "4.1", "04-prefix-loop.c",
    "./04-prefix-loop.c", "work/04-prefix-loop.c", "/tmp/a b/04-prefix-loop.c",
    "..\\work\\04-prefix-loop.c", "prefix-loop.c", "exercises/04-prefix-loop/", "Prefix_Loop"} do
    is(course.find(list, word).name, "prefix-loop")
  end
  is(course.find(list, "5").name, "memory")
  is(course.find(list, "05").name, "memory")
end)

test("a name that is near one is told, and a number that means several", function()
  raises("no exercise 'prefixloop'; did you mean 'prefix-loop'?", course.find, list, "prefixloop")
  raises("no exercise 'loop'; did you mean 'prefix-loop'?", course.find, list, "loop")
  raises("no exercise 'title of'; did you mean 'prefix-loop', 'step' or 'memory'?", course.find,
    list, "title of")
  raises("no exercise 'qqqqqq'; tarn-lab list names them all", course.find, list, "qqqqqq")
  raises("chapter 4 has several: 4.1 prefix-loop, 4.2 step", course.find, list, "4")
end)

-- ---- starts -----------------------------------------------------------------------------

local function solution(text, extension)
  local path = lab.write("texts/solution." .. (extension or "c"), text)
  return {solution = path, extension = extension or "c", predict = {}}
end

test("the start has the lines made for it, the solution neither these nor the marks", function()
  local one = solution("a\n  //> todo\n  x = 1;\n    //: x = 0;\n  //:\n  //< todo\nb\n")
  is(start.text(one), "a\n  //> todo\n    x = 0;\n\n  //< todo\nb\n")
  is(start.solution(one), "a\n  x = 1;\nb\n")
end)

test("Lua has marks of its own", function()
  local one = solution("--> todo\nreturn 1\n--: return nil\n--< todo\n", "lua")
  is(start.text(one), "--> todo\nreturn nil\n--< todo\n")
end)

test("regions are counted, and told where they do not close", function()
  local c = {extension = "c"}
  is(start.regions("//> todo\n//< todo\n", c), 1)
  is(start.regions("x\n", c), 0)
  is(select(2, start.regions("//> todo\n", c)), "the todo region has no end")
  is(select(2, start.regions("//< todo\n", c)), "a todo region ends that has not begun")
  is(select(2, start.regions("//> todo\n//> todo\n", c)), "a todo region begins inside another")
  is(select(2, start.regions("//: x\n", c)),
    "a line for the start stands outside of the todo region: //: x")
end)

test("a question stands above the region and waits for its answer", function()
  local one = solution("  //> todo\n  //< todo\n")
  one.predict = {{ask = "How many?", answer = 3}}
  local text = start.text(one)
  is(text, "  //? How many?\n  //= \n  //> todo\n  //< todo\n")
  is({predict.unanswered(one, text)}, {"How many?", "answer first, behind the line '//=':"})
  is({predict.unanswered(one, "//> todo\n//< todo\n")}, {"How many?",
    "answer first; there is no line for it yet, add '//= your answer':"})
  text = text:gsub("//= ", "//= four ")
  is(predict.unanswered(one, text), nil)
  is(predict.answers(one, text), {{ask = "How many?", said = "four", answer = 3}})
end)

-- ---- progress ---------------------------------------------------------------------------

local line = "step  passed  10/10  hints=1  seed=3  solution=no  date=2026-11-30\n"

test("progress is read as it was written", function()
  local records = progress.parse(line)
  is(records.step, {status = "passed", points = 10, max = 10, hints = 1, seed = 3,
    solution = false, date = "2026-11-30"})
  is(progress.format(records):match("\n(.*)$"), line)
end)

test("of two versions of a line the better counts, with the more hints", function()
  local records = progress.parse("<<<<<<< mine\n" .. line .. "=======\n" ..
    "step  failed  4/10  hints=3  seed=1  solution=yes  date=2026-12-01\n>>>>>>> theirs\n")
  is({records.step.status, records.step.points, records.step.hints, records.step.solution},
    {"passed", 10, 3, true})
end)

test("what is no line of progress is left out", function()
  is(progress.parse("step walked 1/2\nstep passed x/2\n\0\n# step passed 1/2"), {})
end)

tap.done()
