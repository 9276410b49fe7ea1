-- scaling.lua: how time, arithmetic and memory of each form grow with the number of tokens.
-- Chapters 3 to 5.
--
--   tarn --threads=1 scaling.lua [--quick] [--most=8192] [--width=32] [--out=FOLDER]
--   tarn scaling.lua --check=REPORT
--
-- First sweep: a whole sequence of N tokens, softmax beside the linear forms. Second sweep: one
-- more token after n, the state of an RNN beside the growing cache of softmax. An exponent is
-- the slope between the last two lengths in the double logarithm: 1 is linear, 2 quadratic.

local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "common/?.lua;" .. package.path
local clock = require "clock"
local lab = require "lab"
local page = require "page"
local panels = require "panels"

local SHORTEST = 128

-- The forms of a whole sequence: a title, a call, and the operations that its sums need.
local forms = {
  {"sim, softmax", function(q, k, v) return sim(q, k, v, {causal = true}) end,
    function(N, D) return 2 * D * N * (N + 1) end},
  {"sim, elu1", function(q, k, v) return sim(q, k, v, {by = "elu1", causal = true}) end,
    function(N, D) return 2 * D * N * (N + 1) end},
  {"assoc", function(q, k, v) return assoc(q, k, v) end, function(N, D) return 4 * N * D * D end},
  {"prefix", function(q, k, v) return prefix(q, k, v) end, function(N, D) return 4 * N * D * D end},
}

local function add_sequences(rows, N, D)
  local q, k, v = lab.inputs(N, D)
  for _, form in ipairs(forms) do
    rows[#rows + 1] = {
      sweep = "sequence", form = form[1], tokens = N,
      seconds = clock.seconds(function() return form[2](q, k, v) end),
      operations = form[3](N, D),
    }
  end
end

-- CPU seconds of a token after n others, in the quickest of some rounds. Steps move a cell on,
-- so each round has a copy, and few steps beside n.
local function step_seconds(cell, q, k, v, n)
  local steps, best = math.max(16, n // 8), math.huge
  for _ = 1, 5 do
    local copy = cell:clone()
    local start = os.clock()
    for _ = 1, steps do copy:step(q, k, v) end
    best = math.min(best, (os.clock() - start) / steps)
  end
  return best
end

local function add_step(rows, name, cell, n, D)
  local q, k, v = lab.inputs(n, D)
  cell:run(q, k, v)
  rows[#rows + 1] = {
    sweep = "step", form = name, tokens = n, bytes = cell:bytes(),
    seconds = step_seconds(cell, q[1], k[1], v[1], n),
  }
end

local function measure_all(opt)
  local rows, N, D = {}, SHORTEST, opt.width
  while N <= opt.most do
    print(("N = %d"):format(N))
    add_sequences(rows, N, D)
    add_step(rows, "rnn", rnn{D = D, M = D, device = "cpu"}, N, D)
    add_step(rows, "kv", kv{D = D, M = D, device = "cpu"}, N, D)
    N = 2 * N
  end
  return rows
end

-- The slope between the last two lengths at which a form was measured.
local function exponent(rows, form)
  local last, before
  for _, row in ipairs(rows) do
    if row.form == form then last, before = row, last end
  end
  if not before then return "" end
  return ("%.2f"):format(math.log(last.seconds / before.seconds) /
    math.log(last.tokens / before.tokens))
end

local function chosen(rows, sweep)
  local list = {}
  for _, row in ipairs(rows) do
    if row.sweep == sweep then list[#list + 1] = row end
  end
  return list
end

local function names_of(rows)
  local names, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row.form] then names[#names + 1], seen[row.form] = row.form, true end
  end
  return names
end

local function body(lines, rows)
  local sequences, steps, cells = chosen(rows, "sequence"), chosen(rows, "step"), {}
  lines[#lines + 1] = "## A whole sequence\n"
  for i, row in ipairs(sequences) do
    cells[i] = {tostring(row.tokens), row.form, ("%.1f"):format(row.seconds * 1e6),
      ("%.2f"):format(row.operations / 1e6), ("%.2f"):format(row.operations / row.seconds / 1e9)}
  end
  page.rows(lines, {">tokens", "form", ">time, µs", ">Mflop counted", ">Gflop/s"}, cells)
  cells = {}
  for i, name in ipairs(names_of(sequences)) do cells[i] = {name, exponent(sequences, name)} end
  page.rows(lines, {"form", ">exponent of the time"}, cells)
  lines[#lines + 1] = "## One more token\n"
  cells = {}
  for i, row in ipairs(steps) do
    cells[i] = {tostring(row.tokens), row.form, ("%.2f"):format(row.seconds * 1e6),
      ("%d"):format(row.bytes)}
  end
  page.rows(lines, {">tokens before", "cell", ">time, µs", ">bytes"}, cells)
end

local function panels_of(rows)
  local function form(row) return row.form end
  local function tokens(row) return row.tokens end
  local function microseconds(row) return row.seconds * 1e6 end
  local steps = chosen(rows, "step")
  return {
    {panels.series(chosen(rows, "sequence"), form, tokens, microseconds),
      "A whole sequence, over the number of tokens", "microseconds"},
    {panels.series(steps, form, tokens, microseconds),
      "One more token, over the tokens before it", "microseconds"},
    {panels.series(steps, form, tokens, function(row) return row.bytes / 1024 end),
      "What the cell holds, over the tokens before", "KiB"},
  }
end

lab.run {
  name = "scaling",
  summary = "Measures how time, arithmetic and memory of each form grow with the tokens.",
  usage = [[
  --most=N         the longest sequence; 8192 unless given
  --width=D        D = M, the width of the head; 32 unless given
]],
  options = {
    most = {kind = "count", default = 8192, quick = 1024},
    width = {kind = "count", default = 32},
  },
  columns = {"sweep", "form", "tokens", "seconds", "operations", "bytes"},
  measure = measure_all,
  panels = panels_of,
  title = "How each form grows with the number of tokens",
  picture = "Times of a sequence, times of one more token, bytes of a cell, over the tokens",
  head = function(lines, opt)
    lines[#lines + 1] = ("One head, D = M = %d, float32, eps = 1e-6. Times are CPU times of " ..
      "calls from Lua."):format(opt.width)
  end,
  predict = {
    "Twice the tokens: how much longer do sim, assoc and prefix take?",
    "Why is an exponent measured at short lengths below the one of the formula?",
    "After how many tokens does the cache of softmax hold more bytes than the RNN's state?",
  },
  page = body,
  questions = {
    "Compare each measured exponent with its cost in the book. Which is off most, and why?",
    "prefix does as many counted operations as assoc. Which is faster here, and what differs?",
    "Compute the bytes of both cells after n tokens from D and M. Where are they equal?",
    "Does one more token cost the RNN the same after 8 times the tokens? And the cache?",
  },
}
