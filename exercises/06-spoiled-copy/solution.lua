-- Find the bug: the spoiled copy. Chapter 6, eqs 18 to 20; two lines.
--
-- A model has read a text; its state is S [C, M] and z [C]. It wants to compare several next
-- tokens, as a beam search does: for each b, the output for the query q after the token with
-- the key k[b] and the value v[b], as if that were the only one. q and the rows of k are
-- features. The state must afterwards be what it was: others go on from it.
--
-- The function is wrong. Find out why, and mend it.

local function continuations(S, z, q, k, v, eps)
  local B, C, M = k.shape[1], k.shape[2], v.shape[2]
  local out = zeros(B, M, {dtype = "float64"})
  --> todo
  --: for b = 1, B do
  --:   local s, n = S, z
  --:   for c = 1, C do
  --:     s[c] = s[c] + k[b][c] * v[b]
  --:     n[c] = n[c] + k[b][c]
  --:   end
  --:   local den = (q * n):sum() + eps
  --:   out[b] = q:reshape(1, C):mm(s):reshape(M) / den
  --: end
  for b = 1, B do
    local s, n = S:clone(), z:clone()
    for c = 1, C do
      s[c] = s[c] + k[b][c] * v[b]
      n[c] = n[c] + k[b][c]
    end
    local den = (q * n):sum() + eps
    out[b] = q:reshape(1, C):mm(s):reshape(M) / den
  end
  --< todo
  return out, S, z
end

return {continuations = continuations}
