-- running-softmax: softmax of a row in one pass, with the running maximum; two halves joined.

-- Two passes: the largest score first. A row without any score above -inf gives zeros.
local function two_passes(inputs)
  local scores, values = inputs.scores:totable(), inputs.values:totable()
  local largest, out, den = -math.huge, {}, 0
  for _, s in ipairs(scores) do largest = math.max(largest, s) end
  for m = 1, inputs.values.shape[2] do out[m] = 0 end
  if largest == -math.huge then return {out = out} end
  for j, s in ipairs(scores) do
    local w = math.exp(s - largest)
    for m, value in ipairs(values[j]) do out[m] = out[m] + w * value end
    den = den + w
  end
  for m = 1, #out do out[m] = out[m] / den end
  return {out = out}
end

local function row(draw, N, M, low, high)
  return {
    scores = draw.double.rand(N) * (high - low) + low, values = draw.double.randn(N, M),
  }
end

local function masked(t, list)
  for _, j in ipairs(list) do t[j] = -math.huge end
  return t
end

local tol = {k = 4096, dtype = "float64",
  why = "exp of a difference of scores up to 1000: their rounding counts"}
local whole = {entry = "whole", parameters = {"scores", "values"}, results = {"out"}}
local halves = {entry = "halves", parameters = {"scores", "values", "cut"}, results = {"out"}}

local function case(how, name, points, inputs, limit)
  return {
    name = name, points = points, inputs = inputs, limit = limit, tol = tol,
    entry = how.entry, parameters = how.parameters, results = how.results,
  }
end

return {
  title = "Softmax in one pass",
  chapter = 1,
  order = 2,
  language = "lua",
  minutes = 30,
  points = 10,
  summary = "the running maximum: one score after the other, no overflow; two halves joined",
  equations = "eqs 2 and 3",
  hints = {
    "Everything kept so far was divided by exp(max), with an old max. When a larger score "
      .. "comes, by which number must it be multiplied to be right under the new one?",
    "new = max(max, s); sum and acc shrink by exp(max - new); then exp(s - new) is added, with "
      .. "v for acc. Two states are joined by bringing both under the larger maximum.",
    "-inf - -inf is NaN: if the new maximum is still -inf, nothing was seen, leave the state "
      .. "alone. Else: local old, w = math.exp(state.max - new), math.exp(s - new); state.sum = "
      .. "state.sum * old + w; state.acc = state.acc * old + v * w; state.max = new.",
  },
  without = {"sim", "kv", "softmax"},
  spec = two_passes,
  cases = {
    case(whole, "moderate scores", 1, function(draw) return row(draw, 12, 3, -2, 2) end),
    case(whole, "scores of 1000 do not overflow", 2,
      function(draw) return row(draw, 20, 2, 900, 1000) end),
    case(whole, "rising scores: each one shrinks what was there", 2, function(draw)
      local inputs = row(draw, 30, 2, 0, 1)
      inputs.scores = range(1, 30):to("float64") * 2
      return inputs
    end),
    case(whole, "masked keys in front, their scores are -inf", 1, function(draw)
      local inputs = row(draw, 9, 2, -1, 1)
      masked(inputs.scores, {1, 2, 7})
      return inputs
    end),
    case(halves, "all keys masked, in both halves: zeros", 1, function(draw)
      local inputs = row(draw, 4, 2, -1, 1)
      masked(inputs.scores, {1, 2, 3, 4})
      inputs.cut = 2
      return inputs
    end),
    case(halves, "two halves, joined", 2, function(draw)
      local inputs = row(draw, 25, 3, -300, 300)
      inputs.cut = 11
      return inputs
    end),
    case(halves, "joined with a half in which all is masked", 1, function(draw)
      local inputs = row(draw, 8, 2, -3, 3)
      masked(inputs.scores, {1, 2, 3})
      inputs.cut = 3
      return inputs
    end),
  },
  wrong = {
    {name = "no-rescale", fails = "rising scores: each one shrinks what was there",
      because = "what was summed under an old maximum is left as it was",
      change = {{"local factor = math.exp(state.max - max)", "local factor = 1"}}},
    {name = "no-maximum", fails = "scores of 1000 do not overflow", says = "nan",
      because = "exp(1000) is infinite, also in float64",
      change = {{"shrink(state, math.max(state.max, s))", "state.max = 0"}}},
    {name = "inf-minus-inf", fails = "masked keys in front, their scores are -inf", says = "nan",
      because = "masked keys are added like others, and -inf - -inf is NaN",
      change = {
        {"if state.max == max then return end", ""},
        {"if s == -math.huge then return end", ""},
      }},
    {name = "joins-nothing", fails = "all keys masked, in both halves: zeros", says = "nan",
      because = "both maxima are -inf, and their difference is NaN",
      change = {{"if state.max == max then return end", ""}}},
    {name = "adds-halves", fails = "two halves, joined",
      because = "sums under different maxima are added as they are",
      change = {
        {[[
  shrink(a, max)
  shrink(b, max)]], ""},
      }},
  },
}
