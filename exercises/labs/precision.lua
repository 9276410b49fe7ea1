-- precision.lua: how far float32 is off, over the number of tokens and over the size of keys.
-- Chapter 8.
--
--   tarn precision.lua [--quick] [--most=65536] [--width=32] [--out=FOLDER]
--   tarn precision.lua --check=REPORT
--
-- First sweep: the causal form over N tokens, as the loop that everybody writes (plain sums, rows
-- of phi(q) as they are), with sums in two levels and scaled rows, chunk by chunk, as a scan, and
-- as the tuned code, all of which are the default's arithmetic in another order. Second sweep:
-- keys and queries shifted by -s, so that elu + 1 becomes exp(-s) and its square falls below
-- what float32 can hold. Each error is that of the same form in float64 on the same numbers.

local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "common/?.lua;" .. package.path
local lab = require "lab"
local page = require "page"
local panels = require "panels"
local report = require "tarn.report"

local EPSILON = 2.0 ^ -23
local HEAD = 256 -- tokens of a sequence that are shifted
local SHIFTS = {0, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 87}

-- What is compared: a title, and the options of prefix.
local ways = {
  {"naive loop", {method = "sequential", precision = "fast", impl = "plain"}},
  {"two levels", {method = "sequential", impl = "plain"}},
  {"chunked", {method = "chunked", impl = "plain"}},
  {"scan", {method = "scan", impl = "plain"}},
  {"tuned", {impl = "fast"}},
}

-- Largest and root mean square error over the last rows, relative to sum_j w_ij |v_j| as that
-- of equiv is.
local function errors(out, wide, magnitude)
  local relative = (out:to("float64") - wide):abs() / magnitude
  return relative:max(), math.sqrt((relative * relative):mean())
end

-- The rows of one input: each way in float32 beside float64.
local function rows_of(sweep, x, q, k, v, eps)
  local wide = {q:to("float64"), k:to("float64"), v:to("float64")}
  local reference = prefix(wide[1], wide[2], wide[3], {eps = eps, impl = "plain"})
  local magnitude = prefix(wide[1], wide[2], wide[3]:abs(), {eps = eps, impl = "plain"})
  local rows = {}
  for i, way in ipairs(ways) do
    local opt = {eps = eps}
    for name, value in pairs(way[2]) do opt[name] = value end
    local largest, rms = errors(prefix(q, k, v, opt), reference, magnitude)
    rows[i] = {sweep = sweep, x = x, way = way[1], max_rel = largest, rms_rel = rms, eps = eps}
  end
  return rows
end

local function measure_all(opt)
  local rows = {}
  local function add(list) table.move(list, 1, #list, #rows + 1, rows) end
  local N = 256
  while N <= opt.most do
    print(("tokens   N = %d"):format(N))
    local q, k, v = lab.inputs(N, opt.width)
    add(rows_of("tokens", N, q, k, v + 1, 1e-6))
    N = 4 * N
  end
  local q, k, v = lab.inputs(HEAD, opt.width)
  for _, s in ipairs(SHIFTS) do
    print(("shift    s = %d"):format(s))
    add(rows_of("shift", s, q / 4 - s, k / 4 - s, v, 0))
  end
  return rows
end

local function add_sweep(lines, rows, sweep, head, remark)
  lines[#lines + 1] = remark .. "\n"
  local cells, at = {}, {}
  for _, row in ipairs(rows) do
    if row.sweep == sweep then
      if not at[row.x] then
        at[row.x] = {tostring(row.x)}
        cells[#cells + 1] = at[row.x]
      end
      table.insert(at[row.x], report.error(row.max_rel))
    end
  end
  local heads = {head}
  for _, way in ipairs(ways) do heads[#heads + 1] = ">" .. way[1] end
  page.rows(lines, heads, cells)
end

local function body(lines, rows, opt)
  lines[#lines + 1] = "## Errors over the number of tokens\n"
  add_sweep(lines, rows, "tokens", ">tokens",
    ("Largest relative errors, float32, elu1, eps = 1e-6, D = M = %d, v around 1. One rounding " ..
    "is 1.2e-07."):format(opt.width))
  lines[#lines + 1] = "## Errors of small features\n"
  add_sweep(lines, rows, "shift", ">s", ("The same for q, k around -s, where phi is exp(-s): " ..
    "%d tokens, eps = 0. float32 holds no number below 1.4e-45, that is exp(-103)."):format(HEAD))
  lines[#lines + 1] = "An error of 1 is an output of 0: that is what tarn gives where " ..
    "the denominator is 0. Errors of 0 have no point in the picture.\n"
end

local function panels_of(rows)
  local function sweep(name)
    return panels.series(rows, function(row) return row.way end,
      function(row) return row.x end,
      function(row)
        local counts = row.sweep == name and row.max_rel > 0 and row.max_rel < math.huge
        return counts and row.max_rel / EPSILON or nil
      end)
  end
  return {
    {sweep("tokens"), "Largest error over the number of tokens", "in roundings of float32"},
    {sweep("shift"), "Largest error over the shift s of q and k", "in roundings of float32",
      {logx = false}},
  }
end

lab.run {
  name = "precision",
  summary = "Compares float32 with float64: over the number of tokens, over the size of keys.",
  usage = [[
  --most=N         the longest sequence; 65536 unless given
  --width=D        D = M, the width of the head; 32 unless given
]],
  options = {
    most = {kind = "count", default = 65536, quick = 4096},
    width = {kind = "count", default = 32, quick = 8},
  },
  columns = {"sweep", "x", "way", "max_rel", "rms_rel", "eps"},
  measure = measure_all,
  panels = panels_of,
  title = "What float32 does to the sums",
  picture = "Errors over the number of tokens, and over the shift of keys and queries",
  head = function(lines, opt)
    lines[#lines + 1] = ("One head, D = M = %d, float32 beside float64."):format(opt.width)
  end,
  predict = {
    "A sum of N positive numbers in float32, one after the other: how does its error grow with N?",
    "Sums of 64 tokens that are then added up: by how much is that better at N = 65,536?",
    "exp(-50)^2 is no float32. Is out_i wrong where all q and k are around -50?",
  },
  page = body,
  questions = {
    "By which factor does each way's error grow from the shortest to the longest sequence?",
    "Why do chunks and the scan not need the second level of sums?",
    "At which s would a form that does not scale the rows of phi(q) divide 0 by 0? Show why.",
    "A colleague proposes float64 for the state alone. What would that cost, what would it give?",
  },
}
