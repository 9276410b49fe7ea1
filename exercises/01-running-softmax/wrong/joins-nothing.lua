-- Two states that have seen nothing are joined like others.
local function new(M)
  return {max = -math.huge, sum = 0, acc = zeros(M, {dtype = "float64"})}
end

local function average(state)
  if state.sum == 0 then return state.acc end
  return state.acc / state.sum
end

-- Brings what is in the state under a maximum that is not smaller than its own.
local function shrink(state, max)
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
