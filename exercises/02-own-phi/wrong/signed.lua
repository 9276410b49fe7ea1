-- Features of both signs.
local function apply(x) return x * 2 end

local function grad(_, df) return df * 2 end

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
