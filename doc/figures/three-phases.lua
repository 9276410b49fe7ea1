-- three-phases.lua: the three launches of rung k2, five chunks of one head.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 380)
local CHUNKS, LEFT, STEP, WIDTH = 5, 170, 108, 84
local start = {anchor = "start"}

local function x_of(n) return LEFT + (n - 1) * STEP end

-- A launch: its name, and a line below it that all of its blocks have to reach.
local function launch(y, number, name, blocks)
  d:text(12, y, number .. " " .. name, {anchor = "start", size = 14, bold = true})
  d:text(12, y + 20, blocks, start)
end

launch(50, "1", "sums", "a block a chunk")
launch(170, "2", "prefixes", "a thread an entry")
launch(290, "3", "outputs", "a block a chunk")
for n = 1, CHUNKS do
  local x, middle = x_of(n), x_of(n) + WIDTH / 2
  d:box(x, 24, WIDTH, 34, "a", "k v")
  d:text(middle, 16, "chunk " .. n, {size = 12})
  d:arrow(middle, 58, middle, 92)
  d:box(x + 20, 92, WIDTH - 40, 28, "b", "T" .. n, {italic = true})
  d:arrow(middle, 120, middle, 176)
  d:arrow(middle, 184, middle, 222)
  d:box(x + 20, 222, WIDTH - 40, 28, "b", "E" .. n, {italic = true})
  d:arrow(middle, 250, middle, 282)
  d:box(x, 282, WIDTH, 34, "a", "q k v")
  d:arrow(middle, 316, middle, 340)
  d:text(middle, 356, "out", {size = 13})
end
-- The walk along the chunks, one thread an entry: it adds T and leaves what it had.
d:arrow(x_of(1), 180, x_of(CHUNKS) + WIDTH, 180)
d:text(x_of(3) + WIDTH / 2 + 50, 171, "total", {size = 12})
-- What lies between two launches: all blocks have ended.
d:line(8, 134, 712, 134, "dashed")
d:line(8, 262, 712, 262, "dashed")
d:write(arg[1])
