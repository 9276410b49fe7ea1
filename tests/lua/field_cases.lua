-- field_cases.lua: what users of other libraries ran into, tried at the level of Lua. The
-- ids are those of the cases; their numbers were worked out by hand. tests/test_cases_*.c
-- hold C to more of them, with larger sizes.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

-- |got - expected| <= rel * |expected| + abs, element by element.
local function near(got, expected, rel, abs)
  if type(expected) == "table" then expected = tensor(expected, {dtype = "float64"}) end
  is(got.shape, expected.shape)
  if allclose(got, expected, {rtol = rel, atol = abs or 0}) then return end
  error("got " .. tostring(got) .. "\nexpected " .. tostring(expected), 2)
end

local function double(nested) return tensor(nested, {dtype = "float64"}) end
local function column(...) return tensor {...}:unsqueeze(2) end

-- Every way to compute causal attention by elu1 and eps, by its name.
local causal_forms = {
  sim = function(q, k, v, eps)
    return sim(q, k, v, {by = "elu1", causal = true, eps = eps})
  end,
  pairwise = function(q, k, v, eps)
    local function by(a, b) return (phi.elu1(a) * phi.elu1(b)):sum() end
    return sim(q, k, v, {by = by, causal = true, eps = eps})
  end,
  run = function(q, k, v, eps)
    return rnn({D = q.shape[2], M = v.shape[2], eps = eps, dtype = q.dtype}):run(q, k, v)
  end,
  step = function(q, k, v, eps)
    local st = rnn {D = q.shape[2], M = v.shape[2], eps = eps, dtype = q.dtype}
    local out = zeros(v.shape, {dtype = q.dtype})
    for i = 1, #q do out[i] = st:step(q[i], k[i], v[i]) end
    return out
  end,
}
for _, method in ipairs {"sequential", "chunked", "scan"} do
  for _, chunk in ipairs {1, 2, 3, 5, 12, 64} do
    causal_forms[method .. " " .. chunk] = function(q, k, v, eps)
      return prefix(q, k, v, {method = method, chunk = chunk, eps = eps})
    end
  end
end

test("REF-A, GST-12: every causal form, with chunks of any length", function()
  local q = double {{0, 1}, {-1, .5}, {2, -2}}
  local k = double {{1, 0}, {0, -1}, {-.5, 2}}
  local v = double {{1, 2}, {3, -1}, {0, 4}}
  local causal = {{1, 2}, {1.582925682, 1.125611477}, {1.339503226, 1.588267395}}
  local full = {{.745994219, 2.648646643}, {.633978438, 2.848777067},
    {1.339503226, 1.588267395}}
  for _, form in pairs(causal_forms) do near(form(q, k, v, 0), causal, 1e-9) end
  near(assoc(q, k, v, {eps = 0}), full, 1e-9)
  near(sim(q, k, v, {by = "elu1", eps = 0}), full, 1e-9)
end)

test("NUM-01, NUM-09, NUM-10: elu1 at the prompt is exact, finite, and 1 at 0", function()
  near(phi.elu1(tensor {-8, -16, -17, -17.5, -20, -87}), {3.35462628e-4, 1.12535175e-7,
    4.1399377e-8, 2.5109992e-8, 2.0611536e-9, 1.6458114e-38}, 3e-7)
  is(phi.elu1(tensor {100, 1000, math.huge, 0, -0.0}), {101, 1001, math.huge, 1, 1})
  local zero = zeros(2, 1)
  for _, grad in ipairs {prefix_grad, rnn_grad} do
    local _, dk = grad(zero, zero, column(0, 1), column(0, 1), {eps = 0})
    is(dk, {{-.25}, {.25}})
  end
end)

