-- lab.lua: what the tests of tarn-lab share: a small course in the scratch folder.
--
--   lab.write("a/b", text)    a file in the scratch folder, its folders made; gives its path
--   lab.exercise(course, id, change)   an exercise of that course, with entries of its manifest
--                             in another way: {points = "7", title = "nil"}
--   lab.course()              three exercises: 4.1 prefix-loop, a capstone, 4.2 step, 5.1 memory
--   lab.play()                puts a player in the place of what runs learners' code: a file
--                             that says "right" passes, "broken" does not compile, "crash" ends
--                             in an error, any other fails its second case
--   lab.run(...)              tarn-lab with these words: its status, stdout, stderr

local host = require "tarn.host"
local files = require "tarn.lab.files"

local lab = {isolation = "bwrap", asked = nil}

function lab.path(name) return files.join(os.getenv("SCRATCH"), name) end

function lab.write(name, text)
  local path = lab.path(name)
  files.make_folder("test", path:match("^(.*)/"))
  files.write("test", path, text)
  return path
end

local function manifest_of(id, change)
  local entries = {
    title = ('"The title of %s"'):format(id:sub(4)), chapter = tostring(tonumber(id:sub(1, 2))),
    order = "1", language = '"c"', minutes = "5", points = "10", summary = '"What it is about."',
    hints = '{"the nudge", "the equation", "the near-code"}',
    cases = [[{
      {name = "nothing gives nothing", points = 2,
        inputs = function() return zeros(2, 3):numel() end},
      {name = "sums are causal", equation = "eq 9", points = 8,
        inputs = function() return 1 end}}]],
  }
  for key, value in pairs(change or {}) do entries[key] = value end
  local lines = {}
  for key, value in pairs(entries) do lines[#lines + 1] = ("%s = %s,\n"):format(key, value) end
  table.sort(lines)
  return "return {" .. table.concat(lines) .. "}\n"
end

function lab.exercise(course, id, change)
  local folder = course .. "/" .. id
  lab.write(folder .. "/exercise.lua", manifest_of(id, change))
  lab.write(folder .. "/solution.c", "/* " .. id .. " */\n//> todo\nright\n//: wrong\n//< todo\n")
  lab.write(folder .. "/after.md", "# Why it works\n\nBecause of *" .. id .. "*.\n")
  return lab.path(folder)
end

function lab.course()
  lab.exercise("course", "04-prefix-loop", {capstone = "true"})
  lab.exercise("course", "04-step", {order = "2"})
  lab.exercise("course", "05-memory", {})
  return lab.path("course")
end

-- ---- the player -------------------------------------------------------------------------

local function wrong(case)
  case.ok, case.points, case.result, case.index = false, 0, "out", {3, 2}
  case.message = "out[3, 2] is 0.5, expected 0.25 within 64 eps"
  case.near = {rows = {2, 3, 4}, columns = {1, 2, 3},
    expected = {{1, 2, 3}, {4, 0.25, 6}, {7, 8, 9}}, got = {{1, 2, 3}, {4, 0.5, 0 / 0}, {7, 8, 9}}}
end

local function check(exercise, file, options)
  lab.asked = options
  local text = files.read(file)
  local result = {cases = {}, points = 0, max = 0, seed = options.seed}
  if text:find("crash") then error("the machine has no compiler", 0) end
  if text:find("broken") and not text:find("right") then
    result.problem = "does not compile: line 3\nmore"
  end
  local cases = table.move(exercise.cases, 1, #exercise.cases, 1, {})
  table.move(options.hidden or {}, 1, #(options.hidden or {}), #cases + 1, cases)
  for i, case in ipairs(cases) do
    local found = {name = case.name, ok = true, points = case.points, max = case.points,
      equation = case.equation, costs = {heap = 1024}}
    if result.problem then found.ok, found.points = false, 0
    elseif i == 2 and not text:find("right") then wrong(found) end
    result.cases[i], result.points = found, result.points + found.points
    result.max = result.max + case.points
  end
  return result
end

local function parallel(functions)
  local results = {}
  for i, f in ipairs(functions) do results[i] = {pcall(f)} end
  return results
end

function lab.play()
  package.loaded["tarn.lab.run"] = {check = check, parallel = parallel,
    isolation = function() return lab.isolation, "it is not installed" end}
end

function lab.run(...)
  local out, err, write, stderr, note = {}, {}, io.write, io.stderr, host.note
  io.write = function(...) out[#out + 1] = table.concat({...}) end
  io.stderr = {write = function(_, ...) err[#err + 1] = table.concat({...}) end}
  host.note = function(text) err[#err + 1] = "note: " .. text .. "\n" end
  local ok, status = pcall(require("tarn.lab.main").main, {...})
  io.write, io.stderr, host.note = write, stderr, note
  if not ok then error(status, 0) end
  return status, table.concat(out), table.concat(err)
end

-- Raises unless a text holds a part.
function lab.has(text, part)
  if not text:find(part, 1, true) then error("'" .. part .. "' is not in:\n" .. text, 2) end
end

return lab
