-- Stop in the middle. Chapter 5, eqs 16 to 20.
--
-- A whole layer with two heads: projections, attention, residual, and f, a small network.
--
--     A(x) = attention of x WQ, x WK, x WV, head by head      y = f(A(x) + x)
--     f(u) = u + relu(u W1) W2                                 x [N, D], y [N, D]
--
-- Features are softplus, eps is 0. Each head has the widths C = M = D / 2. The layer reads its
-- sequence in two parts, in two programs. All that goes from the first to the second is a tensor
-- `state` of 2 (C M + C) numbers: first head 1, then head 2; of each head first z, then the
-- columns of S, one after the other.

local HEADS = 2
local answer = {}

-- [N, D] to [HEADS, N, D / HEADS], and back.
local function split(t)
  return t:reshape(#t, HEADS, -1):permute(2, 1, 3):contiguous()
end
local function join(t)
  return t:permute(2, 1, 3):reshape(t.shape[2], -1)
end

local function f(u, W1, W2) return u + u:mm(W1):relu():mm(W2) end

-- The first program: x [N, D] -> y [N, D], state.
function answer.first(x, WQ, WK, WV, W1, W2)
  --> todo
  --: local q, k, v = split(x:mm(WQ)), split(x:mm(WK)), split(x:mm(WV))
  --: local out = prefix(q, k, v, {phi = "softplus", eps = 0})
  --: return f(join(out) + x, W1, W2), nil
  local q, k, v = split(x:mm(WQ)), split(x:mm(WK)), split(x:mm(WV))
  local out, st = prefix(q, k, v, {phi = "softplus", eps = 0, final = true})
  local parts = {}
  for h = 1, HEADS do
    parts[2 * h - 1] = st.z[h]
    parts[2 * h] = st.S[h]:t():reshape(-1)
  end
  return f(join(out) + x, W1, W2), cat(parts, 1)
  --< todo
end

-- The second program: the rest of the sequence, and the state that the first one left.
function answer.rest(state, x, WQ, WK, WV, W1, W2)
  --> todo
  --: local q, k, v = split(x:mm(WQ)), split(x:mm(WK)), split(x:mm(WV))
  --: return nil -- f(join(out) + x, W1, W2), once there is an out
  local q, k, v = split(x:mm(WQ)), split(x:mm(WK)), split(x:mm(WV))
  local C = q.shape[3]
  local rows = state:reshape(HEADS, C + 1, C) -- z, then M = C columns
  local past = {z = rows[{{}, 1}], S = rows[{{}, {2, C + 1}}]:transpose(2, 3)}
  local out = prefix(q, k, v, {phi = "softplus", eps = 0, state = past})
  return f(join(out) + x, W1, W2)
  --< todo
end

return answer
