-- The odd one out. Chapters 4 and 5, eqs 8 to 20.
--
-- Three ways to compute causal attention with the features of elu1, without eps, for q, k [N, D]
-- and v [N, M]. Two of them are one and the same function. The third is another model, although
-- its outputs look like averages as well. Find out which one it is, and why; then repair it.
--
-- Load this file at the prompt with `forms = dofile("05-odd-one-out.lua").forms` and compare them:
-- rows, extremes, what a changed token does to the others.

local forms, answer = {}, {}

-- Pair by pair, with the mask of a triangle.
function forms.pairs(q, k, v)
  local i = range(1, #q)
  local mask = i:unsqueeze(2):ge(i:unsqueeze(1)):to(q.dtype)
  local weights = phi.elu1(q):mm(phi.elu1(k):t()) * mask
  return weights:mm(v) / weights:sum(2, {keepdim = true})
end

-- Prefix sums, all at once: S [N, C, M] and z [N, C].
function forms.sums(q, k, v)
  local Q, K = phi.elu1(q), phi.elu1(k)
  local S = (K:unsqueeze(3) * v:unsqueeze(2)):cumsum(1)
  local z = K:sum(1, {keepdim = true}):expand(K.shape)
  local num = (Q:unsqueeze(3) * S):sum(2)
  return num / (Q * z):sum(2, {keepdim = true})
end

-- A cell, token by token.
function forms.cell(q, k, v)
  local st = rnn {D = q.shape[2], M = v.shape[2], eps = 0, dtype = q.dtype}
  local out = zeros(v.shape, {dtype = v.dtype})
  for i = 1, #q do out[i] = st:step(q[i], k[i], v[i]) end
  return out
end

-- The name of the odd one: "pairs", "sums" or "cell".
function answer.odd()
  --> todo
  --: return ""
  return "sums"
  --< todo
end

-- The number of the reason:
--   1  its features are not those of the others
--   2  a token does not see itself
--   3  it knows tokens that come later
--   4  it rounds more than the others
--   5  it knows nothing of the first token
function answer.reason()
  --> todo
  --: return 0
  return 3
  --< todo
end

-- The odd one, repaired: a function that gives what the two others give. When it is checked, mm,
-- prefix and rnn are not there: what is wanted is this form, and not one of the others.
function answer.repaired(q, k, v)
  --> todo
  --: return zeros(v.shape)
  local Q, K = phi.elu1(q), phi.elu1(k)
  local S = (K:unsqueeze(3) * v:unsqueeze(2)):cumsum(1)
  local num = (Q:unsqueeze(3) * S):sum(2)
  return num / (Q * K:cumsum(1)):sum(2, {keepdim = true})
  --< todo
end

answer.forms = forms
return answer