test("NUM-02: a vanishing feature beside eps", function()
  local q, k, v = double {{0}}, double {{-20}}, double {{1}}
  for _, case in ipairs {
    {0, 1, 0}, {1e-10, .953728, .0441305}, {1e-6, 2.05691e-3, 2.05268e-3},
  } do
    local eps, out, slope = table.unpack(case)
    for _, form in pairs(causal_forms) do near(form(q, k, v, eps), {{out}}, 5e-6) end
    for _, grad in ipairs {prefix_grad, assoc_grad, rnn_grad} do
      local _, dk = grad(q, k, v, v, {eps = eps})
      near(dk, {{slope}}, 5e-6, 1e-15)
    end
  end
end)

test("NUM-08: q and k of 1e19 in float32", function()
  local big = full({4, 8}, 1e19)
  local v = column(1, 2, 3, 4)
  for _, form in pairs(causal_forms) do
    if form ~= causal_forms.pairwise then -- its inner product is the user's own
      near(form(big, big, v, 1e-6), {{1}, {1.5}, {2}, {2.5}}, 1e-6)
    end
  end
end)

-- Row sums of v stay small, those of the features do not: 0 would look like an output.
test("NUM-08: a denominator beyond float32 is refused, never a quotient of 0", function()
  local q, k = randn(50, 2, {seed = 1}) * 3e18, randn(50, 2, {seed = 2}) * 3e18
  local v, dout = randn(50, 3, {seed = 3}) * 1e-30, randn(50, 3, {seed = 4})
  local function refused(f, ...)
    local ok, message = pcall(f, ...)
    is({ok, not ok and message:find("sums are beyond float32", 1, true) ~= nil}, {false, true})
  end
  for _, impl in ipairs {"fast", "plain"} do
    for _, name in ipairs {"sim", "assoc", "prefix"} do
      local opt = {[name == "sim" and "by" or "phi"] = "poly2", impl = impl}
      refused(tarn[name], q, k, v, opt)
      refused(tarn[name .. "_grad"], q, k, v, dout, opt)
    end
  end
  local st = rnn{D = 2, M = 3, phi = "poly2"}
  refused(function() for i = 1, 50 do st:step(q[i], k[i], v[i]) end end)
end)

test("NUM-15: NaN is seen from its row on, and allclose tells", function()
  local zero, v = zeros(3, 1), column(1, 0 / 0, 3)
  for _, form in pairs(causal_forms) do
    local out = form(zero, zero, v, 0)
    is(out[1], {1})
    is(out:eq(out), {{1}, {0}, {0}})
    assert(not allclose(out, out))
  end
end)

test("SHP-02: queries and keys of different length", function()
  local v = column(1, 2, 6)
  for _, form in ipairs {
    function(q, k, v) return assoc(q, k, v, {eps = 0}) end,
    function(q, k, v) return sim(q, k, v, {by = "elu1", eps = 0}) end,
    function(q, k, v) return sim(q, k, v) end,
  } do
    near(form(zeros(5, 1), zeros(3, 1), v), full({5, 1}, 3), 1e-6)
    near(form(zeros(1, 1), zeros(1000, 1), ones(1000, 1)), {{1}}, 1e-6)
    near(form(zeros(1000, 1), zeros(1, 1), ones(1, 1)), ones(1000, 1), 1e-6)
  end
end)

test("SHP-11: padded keys do not count, whatever stands there", function()
  local q, v = zeros(5, 1), column(1, 2, 3, 100, 0 / 0)
  local one = function() return 1 end
  for _, lengths in ipairs {{3}, tensor {3}} do
    is(assoc(q, q, v, {eps = 0, lengths = lengths}), {{2}, {2}, {2}, {2}, {2}})
    for _, by in ipairs {"softmax", "rbf", "elu1", one} do
      near(sim(q, q, v, {by = by, eps = 0, lengths = lengths}), full({5, 1}, 2), 1e-6)
    end
    for _, by in ipairs {"softmax", "elu1"} do
      local _, dk, dv = sim_grad(q, q, v, ones(5, 1), {by = by, eps = 0, lengths = lengths})
      near(dv, {{5 / 3}, {5 / 3}, {5 / 3}, {0}, {0}}, 1e-6)
      is(dk[{{4, 5}}], {{0}, {0}})
    end
  end
end)

