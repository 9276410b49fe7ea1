-- sweeps.lua: what the gradient keeps: a state for each token, or two that run.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 330)
local LEFT, STEP, TOKENS = 150, 66, 8

local function x_of(i)
  return LEFT + (i - 1) * STEP
end

d:text(20, 62, "all states kept", {anchor = "start", bold = true})
for i = 1, TOKENS do
  d:box(x_of(i), 36, 44, 44, "off", "S" .. i, {italic = true})
end
d:text(x_of(1), 102, "N times C M numbers, written on the way there and read on the way back",
  {anchor = "start"})

d:text(20, 150, "forward sweep", {anchor = "start", bold = true})
d:box(x_of(1), 130, 44, 30, "a", "S", {italic = true})
d:arrow(x_of(1) + 52, 145, x_of(TOKENS) + 44, 145)
for i = 1, TOKENS do
  d:box(x_of(i), 180, 44, 30, "plain", tostring(i))
  d:line(x_of(i) + 22, 164, x_of(i) + 22, 178, "dashed")
end
d:text(20, 192, "tokens", {anchor = "start", bold = true})
d:text(20, 208, "1 to N", {anchor = "start"})

d:text(20, 250, "backward sweep", {anchor = "start", bold = true})
d:box(x_of(TOKENS), 230, 44, 30, "b", "R", {italic = true})
d:arrow(x_of(TOKENS) - 8, 245, x_of(1), 245)
for i = 1, TOKENS do d:line(x_of(i) + 22, 214, x_of(i) + 22, 228, "dashed") end
d:text(x_of(1), 290, "dq at each token from S on the way there;", {anchor = "start"})
d:text(x_of(1), 308, "dk and dv at each token from R on the way back. Two states of C M numbers.",
  {anchor = "start"})
d:write(arg[1])
