-- course.lua: the course: where its exercises are, and which of them a word means.
--
--   course.open(folder)          the exercises below a folder, in the order of the course, and
--                                what is wrong with others: {{id =, why =}, ...}
--   course.find(list, word)      the one that is meant, or an error that says what is near
--
-- An exercise is a folder NN-name with a manifest, exercise.lua; whatever else lies beside
-- it is ignored. What a manifest says (see manifest.lua) becomes an exercise by
--   name "prefix-loop"  id "04-prefix-loop"  number "4.2"  folder, solution: paths
--   extension "c" | "lua" | "cu"   file "04-prefix-loop.c": how the learner's file is called
-- In a student package there is start.c where the solution is missing: `start` is its path.

local host = require "tarn.host"
local files = require "tarn.lab.files"
local manifest = require "tarn.lab.manifest"
local process = require "tarn.lab.run_process"
local system = require "tarn.lab.system"

local course = {}

local getenv = os.getenv

local extensions = {c = "c", lua = "lua", cuda = "cu"}

-- ---- where the exercises are ------------------------------------------------------------

-- The folder of exercises: the one asked for, else that of the source tree for a program
-- that has not been installed, else the one installed with it, wherever that was moved.
function course.folder(asked)
  local given = asked or getenv("TARN_EXERCISES")
  if given and given ~= "" then return given end
  local program = system.program:match("^(.*)/[^/]*$")
  if program == system.realpath(system.build) then return system.source end
  local beside = program .. "/../share/tarn/exercises"
  return files.is_folder(beside) and beside or system.installed
end

-- ---- loading ----------------------------------------------------------------------------

-- The path of a file of an exercise, or nil.
local function present(folder, name)
  local path = files.join(folder, name)
  return files.is_file(path) and path or nil
end

function course.load(folder)
  local id = files.base(folder)
  local chapter, name = id:match("^(%d%d)%-(%l[%l%d-]*)$")
  if not chapter then error(folder .. ": a folder of an exercise is named as 04-prefix-loop", 0) end
  local exercise = manifest.read(folder)
  local path = files.join(folder, "exercise.lua")
  local extension = extensions[exercise.language]
  if not extension then
    error(("%s: language is '%s', expected c, lua or cuda"):format(path, exercise.language), 0)
  end
  if exercise.chapter ~= tonumber(chapter) then
    error(("%s: chapter is %d, but the folder is %s"):format(path, exercise.chapter, id), 0)
  end
  exercise.name, exercise.id, exercise.folder, exercise.extension = name, id, folder, extension
  exercise.number = ("%d.%g"):format(exercise.chapter, exercise.order)
  exercise.file = id .. "." .. extension
  exercise.solution = present(folder, "solution." .. extension)
  exercise.start = present(folder, "start." .. extension)
  if not exercise.solution and not exercise.start then
    error(("%s: solution.%s is missing"):format(folder, extension), 0)
  end
  return exercise
end

local function in_order(a, b)
  if a.chapter ~= b.chapter then return a.chapter < b.chapter end
  if a.order ~= b.order then return a.order < b.order end
  return a.name < b.name
end

-- Names and numbers are those of one exercise only: the second goes to the problems.
local function take_unique(sorted, problems)
  local list, seen = {}, {}
  for _, exercise in ipairs(sorted) do
    local other = seen[exercise.name] or seen[exercise.number]
    if other then
      problems[#problems + 1] = {id = exercise.id, why = ("%s: %s has its name or its number, %s")
        :format(exercise.folder, other.id, exercise.number)}
    else
      seen[exercise.name], seen[exercise.number] = exercise, exercise
      list[#list + 1] = exercise
    end
  end
  return list
end

function course.open(folder)
  process.exercises = folder -- where what learners wrote must not look
  local names, why = files.list(folder)
  if not names then error(("no exercises in %s: %s"):format(folder, why), 0) end
  local list, problems = {}, {}
  for _, name in ipairs(names) do
    local path = files.join(folder, name)
    if name:find("^%d%d%-") and present(path, "exercise.lua") then
      local ok, exercise = pcall(course.load, path)
      if ok then list[#list + 1] = exercise
      else problems[#problems + 1] = {id = name, why = tostring(exercise)} end
    end
  end
  if #list + #problems == 0 then error("no exercises in " .. folder, 0) end
  table.sort(list, in_order)
  return take_unique(list, problems), problems
end

-- ---- finding ----------------------------------------------------------------------------

local SHORTEST = 3  -- letters of a part of a name that is looked for
local MOST_NEAR = 6 -- names that are suggested

-- A word as a name: without folders and what editors and compilers put behind a dot.
local function bare(word)
  local name = files.base(word)
  if name:find("^%d+%.%d+$") then return name end
  return (name:gsub("%..*$", ""):lower():gsub("_", "-"))
end

-- Those a word may mean: by name, by 04-name, by number 4.2, by chapter.
local function matches(list, word)
  local found, chapter = {}, word:match("^0*(%d+)$")
  for _, exercise in ipairs(list) do
    if word == exercise.name or word == exercise.id or word == exercise.number then
      return {exercise}
    end
    if tostring(exercise.chapter) == chapter then found[#found + 1] = exercise end
  end
  return found
end

-- Those whose name or title has a word in it.
local function with(list, word)
  local found = {}
  local function bare_words(text) return (text:lower():gsub("%W+", "-")) end
  word = bare_words(word)
  for _, exercise in ipairs(list) do
    local title = bare_words(exercise.title)
    if exercise.name:find(word, 1, true) or title:find(word, 1, true) then
      found[#found + 1] = exercise.name
    end
  end
  return found
end

-- "; did you mean 'prefix-loop'?", or several, or how to see them all.
local function near(list, word)
  local names, some = {}, with(list, word)
  if #word >= SHORTEST and #some > 0 and #some <= MOST_NEAR then
    local names_of = "'" .. table.concat(some, "', '") .. "'?"
    return "; did you mean " .. names_of:gsub(", ('[^']*'%?)$", " or %1")
  end
  for _, exercise in ipairs(list) do
    names[exercise.name], names[exercise.id] = exercise.name, exercise.name
  end
  local key = host.nearest(word, names)
  if key then return "; did you mean '" .. names[key] .. "'?" end
  return "; tarn-lab list names them all"
end

function course.find(list, word)
  local name = bare(word)
  local found = matches(list, name)
  if #found == 1 then return found[1] end
  if #found == 0 then error(("no exercise '%s'%s"):format(word, near(list, name)), 0) end
  local several = {}
  for _, exercise in ipairs(found) do
    several[#several + 1] = exercise.number .. " " .. exercise.name
  end
  error(("chapter %s has several: %s"):format(word, table.concat(several, ", ")), 0)
end

return course
