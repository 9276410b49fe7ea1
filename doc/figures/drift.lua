-- drift.lua: the error of the last output in float32 over the number of tokens, for three ways
-- of adding. Inputs as in chapter 8: constant features of 1.1, values in [0, 1), eps = 0.

local here = arg[0]:match("^.*/")
local svg, chart = dofile(here .. "svg.lua"), dofile(here .. "chart.lua")

local COUNTS = {}
for p = 10, 20, 2 do COUNTS[#COUNTS + 1] = 1 << p end

local function float32(x)
  return (string.unpack("f", string.pack("f", x)))
end

local function value(j)
  return ((j * 2654435761 & 0xffffffff) >> 8 & 0xffff) / 65536
end

-- S and z as float32 sums, through partial sums that are emptied every `block` tokens.
local function output(N, block)
  local feature = float32(1.1)
  local S, z, S_part, z_part = 0, 0, 0, 0
  for j = 0, N - 1 do
    S_part = float32(S_part + float32(feature * value(j)))
    z_part = float32(z_part + feature)
    if (j + 1) % block == 0 then
      S, z = float32(S + S_part), float32(z + z_part)
      S_part, z_part = 0, 0
    end
  end
  return S / z
end

local function tarn_output(N)
  local v = {}
  for j = 0, N - 1 do v[j + 1] = value(j) end
  local opt = {method = "sequential", impl = "plain", eps = 0}
  return prefix(zeros(N, 1), full({N, 1}, 0.1), tensor(v):reshape(N, 1), opt)[N][1]
end

local ways = {
  {"one running sum", function(N) return output(N, 1) end},
  {"blocks of 64", function(N) return output(N, 64) end},
  {"and what is lost, kept", tarn_output},
}
for _, way in ipairs(ways) do
  way.xs, way.ys = COUNTS, {}
  for i, N in ipairs(COUNTS) do
    local sum = 0
    for j = 0, N - 1 do sum = sum + value(j) end
    way.ys[i] = math.max(math.abs(way[2](N) * N / sum - 1), 3e-8)
  end
end

local d = svg.new(720, 340)
chart.draw(d, {
  left = 70, top = 36, width = 450, height = 240,
  x = {log = true, title = "tokens N",
    ticks = {{1024, "2¹⁰"}, {4096, "2¹²"}, {16384, "2¹⁴"}, {65536, "2¹⁶"}, {262144, "2¹⁸"},
      {1048576, "2²⁰"}}},
  y = {log = true, title = "relative error of the last output",
    ticks = {{1e-8, "10⁻⁸"}, {1e-7, "10⁻⁷"}, {1e-6, "10⁻⁶"}, {1e-5, "10⁻⁵"}, {1e-4, "10⁻⁴"},
      {1e-3, "10⁻³"}, {1e-2, "10⁻²"}, {1e-1, "10⁻¹"}}},
  series = ways,
})
d:write(arg[1])
