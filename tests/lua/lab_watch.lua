-- lab_watch.lua: tarn-lab watch, without a terminal. Sleeping is played: each time the next
-- thing happens to the learner's files, and after the last one the test would wait no more.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local lab = dofile(arg[0]:match("^.*/") .. "lab.lua")
local test, is, has = tap.test, tap.is, lab.has

local files = require "tarn.lab.files"
local system = require "tarn.lab.system"

lab.play()
local folder = lab.course()
local desk = lab.path("desk")
files.make_folder("test", desk)

local function edit(name, text) files.write("test", files.join(desk, name), text) end

-- Watches while things happen; gives what lab.run gives.
local function watch(words, happenings)
  local sleep, at = system.sleep, 0
  system.sleep = function()
    at = at + 1
    if not happenings[at] then error("still watching", 0) end
    happenings[at]()
  end
  local status, out, err = lab.run("--exercises", folder, "--dir", desk, "watch",
    table.unpack(words))
  system.sleep = sleep
  return status, out, err
end

test("a saved file is checked, once, and the next exercise is put there", function()
  local status, out, err = watch({}, {
    function() edit("04-prefix-loop.c", "wrong") end, function() end,
    function() edit("04-prefix-loop.c", "all right") end, function() end,
  })
  is({status, err}, {1, "tarn-lab: still watching\n"})
  has(out, "watching " .. desk .. "/04-prefix-loop.c")
  is(select(2, out:gsub("2 of 10 points", "")), 1)
  is(select(2, out:gsub("10 of 10 points", "")), 1)
  has(out, "your file: " .. desk .. "/05-memory.c")
  assert(files.read(files.join(desk, "05-memory.c")))
end)

test("what can't be checked is told, and the watch goes on", function()
  local _, out, err = watch({"memory"}, {function() edit("05-memory.c", "crash") end,
    function() edit("05-memory.c", "better") end, function() end})
  has(out, "the machine has no compiler")
  has(out, "2 of 10 points")
  is(err, "tarn-lab: still watching\n")
end)

test("an editor that writes a new file in place of the old is seen", function()
  local path = files.join(desk, "05-memory.c")
  local _, out = watch({"memory"}, {function() os.remove(path) end, function() end,
    function() edit("05-memory.c", "better again") end, function() end})
  has(out, "2 of 10 points")
end)

test("one exercise is watched until it passes", function()
  local status, out = watch({"step"}, {function() edit("04-step.c", "right") end})
  is(status, 0)
  has(out, "4.2 step")
end)

test("when all is done a closing line says so, and at once the next time", function()
  local status, out = watch({}, {function() edit("05-memory.c", "right") end})
  is(status, 0)
  has(out, "All exercises are done; there is nothing left to watch.")
  status, out = watch({}, {})
  is({status, out}, {0, "All exercises are done; there is nothing left to watch.\n"})
end)

tap.done()
