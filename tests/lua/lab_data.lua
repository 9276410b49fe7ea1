-- lab_data.lua: files that tarn-lab reads for a teacher and writes for him: tables in Lua's
-- notation that are read and not run, the course file, CSV and Markdown.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local lab = dofile(arg[0]:match("^.*/") .. "lab.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local course = require "tarn.lab.course"
local data = require "tarn.lab.data"
local files = require "tarn.lab.files"
local rules = require "tarn.lab.rules"
local printable = require "tarn.lab.printable"
local sheet = require "tarn.lab.sheet"

local list = course.open(lab.course())

-- ---- data -------------------------------------------------------------------------------

test("a table is read as Lua would read it", function()
  local text = [==[
    -- a comment
    return {
      exercises = {"step", 'a\'b', [[
long]]}, -- another
      --[[ and
      a long one ]]
      ["a key"] = 1e-5, [7] = -2.5, hex = 0x10, yes = true, no = false; 12,
    }]==]
  local lua = load(text)()
  is(data.read(text, "x"), lua)
end)

test("what is no data is refused with its line", function()
  local function refused(message, text) raises("f:" .. message, data.read, text, "f") end
  refused("2: expected a value, found 'os'", "{\n os.exit()}")
  refused("1: expected } or ,, found '.'", '{"a" .. "b"}')
  refused("1: expected } or ,, found '+'", "{1 + 1}")
  refused("1: expected a value, found 'function'", "{f = function() end}")
  refused("1: expected a table, found 'print'", "print(1)")
  refused("1: expected nothing more, found 'x'", "{} x = 1")
  refused("1: expected a value, found the end", "{a = ")
  refused("1: expected } or ,, found the end", "{1")
  refused("1: expected a string that ends on its line, found '\"'", '{"a\n"}')
  refused("1: expected a number, found the end", "{ 1e")
  refused("1: expected a table, found the end", "")
  refused("21: expected fewer tables inside each other, found '{'", ("{\n"):rep(30))
end)

-- ---- the course file --------------------------------------------------------------------

local function read(text) return rules.read(lab.write("rules.lua", text), list) end

local function refused(message, text)
  raises(lab.path("rules.lua") .. ": " .. message, read, text)
end

test("mistakes in a course file are named", function()
  refused("unknown entry 'dedline'; did you mean 'deadline'?", '{dedline = "x"}')
  refused("seeds is an integer, expected a table", "{seeds = 3}")
  refused("deadline is 'tomorrow', expected as in 2026-12-24 23:59", '{deadline = "tomorrow"}')
  refused("exercises: no exercise 'stepp'; did you mean 'step'?", '{exercises = {"stepp"}}')
  refused("weights: no exercise 'qqqqq'; tarn-lab list names them all", "{weights = {qqqqq = 2}}")
  refused("late: unknown entry 'perday'; did you mean 'per_day'?", "{late = {perday = 1}}")
  refused("hidden.step[1]: like is 'none', expected the name of a case",
    '{hidden = {step = {{like = "none"}}}}')
  refused("hidden.step[1]: name is that of another case, 'sums are causal'",
    '{hidden = {step = {{like = "sums are causal", name = "sums are causal"}}}}')
end)

test("the course file on the page for instructors is one", function()
  local source = os.getenv("srcdir")
  local text = files.read(source .. "/doc/en/instructor.md"):match("```lua\n(return {.-\n})\n```")
  local by = rules.read(lab.write("shown.lua", text), course.open(source .. "/exercises"))
  assert(#by.exercises > 1 and by.deadline and next(by.hidden), text)
end)

test("the minutes of the instructor's plans are those of the exercises they name", function()
  local source, weeks = os.getenv("srcdir"), 0
  local exercises = course.open(source .. "/exercises")
  local text = files.read(source .. "/doc/en/instructor.md")
  for one, other, minutes in text:gmatch("exercises of (%d+) and (%d+)[^\n|]*| (%d+) |\n") do
    local sum = 0
    for _, exercise in ipairs(exercises) do
      local here = exercise.chapter == tonumber(one) or exercise.chapter == tonumber(other)
      sum = sum + (here and exercise.minutes or 0)
    end
    weeks = weeks + 1
    is({one, other, tonumber(minutes)}, {one, other, sum})
  end
  is(weeks, 9)
end)

test("without a course file every exercise counts once, and nothing is late", function()
  local by = rules.read(nil, list)
  is({#by.exercises, by.seeds, rules.lateness(by, "anna", 1e12), rules.score(by, list[1], 7, 0)},
    {3, {1}, 0, 7})
end)

test("each day that has begun costs its part, up to the most, after the free ones", function()
  local by = read [[{deadline = "2026-12-24 12:00",
    late = {per_day = 10, at_most = 25, free_days = 1}, weights = {step = 2},
    handed_in = {early = "2026-12-01 00:00"}}]]
  local deadline = os.time {year = 2026, month = 12, day = 24, hour = 12}
  local function days(later) return rules.lateness(by, "anna", deadline + later) end
  is({days(0), days(1), days(86400), days(86401), days(5 * 86400)}, {0, 0, 0, 1, 4})
  is(rules.lateness(by, "early", deadline + 1e6), 0)
  is({rules.score(by, list[1], 10, 1), rules.score(by, list[1], 10, 4)}, {9, 7.5})
  is(rules.score(by, list[2], 10, 0), 20)
end)

test("hidden cases are like one of the exercise, with other inputs or another seed", function()
  local by = read [[{hidden = {step = {
    {like = "sums are causal", points = 3, seed = 9},
    {like = "sums are causal", name = "two tokens", inputs = {N = 2, q = {{1, 2}, {3, 4}}}}}}}]]
  local cases = rules.hidden(by, list[2])
  is({cases[1].name, cases[1].points, cases[1].seed, cases[1].equation},
    {"hidden 1, like 'sums are causal'", 3, 9, "eq 9"})
  local inputs = cases[2].inputs()
  is({cases[2].name, cases[2].points, inputs.N}, {"two tokens", 8, 2})
  is(inputs.q, {{1, 2}, {3, 4}})
  is(rules.hidden(by, list[1]), {})
end)

-- ---- tables of marks --------------------------------------------------------------------

test("CSV is read as it was written, with commas, quotes, line ends and formulas", function()
  local rows = {{a = "x,y", b = 'say "hi"'}, {a = "two\nlines", b = "=1+1"}, {a = "", b = 0.25}}
  local text = sheet.csv({"a", "b"}, rows)
  is(text, 'a,b\n"x,y","say ""hi"""\n"two\nlines",\'=1+1\n,0.25\n')
  rows[3].b = "0.25"
  is(sheet.parse(text), rows)
  is(sheet.parse((text:gsub("\n,0.25\n", "\r\n,0.25\r\n")))[3], rows[3])
end)

test("Markdown keeps its columns whatever a cell holds", function()
  is(sheet.markdown({"a"}, {{a = "x|y\nz <b>"}}), "| a |\n|---|\n| x\\|y z \\<b> |\n")
  is(sheet.markdown({"a"}, {{a = "x\\|y ![a](b) `c`"}}),
    "| a |\n|---|\n| x\\\\\\|y !\\[a](b) \\`c\\` |\n")
end)

test("what steers a terminal or is not seen is written out", function()
  is(printable.text("a\27[2Jb\r\n\tc\127"), "a\\x1b[2Jb\\x0d\\x0a\\x09c\\x7f")
  is(printable.text("\u{9b}31m \u{202e}x\u{200b} \u{e9}\u{3c6}"),
    "\\u{9b}31m \\u{202e}x\\u{200b} \u{e9}\u{3c6}")
  is(printable.text("\xff\xc2"), "\\xff\\xc2")
end)

tap.done()
