-- lab.lua: what the tests of tarn-lab share: a small course in the scratch folder.
--
--   lab.write("a/b", text)    a file in the scratch folder, its folders made; gives its path
--   lab.exercise(course, id, change)   an exercise of that course, with entries of its manifest
--                             in another way: {points = "7", title = "nil"}
--   lab.course()              three exercises: 4.1 prefix-loop, a capstone, 4.2 step, 5.1 memory

local files = require "tarn.lab.files"

local lab = {}

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
      {name = "nothing gives nothing", points = 2, inputs = function() return zeros(2, 3):numel() end},
      {name = "sums are causal", equation = "eq 9", points = 8, inputs = function() return 1 end}}]],
  }
  for key, value in pairs(change or {}) do entries[key] = value end
  local lines = {}
  for key, value in pairs(entries) do lines[#lines + 1] = ("%s = %s,\n"):format(key, value) end
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

return lab
