-- profile.lua: the emulated device at the prompt: emu{..}, how it behaves, and profile(f),
-- how the kernels that f runs reach memory. Chapter 11.
--
-- C counts (emu/profile.c): requests of warps, and the sectors of 32 bytes (global memory) or
-- wavefronts (shared memory) that they took beside the least that would do. Here they are put
-- in an order of cost, the bytes that memory moved for them, and laid out.

local tarn = require "tarn"
local bench = require "tarn.bench"
local entry = require "tarn.entry"
local host = require "tarn.host"
local profiler = require "tarn.profiler"
local report = require "tarn.report"
local options = require "tarn.options"

-- Settings ------------------------------------------------------------------------------

local settings_class = {
  __name = "emu",
  __tostring = function(s)
    local lines = {}
    entry.wrap(lines, ('emu: gpu="%s", check=%s, order="%s", seed=%d'):format(s.gpu,
      tostring(s.check), s.order, s.seed), "", "  ")
    return table.concat(lines, "\n")
  end,
}

local set = tarn.emu
-- help: emu{gpu=, check=, order=, seed=} -> settings
-- Says how the emulated device behaves, after changing what is given; emu() changes nothing.
-- shapes: none
-- math: none  cost: O(1)
-- errors: a word that is none of those below; a build without the device
-- options: gpu     "sm_75" | "sm_80" | "sm_86" | "sm_89" | "sm_90" | "sm_100" | "sm_120":
--                   whose limits hold
--          check   true: every access of a kernel is checked for races, bounds, and memory
--                   that was never written; slow
--          order   "forward" | "reversed" | "random": in which threads and blocks run
--          seed    of the random order, a whole number
-- note: what a kernel does must not depend on the order. backends() tells whether there is
--       such a device.
-- example: emu
--   > emu{order="random", seed=3}
--   emu: gpu="sm_80", check=false, order="random", seed=3
--   > emu{order="forward", seed=1}.order
--   "forward"
-- see: profile, backends, t.device
function tarn.emu(opt) return setmetatable(set(opt), settings_class) end

-- The cost of a row ---------------------------------------------------------------------

local UNITS = { -- what memory is read and written in
  global = {bytes = 32, many = "sectors", wrong = "neighbouring threads use addresses far apart"},
  shared = {bytes = 128, many = "wavefronts", wrong = "lanes want different words of one bank"},
}
local SHIFTED = "neighbouring threads use neighbouring words, but begin within a sector"
local NOTABLE = 1.05 -- times the least: below that a line is as good as it gets

local function excess(row) return (row.actual - row.least) * UNITS[row.space].bytes end

local function place(row) return ("%s:%d"):format(row.file:match("[^/]*$"), row.line) end

-- In the order of cost: the bytes that were moved, needed or not.
local function before(a, b)
  if a.cost ~= b.cost then return a.cost > b.cost end
  if a.kernel ~= b.kernel then return a.kernel < b.kernel end
  if a.line ~= b.line then return a.line < b.line end
  return a.space .. a.op < b.space .. b.op
end

-- What the line with the most needless work is, in a sentence.
local function verdict(rows)
  local worst
  for _, row in ipairs(rows) do
    local bad = row.actual > NOTABLE * row.least
    if bad and (not worst or excess(row) > excess(worst)) then worst = row end
  end
  if not worst then return "every line asks memory for no more than it needs" end
  local unit = UNITS[worst.space]
  local shifted = 2 * worst.shifted > worst.actual - worst.least
  return ("worst: %s in %s, %s %s: %.3g %s a request where %.3g would do; %s"):format(
    place(worst), worst.kernel, worst.space, worst.op, worst.actual / worst.requests, unit.many,
    worst.least / worst.requests, shifted and SHIFTED or unit.wrong)
end

-- The report ----------------------------------------------------------------------------

local MOST_LINES = 10 -- of one kernel; .rows has all

local heads = {"  line", "access", ">requests", ">bytes", ">actual", ">least"}

local function cells_of(row)
  return {"  " .. place(row), row.space .. " " .. row.op, report.count(row.requests),
    report.count(row.bytes), ("%.2f"):format(row.actual / row.requests),
    ("%.2f"):format(row.least / row.requests)}
end

