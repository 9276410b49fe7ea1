-- crossing.lua: from which length on linear attention is faster than softmax attention.
--
--   tarn --threads=1 crossing.lua [D]
--
-- One thread, for what is measured is the CPU time of the program. Both are causal, with one head and M = D. The operations that their sums need are equal at
-- N = 2 D - 1; where the clock says so depends on how well each of them is programmed, and on
-- phi, exp and the division, which nobody counts.

local D = math.tointeger(tonumber(arg[1] or 64))
if not D or D < 1 then error("crossing: D is " .. arg[1] .. ", expected a whole number", 0) end

-- CPU seconds of so many calls.
local function clock(f, calls)
  local start = os.clock()
  for _ = 1, calls do f() end
  return os.clock() - start
end

-- CPU seconds of one call, in the round that was disturbed least: rounds of about a
-- millisecond, after one that warms up.
local function seconds(f)
  local calls = math.max(1, math.floor(1e-3 / (clock(f, 3) / 3)))
  local best, spent = math.huge, 0
  while spent < 0.1 do
    local round = clock(f, calls)
    best, spent = math.min(best, round / calls), spent + round
  end
  return best
end

local lengths, softmax, linear, counted = {}, {}, {}, {}
for power = 4, 12 do
  local N = 1 << power
  local q, k, v = randn(N, D, {seed = 1}), randn(N, D, {seed = 2}), randn(N, D, {seed = 3})
  lengths[#lengths + 1] = N
  softmax[#softmax + 1] = seconds(function() return sim(q, k, v, {causal = true}) end)
  linear[#linear + 1] = seconds(function() return prefix(q, k, v) end)
  counted[#counted + 1] = (2 * D * N * (N + 1)) / (4 * N * D * D)
end

-- Where the ratio passes 1, on a straight line between two points of the double logarithm.
local function crossing(ratio)
  for i = 2, #lengths do
    local a, b = math.log(ratio(i - 1)), math.log(ratio(i))
    if a < 0 and b >= 0 then
      return lengths[i - 1] * (lengths[i] / lengths[i - 1]) ^ (-a / (b - a))
    end
  end
  return ratio(1) >= 1 and lengths[1] or lengths[#lengths]
end

print(("causal attention, D = M = %d, one head, float32"):format(D))
print("     N   softmax    linear   ratio of times   ratio of operations")
for i, N in ipairs(lengths) do
  print(("%6d %6.0f us %6.0f us %16.2f %21.2f"):format(
    N, softmax[i] * 1e6, linear[i] * 1e6, softmax[i] / linear[i], counted[i]))
end
print(("\nequal operations at N = %.0f, equal times at about N = %.0f"):format(
  crossing(function(i) return counted[i] end),
  crossing(function(i) return softmax[i] / linear[i] end)))

local microseconds = {{}, {}}
for i = 1, #lengths do
  microseconds[1][i], microseconds[2][i] = softmax[i] * 1e6, linear[i] * 1e6
end
print(plot(lengths, microseconds, {
  logx = true, logy = true, legend = {"softmax", "linear"}, xlabel = "N",
  ylabel = "microseconds",
}))
