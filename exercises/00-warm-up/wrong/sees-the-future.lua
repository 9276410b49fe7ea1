-- The distance of i and j has no sign, so the window goes both ways.
local function shift(x)
  local out = x * 0
  for i = 2, x.shape[1] do out[i] = x[i - 1] end
  return out
end

local function window(N, width)
  local i, j = range(1, N):reshape(N, 1), range(1, N):reshape(1, N)
  return (i - j):abs():lt(width)
end

return {
  shift = function(x) return shift(x), x end,
  window = window,
}
