-- Writing over. Chapter 6, eq 6.4; about 10 lines.
--
-- A state S [M, C] (one row for each entry of a value) begins at 0. Token i has a key k_i, a
-- value v_i and a strength beta_i between 0 and 1. With u_i = k_i / |k_i|, the key's
-- direction, it finds S u_i, and then replaces a share beta_i of that by its value:
-- afterwards the same direction reads (1 - beta_i) found_i + beta_i v_i. A key of zeros has
-- no direction: it finds 0 and writes nothing.
--
-- k is a tensor [N, C], v is [N, M], beta is [N]. Return S after the last token, and found
-- [N, M]: what each token found before it wrote.

local function write_over(k, v, beta)
  local N, C, M = k.shape[1], k.shape[2], v.shape[2]
  local S, found = zeros(M, C, {dtype = "float64"}), zeros(N, M, {dtype = "float64"})
  --> todo
  for i = 1, N do
    local length = k[i]:norm()
    if length > 0 then
      local u = k[i] / length
      found[i] = S:mm(u:reshape(C, 1)):reshape(M)
      S = S + ((v[i] - found[i]) * beta[i]):reshape(M, 1) * u:reshape(1, C)
    end
  end
  --< todo
  return S, found
end

return {write_over = write_over}
