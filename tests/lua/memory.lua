-- memory.lua: the claims of chapter 6: what a state that is written and read can keep.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")

local D, TRIALS = 64, 100

-- Similarity of every key with every key, from their features.
local function gram(f)
  return f:mm(f:transpose(2, 3))
end

-- The weight that a query which is one of the keys gives to that key, on average.
local function weight_on_key(similarity)
  local weights = similarity / similarity:sum(3, {keepdim = true})
  return (weights * eye(#similarity[1])):sum(3):mean()
end

local function within(got, expected, bound)
  local text = ("%.4f, expected %.4f within %g"):format(got, expected, bound)
  assert(math.abs(got - expected) <= bound * expected, text)
end

--> region claim_one_ratio
-- Mean similarity of a key with itself over that of two keys from N(0, I).
local function ratio(features)
  return (features * features):mean() / features:mean() ^ 2
end

tap.test("elu1's ratio is 1.46, however wide the head", function()
  local x = randn(1000000, {seed = 1, dtype = "float64"})
  within(ratio(phi.elu1(x)), 1.46, 0.01)
  for _, width in ipairs {64, 256} do
    for _, M in ipairs {4, 16, 64} do
      local k = randn(TRIALS, M, width, {seed = M})
      within(weight_on_key(gram(phi.elu1(k))), 1.46 / (1.46 + M - 1), 0.04)
    end
  end
end)
--< region claim_one_ratio

--> region claim_temperature
tap.test("a temperature takes elu1 towards pi, not past it", function()
  local x = randn(1000000, {seed = 1, dtype = "float64"})
  local last = 1
  for _, c in ipairs {0.25, 1, 4, 16, 64, 256} do
    local now = ratio(phi.elu1(c * x))
    assert(last < now and now < math.pi, ("c = %g: %g"):format(c, now))
    last = now
  end
  within(ratio(phi.relu(x)), math.pi, 0.01)
end)
--< region claim_temperature

tap.test("relu does not notice a temperature at all", function()
  local q, k, v = randn(20, 8), randn(20, 8), randn(20, 8)
  local opt = {phi = "relu", eps = 0}
  assert(allclose(assoc(q, k, v, opt), assoc(16 * q, k, v, opt), {rtol = 1e-5}))
end)

--> region claim_overwrite
tap.test("a key that is written twice reads the mean of both values", function()
  local st = rnn {D = 2, M = 1, phi = "identity", eps = 0}
  local key = tensor {1, 0}
  st:step(key, key, tensor {8})
  tap.is(st:step(key, key, tensor {2}), {5})
end)
--< region claim_overwrite

tap.test("C features keep C pairs exactly, and not one more", function()
  local k, v = eye(4), tensor {{8, 1}, {4, 2}, {2, 3}, {1, 4}}
  tap.is(assoc(k, k, v, {phi = "identity", eps = 0}), v:totable())
  local more = cat({k, tensor {{0.5, 0.5, 0.5, 0.5}}}, 1)
  local values = cat({v, tensor {{16, 5}}}, 1)
  local read = assoc(more, more, values, {phi = "identity", eps = 0})
  assert(not allclose(read, values, {rtol = 0.1}))
end)

tap.done()
