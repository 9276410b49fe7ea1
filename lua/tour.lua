-- tour.lua: the derivation on a real input, stage by stage, in under 30 seconds.
--
-- A handwritten digit, read pixel by pixel, goes through softmax attention, a feature map,
-- associativity, causal masking, the prefix sum and the recurrent cell. Between two stages
-- stands what was measured on this machine: "=" where the outputs agree within the bound
-- that rounding allows, "≠" where they do not. Which of the two is printed is decided by
-- the measurement alone; if it is not the one that the text expects, the tour says so.

local tarn = require "tarn"
local host = require "tarn.host"
local report = require "tarn.report"
local bench = require "tarn.bench"
local machine = require "tarn.machine"

local HEADS, WIDTH, TOKENS = 4, 32, 28 * 28
local MODEL = HEADS * WIDTH

-- Writing -------------------------------------------------------------------------------

local ascii = {
  ["≠"] = "!=", ["φ"] = "phi", ["Σ"] = "sum", ["·"] = ".", ["√"] = "sqrt", ["→"] = "->",
  ["ᵀ"] = "^T", ["≤"] = "<=", ["²"] = "^2", ["─"] = "-", ["←"] = "<-", ["×"] = "x", ["ε"] = "eps",
}

local function plain(text)
  return host.utf8 and text or (text:gsub(utf8.charpattern, ascii))
end

-- Writes a line at once, so that a slow stage does not look like a stop.
local function say(line)
  io.write(plain(line or ""), "\n")
  io.flush()
end

-- Long lines are hard to read, so a wide window is not filled.
local function columns() return math.min(80, host.columns()) end

-- Writes lines as they are: formulas and tables.
local function verbatim(indent, text)
  for line in text:gmatch("[^\n]+") do
    local room = columns() - utf8.len(plain(line))
    say((" "):rep(math.max(0, math.min(indent, room))) .. line)
  end
end

-- Writes words in lines of what is left of the columns.
local function prose(indent, text)
  local line
  for word in plain(text):gmatch("%S+") do
    local longer = line and line .. " " .. word or (" "):rep(indent) .. word
    if line and utf8.len(longer) > columns() then
      say(line)
      longer = (" "):rep(indent) .. word
    end
    line = longer
  end
  say(line)
end

-- Writes `left` and `right` to the two margins, with `fill` between them, or else one below
-- the other, without the fill.
local function margins(left, fill, right)
  local room = columns() - utf8.len(plain(left)) - utf8.len(plain(right))
  if room >= 0 then return say(left .. fill:rep(room) .. right) end
  prose(0, left)
  if right ~= "" then prose(3, (right:gsub("[ ─]+$", ""))) end
end

local function heading(left, right)
  say()
  margins(("── %s "):format(left), "─", right and (" %s ──"):format(right) or "")
end

-- Input ---------------------------------------------------------------------------------

