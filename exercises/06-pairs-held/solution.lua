-- How many pairs a state holds. Chapter 6, eq 6.1; about 8 lines.
--
-- f is a tensor [C, N]: column j has the features of key j. codes [R, M] is a list of R possible
-- values, of different lengths; names [N] are whole numbers, and key j holds the code number
-- names[j]. Write all N pairs into S and z, without eps, then read with each key's own features.
-- A read whose denominator is 0 gives zeros.
--
-- Return how many keys read something whose nearest code is their own, and the numbers of the
-- nearest codes, [N]. Nearest: the least distance, sum of (x - code)^2.

local function pairs_held(f, codes, names)
  --> todo
  --: local right, answers = 0, zeros(names.shape[1])
  local values = index(codes, 1, names)
  local num = f:t():mm(f:mm(values))
  local den = f:t():mm(f:sum(2, {keepdim = true}))
  local out = where(den:eq(0), 0, num / where(den:eq(0), 1, den))
  local score = 2 * out:mm(codes:t()) - (codes * codes):sum(2)
  local answers = score:argmax(2)
  local right = answers:eq(names):sum()
  --< todo
  return right, answers
end

return {pairs_held = pairs_held}
