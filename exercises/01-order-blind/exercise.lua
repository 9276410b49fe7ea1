-- order-blind: shuffle the tokens, put the outputs back; then places that make order visible.

local function softmax_attention(x)
  local out = {}
  for i, q in ipairs(x) do
    local scores, largest, den = {}, -math.huge, 0
    for j, k in ipairs(x) do
      local dot = 0
      for c, value in ipairs(q) do dot = dot + value * k[c] end
      scores[j] = dot / math.sqrt(#q)
      largest = math.max(largest, scores[j])
    end
    out[i] = {}
    for c = 1, #q do out[i][c] = 0 end
    for j, k in ipairs(x) do
      local w = math.exp(scores[j] - largest)
      den = den + w
      for c = 1, #q do out[i][c] = out[i][c] + w * k[c] end
    end
    for c = 1, #q do out[i][c] = out[i][c] / den end
  end
  return out
end

local function place(i, c, D)
  local angle = i / 100 ^ (2 * ((c - 1) // 2) / D)
  return c % 2 == 1 and math.sin(angle) or math.cos(angle)
end

local function with_places(x)
  local out = {}
  for i, row in ipairs(x) do
    out[i] = {}
    for c, value in ipairs(row) do out[i][c] = value + place(i, c, #row) end
  end
  return out
end

local function shuffled(x, order)
  local out = {}
  for n, from in ipairs(order) do out[n] = x[from] end
  return out
end

local function put_back(x, order)
  local out = {}
  for n, from in ipairs(order) do out[from] = x[n] end
  return out
end

local function tokens(draw, order, D)
  return {x = draw.randn(#order, D):to("float64"), order = order}
end

local tol = {k = 256, dtype = "float64", why = "the sums of the shuffled layer have another order"}
local both = {"x", "order"}

return {
  title = "Blind to order",
  chapter = 1,
  order = 3,
  language = "lua",
  minutes = 25,
  points = 10,
  summary = "what a shuffle of the tokens does to attention, and the places that cure it",
  equations = "eq 3",
  predict = {
    {
      ask = "Attention without mask and without places. Tokens 1 and 2 of four change places. "
        .. "Whose output is another vector than before: that of token 1, 2, 3, 4?",
      answer = "Nobody's. Outputs 1 and 2 change places along with their tokens, unchanged.",
    },
    {
      ask = "The same with a causal mask, the tokens still named by their old numbers. Whose "
        .. "output is another vector than before?",
      answer = "Those of tokens 1 and 2: token 2 is alone now, and token 1 sees both. Tokens 3 "
        .. "and 4 see the same sets of tokens as before.",
    },
  },
  hints = {
    "order says where each row of the shuffled tokens came from. To put outputs back you need "
      .. "to know where each row went.",
    "Row n of the shuffled tokens is row order[n] of x, so output n belongs at place order[n]. "
      .. "Place i has the angle i / 100^((c - 1) / D) for c = 1, 3, 5, ..: its sine at c, its "
      .. "cosine at c + 1.",
    "out = t * 0; for n, from in ipairs(order) do out[from] = t[n] end. For places: two loops, "
      .. "for i = 1, N and for c = 1, D, 2, writing p[{i, c}] and p[{i, c + 1}].",
  },
  cases = {
    {
      name = "each output goes back to where its token came from",
      entry = "put_back", parameters = {"t", "order"}, results = {"out"}, points = 2,
      inputs = function(draw) return {t = draw.randn(4, 2), order = {2, 3, 4, 1}} end,
      spec = function(inputs) return {out = put_back(inputs.t:totable(), inputs.order)} end,
    },
    {
      name = "attention of shuffled tokens, put back, is attention",
      entry = "bare", parameters = both, results = {"out"}, points = 2, tol = tol,
      inputs = function(draw) return tokens(draw, {5, 3, 1, 2, 4}, 4) end,
      spec = function(inputs) return {out = softmax_attention(inputs.x:totable())} end,
    },
    {
      name = "places are sines and cosines",
      entry = "places", parameters = {"N", "D"}, results = {"p"}, points = 3,
      inputs = function() return {N = 7, D = 6} end,
      spec = function(inputs)
        return {p = with_places(zeros(inputs.N, inputs.D):totable())}
      end,
      tol = {k = 64, why = "a power, a quotient and a sine"},
    },
    {
      name = "with places the shuffle shows",
      entry = "placed", parameters = both, results = {"out"}, points = 3, tol = tol,
      inputs = function(draw) return tokens(draw, {5, 3, 1, 2, 4, 6}, 4) end,
      spec = function(inputs)
        local x = with_places(shuffled(inputs.x:totable(), inputs.order))
        return {out = put_back(softmax_attention(x), inputs.order)}
      end,
    },
  },
  wrong = {
    {name = "shuffles-again", fails = "each output goes back to where its token came from",
      because = "the order is applied a second time, where it has to be undone",
      change = {
        {[[
  local out = t * 0
  for n, from in ipairs(order) do out[from] = t[n] end
  return out]], [[
  return index(t, 1, order)]]},
      }},
    {name = "one-frequency", fails = "places are sines and cosines",
      because = "all columns have the angle i: every pair of columns says the same",
      change = {{"local angle = i / 100 ^ ((c - 1) / D)", "local angle = i"}}},
    {name = "places-travel", fails = "with places the shuffle shows",
      because = "the places are added before the shuffle and travel with the tokens",
      change = {
        {[[
  local shuffled = index(x, 1, order)
  return put_back(layer(shuffled + places(#x, x.shape[2])), order)]], [[
  local shuffled = index(x + places(#x, x.shape[2]), 1, order)
  return put_back(layer(shuffled), order)]]},
      }},
  },
}
