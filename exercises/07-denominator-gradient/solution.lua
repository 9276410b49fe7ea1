-- The denominator's gradient. Chapter 7, eq 7.1; about 8 lines.
--
-- One query has the similarities s_1 .. s_N with N keys. They may be negative, so the weights
-- are divided by the sum of their sizes:
--
--     out_m = sum_j s_j v_jm / den      den = sum_j |s_j| + eps
--
-- s is a tensor [N], v is [N, M], dout is [M]: the gradient of a loss with respect to out.
-- Return ds [N] and dv [N, M], its gradient with respect to s and v. Let the slope of |s| at
-- 0 be 0.

local function row_gradient(s, v, dout, eps)
  local N, M = v.shape[1], v.shape[2]
  --> todo
  --: local ds, dv = zeros(N, {dtype = "float64"}), zeros(N, M, {dtype = "float64"})
  local den = s:abs():sum() + eps
  local out = s:reshape(1, N):mm(v):reshape(M) / den
  local G = dout / den
  local g = -(G * out):sum()
  local sign = s:gt(0) - s:lt(0)
  local ds = (v * G):sum(2) + g * sign
  local dv = s:reshape(N, 1) * G:reshape(1, M)
  --< todo
  return ds, dv
end

return {row_gradient = row_gradient}
