-- device_cases.lua: the field cases (field_cases.lua says what they are) on the emulated
-- device: sizes that kernels of other libraries broke at, and what must not be seen.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

if not pcall(zeros, 1, {device = "emu"}) then
  tap.skip("the field cases on the emulated device", "this build has none")
  tap.done()
  return
end

-- q, k [..., N, D] and v, dout [..., N, M] on the host, of numbers from [0, 1).
local function uniform(lead, N, D, M)
  local function part(width, seed)
    local shape = {table.unpack(lead)}
    shape[#shape + 1], shape[#shape + 2] = N, width
    return rand(shape, {seed = seed})
  end
  return part(D, 1), part(D, 2), part(M, 3), part(M, 4)
end

local function there(...)
  local moved = table.pack(...)
  for i = 1, moved.n do moved[i] = moved[i]:to("emu") end
  return table.unpack(moved)
end

local function near(got, expected, bound)
  is({got.device, got.shape}, {"emu", expected.shape})
  if expected:numel() == 0 then return end
  local far = maxdiff(got:to("cpu"), expected)
  assert(far <= bound, far)
end

local forms = {sim = sim, assoc = assoc, prefix = prefix}
local gradients = {sim_grad = sim_grad, assoc_grad = assoc_grad, prefix_grad = prefix_grad,
  rnn_grad = rnn_grad}

-- All forms and gradients, on the device as on the host.
local function all_near(bound, q, k, v, dout)
  local dq, dk, dv, ddout = there(q, k, v, dout)
  for _, form in pairs(forms) do near(form(dq, dk, dv), form(q, k, v), bound) end
  for _, grad in pairs(gradients) do
    local got, expected = {grad(dq, dk, dv, ddout)}, {grad(q, k, v, dout)}
    for i = 1, 3 do near(got[i], expected[i], bound) end
  end
end

-- The kernels with the smallest blocks; tests/test_kernels_prefix.c has the default one.
test("INT-03: more heads than a grid has blocks in y or z", function()
  for _, heads in ipairs {{10923, 6}, {1, 65537}} do
    local zero = zeros(heads[1], heads[2], 4, 1, {device = "emu"})
    local v = range(1, 4):reshape(4, 1):expand(heads[1], heads[2], 4, 1):to("emu")
    local opt = {eps = 0, impl = "k1"}
    is(prefix(zero, zero, v, opt)[-1][-1]:to("cpu"), {{1}, {1.5}, {2}, {2.5}})
    is(assoc(zero, zero, v, opt)[-1][-1]:to("cpu"), {{2.5}, {2.5}, {2.5}, {2.5}})
  end
end)

test("INT-05, SHP-10: features and values wider than a block has threads", function()
  for _, size in ipairs {{4096, 1}, {1024, 1025}, {1, 2048}, {129, 257}} do
    local q, k, v, dout = uniform({}, 8, size[1], size[2])
    all_near(2e-5, q, k, v, dout / size[2]) -- gradients are sums over the values' columns
    local one = ones(8, size[2], {device = "emu"})
    local dq, dk = there(q, k)
    for _, form in pairs(forms) do near(form(dq, dk, one), one:to("cpu"), 2e-6) end
  end
end)

test("INT-07: a batch entry does not depend on how many there are", function()
  local q, k, v = there(uniform({1, 2}, 8, 4, 4))
  local function alone(form) return form(q, k, v)[1]:to("cpu"):totable() end
  for _, form in pairs(forms) do
    for _, B in ipairs {1, 2, 16, 64} do
      local out = form(q:expand(B, 2, 8, 4), k:expand(B, 2, 8, 4), v:expand(B, 2, 8, 4))
      is(out[1]:to("cpu"), alone(form))
      is(out[-1]:to("cpu"), alone(form))
    end
  end
end)

test("SHP-01, NUM-14: lengths around a whole number of chunks", function()
  for _, N in ipairs {1, 2, 63, 64, 65, 127, 129, 257} do all_near(2e-5, uniform({2}, N, 5, 3)) end
end)

test("SHP-01: what lies before and behind the inputs is not read", function()
  local function among_nan(t)
    local wide = full({#t + 4, t.shape[2]}, 0 / 0, {device = "emu"})
    local rows = wide[{{3, #t + 2}, {}}]
    rows:copy(t)
    return rows
  end
  for _, N in ipairs {1, 2, 63, 64, 65, 127, 129, 130} do
    local alone, among = {there(uniform({}, N, 5, 3))}, {}
    for i, t in ipairs(alone) do among[i] = among_nan(t) end
    for _, set in ipairs {forms, gradients} do
      for _, f in pairs(set) do
        local count = set == forms and 3 or 4
        local got, expected = {f(table.unpack(among, 1, count))}, {f(table.unpack(alone, 1, count))}
        for i = 1, #expected do is(got[i]:to("cpu"), expected[i]:totable()) end
      end
    end
  end
end)

test("SHP-02: queries and keys of different length", function()
  local v = tensor({{1}, {2}, {6}}, {device = "emu"})
  local q, k = zeros(5, 2, {device = "emu"}), zeros(3, 2, {device = "emu"})
  for _, form in ipairs {assoc, sim} do
    is(form(q, k, v, {eps = 0}):to("cpu"), {{3}, {3}, {3}, {3}, {3}})
  end
  for _, size in ipairs {{1, 1000}, {1000, 1}} do
    local queries, keys = rand(size[1], 4, {seed = 1}), rand(size[2], 4, {seed = 2})
    local a, b = there(queries, keys)
    near(assoc(a, b, b), assoc(queries, keys, keys), 2e-6)
    near(sim(a, b, b), sim(queries, keys, keys), 2e-6)
  end
end)

test("SHP-04, SHP-09: as many values as features, or fewer, or more; one of each", function()
  for _, size in ipairs {{1, 64}, {64, 1}, {40, 300}, {257, 31}, {1, 1}, {7, 15}} do
    all_near(1e-4, uniform({2}, 70, size[1], size[2]))
  end
end)

test("SHP-05: a view gives what its copy gives, bit for bit", function()
  local views = {
    transposed = function(t) return t:transpose(1, 2):clone():transpose(1, 2) end,
    ["every second row"] = function(t)
      local twice = zeros(2 * #t, t.shape[2], {device = "emu"})
      local rows = twice[{{1, -1, 2}, {}}]
      rows:copy(t)
      return rows
    end,
    ["a slice of columns"] = function(t)
      local wide = zeros(#t, t.shape[2] + 3, {device = "emu"})
      local columns = wide[{{}, {2, t.shape[2] + 1}}]
      columns:copy(t)
      return columns
    end,
  }
  local inputs = {there(uniform({}, 70, 5, 5))}
  for _, view in pairs(views) do
    for i = 1, 4 do
      local changed = {table.unpack(inputs)}
      changed[i] = view(inputs[i])
      for _, grad in pairs(gradients) do
        local got, expected = {grad(table.unpack(changed))}, {grad(table.unpack(inputs))}
        for g = 1, 3 do is(got[g]:to("cpu"), expected[g]:totable()) end
      end
      for _, form in pairs(i < 4 and forms or {}) do
        is(form(table.unpack(changed, 1, 3)):to("cpu"),
          form(table.unpack(inputs, 1, 3)):totable())
      end
    end
  end
end)

test("SHP-08: no tokens, one token, no batch entries", function()
  all_near(0, uniform({}, 0, 3, 2))
  all_near(0, uniform({0, 2}, 5, 3, 2))
  local q, k, v = there(uniform({}, 1, 3, 2))
  near(prefix(q, k, v, {eps = 0}), v:to("cpu"), 1e-6)
  local empty = zeros(0, 3, {device = "emu"})
  local _, before = prefix(q, k, v, {final = true})
  local _, after = prefix(empty, empty, zeros(0, 2, {device = "emu"}),
    {state = before, final = true})
  is({after.S:totable(), after.z:totable()}, {before.S:totable(), before.z:totable()})
end)

test("SHP-11: keys past the length are not seen, NaN or not", function()
  local zero = zeros(1, 5, 1, {device = "emu"})
  local v = tensor({{{1}, {2}, {3}, {0 / 0}, {100}}}, {device = "emu"})
  local dout, opt = ones(1, 5, 1, {device = "emu"}), {eps = 0, lengths = {3}}
  is(assoc(zero, zero, v, opt):to("cpu"), {{{2}, {2}, {2}, {2}, {2}}})
  is(sim(zero, zero, v, opt):to("cpu"), {{{2}, {2}, {2}, {2}, {2}}})
  for _, grad in ipairs {assoc_grad, sim_grad} do
    local _, dk, dv = grad(zero, zero, v, dout, opt)
    assert(allclose(dv:to("cpu"), tensor {{{5 / 3}, {5 / 3}, {5 / 3}, {0}, {0}}}))
    is(dk[{1, {4, 5}, 1}]:to("cpu"), {0, 0})
  end
end)

test("SHP-13: lengths are refused before anything runs", function()
  local q = zeros(4, 8, 2, {device = "emu"})
  raises("assoc: lengths has 3 entries, expected B = 1", assoc, q, q, q, {lengths = {1, 2, 3}})
  q = zeros(2, 1, 8, 2, {device = "emu"})
  raises("assoc: lengths[2] is 9, expected 0 to N = 8", assoc, q, q, q, {lengths = {8, 9}})
end)

test("NUM-01: a small feature keeps its digits", function()
  for x, expected in pairs {[-8] = 3.35462628e-4, [-16] = 1.12535175e-7, [-17] = 4.1399377e-8,
    [-20] = 2.0611536e-9, [-87] = 1.6458114e-38} do
    local feature = phi.elu1(tensor({x}, {device = "emu"}))[1]
    assert(math.abs(feature - expected) <= 3e-7 * expected, feature)
  end
end)

test("NUM-20: the same call gives the same bits", function()
  local q, k, v, dout = there(uniform({2}, 70, 9, 7))
  for _, grad in pairs(gradients) do
    local first = {grad(q, k, v, dout)}
    for _ = 1, 5 do
      for i, again in ipairs {grad(q, k, v, dout)} do is(again:to("cpu"), first[i]:totable()) end
    end
  end
end)

test("BLD-01, BLD-02: a device that is not there says why, and how to build it", function()
  if pcall(zeros, 1, {device = "cuda"}) then return end
  local ok, why = pcall(zeros, 1, {device = "cuda"})
  assert(not ok and why:find("^zeros: device cuda: not available: %S"), why)
  assert(not why:find("built without") or why:find("--with-cuda", 1, true), why)
  is(zeros(1), {0})
end)

tap.done()
