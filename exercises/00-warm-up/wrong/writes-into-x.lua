-- Moves the rows inside x: what was x is gone.
local function shift(x)
  for i = x.shape[1], 2, -1 do x[i] = x[i - 1] end
  x[1] = 0
  return x
end

local function window(N, width)
  local i, j = range(1, N):reshape(N, 1), range(1, N):reshape(1, N)
  return j:le(i) * (i - j):lt(width)
end

return {
  shift = function(x) return shift(x), x end,
  window = window,
}
