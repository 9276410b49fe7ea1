-- lab_grade.lua: tarn-lab grade, package and author. What would run code is played (lab.lua):
-- "right" passes, "broken" does not compile, "crash" ends in an error, the rest fails a case.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local lab = dofile(arg[0]:match("^.*/") .. "lab.lua")
local test, is, has = tap.test, tap.is, lab.has

local files = require "tarn.lab.files"
local sheet = require "tarn.lab.sheet"

lab.play()
local folder = lab.course()

local function run(...) return lab.run("--exercises", folder, ...) end

local function read(name) return files.read(lab.path(name)) end

-- ---- grade ------------------------------------------------------------------------------

lab.write("class/anna/04-prefix-loop.c", "right")
lab.write("class/anna/step.c", "some")
lab.write("class/anna/progress.txt", "step  failed  2/10  hints=2  seed=1  solution=yes  date=-\n")
lab.write("class/ben, the \"b\"/04-prefix-loop.c", "broken")
lab.write("class/ben, the \"b\"/05-memory.c", "crash")
lab.write("class/ben, the \"b\"/progress.txt", "\0\1 memory passed passed hints=99999999999999999")
files.make_folder("test", lab.path("class/ben, the \"b\"/04-step.c"))
lab.write("class/notes.txt", "not a student")
lab.write("class/.git/config", "nor this")

local function grade(...) return run("grade", lab.path("class"), "--out", lab.path("out"), ...) end

-- The row of a student and an exercise.
local function row(student, exercise)
  for _, one in ipairs(sheet.parse(read("out/grades.csv"))) do
    if one.student == student and one.exercise == exercise then return one end
  end
end

test("every student has a row for every exercise, in order", function()
  is(grade(), 0)
  local names = {}
  for i, one in ipairs(sheet.parse(read("out/grades.csv"))) do
    names[i] = one.student:sub(1, 4) .. " " .. one.exercise
  end
  is(names, {"anna prefix-loop", "anna step", "anna memory", "ben, prefix-loop", "ben, step",
    "ben, memory"})
end)

