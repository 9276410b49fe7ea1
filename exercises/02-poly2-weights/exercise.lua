-- poly2-weights: finite features of a weighted square, in an order of their own.

-- Pairs by distance: (1, 2), (2, 3), .., then (1, 3), (2, 4), .., at last (1, D).
local function features(inputs)
  local x, w = inputs.x:totable(), inputs.w:totable()
  local N, D, f = #x, #w, {}
  local function append(row) f[#f + 1] = row end
  local function each(g)
    local row = {}
    for i = 1, N do row[i] = g(x[i]) end
    return row
  end
  append(each(function() return 1 end))
  for d = 1, D do append(each(function(t) return math.sqrt(2 * w[d]) * t[d] end)) end
  for d = 1, D do append(each(function(t) return w[d] * t[d] ^ 2 end)) end
  for apart = 1, D - 1 do
    for d = 1, D - apart do
      local e = d + apart
      append(each(function(t) return math.sqrt(2 * w[d] * w[e]) * t[d] * t[e] end))
    end
  end
  return {f = f}
end

-- The inner products of all features are the similarities they were made for.
local function squares(inputs, got)
  local x, w, f = inputs.x:totable(), inputs.w:totable(), got.f:totable()
  for i = 1, #x do
    for j = 1, #x do
      local dot, product = 1, 0
      for d = 1, #w do dot = dot + w[d] * x[i][d] * x[j][d] end
      for c = 1, #f do product = product + f[c][i] * f[c][j] end
      if not (math.abs(product - dot ^ 2) <= 1e-12 * (1 + dot ^ 2)) then
        return false, ("phi(x_%d).phi(x_%d) is %.9g, expected %.9g"):format(i, j, product, dot ^ 2)
      end
    end
  end
  return true
end

local tol = {k = 16, why = "a root and three products"}

return {
  title = "Finite features of a weighted square",
  chapter = 2,
  order = 2,
  language = "c",
  minutes = 30,
  points = 10,
  summary = "(1 + sum w q k)^2 as an inner product of (D + 1)(D + 2) / 2 features",
  equations = "eq 2.1",
  entry = "features",
  parameters = {
    {"size_t N"}, {"size_t D"}, {"const double *x", "N", "D"}, {"const double *w", "D"},
    {"double *f", "(D+1)*(D+2)/2", "N"},
  },
  hints = {
    "Write the square out for D = 2. Which products of entries of q stand beside the same "
      .. "products of entries of k, and how often?",
    "(1 + sum_d w_d q_d k_d)^2 = 1 + 2 sum w_d q_d k_d + sum w_d^2 q_d^2 k_d^2 + 2 sum_{d<e} w_d "
      .. "w_e q_d q_e k_d k_e. Each factor is shared equally by q and k: its root goes to either.",
    "for (apart = 1; apart < D; apart++) for (d = 0; d + apart < D; d++): the feature is "
      .. "sqrt(2 * w[d] * w[d + apart]) * x[d] * x[d + apart]. Token i of feature c lies at "
      .. "f[c * N + i].",
  },
  spec = features,
  cases = {
    {
      name = "one entry: 1, sqrt(2 w) x, w x^2", equation = "eq 2.1", points = 1, tol = tol,
      inputs = function(draw) return {x = draw.randn(3, 1), w = draw.rand(1)} end,
    },
    {
      name = "five entries, features in the order asked for",
      equation = "eq 2.1", points = 4, tol = tol,
      inputs = function(draw) return {x = draw.randn(4, 5), w = draw.rand(5) + 0.5} end,
      limit = {heap = 4096},
    },
    {
      name = "inner products are the squares", equation = "eq 2.1", points = 3, check = squares,
      inputs = function(draw) return {x = draw.randn(3, 4), w = draw.rand(4) + 0.5} end,
    },
    {
      name = "an entry of weight 0 has no features", equation = "eq 2.1", points = 2, tol = tol,
      inputs = function(draw)
        local w = draw.rand(4) + 0.5
        w[2] = 0
        return {x = draw.randn(3, 4), w = w}
      end,
    },
  },
  wrong = {
    {name = "no-root-of-2", fails = "inner products are the squares",
      because = "each pair occurs twice in the square, so its feature has the factor sqrt(2)",
      change = {{"= sqrt(2 * w[d] *", "= sqrt(w[d] *"}}},
    {name = "whole-weight", fails = "inner products are the squares",
      because = "both features have the whole weight, so the product has its square",
      change = {
        {[[
        for (size_t d = 0; d < D; d++) *(next += N) = sqrt(2 * w[d]) * x[d];
        for (size_t d = 0; d < D; d++) *(next += N) = w[d] * x[d] * x[d];]], [[
        for (size_t d = 0; d < D; d++) *(next += N) = sqrt(2) * w[d] * x[d];
        for (size_t d = 0; d < D; d++) *(next += N) = w[d] * w[d] * x[d] * x[d];]]},
        {"sqrt(2 * w[d] * w[d + apart])", "sqrt(2) * w[d] * w[d + apart]"},
      }},
    {name = "row-order", fails = "five entries, features in the order asked for",
      because = "the pairs are in the order of their first entry, not of their distance",
      change = {
        {[[
        for (size_t apart = 1; apart < D; apart++)
            for (size_t d = 0; d + apart < D; d++)]], [[
        for (size_t d = 0; d < D; d++)
            for (size_t apart = 1; d + apart < D; apart++)]]},
      }},
  },
  paste = {{region = "src/stages/phi.c:poly2", file = "paste/poly2.c"}},
}