-- The rows of each kernel, kernels in the order of their dearest line.
local function by_kernel(rows)
  local kernels, of = {}, {}
  for _, row in ipairs(rows) do
    if not of[row.kernel] then
      of[row.kernel] = {name = row.kernel}
      kernels[#kernels + 1] = of[row.kernel]
    end
    table.insert(of[row.kernel], row)
  end
  return kernels
end

-- One table for all kernels, so that its columns stand below each other, with a line above
-- the rows of each.
local function table_of(text, kernels)
  local lines, after = {}, {}
  for _, kernel in ipairs(kernels) do
    for i = 1, math.min(#kernel, MOST_LINES) do lines[#lines + 1] = cells_of(kernel[i]) end
    after[#lines] = #kernel > MOST_LINES and #kernel - MOST_LINES or 0
  end
  local layout, missing = report.layout(heads, lines, {"bytes", "requests", "least"})
  local at, next_kernel = -1, 1
  for line in layout:gmatch("[^\n]+") do
    at = at + 1
    if at > 0 and (at == 1 or after[at - 1]) then
      entry.wrap(text, kernels[next_kernel].name, "", "    ")
      next_kernel = next_kernel + 1
    end
    text[#text + 1] = line
    if (after[at] or 0) > 0 then text[#text + 1] = ("  and %d more"):format(after[at]) end
  end
  return missing
end

local function profile_text(self)
  local text = {}
  if #self.rows == 0 then
    entry.wrap(text, "profile: no kernel of the emulated device ran; hint: its tensors are " ..
      'made with device="emu", or by t:to("emu")', "", "  ")
    return table.concat(text, "\n")
  end
  local kernels = by_kernel(self.rows)
  entry.wrap(text, ("profile: %d kernel%s; actual and least are sectors of 32 bytes (global), " ..
    "wavefronts (shared) a request of a warp"):format(#kernels, #kernels == 1 and "" or "s"),
    "", "  ")
  local missing = table_of(text, kernels)
  if #missing > 0 then
    entry.wrap(text, "no room for " .. table.concat(missing, ", ") .. "; .rows has them", "", "  ")
  end
  entry.wrap(text, self.verdict, "", "  ")
  return table.concat(text, "\n")
end

local class = {__name = "profile", __tostring = profile_text}

-- What the kernels did while f ran, and what it gave; however f ends, nothing is watched then.
local function watch(every, f)
  local ends <close> = host.finally(profiler.stop, every)
  profiler.start(every)
  local results = table.pack(f())
  return profiler.stop(), results
end

-- help: profile(f, {every=1}) -> report
-- Runs f and tells, for each line of the kernels it ran on the emulated device, how its
-- accesses fall on memory.
-- shapes: none
-- math: a request is what one warp asks for at once; global memory answers in sectors of 32
--   bytes, shared memory in wavefronts: one for each word that lanes want of the same bank
-- cost: some ten times that of f on the emulated device
-- errors: a result instead of a function; a build without the emulated device
-- options: every   of so many blocks one is watched: faster, on large inputs
-- note: report.rows has kernel, file, line, space, op, width (bytes of one lane), requests,
--       bytes, actual, least (sums over all requests), shifted (of actual, sectors that are
--       there only because a request begins within one) and cost, the bytes that memory moved;
--       report.verdict names the worst line, report.results is what f gave. Counted is what
--       the source says: a float4 is one access, a compiler may merge others of a thread. An
--       atomic is a load and a store; that lanes wait for each other who change the same
--       word is not counted.
-- example: emu
--   > x = ones(8, 4, {device="emu"})
--   > p = profile(function() return x:exp() end)
--   > p.verdict
--   "every line asks memory for no more than it needs"
--   > p.rows[1].space, p.rows[1].requests
--   "global"	1
--   > p.results[1].device
--   "emu"
-- see: emu, bench, time
function tarn.profile(f, opt)
  bench.check_function("profile", f)
  opt = options.check("profile", opt, {every = "count"})
  if profiler.running() then
    error("profile: it runs already; one f can't profile another", 0)
  end
  local rows, results = watch(opt.every or 1, f)
  for _, row in ipairs(rows) do row.cost = row.actual * UNITS[row.space].bytes end
  table.sort(rows, before)
  return setmetatable({rows = rows, verdict = verdict(rows), results = results}, class)
end
