-- package.lua: the exercises as students get them: without solutions, wrong answers, pasted
-- regions and after-notes. What is left is checked as ever: tarn-lab --exercises=DIR check.
--
--   tarn-lab package DIR [--exercises=FROM]

local course = require "tarn.lab.course"
local data = require "tarn.lab.data"
local files = require "tarn.lab.files"
local manifest = require "tarn.lab.manifest"
local start = require "tarn.lab.start"

local package = {}

-- The entries of a manifest that only authors need.
local left_out = {"wrong", "paste"}

local README = [[
# Exercises

Work on them in a folder of your own: `tarn-lab --exercises=THIS-FOLDER start NAME` puts a file
there, `check NAME` runs it. There are hints (`hint NAME`), and no solutions.

]]

-- Manifests are text with functions in it: entries are cut out of the text, and the rest must
-- still be read as a manifest without them.
local function without(text, path, name)
  local first, brace = text:find("%f[%w_]" .. name .. "%s*=%s*{")
  if not first then return text end
  local behind = data.behind(text, path, brace)
  return text:sub(1, first - 1) .. text:sub(behind):gsub("^,%s*", "")
end

local function student_manifest(exercise)
  local path = files.join(exercise.folder, "exercise.lua")
  local text = files.read(path)
  for _, name in ipairs(left_out) do
    if exercise[name] then text = without(text, path, name) end
  end
  return text
end

local function check(folder)
  local left = manifest.read(folder)
  for _, name in ipairs(left_out) do
    if left[name] then
      error(("package: %s: '%s' could not be left out"):format(folder, name), 0)
    end
  end
end

local function put(exercise, to)
  local folder = files.join(to, exercise.id)
  files.make_folder("package", folder)
  files.write("package", files.join(folder, "exercise.lua"), student_manifest(exercise))
  files.write("package", files.join(folder, "start." .. exercise.extension), start.text(exercise))
  check(folder)
end

local function readme(list)
  local lines = {"| no. | name | what | minutes | points |", "|---|---|---|---|---|"}
  for _, exercise in ipairs(list) do
    lines[#lines + 1] = ("| %s | %s | %s | %d | %g |"):format(exercise.number, exercise.name,
      exercise.summary:gsub("[|\n]", " "), exercise.minutes, exercise.points)
  end
  return README .. table.concat(lines, "\n") .. "\n"
end

function package.package(words, options)
  local to = words[1]
  local list, problems = course.open(course.folder(options.exercises))
  if problems[1] then error("package: " .. problems[1].why, 0) end
  if files.kind(to) and not files.is_folder(to) or #(files.list(to) or {}) > 0 then
    error(("package: %s is there already; expected a new folder"):format(to), 0)
  end
  files.make_folder("package", to)
  for _, exercise in ipairs(list) do put(exercise, to) end
  files.write("package", files.join(to, "README.md"), readme(list))
  io.write(("%d exercises without solutions in %s\n"):format(#list, to))
  return 0
end

return package
