-- Goes down the diagonal.
local function rank(A)
  local a, n, m = A:totable(), A.shape[1], A.shape[2]
  local nothing, row, found = 1e-10 * A:abs():max(), 1, 0
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
      found = found + 1
    end
    row = row + 1
  end
  return found
end

local function witness(C)
  return range(0, C) / C
end

return {rank = rank, witness = witness}
