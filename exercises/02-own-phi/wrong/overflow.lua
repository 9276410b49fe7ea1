-- Grows too fast.
local function apply(x) return cat({(x * 20):exp(), (x * -20):exp()}, 2) end

local function grad(x, df)
  local D = x.shape[2]
  return ((x * 20):exp() * df[{{}, {1, D}}] - (x * -20):exp() * df[{{}, {D + 1, 2 * D}}]) * 20
end

return {
  rows = function(x)
    local second = math.min(2, x.shape[1])
    return apply(x), apply(x[{{second, second}}]:contiguous())
  end,
  slopes = function(x, t, h)
    local plus, minus = apply(x + t * h), apply(x - t * h)
    local d = randn(plus.shape, {seed = 5, dtype = "float64"})
    return plus, minus, d, grad(x, d)
  end,
}
