local function bytes(x) return 4 * x.t * x.H * (x.D + x.M), 8 * x.H * (x.D * x.M + x.D) end

local function spec(x)
  local cache, state = bytes(x)
  return {cache = cache, state = state}
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

return {
  title = "The growing cache beside the state", chapter = 5, order = 4,
  language = "lua", minutes = 20, points = 8,
  summary = "predict the bytes of both at token 1000, then measure them",
  equations = "eqs 16 to 19",
  tol = exact,
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
    "bytes: 4*t*H*(D + M) and 2*4*H*(D*M + D). measured: kv{H=, D=, M=} and rnn{H=, D=, "
      .. "M=}, then cache:run(q, k, v) with q, k of zeros(H, t, D). crossing: divide and round "
      .. "up.",
  },
  cases = {
    {name = "the rule", points = 2, entry = "bytes", parameters = sizes, tol = exact,
      results = {"cache", "state"}, spec = spec,
      inputs = function(draw) return draw_sizes(draw, 5000) end},
    {name = "measured", points = 2, entry = "measured", parameters = sizes, tol = exact,
      results = {"cache", "state"}, spec = spec,
      inputs = function(draw) return draw_sizes(draw, 60) end},
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
    {name = "too-early", fails = "where the cache is the larger one",
      because = "the quotient is rounded down, so the cache is still the smaller one there",
      change = {{"return (state + token - 1) // token", "return state // token"}}},
    {name = "too-late", fails = "where they are equal",
      because = "one is added after rounding down, also where nothing was left over",
      change = {{"return (state + token - 1) // token", "return state // token + 1"}}},
  },
}
