-- running-softmax: a softmax-weighted average in ONE pass over scores and values. Chapter 1.
--
-- A state holds what is known of the scores seen so far:
--   state.max   the largest score, -math.huge before the first
--   state.sum   sum of exp(s - max)                               a number
--   state.acc   sum of exp(s - max) v                             a tensor [M]
--
-- add(state, s, v)   takes in one score and one value; changes the state, returns nothing
-- join(a, b)         returns a new state, as if all scores of a and b had been added to it
--
-- A score of -math.huge is a masked key: it must change nothing, also when it comes first. No
-- exponential of a positive number is ever needed. About 20 lines.

local function new(M)
  return {max = -math.huge, sum = 0, acc = zeros(M, {dtype = "float64"})}
end

local function average(state)
  if state.sum == 0 then return state.acc end
  return state.acc / state.sum
end

--> todo
-- Brings what is in the state under a maximum that is not smaller than its own.
local function shrink(state, max)
  if state.max == max then return end
  local factor = math.exp(state.max - max)
  state.sum, state.acc, state.max = state.sum * factor, state.acc * factor, max
end

local function add(state, s, v)
  if s == -math.huge then return end
  shrink(state, math.max(state.max, s))
  local w = math.exp(s - state.max)
  state.sum, state.acc = state.sum + w, state.acc + v * w
end

local function join(a, b)
  local max = math.max(a.max, b.max)
  shrink(a, max)
  shrink(b, max)
  return {max = max, sum = a.sum + b.sum, acc = a.acc + b.acc}
end
--: local function add(state, s, v) -- so far a plain mean, whatever the score
--:   state.sum, state.acc = state.sum + 1, state.acc + v
--: end
--:
--: local function join(a, b)
--:   return a
--: end
--< todo

local function state_of(scores, values, first, last)
  local state = new(values.shape[2])
  for j = first, last do add(state, scores[j], values[j]) end
  return state
end

return {
  whole = function(scores, values) return average(state_of(scores, values, 1, #scores)) end,
  halves = function(scores, values, cut)
    local left = state_of(scores, values, 1, cut)
    return average(join(left, state_of(scores, values, cut + 1, #scores)))
  end,
}
