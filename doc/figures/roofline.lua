-- roofline.lua: what bounds an operation, and where four of them lie. The figures are those of
-- doc/performance.md, one thread, float32, D = M = 64.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 380)
local PEAK, BANDWIDTH = 311, 40.1 -- GFLOP/s, GB/s
local LEFT, RIGHT, TOP, BOTTOM = 70, 690, 30, 320

-- Powers of two, evenly spaced: 1/4 to 256 flops a byte, 8 to 512 GFLOP/s.
local function x_of(intensity) return LEFT + (math.log(intensity, 2) + 2) / 10 * (RIGHT - LEFT) end
local function y_of(speed) return BOTTOM - (math.log(speed, 2) - 3) / 6 * (BOTTOM - TOP) end

d:line(LEFT, BOTTOM, RIGHT, BOTTOM)
d:line(LEFT, BOTTOM, LEFT, TOP)
for power = -2, 8 do
  local x = x_of(2 ^ power)
  d:line(x, BOTTOM, x, BOTTOM + 5)
  d:text(x, BOTTOM + 20, power < 0 and "1/" .. (1 << -power) or tostring(1 << power))
end
for power = 3, 9 do
  local y = y_of(2 ^ power)
  d:line(LEFT - 5, y, LEFT, y)
  d:text(LEFT - 9, y + 5, tostring(1 << power), {anchor = "end"})
end
d:text((LEFT + RIGHT) / 2, 366, "flops a byte", {size = 14})
d:text(14, 18, "GFLOP/s", {size = 14, anchor = "start"})

local ridge = PEAK / BANDWIDTH
d:line(x_of(0.25), y_of(0.25 * BANDWIDTH), x_of(ridge), y_of(PEAK))
d:line(x_of(ridge), y_of(PEAK), x_of(256), y_of(PEAK))
d:line(x_of(ridge), y_of(PEAK), x_of(ridge), BOTTOM, "dashed")
d:text(x_of(ridge) + 6, BOTTOM - 10, "7.8", {anchor = "start"})
d:text(x_of(96), y_of(PEAK) - 9, "311 GFLOP/s", {size = 14})
d:text(x_of(2), y_of(32), "40.1 GB/s", {size = 14, anchor = "start"})
d:text(x_of(2), y_of(25), "from memory", {size = 14, anchor = "start"})

-- A mark of its own shape for each operation.
local function mark(shape, intensity, speed, name, dx, dy)
  local x, y, r = x_of(intensity), y_of(speed), 6
  if shape == "square" then d:rect(x - r, y - r, 2 * r, 2 * r, "b") end
  if shape == "diamond" then d:polygon({x - r - 1, y, x, y - r - 1, x + r + 1, y, x, y + r + 1}, "a") end
  if shape == "up" then d:polygon({x - r, y + r, x, y - r, x + r, y + r}, "dark") end
  d:text(x + dx, y + dy, name, {anchor = "start"})
end

mark("up", 0.48, 76, "a step, 8 heads:", -6, -36)
d:text(x_of(0.48) - 6, y_of(76) - 18, "its state is cached", {anchor = "start"})
mark("square", 15.9, 178, "prefix, accurate", 12, 12)
mark("diamond", 15.9, 209, "prefix, plain sums", 12, -4)
mark("diamond", 128, 192, "causal softmax", -40, 24)
d:write(arg[1])
