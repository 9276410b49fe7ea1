-- Divides by nothing.

local function pairs_held(f, codes, names)
  local values = index(codes, 1, names)
  local num = f:t():mm(f:mm(values))
  local out = num
  local score = 2 * out:mm(codes:t()) - (codes * codes):sum(2)
  local answers = score:argmax(2)
  local right = answers:eq(names):sum()
  return right, answers
end

return {pairs_held = pairs_held}