test("GST-01: the denominator has a gradient too", function()
  local q, k, v = double {{0}, {0}}, double {{0}, {1}}, double {{0}, {1}}
  for _, grad in ipairs {
    prefix_grad, rnn_grad,
    function(q, k, v, dout)
      return sim_grad(q, k, v, dout, {by = "elu1", causal = true, eps = 0})
    end,
  } do
    local dq, dk, dv = grad(q, k, v, double {{1}, {1}}, {eps = 0})
    near(dq, {{0}, {0}}, 0, 1e-15)
    near(dk, {{-2 / 9}, {1 / 9}}, 1e-14)
    near(dv, {{4 / 3}, {2 / 3}}, 1e-14)
  end
end)

test("GST-03, GST-09: a prefilled state, and two ways on from it", function()
  local zero = zeros(1)
  local st = rnn {D = 1, M = 1, eps = 0}
  st:run(zeros(3, 1), zeros(3, 1), column(1, 2, 3))
  local fork = st:clone()
  is(st:clone():step(zero, zero, tensor {4}), {2.5})
  is(st:step(zero, zero, tensor {10}), {4})
  is(fork:step(zero, zero, tensor {20}), {6.5})
end)

test("GST-11: results are as many and in one order for 0, 1 and 5 tokens", function()
  for _, n in ipairs {0, 1, 5} do
    local q, v = randn(n, 2, {seed = 1}), randn(n, 3, {seed = 2})
    for _, form in ipairs {
      sim, assoc, prefix,
      function(...) return rnn({D = 2, M = 3}):run(...) end,
      function(...) return kv({D = 2, M = 3}):run(...) end,
    } do
      local results = table.pack(form(q, q, v))
      is(results.n, 1)
      is(results[1].shape, {n, 3})
    end
    local out, final = prefix(q, q, v, {final = true})
    is({out.shape, final.S.shape, final.z.shape}, {{n, 3}, {2, 3}, {2}})
    for _, grad in ipairs {sim_grad, assoc_grad, prefix_grad, rnn_grad} do
      local results = table.pack(grad(q, q, v, v))
      is(results.n, 3)
      is({results[1].shape, results[2].shape, results[3].shape}, {{n, 2}, {n, 2}, {n, 3}})
    end
    for _, grad in ipairs {prefix_grad, rnn_grad} do
      local results = table.pack(grad(q, q, v, v, {state = final}))
      is(results.n, 4)
      is({results[4].S.shape, results[4].z.shape}, {{2, 3}, {2}})
    end
  end
end)

test("GST-15: the gradients of the full table", function()
  local q = double {{.3, 1}, {-1, .5}, {2, -2}}
  local k = double {{1, .2}, {.4, -1}, {-.5, 2}}
  local v = double {{1, 2}, {3, -1}, {0, 4}}
  local dout = ones(3, 2, {dtype = "float64"})
  for _, grad in ipairs {prefix_grad, rnn_grad} do
    local dq, dk, dv = grad(q, k, v, dout, {eps = 0})
    near(dq, {{0, 0}, {-.04014628, .02676419}, {-.01200724, .03602172}}, 0, 6e-9)
    near(dk, {{.06826110, .12501448}, {-.27123695, -.11112137}, {.16704153, .01242400}}, 0,
      6e-9)
    for column = 1, 2 do
      near(dv[{{}, column}], {2.19148450, .63240889, .17610661}, 0, 6e-9)
    end
  end
  local _, dk = assoc_grad(q, k, v, dout, {eps = 0})
  near(dk, {{-.00812566, -.11854747}, {-.38032345, -.16512237}, {.22082090, .21175419}}, 0,
    6e-9)
end)

