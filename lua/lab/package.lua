-- package.lua: the exercises as students get them: without solutions, wrong answers, pasted
-- regions and after-notes. What is left is checked as ever: tarn-lab --exercises=DIR check.
--
--   tarn-lab package DIR [--exercises=FROM]

local course = require "tarn.lab.course"
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

-- ---- manifests without some entries -------------------------------------------------------

-- What holds braces that do not count, as patterns: strings and comments. Each is tried in
-- turn at a place, and its last capture is the place behind it.
local apart = {"^%-%-%[(=*)%[.-%]%1%]()", "^%-%-[^\n]*()", "^%[(=*)%[.-%]%1%]()", '^""()', "^''()",
  '^".-[^\\]"()', "^'.-[^\\]'()"}

local function skip(text, at)
  for _, pattern in ipairs(apart) do
    local captures = table.pack(text:match(pattern, at))
    if captures[1] then return captures[captures.n] end
  end
end

-- The place behind the table that begins at a place.
local function behind(text, at)
  local depth = 0
  repeat
    local sign = text:sub(at, at)
    if sign == "{" then depth = depth + 1 elseif sign == "}" then depth = depth - 1 end
    at = skip(text, at) or at + 1
  until depth == 0 or at > #text
  return at
end

-- Manifests are text with functions in it: entries are cut out of the text, and the rest must
-- still be read as a manifest without them.
local function without(text, name)
  local first, brace = text:find("%f[%w_]" .. name .. "%s*=%s*{")
  if not first then return text end
  return text:sub(1, first - 1) .. text:sub(behind(text, brace)):gsub("^,%s*", "")
end

local function student_manifest(exercise)
  local path = files.join(exercise.folder, "exercise.lua")
  local text = files.read(path)
  for _, name in ipairs(left_out) do
    if exercise[name] then text = without(text, name) end
  end
  local left = manifest.parse(text, path)
  for _, name in ipairs(left_out) do
    if left[name] then
      error(("package: %s: '%s' could not be left out"):format(path, name), 0)
    end
  end
  return text
end

-- ---- the package ----------------------------------------------------------------------------

local function readme(list)
  local lines = {"| no. | name | what | minutes | points |", "|---|---|---|---|---|"}
  for _, exercise in ipairs(list) do
    lines[#lines + 1] = ("| %s | %s | %s | %d | %g |"):format(exercise.number, exercise.name,
      exercise.summary:gsub("[|\n]", " "), exercise.minutes, exercise.points)
  end
  return README .. table.concat(lines, "\n") .. "\n"
end

-- The files of the package, all of them made before the first is written: path -> text.
local function contents(list)
  local texts = {["README.md"] = readme(list)}
  for _, exercise in ipairs(list) do
    texts[exercise.id .. "/exercise.lua"] = student_manifest(exercise)
    texts[exercise.id .. "/start." .. exercise.extension] = start.text(exercise)
  end
  return texts
end

function package.package(words, options)
  local to = words[1]
  local list, problems = course.open(course.folder(options.exercises))
  if problems[1] then error("package: " .. problems[1].why, 0) end
  if files.kind(to) and not files.is_folder(to) or #(files.list(to) or {}) > 0 then
    error(("package: %s is there already; expected a new folder"):format(to), 0)
  end
  local texts = contents(list)
  for name, text in pairs(texts) do
    files.make_folder("package", files.join(to, name):match("^(.*)/"))
    files.write("package", files.join(to, name), text)
  end
  io.write(("%d exercises without solutions in %s\n"):format(#list, to))
  return 0
end

return package
