-- crossing.lua: from which length on linear attention is faster than softmax attention.
-- Chapter 3.
--
--   tarn --threads=1 crossing.lua [--quick] [--widths=16,32,64,128] [--most=4096] [--out=FOLDER]
--   tarn crossing.lua --check=REPORT
--
-- One thread, for what is measured is the CPU time of the program. Both are causal, with one
-- head and M = D. The operations that their sums need are equal at N = 2 D - 1; where the clock
-- says so depends on how well each of them is programmed, and on phi, exp and the division,
-- which nobody counts.

local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "common/?.lua;" .. package.path
local clock = require "clock"
local lab = require "lab"
local page = require "page"
local panels = require "panels"

-- One row: both forms at one width and length.
local function measure(D, N)
  local q, k, v = lab.inputs(N, D)
  local softmax = clock.seconds(function() return sim(q, k, v, {causal = true}) end)
  local linear = clock.seconds(function() return prefix(q, k, v) end)
  return {
    width = D, tokens = N, softmax_s = softmax, linear_s = linear, ratio = softmax / linear,
    ratio_operations = 2 * D * N * (N + 1) / (4 * N * D * D),
  }
end

local function measure_all(opt)
  local rows = {}
  for _, D in ipairs(opt.widths) do
    local N = 4
    while N <= opt.most do
      rows[#rows + 1] = measure(D, N)
      N = 2 * N
    end
    print(("D = %3d  equal operations at N = %d"):format(D, 2 * D - 1))
  end
  return rows
end

-- Where a ratio below 1 and one above it meet, on a straight line in the double logarithm.
local function between(below, above)
  local a, b = math.log(below.ratio), math.log(above.ratio)
  return below.tokens * (above.tokens / below.tokens) ^ (-a / (b - a))
end

-- From which length on the ratio stays above 1 at this width: short times are uneven, and may
-- pass 1 more than once. nil if it is below at the end, negative if it never was.
local function crossing(rows, D)
  local before, from
  for _, row in ipairs(rows) do
    if row.width == D then
      if row.ratio < 1 then
        from = nil
      elseif not from then
        from = before and between(before, row) or -row.tokens
      end
      before = row
    end
  end
  return from
end

local function body(lines, rows, opt)
  lines[#lines + 1] = "## Where linear begins to win\n\nFloat32, eps = 1e-6, one head, M = D.\n"
  local cells = {}
  for _, D in ipairs(opt.widths) do
    local N = crossing(rows, D)
    cells[#cells + 1] = {tostring(D), tostring(2 * D - 1),
      not N and "more than " .. opt.most or ("%s%.0f"):format(N < 0 and "at most " or "",
        math.abs(N))}
  end
  page.rows(lines, {">D = M", ">equal operations at N", ">equal times at about N"}, cells)
  lines[#lines + 1] = "## All lengths\n"
  cells = {}
  for i, row in ipairs(rows) do
    cells[i] = {tostring(row.width), tostring(row.tokens), ("%.1f"):format(row.softmax_s * 1e6),
      ("%.1f"):format(row.linear_s * 1e6), ("%.2f"):format(row.ratio),
      ("%.2f"):format(row.ratio_operations)}
  end
  page.rows(lines, {">D = M", ">tokens", ">softmax, µs", ">linear, µs", ">ratio of times",
    ">ratio of operations"}, cells)
end

local function tokens(row) return row.tokens end

local function panels_of(rows, opt)
  local widest = opt.widths[#opt.widths]
  local last = {}
  for _, row in ipairs(rows) do
    if row.width == widest then last[#last + 1] = row end
  end
  local times = panels.series(last, function() return "softmax" end, tokens,
    function(row) return row.softmax_s * 1e6 end)
  times[2] = panels.series(last, function() return "linear" end, tokens,
    function(row) return row.linear_s * 1e6 end)[1]
  return {
    {panels.series(rows, function(row) return "D = " .. row.width end, tokens,
      function(row) return row.ratio end),
      "Above 1 linear attention is faster, over the number of tokens", "softmax / linear"},
    {times, ("Times at D = %d, over the number of tokens"):format(widest), "microseconds"},
  }
end

lab.run {
  name = "crossing",
  summary = "Finds the length from which linear attention is faster than softmax attention.",
  usage = [[
  --widths=LIST    D = M, the width of the head; 16,32,64,128 unless given
  --most=N         the longest sequence; 4096 unless given
]],
  options = {
    widths = {kind = "counts", default = {16, 32, 64, 128}, quick = {16, 64}},
    most = {kind = "count", default = 4096, quick = 1024},
  },
  columns = {"width", "tokens", "softmax_s", "linear_s", "ratio", "ratio_operations"},
  measure = measure_all,
  panels = panels_of,
  title = "From which length on linear attention wins",
  picture = "The ratio of the times of softmax and linear attention, over the number of tokens",
  predict = {
    "At D = 64, from how many tokens on is linear attention faster? Write a number down.",
    "With D twice as large, where does the crossing go?",
    "Do times cross before or after operations do? Name one thing that operations leave out.",
  },
  page = body,
  questions = {
    "Derive from the costs of both forms that their operations are equal at N = 2 D - 1.",
    "How far are the measured crossings from that, and in which direction?",
    "What does each form do besides the counted operations, and how does it grow with N and D?",
    "A model has D = 64 and sequences of 200 tokens. Which form would you take on your machine?",
  },
}
