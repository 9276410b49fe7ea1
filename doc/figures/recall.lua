-- recall.lua: the share of stored pairs that come back, by their number. As in chapter 6:
-- normal keys of 64 entries, values among 1024 random codes, 100 trials, eps = 0.

local here = arg[0]:match("^.*/")
local svg, chart = dofile(here .. "svg.lua"), dofile(here .. "chart.lua")

local WIDTH, TRIALS, COUNTS = 64, 100, {4, 8, 16, 32, 64, 128}
local codes = 2 * rand(TRIALS, 1024, WIDTH, {seed = 3}):gt(0.5) - 1

local function gram(f)
  return f:mm(f:transpose(2, 3))
end

local function recall(similarity)
  local N = #similarity[1]
  local weights = similarity / similarity:sum(3, {keepdim = true})
  local out = weights:mm(codes[{{}, {1, N}}])
  local nearest = out:mm(codes:transpose(2, 3)):argmax(3)
  return nearest:eq(range(1, N)):mean()
end

local maps = {
  {"softmax, taylor, poly2", function(k) return (gram(k) / WIDTH ^ 0.5):exp() end},
  {"relu2", function(k) return gram(phi.relu2(k)) end},
  {"relu", function(k) return gram(phi.relu(k)) end, shift = -4},
  {"elu + 1", function(k) return gram(phi.elu1(k)) end, shift = 6},
}

for _, map in ipairs(maps) do
  map.xs, map.ys = COUNTS, {}
  for i, N in ipairs(COUNTS) do
    map.ys[i] = recall(map[2](randn(TRIALS, N, WIDTH, {seed = N})))
  end
end

local d = svg.new(720, 330)
chart.draw(d, {
  left = 60, top = 36, width = 480, height = 230,
  x = {log = true, ticks = COUNTS, title = "pairs stored"},
  y = {ticks = {0, 0.25, 0.5, 0.75, 1}, title = "share of right answers"},
  series = maps,
})
d:write(arg[1])
