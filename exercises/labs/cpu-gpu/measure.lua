-- measure.lua: one form at one size on all devices: a row for each implementation.
--
-- - The error of an output is the largest |out - reference| / magnitude, as that of equiv: the
--   magnitude of an entry is sum_j sim_ij |v_j| / den_i, the same form with |v|. The reference
--   is the plain form in float64 on the CPU. Up to ORACLE tokens it is itself compared with the
--   oracle of equiv, the double sum, which also gives the bounds; both on one head.
-- - A time is the median of some runs. Each reads one number of the output, for a device may
--   still be at work when a function has returned.
-- - Accesses are those of one head, counted on the emulated device, line by line.

local tarn = require "tarn"

local measure = {}

local ORACLE = 2048 -- tokens; beyond, its double sum takes too long
local BLOCK = 64 -- of the two-level sums, whose number is part of a bound
local MOST_RUNGS = 9

measure.most_watched = 1024 -- tokens of which accesses are counted
measure.epsilon = {float32 = 2.0 ^ -23, float64 = 2.0 ^ -52}
measure.columns = {"form", "what", "device", "impl", "dtype", "heads", "tokens", "width",
  "max_rel", "bound", "ok", "reference", "seconds", "time_is", "speedup_over_cpu_fast",
  "head_global_bytes", "head_sectors", "head_sectors_least", "head_wavefronts",
  "head_wavefronts_least"}

-- The forms: how each is called; `by` and `causal` for equiv; the name of its row there.
local calls = {
  prefix = {row = "prefix chunked", grad_row = "prefix", causal = true, run = tarn.prefix,
    grad = tarn.prefix_grad},
  sim = {row = "sim", grad_row = "sim", causal = true, by = "softmax", run = tarn.sim,
    grad = tarn.sim_grad},
  assoc = {row = "assoc", grad_row = "assoc", causal = false, run = tarn.assoc,
    grad = tarn.assoc_grad},
}
measure.forms = {"prefix", "sim", "assoc"}

-- The options of a call; prefix and assoc are causal or not by what they are.
local function options_of(form, impl)
  return {impl = impl, causal = form.by and form.causal or nil, by = form.by}
end

local function inputs_of(N, opt)
  local inputs = {}
  for i, name in ipairs {"q", "k", "v", "dout"} do
    inputs[name] = tarn.randn(opt.heads, N, opt.width,
      {seed = i, dtype = opt.dtype, device = "cpu"})
  end
  return inputs
end

local function mapped(inputs, f)
  local new = {}
  for name, t in pairs(inputs) do new[name] = f(t) end
  return new
end

local function run(form, on, impl) return form.run(on.q, on.k, on.v, options_of(form, impl)) end

-- ---- The reference, and how far it may be off ------------------------------------------

local function reference_of(form, inputs)
  local wide = mapped(inputs, function(t) return t:to("float64") end)
  local out = run(form, wide, "plain")
  wide.v = wide.v:abs()
  return {out = out, magnitude = run(form, wide, "plain")}
end

-- What equiv finds for the first head, and up to ORACLE of its tokens.
local function ask_equiv(form, N, inputs, opt)
  local few = math.min(N, ORACLE)
  local head = mapped(inputs, function(t) return t[1][{{1, few}}] end)
  local grad = opt.grad and N <= ORACLE
  return tarn.equiv(head.q, head.k, head.v, {
    by = form.by, causal = form.causal, grad = grad, dtypes = {opt.dtype, "float64"},
    devices = grad and opt.devices or {"cpu"}, impls = not grad and {"plain"} or nil,
  }).rows
end

-- The bound of equiv, which grows by one rounding for each block of tokens that it did not see.
local function bound_of(form, N, found, dtype)
  for _, row in ipairs(found) do
    if row.form == form.row and row.dtype == dtype and row.what == "out" then
      return row.tol + measure.epsilon[dtype] * math.max(0, N - ORACLE) / BLOCK
    end
  end
end

-- ---- Times and accesses ----------------------------------------------------------------

-- The median time of f, which gives a tensor: more runs of what is short.
local function median(f, opt)
  local function whole() return f()[1][1][1] end
  local once = tarn.time(whole)
  local budget = opt.quick and 0.1 or 0.5
  local runs = math.max(1, math.min(opt.quick and 5 or 11, math.floor(budget / once)))
  return tarn.bench(whole, {runs = runs, warmup = once < budget and 1 or 0}).median
