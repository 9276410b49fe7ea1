-- lab_waits.lua: what would make a check wait: files that have no end, or that nobody writes to.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is = tap.test, tap.is
local system = require "tarn.lab.system"
local run = require "tarn.lab.run"

local scratch = os.getenv("SCRATCH") or assert(system.temporary("lab-waits-test"))

local seven = {name = "seven", language = "c", entry = "seven", parameters = {}, returns = "int",
  spec = function() return {returned = 7} end,
  cases = {{name = "one", points = 1, inputs = function() return {} end}}}

local written = 0
local function check(text, way)
  written = written + 1
  local path = ("%s/answer%d.c"):format(scratch, written)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return run.check(seven, path, {isolate = way, limits = {seconds = 2}})
end

local function has(text, piece)
  if not tostring(text):find(piece, 1, true) then
    error(("%q is not in: %s"):format(piece, tostring(text)), 2)
  end
end

local there, why = require("tarn.lab.run_c").compiler()
if not there then
  tap.skip("a compiler waits for nobody", why)
  tap.done()
  return
end

local ways = {"none"}
if run.isolation() then ways[2] = "bwrap" end

-- Streams have no names to be opened by, so who includes one hears so at once.
for _, way in ipairs(ways) do
  test("a compiler that is told to include its own streams does not wait, " .. way, function()
    for number = 0, 3 do
      local result = check(('#include "/proc/self/fd/%d"\nint seven(void) { return 7; }\n')
        :format(number), way)
      has(result.problem, "does not compile: ")
      assert(not result.problem:find("too long", 1, true), result.problem)
    end
  end)

  test("nor does a learner's program that reads from them, " .. way, function()
    local text = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n" ..
      "int seven(void)\n{\n    char name[40], byte;\n    for (int i = 0; i < 5; i++) {\n" ..
      "        snprintf(name, sizeof name, \"/proc/self/fd/%d\", i);\n" ..
      "        if (open(name, O_RDWR) >= 0 && i < 4) return i;\n" ..
      "        if (read(i, &byte, 1) > 0 && i < 4) return 10 + i;\n    }\n    return 7;\n}\n"
    is({check(text, way).cases[1].message, way}, {nil, way})
  end)
end

test("a compiler has less time on the clock than a learner's program", function()
  local process = require "tarn.lab.run_process"
  assert(process.COMPILER.clock < process.LIMITS.clock)
  is(process.COMPILER.bytes, process.LIMITS.bytes)
end)

tap.done()
