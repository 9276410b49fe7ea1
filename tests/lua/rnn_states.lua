-- rnn and kv: cells that carry a state from token to token.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function input(H, N)
  local function one(columns, seed)
    return randn(H, N, columns, {seed = seed, dtype = "float64"})
  end
  return one(4, 1), one(4, 2), one(3, 3)
end
local ones_features = function(x) return x * 0 + 1 end

test("stepping token by token is running the sequence is the prefix sum", function()
  local q, k, v = input(2, 10)
  local st = rnn {H = 2, D = 4, M = 3, dtype = "float64"}
  local expected, final = prefix(q, k, v, {final = true})
  for i = 1, 10 do
    local out = st:step(q[{{}, i}], k[{{}, i}], v[{{}, i}])
    is(out.shape, {2, 3})
    assert(maxdiff(out, expected[{{}, i}]) < 1e-14)
    is(st.t, i)
  end
  assert(maxdiff(st.S, final.S) < 1e-13 and maxdiff(st.z, final.z) < 1e-13)
  st:reset()
  assert(maxdiff(st:run(q, k, v), expected) < 1e-14)
end)

test("shapes are those of the sequence without N, for every rank", function()
  for _, heads in ipairs {{}, {2}, {3, 2}} do
    local sizes = {D = 4, M = 3, H = heads[#heads], B = #heads == 2 and heads[1] or nil}
    local function lead(...)
      local all = table.move(heads, 1, #heads, 1, {})
      return table.move({...}, 1, select("#", ...), #all + 1, all)
    end
    local st, cache = rnn(sizes), kv(sizes)
    for _, cell in ipairs {st, cache} do
      is(cell:step(zeros(lead(4)), zeros(lead(4)), zeros(lead(3))).shape, lead(3))
      is(cell:run(zeros(lead(5, 4)), zeros(lead(5, 4)), zeros(lead(5, 3))).shape, lead(5, 3))
      is(cell.t, 6)
    end
    is(st.S.shape, lead(4, 3))
    is(st.z.shape, lead(4))
  end
end)

test("the state of an rnn stays as large as it is, kv's grows", function()
  local q, k, v = input(1, 300)
  local st, cache = rnn {H = 1, D = 4, M = 3, dtype = "float64"},
    kv {H = 1, D = 4, M = 3, dtype = "float64"}
  local before = st:bytes()
  st:run(q, k, v)
  cache:run(q, k, v)
  is(st:bytes(), before)
  is(cache:bytes(), 300 * (4 + 3) * 8)
  cache:reset()
  is({cache:bytes(), cache.t}, {0, 0})
end)

test("kv is causal softmax, piece by piece", function()
  local q, k, v = input(2, 12)
  local cache = kv {H = 2, D = 4, M = 3, dtype = "float64"}
  local expected = sim(q, k, v, {causal = true})
  local out = {}
  for i, range in ipairs {{1, 5}, {6, 6}, {7, 12}} do
    out[i] = cache:run(q[{{}, range}], k[{{}, range}], v[{{}, range}])
  end
  assert(maxdiff(cat(out, 2), expected) < 1e-14)
end)

test("GST-09: a clone goes its own way", function()
  local st = rnn {D = 1, M = 1, phi = ones_features, eps = 0}
  st:run(zeros(3, 1), zeros(3, 1), tensor {{1}, {2}, {3}})
  local other = st:clone()
  is(st:step(zeros(1), zeros(1), tensor {10}), {4})
  is(other:step(zeros(1), zeros(1), tensor {20}), {6.5})
  local cache = kv {D = 1, M = 1}
  cache:step(zeros(1), zeros(1), tensor {1})
  local branch = cache:clone()
  is(cache:step(zeros(1), zeros(1), tensor {3}), {2})
  is(branch:step(zeros(1), zeros(1), tensor {5}), {3})
end)

test("S and z are fresh each time: changing them does not change the state", function()
  local st = rnn {D = 1, M = 1}
  st:step(zeros(1), zeros(1), ones(1))
  st.S:fill(7)
  st.z:fill(7)
  is({st.S:item(), st.z:item()}, {1, 1})
end)

test("the final state of prefix is an rnn that steps on", function()
  local q, k, v = input(2, 20)
  local first, rest = {{}, {1, 13}}, {{}, {14, 20}}
  local whole = prefix(q, k, v)
  local _, st = prefix(q[first], k[first], v[first], {final = true})
  is(st.t, 13)
  assert(maxdiff(st:run(q[rest], k[rest], v[rest]), whole[rest]) < 1e-14)
end)

test("a saved state is the same state, to the bit", function()
  local path = os.tmpname()
  local q, k, v = input(2, 70)
  local st = rnn {H = 2, D = 4, M = 3, dtype = "float64", phi = "relu2", eps = 0.25}
  st:run(q, k, v)
  st:save(path)
  local loaded = rnn.load(path)
  is(tostring(loaded), tostring(st))
  is(loaded:run(q, k, v), st:run(q, k, v):totable())
  os.remove(path)
end)

test("a state with a function of the user's is loaded together with it", function()
  local path = os.tmpname()
  local function f(x) return x:exp() end
  local st = rnn {D = 4, M = 3, phi = f}
  st:save(path)
  is(rnn.load(path, {phi = f}).t, 0)
  raises("rnn.load: the state in " .. path .. " was made with a function as phi, expected " ..
    "that function as the option phi", rnn.load, path)
  raises("rnn.load: unknown option 'pih'; did you mean 'phi'?", rnn.load, path, {pih = f})
  os.remove(path)
  raises("save: this is a kv cache, expected an rnn state", st.save, kv {D = 1, M = 1}, path)
  raises("rnn:save: the path is missing, expected a string", st.save, st)
end)

test("float32 that meets a float64 state becomes float64; a float32 state stays one", function()
  local q, k, v = randn(4, 2), randn(4, 2), randn(4, 3)
  local st = rnn {D = 2, M = 3, dtype = "float64"}
  is(st:run(q, k, v).dtype, "float64")
  is(st:step(q[1], k[1], v[1]).dtype, "float64")
  is(kv({D = 2, M = 3, dtype = "float64"}):run(q, k, v).dtype, "float64")
  for _, state in ipairs {st, {S = st.S, z = st.z}} do
    is(prefix(q, k, v, {state = state}).dtype, "float64")
    local dq, _, _, dstate0 = prefix_grad(q, k, v, v, {state = state})
    is({dq.dtype, dstate0.S.dtype}, {"float64", "float64"})
  end
  local narrow = rnn {D = 2, M = 3}
  raises("rnn:run: q, k, v are float64, expected float32 as the state", narrow.run, narrow,
    q:to("float64"), k, v)
end)

test("a state says what it is", function()
  local st = rnn {B = 1, H = 4, D = 32, M = 32}
  st:run(zeros(1, 4, 784, 32), zeros(1, 4, 784, 32), zeros(1, 4, 784, 32))
  is(tostring(st), "rnn state: B=1 H=4 D=32 M=32 C=32 phi=elu1 float32, 784 tokens, " ..
    st:bytes() .. " bytes")
  is(tostring(kv {D = 2, M = 3, dtype = "float64"}),
    "kv cache: D=2 M=3 float64, 0 tokens, 0 bytes")
  is(tostring(rnn {D = 2, M = 3, phi = "poly2"}):match("C=%d+ phi=%S+"), "C=3 phi=poly2")
end)

test("local st <close> ends a state with its block", function()
  local kept
  do
    local st <close> = rnn {D = 2, M = 3}
    kept = st
  end
  is(tostring(kept), "closed state")
  raises("step: this state was closed", function() kept:step(zeros(2), zeros(2), zeros(3)) end)
  raises("t: this state was closed", function() return kept.t end)
  raises("rnn: this state was closed", prefix, zeros(1, 2), zeros(1, 2), zeros(1, 3),
    {state = kept})
end)

test("steps must fit the state", function()
  local st = rnn {D = 2, M = 3}
  for _, wrong in ipairs {
    {zeros(3), zeros(2), zeros(3)}, {zeros(2), zeros(3), zeros(3)}, {zeros(2), zeros(2), zeros(2)},
    {zeros(1, 2), zeros(1, 2), zeros(1, 3)},
    {zeros(2, {dtype = "float64"}), zeros(2), zeros(3)},
  } do
    local ok, why = pcall(st.step, st, table.unpack(wrong))
    assert(not ok and why:find("expected", 1, true), why)
  end
  is(st.t, 0)
  raises("rnn:step: k is nil, expected a tensor", st.step, st, zeros(2))
  raises("kv:run: q is nil, expected a tensor", function() kv {D = 1, M = 1}:run() end)
end)

tap.done()
