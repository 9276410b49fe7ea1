-- Takes the pivot where it stands.
local function rank(A)
  local a, n, m = A:totable(), A.shape[1], A.shape[2]
  local nothing, row = 1e-10 * A:abs():max(), 1
  for c = 1, m do
    if row <= n and math.abs(a[row][c]) > nothing then
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

return {rank = rank, witness = witness}
