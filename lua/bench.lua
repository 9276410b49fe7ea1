-- bench.lua: how long something takes: time(f) once, bench(f) often enough to believe it;
-- bench(name) what the program tarn-bench finds for an operation of that name.

local tarn = require "tarn"
local entry = require "tarn.entry"
local report = require "tarn.report"
local host = require "tarn.host"
local options = require "tarn.options"
local machine = require "tarn.machine"

local bench = {}

-- Refuses the slip bench(sim(q, k, v)), which hands over a result.
function bench.check_function(name, f)
  if type(f) == "function" then return end
  local given = type(f) == "number" and "the number " .. f or
    f == nil and "nil" or "a " .. (type(f) == "userdata" and "tensor" or type(f))
  error(("%s: f is %s, expected a function; hint: %s(function() return sim(q, k, v) end)"):format(
    name, given, name), 0)
end

-- help: time(f, ...) -> seconds, results
-- Calls f(...) once; gives the seconds that it took, then what it gave.
-- shapes: none
-- math: none  cost: that of f
-- errors: a result instead of a function: time(function() return sim(q, k, v) end)
-- example:
--   > seconds, sum = time(function(n) return ones(n):sum() end, 1000)
--   > sum
--   1000.0
-- see: bench
function tarn.time(f, ...)
  bench.check_function("time", f)
  local start = machine.clock()
  local results = table.pack(f(...))
  return machine.clock() - start, table.unpack(results, 1, results.n)
end

-- The value a share p of the way through a sorted list, between neighbours if need be.
local function quantile(sorted, p)
  local at = 1 + (#sorted - 1) * p
  local below = sorted[math.floor(at)]
  return below + (sorted[math.ceil(at)] - below) * (at - math.floor(at))
end

local class = {
  __name = "bench",
  __tostring = function(b)
    local d = report.duration
    local text = ("median %s of %d runs, from %s to %s, middle half within %s"):format(
      d(b.median), b.runs, d(b.min), d(b.max), d(b.iqr))
    local lines = {}
    entry.wrap(lines, text, "", "  ")
    text = table.concat(lines, "\n")
    if b.flops_per_s and not tarn.quiet_times then
      text = text .. ("\n%.3g Gflop/s"):format(b.flops_per_s / 1e9)
    end
    if b.bytes_per_s and not tarn.quiet_times then
      text = text .. ("\n%.3g GB/s"):format(b.bytes_per_s / 1e9)
    end
    return text
  end,
}

-- A rate out of what was given or else counted; none if there was nothing to count.
local function per_second(given, counted, seconds)
  local amount = given or counted
  if amount > 0 or given then return amount / seconds end
end

local operation_class = {
  __name = "bench",
  __tostring = function(b)
    local lines = {}
    for i, row in ipairs(b.rows) do
      lines[i] = {
        row.dtype, row.precision, tostring(row.H), tostring(row.N), tostring(row.D),
        report.duration(row.median), ("%.3g"):format(row.flops_per_s / 1e9),
        row.percent_peak and ("%.1f"):format(row.percent_peak) or "-", report.error(row.rms_error),
      }
    end
    local heads = {"dtype", "precision", ">H", ">N", ">D=M", ">time", ">Gflop/s", ">%peak",
      ">rms error"}
    return ("%s: %s, %d thread%s, peak %.3g Gflop/s in float32, %.3g in float64\n%s"):format(
      b.rows[1].name, b.isa, b.threads, b.threads == 1 and "" or "s", b.peak / 1e9,
      b.peak64 / 1e9, report.layout(heads, lines))
  end,
}

-- An operation by its name, as tarn-bench --quick measures it.
local function bench_operation(name, opt)
  if not machine.operations[name] then
    local meant = host.nearest(name, machine.operations)
    error(("bench: there is no operation '%s'%s"):format(name,
      meant and "; did you mean '" .. meant .. "'?" or ", expected one of tarn-bench --help"), 0)
  end
  if opt ~= nil then
    error("bench: an operation that is called by its name has no options", 0)
  end
  return setmetatable(machine.measure(name), operation_class)
end

-- help: bench(f, {runs=11, warmup=1, flops=, bytes=}) -> report
-- Calls f often enough to believe the clock: median, spread, operations and bytes a second.
-- shapes: none
-- math: median and quartiles of the runs  cost: that of warmup + runs calls of f
-- errors: a result instead of a function: bench(function() return sim(q, k, v) end)
-- options: runs    timed calls, 1 or more
--          warmup  calls before them, 0 or more
--          flops   of one call, instead of what its operations count
--          bytes   of one call, instead of what its operations count
-- note: the report has median, min, max, iqr, in seconds, runs, flops_per_s, bytes_per_s.
--       bench("prefix") measures what the program tarn-bench does for that name, with shares
--       of the machine's peak, some seconds long; bench("prefix").rows has its numbers.
-- example:
--   > report = bench(function() return ones(100):sum() end, {runs=3})
--   > report.runs
--   3
-- see: time
function tarn.bench(f, opt)
  if type(f) == "string" then return bench_operation(f, opt) end
  bench.check_function("bench", f)
  opt = options.check("bench", opt,
    {runs = "count", warmup = "times", flops = "amount", bytes = "amount"})
  local seconds, runs = {}, opt.runs or 11
  for _ = 1, opt.warmup or 1 do f() end
  local flops, bytes = machine.work()
  for i = 1, runs do seconds[i] = tarn.time(f) end
  local flops_after, bytes_after = machine.work()
  table.sort(seconds)
  local median = quantile(seconds, 0.5)
  return setmetatable({
    median = median,
    min = seconds[1],
    max = seconds[#seconds],
    iqr = quantile(seconds, 0.75) - quantile(seconds, 0.25),
    runs = #seconds,
    flops_per_s = per_second(opt.flops, (flops_after - flops) / runs, median),
    bytes_per_s = per_second(opt.bytes, (bytes_after - bytes) / runs, median),
  }, class)
end

-- The exponent p of y ~ x^p: the slope of log y over log x by least squares.
function bench.exponent(x, y)
  local n, sx, sy, sxx, sxy = #x, 0, 0, 0, 0
  for i = 1, n do
    local lx, ly = math.log(x[i]), math.log(y[i])
    sx, sy, sxx, sxy = sx + lx, sy + ly, sxx + lx * lx, sxy + lx * ly
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

return bench
