local function bytes(x) return 4 * x.t * x.H * (x.D + x.M), 8 * x.H * (x.D * x.M + x.D) end

local function spec(x)
  local cache, state = bytes(x)
  return {cache = cache, state = state}
end

-- Causal attention of one head with these weights, whose sum has eps added to it.
local function attend(q, k, v, weight, eps)
  local out = {}
  for i = 1, #q do
    local den, num = eps, {}
    for m = 1, #v[i] do num[m] = 0 end
    for j = 1, i do
      local w = weight(q[i], k[j])
      den = den + w
      for m = 1, #num do num[m] = num[m] + w * v[j][m] end
    end
    for m = 1, #num do num[m] = num[m] / den end
    out[i] = num
  end
  return out
end

local function exp_weight(q, k)
  local sum = 0
  for c = 1, #q do sum = sum + q[c] * k[c] end
  return math.exp(sum / math.sqrt(#q))
end

local function feature(x) return x > 0 and x + 1 or math.exp(x) end

local function feature_weight(q, k)
  local sum = 0
  for c = 1, #q do sum = sum + feature(q[c]) * feature(k[c]) end
  return sum
end

-- What a cache and a state take that have read tokens of such a type, and what they give.
local function measured(x)
  local q, k, v = x.q:totable(), x.k:totable(), x.v:totable()
  local cache, state = bytes {t = #q[1], H = #q, D = #q[1][1], M = #v[1][1]}
  local size = x.q.dtype == "float64" and 2 or 1
  local softmax, linear = {}, {}
  for h = 1, #q do
    softmax[h] = attend(q[h], k[h], v[h], exp_weight, 0)
    linear[h] = attend(q[h], k[h], v[h], feature_weight, 1e-6)
  end
  return {cache = size * cache, state = size * state, softmax = softmax, linear = linear}
end

local function tokens(dtype)
  return function(draw)
    local H, D, M, t = draw.int(2, 4), draw.int(2, 12), draw.int(2, 12), draw.int(20, 40)
    return {q = draw.randn(H, t, D):to(dtype), k = draw.randn(H, t, D):to(dtype),
      v = draw.randn(H, t, M):to(dtype)}
  end
end

-- Counted up token by token, as one would by hand.
local function crossing(x)
  local _, state = bytes {t = 0, H = x.H, D = x.D, M = x.M}
  local t, cache = 0, 0
  while cache < state do
    t = t + 1
    cache = cache + 4 * x.H * (x.D + x.M)
  end
  return {token = t}
end

local function sequences(x)
  local cache, state = bytes(x)
  local function fit(one) return x.memory // (x.layers * one) end
  return {with_caches = fit(cache), with_states = fit(state)}
end

local sizes = {"H", "D", "M", "t"}
local function draw_sizes(draw, most)
  return {H = draw.int(1, 4), D = draw.int(2, 24), M = draw.int(2, 24), t = draw.int(1, most)}
end
local exact = {k = 0, why = "whole numbers"}
local sums = {k = 256, why = "sums of up to 40 D terms; the bytes are whole numbers below 2^17"}
local four = {"cache", "state", "softmax", "linear"}

return {
  title = "The growing cache beside the state", chapter = 5, order = 4,
  language = "lua", minutes = 20, points = 8,
  summary = "predict the bytes of both at token 1000, then measure them",
  equations = "eqs 16 to 19",
  tol = exact,
  without = {"sim", "assoc", "prefix", "softmax"},
  predict = {
    {ask = "H = 8, D = M = 64, float32: how many bytes does the cache take after 1000 tokens?",
      answer = "1000 * 8 * (64 + 64) * 4 = 4,096,000"},
    {ask = "And the state, two levels of S and z?",
      answer = "2 * 8 * (64 * 64 + 64) * 4 = 266,240, at token 1 as well"},
    {ask = "After which token is the cache the larger one: about 8, 64, 512 or 4096?",
      answer = "65: about 64, the width of a head. The number of heads cancels."},
  },
  hints = {
    "What does one more token add to the cache? What does it add to the size of the "
      .. "state?",
    "eqs 18 and 19: S has C M numbers and z has C, for each head, at any time. A cache "
      .. "has t (D + M) for each head.",
    "bytes: 4*t*H*(D + M) and 2*4*H*(D*M + D). measured: kv{H=, D=, M=, dtype=q.dtype} "
      .. "and rnn of the same, then cache:run(q, k, v) and cache:bytes(). crossing: divide and "
      .. "round up.",
  },
  cases = {
    {name = "the rule", points = 2, entry = "bytes", parameters = sizes, tol = exact,
      results = {"cache", "state"}, spec = spec,
      inputs = function(draw) return draw_sizes(draw, 5000) end},
    {name = "measured", points = 1, entry = "measured", parameters = {"q", "k", "v"},
      results = four, spec = measured, tol = sums, inputs = tokens("float32")},
    {name = "measured in float64", points = 1, entry = "measured", parameters = {"q", "k", "v"},
      results = four, spec = measured, tol = sums, inputs = tokens("float64")},
    {name = "where the cache is the larger one", points = 1, entry = "crossing",
      parameters = {"H", "D", "M"}, results = {"token"}, spec = crossing, tol = exact,
      inputs = function(draw)
        local M = draw.int(2, 24)
        return {H = draw.int(1, 4), D = M + 1, M = M} -- never as large as the state
      end},
    {name = "where they are equal", points = 1, entry = "crossing",
      parameters = {"H", "D", "M"}, results = {"token"}, spec = crossing, tol = exact,
      inputs = function(draw)
        local D = draw.int(2, 24)
        return {H = draw.int(1, 4), D = D, M = D} -- at token D + 1
      end},
    {name = "how many sequences fit", points = 2, entry = "sequences", tol = exact,
      parameters = {"memory", "layers", "H", "D", "M", "t"},
      results = {"with_caches", "with_states"}, spec = sequences,
      inputs = function()
        return {memory = 1 << 30, layers = 8, H = 8, D = 32, M = 32, t = 784}
      end},
  },
  wrong = {
    {name = "one-level", fails = "the rule",
      because = "S and z alone; tarn keeps each of them in two levels",
      change = {{"2 * 4 * H * (D * M + D)", "4 * H * (D * M + D)"}}},
    {name = "copied", fails = "measured in float64", says = "cache is",
      because = "the rule of float32 is given instead of what was measured",
      change = {{"return cache:bytes(), st:bytes(), softmax, linear",
        "local cached, kept = answer.bytes(q.shape[1], q.shape[3], v.shape[3], q.shape[2])\n"
          .. "  return cached, kept, softmax, linear"}}},
    {name = "half-read", fails = "measured", says = "linear[",
      because = "nothing was read: the bytes come from the rule",
      change = {
        {[[
  local sizes = {H = q.shape[1], D = q.shape[3], M = v.shape[3], dtype = q.dtype}
  local cache, st = kv(sizes), rnn(sizes)
  local softmax, linear = cache:run(q, k, v), st:run(q, k, v)
  return cache:bytes(), st:bytes(), softmax, linear]], [[
  local size = q.dtype == "float64" and 2 or 1
  local cached, kept = answer.bytes(q.shape[1], q.shape[3], v.shape[3], q.shape[2])
  return size * cached, size * kept, v, v]]},
      }},
    {name = "too-early", fails = "where the cache is the larger one",
      because = "the quotient is rounded down, so the cache is still the smaller one there",
      change = {{"return (state + token - 1) // token", "return state // token"}}},
    {name = "too-late", fails = "where they are equal",
      because = "one is added after rounding down, also where nothing was left over",
      change = {{"return (state + token - 1) // token", "return state // token + 1"}}},
  },
}
