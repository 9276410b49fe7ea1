-- clock.lua: CPU time of short calls, on a machine where other things happen too.
--
--   clock.seconds(f[, budget])   CPU seconds of one call of f in the round that was disturbed
--                                least: rounds of about a millisecond, 0.1 s of them or `budget`
--
-- CPU time is that of all threads: for a comparison of times start tarn with --threads=1.

local clock = {}

local ROUND = 1e-3

local function spent_on(f, calls)
  local start = os.clock()
  for _ = 1, calls do f() end
  return os.clock() - start
end

function clock.seconds(f, budget)
  local calls = math.max(1, math.floor(ROUND / (spent_on(f, 3) / 3)))
  local best, spent = math.huge, 0
  while spent < (budget or 0.1) do
    local round = spent_on(f, calls)
    best, spent = math.min(best, round / calls), spent + round
  end
  return best
end

return clock
