-- similarities.lua: three similarities of a key to the query 1, each divided by its value for
-- the key 0: the exponential (solid), its series to degree 2 (dashed), elu + 1 (dotted).

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 340)

local LEFT, RIGHT, TOP, BOTTOM = 60, 560, 16, 300
local function across(k) return LEFT + (k + 2) / 4 * (RIGHT - LEFT) end
local function up(s) return BOTTOM - s / 7.6 * (BOTTOM - TOP) end

d:line(LEFT, BOTTOM, RIGHT, BOTTOM)
d:line(across(0), BOTTOM, across(0), TOP)
for k = -2, 2 do
  d:line(across(k), BOTTOM, across(k), BOTTOM + 5)
  d:text(across(k), BOTTOM + 21, tostring(k))
end
for s = 1, 7 do
  d:line(across(0) - 4, up(s), across(0), up(s))
  d:text(across(0) - 14, up(s) + 5, tostring(s), {anchor = "end"})
end
d:text(RIGHT + 30, BOTTOM + 5, "key k", {anchor = "start", italic = true})

local function exponential(k) return math.exp(k) end
local function series(k) return 1 + k + k * k / 2 end
local function elu1(k) return k > 0 and k + 1 or math.exp(k) end

-- Lines in 120 pieces; `shown` says which of them are drawn.
local function curve(f, shown)
  for i = 0, 119 do
    local a, b = -2 + i / 30, -2 + (i + 1) / 30
    if shown(i) then d:line(across(a), up(f(a)), across(b), up(f(b))) end
  end
end

curve(exponential, function() return true end)
curve(series, function(i) return i % 4 < 2 end)
for i = 0, 40 do
  local k = -2 + i / 10
  d:rect(across(k) - 2, up(elu1(k)) - 2, 4, 4, "dark")
end

local function name(y, words) d:text(RIGHT + 10, y, words, {anchor = "start", size = 14}) end
name(up(math.exp(2)) + 9, "exp(k), solid")
name(up(5) + 5, "1 + k + k²/2, dashed")
name(up(3) + 5, "elu(k) + 1, dotted")
d:write(arg[1])
