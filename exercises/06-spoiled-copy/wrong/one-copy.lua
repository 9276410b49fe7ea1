-- Makes its copy once, so each continuation goes on from the one before.

local function continuations(S, z, q, k, v, eps)
  local B, C, M = k.shape[1], k.shape[2], v.shape[2]
  local out = zeros(B, M, {dtype = "float64"})
  local s, n = S:clone(), z:clone()
  for b = 1, B do
    for c = 1, C do
      s[c] = s[c] + k[b][c] * v[b]
      n[c] = n[c] + k[b][c]
    end
    local den = (q * n):sum() + eps
    out[b] = q:reshape(1, C):mm(s):reshape(M) / den
  end
  return out, S, z
end

return {continuations = continuations}