test("a row has points and what they stand on", function()
  local one = row("anna", "step")
  is({one.points, one.max, one.partial, one.score, one.hints, one.seed, one.late},
    {"2", "10", "0.2", "2", "2", "1", "0"})
  is({one.tarn, #one.hash}, {require("tarn").version, 16})
  has(one.note, "saw the solution before passing; sums are causal: out[3, 2] is 0.5")
end)

test("what is missing, breaks or is no file costs its own points only", function()
  local ben = 'ben, the "b"'
  is({row(ben, "prefix-loop").points, row(ben, "prefix-loop").note},
    {"0", "does not compile: line 3"})
  is({row(ben, "memory").points, row(ben, "memory").note},
    {"0", "could not be graded: the machine has no compiler"})
  is(row(ben, "step").note, "04-step.c is a folder, not a file")
  is({row("anna", "memory").points, row("anna", "memory").note}, {"0", "not handed in"})
  is(row("anna", "prefix-loop").points, "10")
end)

test("names and progress.txt can't steer a terminal, break a table or claim nonsense", function()
  lab.write("odd/e\27[2J|x\nz/step.c", "right")
  lab.write("odd/=cmd/step.c", "right")
  lab.write("odd/=cmd/progress.txt", "step passed 99/1 hints=-7 seed=1 solution=no date=-\n")
  files.make_folder("test", lab.path("odd/more"))
  assert(os.execute(("ln -s '%s' '%s'"):format(lab.path("class/anna"), lab.path("odd/link"))))
  local status, out, err = run("grade", lab.path("odd"), "--out", lab.path("odd-out"))
  is(status, 0)
  has(out, "e\\x1b[2J|x\\x0az")
  has(err, "link in " .. lab.path("odd") .. " is a link: left out")
  local text = read("odd-out/grades.csv") .. read("odd-out/grades.md")
  assert(not text:find("\27") and text:find("| e\\\\x1b\\[2J\\|x\\\\x0az |", 1, true), text)
  has(text, "'=cmd,step,")
  for _, one in ipairs(sheet.parse(read("odd-out/grades.csv"))) do is(one.hints, "0") end
end)

test("the same files give the same tables", function()
  local csv, markdown = read("out/grades.csv"), read("out/grades.md")
  grade()
  is({read("out/grades.csv"), read("out/grades.md")}, {csv, markdown})
end)

test("marks put by hand stay, also of who is gone", function()
  local text = read("out/grades.csv")
  local head, rest = text:match("^([^\n]*\n)(.*)$")
  local first, others = rest:match("^([^\n]*\n)(.*)$")
  first = first:gsub(",,\n$", ",A-,\n")
  local gone = first:gsub("^anna", "zoe"):gsub("A%-", "B")
  lab.write("out/grades.csv", head .. first .. others .. gone)
  grade()
  is({row("anna", "prefix-loop").mark, row("anna", "step").mark, row("zoe", "prefix-loop").mark},
    {"A-", "", "B"})
end)

test("another table is not written over", function()
  local other = lab.write("other/grades.csv", "name,grade\nanna,1\n")
  local status, _, err = run("grade", lab.path("class"), "--out", lab.path("other"))
  is({status, files.read(other)}, {1, "name,grade\nanna,1\n"})
  has(err, "is no table of grade's; expected another --out")
end)

test("a course file chooses, weighs, adds hidden cases and seeds", function()
  local rules = lab.write("rules.lua", [[{exercises = {"step"}, weights = {step = 3},
    seeds = {4, 5}, limits = {seconds = 3},
    hidden = {step = {{like = "nothing gives nothing", points = 5}}}}]])
  local _, out = grade("--course=" .. rules)
  local one = row("anna", "step")
  is({one.points, one.max, one.score, one.seed}, {"7", "15", "21", "4 5"})
  is(row("anna", "memory"), nil)
  is({lab.asked.seed, lab.asked.limits.seconds, lab.asked.isolate, #lab.asked.hidden},
    {5, 3, "bwrap", 1})
  has(out, "anna               7   15     21")
end)

test("what is handed in late counts less", function()
  local rules = lab.write("late.lua", [[{exercises = {"prefix-loop"}, deadline = "2020-01-01 00:00",
    late = {per_day = 10, at_most = 40}, handed_in = {anna = "2020-01-03 10:00"}}]])
  grade("--course=" .. rules)
  local one = row("anna", "prefix-loop")
  is({one.points, one.late, one.score}, {"10", "3", "7"})
end)

test("a prediction that was not made keeps the file from being run", function()
  lab.exercise("asking", "04-ask", {predict = '{{ask = "How many?", answer = 3}}'})
  lab.write("asked/carl/04-ask.c", "right\n//? How many?\n//=\n")
  lab.write("asked/dora/04-ask.c", "right\n//? How many?\n//= 4\n")
  lab.run("--exercises", lab.path("asking"), "grade", lab.path("asked"), "--out", lab.path("out2"))
  local rows = sheet.parse(read("out2/grades.csv"))
  is({rows[1].points, rows[1].note, rows[2].points},
    {"0", "not answered before the run: How many?", "10"})
end)

test("without bubblewrap it refuses, unless told to trust", function()
  lab.isolation = nil
  local status, _, err = grade()
  is(status, 1)
  has(err, "grade: nothing keeps students' code apart here (it is not installed)")
  is(grade("--trust"), 0)
  is(lab.asked.isolate, "none")
  lab.isolation = "bwrap"
end)

test("folders that hold no students are told, and a student in two of them", function()
  local status, _, err = run("grade", lab.path("class/anna"), "--out", lab.path("out"))
  is(status, 1)
  has(err, "no students' folders in it; expected one for each")
  lab.write("class2/anna/step.c", "right")
  status, _, err = run("grade", lab.path("class"), lab.path("class2"), "--out", lab.path("out"))
  is(status, 1)
  has(err, "anna is in " .. lab.path("class") .. " and in " .. lab.path("class2"))
  is(run("grade"), 2)
end)

-- ---- package ----------------------------------------------------------------------------

test("a student package has starts and hints, and nothing of the answers", function()
  lab.exercise("full", "04-walk",
    {wrong = '{{file = "wrong/a.c", fails = "{", because = "secret"}, {name = "secret", fails = ' ..
      '"{", change = {{[[}]], [==[}\nsecret [[}]] secret]==]}, {"}", "secret"}}}}',
    paste = '{{region = "x:secret", file = "paste/x.c"}}'})
  lab.write("full/04-walk/wrong/a.c", "secret")
  local status, out = lab.run("--exercises", lab.path("full"), "package", lab.path("given"))
  is({status, out}, {0, "1 exercises without solutions in " .. lab.path("given") .. "\n"})
  is(files.list(lab.path("given/04-walk")), {"exercise.lua", "start.c"})
  has(read("given/04-walk/start.c"), "wrong\n")
  local text = read("given/04-walk/exercise.lua")
  assert(not text:find("secret") and text:find("the nudge"), text)
  has(read("given/README.md"), "| 4.1 | walk | What it is about. | 5 | 10 |")
end)

test("one works with it as with the whole course, but for the solution", function()
  files.make_folder("test", lab.path("work"))
  local function work(...)
    return lab.run("--exercises", lab.path("given"), "--dir", lab.path("work"), ...)
  end
  is(work("start"), 0)
  lab.write("work/04-walk.c", "right")
  is(work("check"), 0)
  local _, _, err = work("solution", "walk")
  has(err, "walk: this package of exercises has no solutions")
end)

test("a package goes into a new folder only", function()
  local status, _, err = run("package", lab.path("class"))
  is(status, 1)
  has(err, "is there already; expected a new folder")
end)

-- ---- author -----------------------------------------------------------------------------

-- An exercise that holds all it promises, but for `change` and the files given.
local function exercise(course, change, texts)
  change = change or {}
  change.wrong = change.wrong or '{{file = "wrong/a.c", fails = "sums are causal"},' ..
    '{file = "wrong/b.c", fails = "sums are causal"}}'
  change.spec = change.spec or "function() end"
  lab.exercise(course, "04-good", change)
  local all = {["solution.c"] = "/* Chapter 4. */\n\n//> todo\nright\n//: no\n//< todo\n",
    ["after.md"] = "See chapter 4.\n", ["wrong/a.c"] = "x", ["wrong/b.c"] = "x"}
  for name, text in pairs(texts or {}) do all[name] = text end
  for name, text in pairs(all) do lab.write(course .. "/04-good/" .. name, text) end
  local status, out = lab.run("--exercises", lab.path(course), "author")
  return out, status
end

local courses = 0
local function complains(message, change, texts)
  courses = courses + 1
  local out, status = exercise("author" .. courses, change, texts)
  is(status, 1)
  has(out:gsub("\n", " "), message)
end

test("an exercise that holds what it promises is a row of ok", function()
  local out, status = exercise("author")
  is(status, 0)
  has(out, "04-good       10  ok        ok     ok     ok    ok          -")
  has(out, "library code earns 0 of 10 points (0 %) in 0 exercises, at most 25 %")
  has(out, "every exercise holds what it promises")
end)

test("each promise that is not held is told", function()
  complains("04-good: solution: sums are causal: out[3, 2] is 0.5", nil,
    {["solution.c"] = "/* Chapter 4 */\n\n//> todo\nx\n//< todo\n"})
  complains("04-good: start: it passes as it is", nil,
    {["solution.c"] = "/* Chapter 4 */\n\n//> todo\nright\n//: right\n//< todo\n"})
  complains("04-good: start: does not compile", nil,
    {["solution.c"] = "/* Chapter 4 */\n\n//> todo\nright\n//: broken\n//< todo\n"})
  complains("04-good: wrong: 1 wrong answers, expected two or more",
    {wrong = '{{file = "wrong/a.c", fails = "sums are causal"}}'})
  complains("wrong/a.c passes 'sums are causal', though it is negated", {wrong =
    '{{file = "wrong/a.c", fails = "sums are causal", because = "it is negated"},' ..
    '{file = "wrong/b.c", fails = "sums are causal"}}'}, {["wrong/a.c"] = "right"})
  complains("wrong/a.c: there is no case 'causal'", {wrong =
    '{{file = "wrong/a.c", fails = "causal"}, {file = "wrong/b.c", fails = "sums are causal"}}'})
  complains("fails 'sums are causal' with another message than 'nan'", {wrong =
    '{{file = "wrong/a.c", fails = "sums are causal", says = "nan"},' ..
    '{file = "wrong/b.c", fails = "sums are causal"}}'})
  complains("04-good: wrong: wrong/a.c: does not compile", nil, {["wrong/a.c"] = "broken"})
  complains("04-good: todo: no region to fill in", nil,
    {["solution.c"] = "/* Chapter 4 */\n\nright\n"})
  complains("04-good: todo: the head comment does not say 'chapter 4'", nil,
    {["solution.c"] = "/* Chapter 40 */\n\n//> todo\nright\n//< todo\n"})
  complains("04-good: texts: two hints are the same", {hints = '{"a", "b", "a"}'})
  complains("04-good: texts: after.md is missing or empty", nil, {["after.md"] = " \n"})
  complains("04-good: texts: after.md does not say 'chapter 4'", nil, {["after.md"] = "x"})
  complains("the case 'sums are causal' has no spec", {spec = "nil"})
  complains("04-bad/exercise.lua: title is missing", (function()
    lab.exercise("author" .. courses + 1, "04-bad", {title = "nil", order = "2"})
  end)())
end)

test("a wrong answer may be told as a change of the solution", function()
  local function wrong(pairs_of)
    return {wrong = '{{name = "negated", fails = "sums are causal", because = "it is negated", ' ..
      'change = ' .. pairs_of .. '}, {file = "wrong/b.c", fails = "sums are causal"}}'}
  end
  local solution = {["solution.c"] = "/* Chapter 4: a + b. */\n\n//> todo\nright = a;\n" ..
    "b = a;\n//: b = 0;\n//< todo\n// the end\n"}
  courses = courses + 1
  is(select(2, exercise("author" .. courses, wrong '{{"right = a", "left = a"}}', solution)), 0)
  local function refused(why, pairs_of)
    complains("04-good: wrong: negated: " .. why, wrong(pairs_of), solution)
  end
  refused("change[1]: 'den' is not in solution.c", '{{"den", "0"}}')
  refused("change[1]: 'b = 0;' is not in solution.c", '{{"b = 0;", "b = 1;"}}')
  refused("change[1]: '' is not in solution.c", '{{"", "0"}}')
  refused("change[1]: '= a;' is in solution.c more than once", '{{"= a;", "= 0;"}}')
  refused("change[2]: 'right' is not in solution.c", '{{"right", "left"}, {"right", "wrong"}}')
  refused("change[1]: it changes nothing: both texts are 'right'", '{{"right", "right"}}')
  refused("change: it leaves the solution as it is", '{{"right", "r"}, {"r = a", "right = a"}}')
  refused("change[1]: 'the end' is not inside the todo region", '{{"the end", "no end"}}')
  refused("change[1]: 'right = a;' is not inside", '{{[[right = a;\nb = a;\n//< todo]], "x"}}')
  refused("change[1]: it is no pair of texts, expected {old, new}", '{{"right"}}')
  complains("negated passes 'sums are causal', though it is negated", wrong '{{"b = a", "b = 0"}}',
    solution)
end)

test("a pasted region must be one, and earn little over the course", function()
  complains("region is 'nowhere', expected path:name",
    {paste = '{{region = "nowhere", file = "wrong/a.c"}}'})
  complains("library code earns 2 of 2 points (100 %) in 1 exercises, more than 25 %", {points = "2",
    cases = '{{name = "sums are causal", points = 2}}',
    paste = '{{region = "nowhere.c:x", file = "wrong/a.c"}}', wrong = "{}"})
end)

tap.done()
