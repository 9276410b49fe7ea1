-- Does not divide the key by its length.

local function write_over(k, v, beta)
  local N, C, M = k.shape[1], k.shape[2], v.shape[2]
  local S, found = zeros(M, C, {dtype = "float64"}), zeros(N, M, {dtype = "float64"})
  for i = 1, N do
    local length = k[i]:norm()
    if length > 0 then
      local u = k[i]
      found[i] = S:mm(u:reshape(C, 1)):reshape(M)
      S = S + ((v[i] - found[i]) * beta[i]):reshape(M, 1) * u:reshape(1, C)
    end
  end
  return S, found
end

return {write_over = write_over}
