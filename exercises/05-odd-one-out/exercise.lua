local function feature(x) return x > 0 and x + 1 or math.exp(x) end

-- Eq 9, pair by pair, in double.
local function spec(x)
  local q, k, v, out = x.q:totable(), x.k:totable(), x.v:totable(), {}
  for i = 1, #q do
    local num, den = {}, 0
    for j = 1, i do
      local similarity = 0
      for c = 1, #q[i] do similarity = similarity + feature(q[i][c]) * feature(k[j][c]) end
      den = den + similarity
      for m = 1, #v[j] do num[m] = (num[m] or 0) + similarity * v[j][m] end
    end
    out[i] = {}
    for m = 1, #v[i] do out[i][m] = num[m] / den end
  end
  return {out = out}
end

local function inputs(draw, N, D, M)
  return {q = draw.randn(N, D), k = draw.randn(N, D), v = draw.randn(N, M)}
end
local function is(name, right, why)
  return function(_, got)
    if got[name] == right then return true end
    return false, why
  end
end
local function is_odd(_, got)
  if not ({pairs = true, sums = true, cell = true})[got.name] then
    return false, 'the answer is "pairs", "sums" or "cell"'
  end
  return is("name", "sums", "the other two differ by rounding only; compare each with each")(_, got)
end
local tol = {k = 256, why = "sums of up to 70 D terms"}
local repaired = {"q", "k", "v"}

return {
  title = "The odd one out", chapter = 5, order = 2, language = "lua", minutes = 25, points = 10,
  summary = "three forms, two of them one function: which is another model, and why",
  equations = "eqs 8 to 20",
  results = {"out"},
  without = {"prefix", "sim", "assoc", "rnn", "kv", "mm"}, -- two forms of the file work no more
  predict = {
    {ask = "Before you compare: causal attention without eps, all values 1. What are the outputs?",
      answer = "1 in every row: an average of ones. It is the quickest test there is."},
  },
  hints = {
    "Let v be ones(6, 1). What should come out? Which form says something else, and in "
      .. "which rows?",
    "eqs 10 and 11: both sums of token i end at i. Write down, for each form, over which "
      .. "tokens its numerator and its denominator are summed.",
    "z must be K:cumsum(1), row i the sum of the first i keys; then num / (Q * z):sum(2, "
      .. "{keepdim = true}).",
  },
  spec = spec,
  cases = {
    {name = "which one", points = 2, entry = "odd", parameters = {}, results = {"name"},
      inputs = function() return {} end, check = is_odd},
    {name = "why", points = 3, entry = "reason", parameters = {}, results = {"number"},
      inputs = function() return {} end,
      check = is("number", 3, "change the last key alone, and look at the first row of each form")},
    {name = "repaired, for six tokens", equation = "eq 12", points = 3, entry = "repaired",
      parameters = repaired, tol = tol, inputs = function(draw) return inputs(draw, 6, 3, 2) end},
    {name = "repaired, for seventy", equation = "eq 12", points = 2, entry = "repaired",
      parameters = repaired, tol = tol, inputs = function(draw) return inputs(draw, 70, 5, 4) end},
  },
  wrong = {
    {name = "cell", fails = "which one",
      because = "a guess: the cell is the one that looks unlike the others",
      change = {
        {"return \"sums\"", "return \"cell\""},
        {"return 3", "return 2"},
      }},
    {name = "another-form", fails = "repaired, for six tokens", says = "mm",
      because = "one of the other forms is returned, and the third is as wrong as before",
      change = {
        {[[
  local Q, K = phi.elu1(q), phi.elu1(k)
  local S = (K:unsqueeze(3) * v:unsqueeze(2)):cumsum(1)
  local num = (Q:unsqueeze(3) * S):sum(2)
  return num / (Q * K:cumsum(1)):sum(2, {keepdim = true})]],
         "  return forms.pairs(q, k, v)"},
      }},
    {name = "last-z", fails = "repaired, for six tokens", says = "out[1, 1]",
      because = "it is the form as it was: z is that of all tokens",
      change = {{"(Q * K:cumsum(1))", "(Q * K:sum(1, {keepdim = true}))"}}},
    {name = "scaled", fails = "repaired, for six tokens",
      because = "the outputs are scaled so that the first row is right, and the others are not",
      change = {
        {[[
  return num / (Q * K:cumsum(1)):sum(2, {keepdim = true})]], [[
  local out = num / (Q * K:sum(1, {keepdim = true})):sum(2, {keepdim = true})
  return out * (v[1] / out[1])]]},
      }},
  },
}
