-- manifest.lua: reads exercise.lua, the manifest of an exercise, and says what is wrong in it.
--
--   manifest.read(folder)     the manifest's table, or an error that names file and entry
--   manifest.parse(text, path)   the same of a text
--
-- A manifest is a chunk of Lua that returns a table. It sees the public names of tarn, as a
-- script does; what it defines stays its own. Only what every exercise has is checked here:
-- what the kinds (C, Lua, CUDA) have of their own is the runner's to check.

local env = require "tarn.env"
local entries = require "tarn.lab.entries"
local files = require "tarn.lab.files"

local manifest = {}

local fail, a = entries.fail, entries.a

local FILE = "exercise.lua"

-- The entries, each with what its value is; those of a list are wanted, others may be missing.
local kinds = {
  title = "string", chapter = "integer", order = "number", language = "string",
  minutes = "integer", points = "number", summary = "string", equations = "string",
  capstone = "boolean", hints = "table", cases = "table", spec = "function", wrong = "table",
  paste = "table", predict = "table", entry = "string", returns = "string",
  parameters = "table", results = "table", launch = "function", limit = "table",
  tol = "table", without = "table", gpu = "string",
}
local wanted = {"title", "chapter", "order", "language", "minutes", "points", "summary",
  "hints", "cases"}
local of_case = {
  name = "string", equation = "string", points = "number", inputs = "function", tol = "table",
  limit = "table", spec = "function", check = "function", entry = "string", launch = "function",
  parameters = "table", results = "table",
}
local of_wrong = {
  name = "string", change = "table", file = "string", fails = "string", because = "string",
  says = "string",
}

local function check_hints(path, hints)
  for level = 1, 3 do
    if type(hints[level]) ~= "string" or not hints[level]:find("%S") then
      fail(path, "hints[%d] is missing or empty, expected three: a nudge, the equation, near-code",
        level)
    end
  end
end

local function check_cases(path, content)
  local sum, seen = 0, {}
  for i, case in ipairs(content.cases) do
    if type(case) ~= "table" then
      fail(path, "cases[%d] is %s, expected a table", i, a(type(case)))
    end
    entries.check(path, ("cases[%d]: "):format(i), case, of_case)
    for _, key in ipairs {"name", "points"} do
      if case[key] == nil then fail(path, "cases[%d]: %s is missing", i, key) end
    end
    if seen[case.name] then fail(path, "two cases are named '%s'", case.name) end
    seen[case.name] = true
    sum = sum + case.points
  end
  if #content.cases == 0 then fail(path, "cases is empty") end
  if sum ~= content.points then
    fail(path, "points is %s, but the points of the cases add up to %s", content.points, sum)
  end
end

local function check_predictions(path, predict)
  for i, one in ipairs(predict) do
    if type(one) ~= "table" or type(one.ask) ~= "string" then
      fail(path, "predict[%d] has no question: expected {ask = \"...\", answer = ...}", i)
    end
  end
end

-- A wrong answer is a file of its own, or a change of the solution with a name.
local function check_wrong(path, wrong)
  for i, one in ipairs(wrong) do
    if type(one) ~= "table" then
      fail(path, "wrong[%d] is %s, expected a table", i, a(type(one)))
    end
    entries.check(path, ("wrong[%d]: "):format(i), one, of_wrong)
    if not one.fails then fail(path, "wrong[%d]: fails is missing", i) end
    if (one.file == nil) == (one.change == nil) or (one.name == nil) ~= (one.change == nil) then
      fail(path, "wrong[%d]: expected either file, or name and change", i)
    end
  end
end

local function check(path, content)
  if type(content) ~= "table" then
    fail(path, "it returns %s, expected a table", content == nil and "nothing" or a(type(content)))
  end
  entries.check(path, "", content, kinds)
  for _, key in ipairs(wanted) do
    if content[key] == nil then fail(path, "%s is missing", key) end
  end
  check_hints(path, content.hints)
  check_cases(path, content)
  check_predictions(path, content.predict or {})
  check_wrong(path, content.wrong or {})
end

function manifest.parse(text, path)
  local own = setmetatable({}, {__index = env.env})
  local chunk, problem = load(text, "@" .. path, "t", own)
  if not chunk then error(problem, 0) end
  local ok, content = pcall(chunk)
  if not ok then fail(path, "%s", tostring(content)) end
  check(path, content)
  return content
end

function manifest.read(folder)
  local path = files.join(folder, FILE)
  local text, why = files.read(path)
  if not text then error(why, 0) end
  return manifest.parse(text, path)
end

return manifest