end

-- Sums over the lines of all kernels that a form runs for one head; none on other devices.
local function accesses_of(form, N, inputs, device, impl)
  if device ~= "emu" or N > measure.most_watched then return {} end
  local one = mapped(inputs, function(t) return t[{{1, 1}}]:to(device) end)
  local sums = {global = {bytes = 0, actual = 0, least = 0},
    shared = {bytes = 0, actual = 0, least = 0}}
  for _, row in ipairs(tarn.profile(function() return run(form, one, impl) end).rows) do
    local sum = sums[row.space]
    for field in pairs(sum) do sum[field] = sum[field] + row[field] end
  end
  return {
    head_global_bytes = sums.global.bytes,
    head_sectors = sums.global.actual, head_sectors_least = sums.global.least,
    head_wavefronts = sums.shared.actual, head_wavefronts_least = sums.shared.least,
  }
end

-- ---- Rows ------------------------------------------------------------------------------

-- The implementations of a form on a device, found by asking for them on a small problem.
local function impls_of(form, device, dtype)
  if device == "cpu" then return {"fast", "plain"} end
  local small, names = tarn.ones(1, 1, 1, {device = device, dtype = dtype}), {}
  for i = 1, MOST_RUNGS do
    local name = "k" .. i
    if not pcall(run, form, {q = small, k = small, v = small}, name) then break end
    names[i] = name
  end
  return names
end

local function new_row(form_name, what, device, impl, N, opt)
  return {form = form_name, what = what, device = device, impl = impl, dtype = opt.dtype,
    heads = opt.heads, tokens = N, width = opt.width,
    time_is = device == "emu" and "emulated" or "measured"}
end

local function output_row(row, form, on, reference, opt)
  local out = run(form, on, row.impl):to("cpu"):to("float64")
  row.max_rel = ((out - reference.out):abs() / reference.magnitude):max()
  row.bound, row.reference = reference.bound, "plain float64"
  row.ok = row.max_rel <= row.bound
  row.seconds = median(function() return run(form, on, row.impl) end, opt)
end

-- Rows of equiv about gradients, of one head.
local function add_gradients(rows, form_name, N, found, opt)
  for _, given in ipairs(found) do
    if given.form == calls[form_name].grad_row and given.what ~= "out" and
        given.dtype == opt.dtype then
      local row = new_row(form_name, given.what, given.device, given.impl, N, opt)
      row.heads, row.max_rel, row.bound, row.ok = 1, given.max_rel, given.tol, given.ok
      row.reference, row.seconds = "oracle", given.seconds
      rows[#rows + 1] = row
    end
  end
end

-- The reference beside the oracle: on it everything else stands.
local function reference_row(form_name, N, found, opt)
  local row = new_row(form_name, "reference", "cpu", "plain", N, opt)
  row.dtype, row.heads, row.reference, row.time_is = "float64", 1, "oracle", nil
  for _, given in ipairs(found) do
    if given.form == calls[form_name].row and given.dtype == "float64" and
        given.what == "out" and given.device == "cpu" and given.impl == "plain" then
      row.tokens = math.min(N, ORACLE)
      row.max_rel, row.bound, row.ok = given.max_rel, given.tol, given.ok
    end
  end
  return row
end

-- All rows of a form at a size, cpu first, so that others can be compared with its time.
function measure.rows(form_name, N, opt)
  local form, inputs = calls[form_name], inputs_of(N, opt)
  local found = ask_equiv(form, N, inputs, opt)
  local reference = reference_of(form, inputs)
  reference.bound = bound_of(form, N, found, opt.dtype)
  local rows, fast = {reference_row(form_name, N, found, opt)}, nil
  for _, device in ipairs(opt.devices) do
    local on = mapped(inputs, function(t) return t:to(device) end)
    for _, impl in ipairs(impls_of(form, device, opt.dtype)) do
      local row = new_row(form_name, "out", device, impl, N, opt)
      output_row(row, form, on, reference, opt)
      for name, count in pairs(accesses_of(form, N, inputs, device, impl)) do row[name] = count end
      if device == "cpu" and impl == "fast" then fast = row.seconds end
      if fast and row.time_is == "measured" then row.speedup_over_cpu_fast = fast / row.seconds end
      rows[#rows + 1] = row
    end
  end
  if opt.grad then add_gradients(rows, form_name, N, found, opt) end
  return rows
end

return measure
