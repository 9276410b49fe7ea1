local function feature(x) return x > 0 and x + 1 or math.exp(x) end

local function times(W, x)
  local y = {}
  for r = 1, #W do
    y[r] = 0
    for c = 1, #x do y[r] = y[r] + W[r][c] * x[c] end
  end
  return y
end

-- Nothing is kept: for each new token, all tokens are looked at again, pair by pair (eq 9).
local function spec(x)
  local Wq, Wk, Wv, Wo = x.Wq:totable(), x.Wk:totable(), x.Wv:totable(), x.Wo:totable()
  local tokens, out = x.prompt:totable(), {}
  for t = 1, x.T do
    local q, num, den = times(Wq, tokens[#tokens]), {}, 0
    for m = 1, x.D do num[m] = 0 end
    for j = 1, #tokens do
      local k, v, similarity = times(Wk, tokens[j]), times(Wv, tokens[j]), 0
      for c = 1, x.D do similarity = similarity + feature(q[c]) * feature(k[c]) end
      den = den + similarity
      for m = 1, x.D do num[m] = num[m] + similarity * v[m] end
    end
    for m = 1, x.D do num[m] = num[m] / den end
    out[t] = times(Wo, num)
    tokens[#tokens + 1] = out[t]
  end
  return {out = out}
end

local function inputs(draw, P, T, D)
  local function matrix() return draw.randn(D, D) / math.sqrt(D) end
  return {P = P, T = T, D = D, prompt = draw.randn(P, D), Wq = matrix(), Wk = matrix(),
    Wv = matrix(), Wo = matrix() * 2}
end
local tol = {k = 2048, why = "each token is made of the one before it, with its errors"}

return {
  title = "Prefill, then decode", chapter = 5, order = 5, language = "c", minutes = 40, points = 10,
  capstone = true, summary = "a model that goes on with a sequence by itself, at the same cost for "
    .. "each token",
  equations = "eqs 16 to 20",
  entry = "generate",
  parameters = {
    {"size_t P"}, {"size_t T"}, {"size_t D"}, {"const float *prompt", "P", "D"},
    {"const float *Wq", "D", "D"}, {"const float *Wk", "D", "D"}, {"const float *Wv", "D", "D"},
    {"const float *Wo", "D", "D"}, {"float *out", "T", "D"},
  },
  hints = {
    "What of the prompt is still needed after it has been read, if one keeps s and z? And "
      .. "which output does the first new token come from?",
    "eqs 18 to 20: one step writes k and v of a token and reads with its q. The output of "
      .. "token P gives token P + 1, which is then stepped like any other. No token is stepped "
      .. "twice.",
    "for each prompt token: step(&cell, ..., prompt + i*D, a). Then T times: times(D, Wo, "
      .. "a, out + t*D), and step(&cell, ..., out + t*D, a) for the next one.",
  },
  spec = spec,
  cases = {
    {name = "one token more", equation = "eq 20", points = 3, tol = tol,
      inputs = function(draw) return inputs(draw, 7, 1, 6) end},
    {name = "five more, each made of the one before", equation = "eqs 18 to 20", points = 3,
      tol = tol, inputs = function(draw) return inputs(draw, 4, 5, 8) end},
    {name = "a prompt of a single token", equation = "eqs 16 and 17", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 1, 3, 4) end},
    {name = "twice the tokens, twice the loads, in 8 kB", equation = "eq 18", points = 3, tol = tol,
      inputs = function(draw, scale) return inputs(draw, 4, 40 * (scale or 1), 16) end,
      limit = {growth = 2.3, heap = 8192}},
  },
  wrong = {
    {name = "last-twice", fails = "one token more",
      because = "the last token of the prompt is stepped again before the first new token is made",
      change = {
        {[[
    for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);]], [[
    for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);
    const float *last = prompt + (P - 1) * D;]]},
        {[[
    for (size_t t = 0; t < T; t++) {]], [[
    for (size_t t = 0; t < T; t++) {
        step(&cell, D, Wq, Wk, Wv, last, a);]]},
        {"if (t + 1 < T) step(&cell, D, Wq, Wk, Wv, out + t * D, a);", "last = out + t * D;"},
      }},
    {name = "all-again", fails = "twice the tokens, twice the loads, in 8 kB",
      because = "a fresh cell reads the whole sequence for each new token: right, and quadratic",
      change = {
        {"for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);", ""},
        {[[
        times(D, Wo, a, out + t * D);
        if (t + 1 < T) step(&cell, D, Wq, Wk, Wv, out + t * D, a);]], [[
        cell = (struct cell){0};
        for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);
        for (size_t i = 0; i < t; i++) step(&cell, D, Wq, Wk, Wv, out + i * D, a);
        times(D, Wo, a, out + t * D);]]},
      }},
  },
}
