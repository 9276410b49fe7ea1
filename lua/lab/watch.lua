-- watch.lua: checks a file whenever it is saved, until all is done.
--
-- The files are looked at twice a second, by time and size; that needs neither a terminal nor
-- help of the system. When an exercise passes, the next one is put into the folder.

local learner = require "tarn.lab.learner"
local page = require "tarn.lab.page"
local system = require "tarn.lab.system"

local watch = {}

local PAUSE = 0.5 -- seconds

local function say(text)
  local out = page.new()
  out:text(text)
  out:print()
end

-- What tells a saved file from the one before; false where there is none.
local function state_of(desk, exercise)
  local stat = system.stat(desk:path(exercise))
  return stat and stat.kind == "file" and ("%.9f %d"):format(stat.mtime, stat.size)
end

-- The first of the watched that has been saved since it was last looked at.
local function saved(desk, watched, seen)
  for _, exercise in ipairs(watched) do
    local state = state_of(desk, exercise)
    if state and state ~= seen[exercise] then
      seen[exercise] = state
      return exercise
    end
  end
end

local function remember(desk, watched)
  local seen = {}
  for _, exercise in ipairs(watched) do seen[exercise] = state_of(desk, exercise) end
  return seen
end

-- Checks; what can't be checked is told, and waits for the next save.
local function check(desk, exercise, how)
  io.write("\n")
  local ok, passed = pcall(learner.check_one, desk, exercise, how)
  if not ok then say(tostring(passed)) end
  return ok and passed
end

-- Where nothing is to be worked on, the next start goes into the folder; nil if all is done.
local function move_on(desk, seen)
  local exercise = desk:next()
  if not exercise then return nil end
  if not desk:has(exercise) then
    say("your file: " .. learner.put_start(desk, exercise))
    seen[exercise] = state_of(desk, exercise)
  end
  return exercise
end

local function closing()
  say("All exercises are done; there is nothing left to watch.")
  return 0
end

function watch.watch(desk, words, options)
  local only = words[1] and desk:find(words[1])
  local how = learner.run_options(options)
  local watched = only and {only} or desk.list
  local seen = remember(desk, watched)
  if only and not desk:has(only) then learner.put_start(desk, only) end
  local current = only or move_on(desk, seen)
  if not current then return closing() end
  say(("watching %s: it is checked whenever you save it; ^C ends"):format(desk:path(current)))
  while true do
    local exercise = saved(desk, watched, seen)
    if not exercise then
      system.sleep(PAUSE)
    elseif check(desk, exercise, how) then
      if only then return 0 end
      if not move_on(desk, seen) then return closing() end
    end
  end
end

return watch
