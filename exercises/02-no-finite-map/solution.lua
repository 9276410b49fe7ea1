-- no-finite-map: rank, and what it says of feature maps. Chapter 2.
--
-- rank(A)      A is [n, m], float64. Gives its rank: the number of pivots of elimination. What
--              is at most 1e-10 of the largest entry of A counts as 0.
-- witness(C)   gives a tensor of C + 1 numbers x, for which the matrix exp(x_i x_j) has rank
--              C + 1, on paper at least: so C features are not enough for exp.
--
-- About 20 lines.

--> todo
local function rank(A)
  local a, n, m = A:totable(), A.shape[1], A.shape[2]
  local nothing, row = 1e-10 * A:abs():max(), 1
  for c = 1, m do
    local best = row
    for r = row, n do
      if math.abs(a[r][c]) > math.abs(a[best][c]) then best = r end
    end
    if row <= n and math.abs(a[best][c]) > nothing then
      a[row], a[best] = a[best], a[row]
      for r = row + 1, n do
        local factor = a[r][c] / a[row][c]
        for j = c, m do a[r][j] = a[r][j] - factor * a[row][j] end
      end
      row = row + 1
    end
  end
  return row - 1
end

local function witness(C)
  return range(0, C) / C
end
--: local function rank(A)
--:   return -1
--: end
--:
--: local function witness(C)
--:   return zeros(C + 1)
--: end
--< todo

return {rank = rank, witness = witness}
