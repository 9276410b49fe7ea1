-- reset.lua: starts an exercise over. What was there stays as name.1~, name.2~ and so on;
-- the other files and the progress stay as they are.

local files = require "tarn.lab.files"
local start = require "tarn.lab.start"
local system = require "tarn.lab.system"
local arguments = require "tarn.lab.arguments"

local reset = {}

local function say(text) io.write(text, "\n") end

local function reset_one(desk, exercise)
  local path = desk:path(exercise)
  local aside = files.kind(path) and files.set_aside("reset", path)
  files.write("reset", path, start.text(exercise))
  say(aside and ("%s is as at the start; what it was is in %s"):format(path, aside) or
    path .. " is there, as at the start")
end

local function files_of(count) return count == 1 and "1 file" or count .. " files" end

-- Asks on the terminal; without one there is nobody to ask.
local function agreed(count)
  if not system.tty(0) then
    error(("--all starts %s over: say so with --yes"):format(files_of(count)), 0)
  end
  io.write(("start %s over? copies are kept [y/N] "):format(files_of(count)))
  io.flush()
  local answer = io.read("l")
  return answer and answer:find("^%s*[yY]") ~= nil
end

local function reset_all(desk, options)
  local there = {}
  for _, exercise in ipairs(desk.list) do
    if desk:has(exercise) then there[#there + 1] = exercise end
  end
  if #there == 0 then
    say("no exercise is started here")
    return 0
  end
  if not options.yes and not agreed(#there) then
    say("nothing was changed")
    return 1
  end
  for _, exercise in ipairs(there) do reset_one(desk, exercise) end
  return 0
end

function reset.reset(desk, words, options)
  if options.all then
    if words[1] then arguments.usage("reset takes a NAME or --all") end
    return reset_all(desk, options)
  end
  if not words[1] then arguments.usage("reset needs a NAME, or --all") end
  reset_one(desk, desk:find(words[1]))
  return 0
end

return reset
