-- warm-up: two small functions on tensors. Chapter 0.
--
-- shift(x)          x is [N, D]. Gives [N, D]: row i is row i - 1 of x, row 1 is all zeros.
--                   x itself must not change. N may be 1.
-- window(N, width)  gives [N, N] of 0 and 1: entry (i, j) is 1 if token i sees token j, that
--                   is if j is i or one of the width - 1 tokens before it. Nobody looks ahead.
--
-- About five lines each; no loop is needed, but loops are allowed.

--> todo
local function shift(x)
  local N, D = x.shape[1], x.shape[2]
  local out = zeros(N, D)
  if N > 1 then out[{{2, N}}] = x[{{1, N - 1}}] end
  return out
end

local function window(N, width)
  local i, j = range(1, N):reshape(N, 1), range(1, N):reshape(1, N)
  return j:le(i) * (i - j):lt(width)
end
--: local function shift(x)
--:   return x
--: end
--:
--: local function window(N, width)
--:   return ones(N, N)
--: end
--< todo

return {
  shift = function(x) return shift(x), x end, -- x comes back too: is it as it was?
  window = window,
}