-- The image in 14 lines of 28 characters: a character is two pixels high.
local function drawing(image)
  local ramp = " .:-=+*#%@"
  local lines = {}
  for row = 1, 27, 2 do
    local line = {}
    for column = 1, 28 do
      local grey = (image[{row, column}] + image[{row + 1, column}]) / 2
      local shade = 1 + math.floor(grey * (#ramp - 1) + 0.5)
      line[column] = ramp:sub(shade, shade)
    end
    lines[#lines + 1] = table.concat(line)
  end
  return lines
end

local function random(rows, columns, seed)
  return tarn.randn(rows, columns, {seed = seed, dtype = "float64", device = "cpu"})
end

-- Pixels to tokens: the vector of the grey value plus that of the position.
local function embed(image)
  local levels = {}
  for i, value in ipairs(image:reshape(TOKENS):totable()) do
    levels[i] = 1 + math.floor(value * 255 + 0.5)
  end
  return tarn.index(random(256, MODEL, 1), 1, levels) + random(TOKENS, MODEL, 2)
end

-- One projection of the tokens [N, 128], split into heads [4, N, 32].
local function project(x, seed)
  local y = x:mm(random(MODEL, MODEL, seed)) / math.sqrt(MODEL)
  return y:reshape(TOKENS, HEADS, WIDTH):permute(2, 1, 3):contiguous()
end

local function show_digit(image, label)
  local beside = {
    "", "This is a " .. label .. ": 784 pixels, read row by row.", "",
    "Each pixel is a token. Its vector is that of its",
    "grey value (one of 256) plus that of its position:",
    "128 random numbers each, drawn from fixed seeds.",
    "", "Three random projections make queries, keys and",
    "values of them: q, k, v, 4 heads, D = M = 32.", "",
    "Nothing is trained, nor need it be: we only ask",
    "which formulas are one and the same function.",
  }
  local fits = columns() == 80
  for i, line in ipairs(drawing(image)) do
    say(((" %s %s"):format(line, fits and beside[i] or ""):gsub("%s+$", "")))
  end
  if not fits then prose(1, table.concat(beside, " ")) end
end

-- Arrows --------------------------------------------------------------------------------

-- Compares two outputs and writes the arrow between them. `expected` is what theory says.
local function arrow(name, a, b, bound, expected, why)
  local difference = tarn.maxdiff(a, b)
  local measured = difference <= bound and "=" or "≠"
  margins(("  %s  %s "):format(measured, name), " ", ("max difference %s, bound %s"):format(
    report.error(difference), report.error(bound)))
  if measured ~= expected then
    prose(5, "Unexpected: theory says " .. expected .. ". Please report this.")
  end
  prose(5, why)
end

-- Two forms may each be off by the loosest float64 tolerance of a comparison, which is
-- relative to an average of values.
local function bound_of(comparison, v)
  local tol = 0
  for _, row in ipairs(comparison.rows) do
    if row.dtype == "float64" then tol = math.max(tol, row.tol) end
  end
  return 2 * tol * v:abs():max()
end

local function largest_weight(q, k, v, by)
  local _, weights = tarn.sim(q, k, v, {by = by, weights = true})
  local largest = weights:max(3)
  return largest:mean()
end

-- Stages --------------------------------------------------------------------------------

local function stage_sim(q, k, v, bound)
  heading("Stage 1  sim: a weighted average of values", "eq 3")
  verbatim(3, "out_i = Σ_j sim(q_i, k_j) v_j / Σ_j sim(q_i, k_j)")
  prose(3, "Softmax is one choice of sim, exp(q·k / √D). Any non-negative one will do.")
  local soft, kernel = tarn.sim(q, k, v), tarn.sim(q, k, v, {by = "elu1"})
  arrow("softmax → φ", soft, kernel, bound, "≠", ([[
Another similarity, so another model: sim = φ(q)·φ(k), φ(x) = elu(x) + 1 (eq 7).
Softmax leans on few tokens (the largest of 784 weights is %.3f on average),
this φ on all of them (%.3f). That is the price; now what it buys.]]):format(
    largest_weight(q, k, v, "softmax"), largest_weight(q, k, v, "elu1")))
  return kernel
end

local function stage_assoc(q, k, v, kernel, bound)
  heading("Stage 2  assoc: the same sums in another order", "eqs 4 to 6")
  verbatim(3, "out_i = φ(q_i)ᵀ [Σ_j φ(k_j) v_jᵀ] / φ(q_i)ᵀ [Σ_j φ(k_j)]")
  arrow("sim → assoc", kernel, tarn.assoc(q, k, v), bound, "=", [[
(φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V). The brackets above do not depend on i: they
are made once and used 784 times. No N × N matrix is left.]])
end

local function stage_causal(q, k, v, kernel, bound)
  heading("Causal masking: token i sees tokens 1 to i", "eqs 8 and 9")
  verbatim(3, "out_i = Σ_{j≤i} φ(q_i)·φ(k_j) v_j / Σ_{j≤i} φ(q_i)·φ(k_j)")
  local causal = tarn.sim(q, k, v, {by = "elu1", causal = true})
  arrow("full → causal", kernel, causal, bound, "≠", [[
Another model again: the first token now sees only itself, the last one still
sees everything. It is what lets a model write a picture pixel by pixel.]])
  return causal
end

local function stage_prefix(q, k, v, causal, bound)
  heading("Stage 3  prefix: running sums", "eqs 10 to 12")
  verbatim(3, "S_i = S_{i-1} + φ(k_i) v_iᵀ     z_i = z_{i-1} + φ(k_i)\n" ..
    "out_i = φ(q_i)ᵀS_i / φ(q_i)ᵀz_i")
  local why = {
    sequential = "The sums up to i are those up to i - 1 and one term more.",
    chunked = "64 tokens at a time: as stage 1 inside a chunk, as stage 3 between them.",
    scan = "The sums of all chunks first, then their prefix sums as a tree: addition is\n" ..
      "associative, so this one can run in parallel along the sequence.",
  }
  for _, method in ipairs {"sequential", "chunked", "scan"} do
    local out = tarn.prefix(q, k, v, {method = method})
    arrow("sim causal → prefix, " .. method, causal, out, bound, "=", why[method])
  end
end

-- Steps a cell through the sequence; gives outputs and the seconds of each step.
local function walk(cell, q, k, v)
  local out, seconds = v:clone(), {}
  for i = 1, TOKENS do
    local now = {{}, i}
    local q_i, k_i, v_i = q[now], k[now], v[now]
    local start = machine.clock()
    local o = cell:step(q_i, k_i, v_i)
    seconds[i] = machine.clock() - start
    out[now] = o
  end
  return out, seconds
end

local function stage_rnn(q, k, v, causal, bound)
  heading("Stage 4  rnn: the sums are a state", "eqs 16 to 20")
  verbatim(3, "s ← s + φ(k) vᵀ     z ← z + φ(k)     out = φ(q)ᵀs / φ(q)ᵀz")
  local cell = tarn.rnn {H = HEADS, D = WIDTH, M = WIDTH, dtype = "float64", device = "cpu"}
  local out = walk(cell, q, k, v)
  arrow("prefix → rnn, token by token", causal, out, bound, "=", [[
Read as a loop over time, the prefix sum is a recurrent network: 784 calls of
st:step(q, k, v), with nothing but the state (S, z) to remember the past.]])
end

-- Measurements --------------------------------------------------------------------------

-- One thread until the variable that holds this goes: with several, short calls measure
-- how soon the other threads wake up.
local function single_thread()
  local before = machine.threads(1)
  return host.finally(machine.threads, before)
end

-- The best of some runs: whatever else the machine does can only add time.
local function seconds_of(N, f)
  local function input(seed) return tarn.randn(N, WIDTH, {seed = seed, device = "cpu"}) end
  local q, k, v = input(1), input(2), input(3)
  return tarn.bench(function() f(q, k, v) end, {runs = 7}).min
end

-- Both axes are logarithmic: a power of N is a straight line, its exponent the slope.
local function draw_times(sizes, seconds)
  if tarn.quiet_times then return end
  say()
  tarn.plot(sizes, seconds, {logx = true, logy = true, legend = {"sim", "assoc", "prefix"},
    width = columns(), height = 9, ylabel = "seconds", xlabel = "N"})
end

local function costs()
  heading("What it buys: time", "the plain loops, one head, one thread, best of 7")
  local one <close> = single_thread()
  -- The loops that one reads: in the tuned ones what is not arithmetic hides the exponent.
  local function plain(name, opt)
    opt.impl = "plain"
    return {name, function(q, k, v) return tarn[name](q, k, v, opt) end}
  end
  local forms = {plain("sim", {by = "elu1"}), plain("assoc", {}), plain("prefix", {})}
  local sizes, lines, seconds = {256, 512, 1024, 2048}, {}, {{}, {}, {}}
  for s, N in ipairs(sizes) do
    lines[s] = {report.count(N)}
    for f, form in ipairs(forms) do
      seconds[f][s] = seconds_of(N, form[2])
      lines[s][f + 1] = report.duration(seconds[f][s])
    end
  end
  local slopes = {"time ~ N^p, p ="}
  for f in ipairs(forms) do
    local p = bench.exponent(sizes, seconds[f])
    slopes[f + 1] = tarn.quiet_times and "-" or ("%.2f"):format(p)
  end
  lines[#lines + 1] = slopes
  verbatim(3, report.layout({">tokens N", ">sim", ">assoc", ">prefix"}, lines))
  prose(3, "p is the slope of log time over log N: 2 for all pairs, 1 for sums.")
  draw_times(sizes, seconds)
end

local function best(list, first, last)
  return math.min(table.unpack(list, first, last))
end

-- The state of an rnn against softmax's cache, by bytes and by time of a step.
local function memory(q, k, v)
  heading("What it buys: memory", "4 heads, one thread, float32, best of 49 steps")
  local one <close> = single_thread()
  q, k, v = q:to("float32"), k:to("float32"), v:to("float32")
  local sizes = {H = HEADS, D = WIDTH, M = WIDTH, device = "cpu"}
  local rnn, kv = tarn.rnn(sizes), tarn.kv(sizes)
  local _, rnn_seconds = walk(rnn, q, k, v)
  local _, kv_seconds = walk(kv, q, k, v)
  local per_token, lines = kv:bytes() / TOKENS, {}
  for _, t in ipairs {49, 196, 392, 784} do
    lines[#lines + 1] = {
      report.count(t), report.count(per_token * t), report.count(rnn:bytes()),
      report.duration(best(kv_seconds, t - 48, t)),
      report.duration(best(rnn_seconds, t - 48, t)),
    }
  end
  verbatim(3, report.layout({">token", ">kv bytes", ">rnn bytes", ">kv step", ">rnn step"}, lines))
  prose(3, "The cache of softmax grows with every token, and its steps with it. The state " ..
    "does not know for how long it has been running.")
end

-- Every form against the oracle, in three tables: forms of one table are one function.
local function answers(q, k, v, full, causal)
  heading("Every form against a double sum in float64")
  prose(3, "Within a table all forms are the same function. max_rel is the error relative to " ..
    "the sum of magnitudes that an output comes from; the bound on it is ε times the length " ..
    "of the longest chain of roundings.")
  say()
  say('Full attention by elu1: equiv(q, k, v, {causal = false})')
  verbatim(0, tostring(full))
  say()
  say("Causal attention by elu1: equiv(q, k, v)")
  verbatim(0, tostring(causal))
  say()
  say('Causal softmax: equiv(q, k, v, {by = "softmax"})')
  verbatim(0, tostring(tarn.equiv(q, k, v, {by = "softmax"})))
end

-- The devices that can be used here besides the cpu.
local function devices()
  local names = {}
  for _, backend in ipairs(tarn.backends()) do
    if backend.usable and backend.device ~= "cpu" then names[#names + 1] = backend.device end
  end
  return names
end

-- The kernels of cuda/, on whatever can run them.
local function kernels(q, k, v)
  local names = devices()
  if #names == 0 then return end
  heading("The same forms as kernels for a GPU", "cuda/")
  prose(3, "A GPU has thousands of threads, so its kernels do all heads at once, and the " ..
    "chunks of a sequence side by side. The emulated device emu runs the very same source " ..
    "on the CPU, thread by thread: its times are not those of a GPU, its answers are.")
  say()
  table.insert(names, 1, "cpu")
  say(('equiv(q, k, v, {devices = {"%s"}, dtypes = {"float32"}})'):format(
    table.concat(names, '", "')))
  verbatim(0, tostring(tarn.equiv(q, k, v, {devices = names, dtypes = {"float32"}})))
end

-- The tour ------------------------------------------------------------------------------

-- help: tour()
-- Walks a handwritten digit through the derivation, stage by stage.
-- shapes: q, k, v [4, 784, 32]: a digit read pixel by pixel, 4 heads
-- math: eqs 3-20; each arrow says = (the same answer) or != (another model), as measured
-- cost: less than half a minute
-- errors: no digits, see mnist
-- example: slow
--   > tour()
--   ...
-- see: mnist, equiv, sim, prefix, rnn
function tarn.tour()
  local start = machine.clock()
  local image, label = tarn.mnist(1)
  image = image:to("cpu") -- whatever --device says: the times are the CPU's
  heading("A transformer is an RNN: the derivation on one handwritten digit")
  show_digit(image, math.tointeger(label) or label)

  local x = embed(image)
  local q, k, v = project(x, 3), project(x, 4), project(x, 5)
  local full = tarn.equiv(q, k, v, {causal = false})
  local causal = tarn.equiv(q, k, v)
  local bound = math.max(bound_of(full, v), bound_of(causal, v))
  say()
  prose(3, "Below, = and ≠ are measured: = if the outputs, in float64, differ by no more " ..
    "than rounding can explain (the bound), ≠ if by more.")

  local kernel = stage_sim(q, k, v, bound)
  stage_assoc(q, k, v, kernel, bound)
  local masked = stage_causal(q, k, v, kernel, bound)
  stage_prefix(q, k, v, masked, bound)
  stage_rnn(q, k, v, masked, bound)
  costs()
  memory(q, k, v)

  answers(q, k, v, full, causal)
  kernels(q, k, v)
  heading(("The end, after %s"):format(report.duration(machine.clock() - start)))
  verbatim(3, 'Go on with phis(), help("prefix"), or your own φ, a function of [N, D]:\n' ..
    "q, k, v = randn(64, 8), randn(64, 8), randn(64, 8)\n" ..
    "equiv(q, k, v, {phi = function(x) return x:exp() end})")
end