test("INT-07: a batch entry does not depend on how many there are", function()
  local q = randn(1, 2, 8, 4, {seed = 7})
  local alone = prefix(q, q, q)[1]:totable()
  for _, B in ipairs {1, 2, 4, 8, 16, 32, 64} do
    local many = q:expand(B, 2, 8, 4)
    local out = prefix(many, many, many)
    is(out[1], alone)
    is(out[-1], alone)
  end
end)

test("SHP-11: keys that do not exist have no gradient, whatever lies in their place", function()
  local q, k = randn(2, 3, 9, 4, {seed = 1}), randn(2, 3, 9, 4, {seed = 2})
  local v, dout = randn(2, 3, 9, 5, {seed = 3}), randn(2, 3, 9, 5, {seed = 4})
  local function grads(k, device, grad, opt)
    local _, dk = grad(q:to(device), k:to(device), v:to(device), dout:to(device), opt)
    return dk:to("cpu")
  end
  local spoilt = k:clone()
  spoilt[1][{{}, {5, 9}}], spoilt[2] = 0 / 0, 0 / 0
  for _, device in ipairs(pcall(emu) and {"cpu", "emu"} or {"cpu"}) do
    for _, map in ipairs {"elu1", "poly2"} do
      for _, impl in ipairs(device == "cpu" and {"fast", "plain"} or {"k1", "k2"}) do
        local lengths = {4, 0}
        local assoc_opt = {phi = map, impl = impl, lengths = lengths}
        is(grads(spoilt, device, assoc_grad, assoc_opt), grads(k, device, assoc_grad,
          assoc_opt):totable())
        local sim_opt = {by = map, impl = impl, lengths = lengths}
        is(grads(spoilt, device, sim_grad, sim_opt), grads(k, device, sim_grad,
          sim_opt):totable())
      end
    end
  end
end)

test("FMT-01: columns first in the file are columns in Lua", function()
  local path = os.tmpname()
  local header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"
  header = header .. (" "):rep(117 - #header) .. "\n"
  local file <close> = io.open(path, "wb")
  file:write("\x93NUMPY\1\0", string.pack("<I2", #header), header,
    string.pack("<ffffff", 1, 2, 3, 4, 5, 6))
  file:close()
  is(read(path), {{1, 3, 5}, {2, 4, 6}})
  os.remove(path)
end)

test("FMT-19: NaN, infinities, -0 and subnormals survive files bit for bit", function()
  local path = os.tmpname()
  local odd = {0 / 0, 1 / 0, -1 / 0, -0.0, 2 ^ -149, 3.4028235e38}
  tensor(odd):save(path)
  is(read(path), tensor(odd):totable())
  is(1 / read(path)[4], -1 / 0)

  local st = rnn {D = 6, M = 1}
  st:step(tensor(odd), tensor(odd), tensor {-0.0})
  st:save(path)
  local loaded = rnn.load(path)
  is({loaded.S:totable(), loaded.z:totable()}, {st.S:totable(), st.z:totable()})
  is(tostring(1 / loaded.S), tostring(1 / st.S))
  os.remove(path)
end)

test("PRF-01: the linear forms take about twice the time for twice the tokens", function()
  -- CPU time, not the clock on the wall: the machine may be busy with something else. The
  -- sizes are those for which tarn stays on one thread.
  local function fastest(n)
    local q, k, v = randn(n, 16), randn(n, 16), randn(n, 16)
    local least = math.huge
    for _ = 1, 15 do
      local start = os.clock()
      prefix(q, k, v)
      least = math.min(least, os.clock() - start)
    end
    return least
  end
  local ratios = {}
  for i = 1, 5 do
    ratios[i] = fastest(8192) / fastest(4096)
    if ratios[i] >= 1.6 and ratios[i] <= 2.6 then return end
  end
  error("t(2N) / t(N) = " .. table.concat(ratios, ", "))
end)

tap.done()
