-- The causal sum as a loop, with heads inside of tokens and the denominator kept from below.

-- out[i][h][m], straight from the double sum of eq 9: each query asks all keys up to its own.
local function spec(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local out = {}
  for i = 1, inputs.N do
    out[i] = {}
    for h = 1, inputs.H do
      local den, num = 0, {}
      for m = 1, inputs.M do num[m] = 0 end
      for j = 1, i do
        local weight = 0
        for c = 1, inputs.C do weight = weight + q[i][h][c] * k[j][h][c] end
        den = den + weight
        for m = 1, inputs.M do num[m] = num[m] + weight * v[j][h][m] end
      end
      den = math.max(den, inputs.least)
      for m = 1, inputs.M do num[m] = num[m] / den end
      out[i][h] = num
    end
  end
  return {out = out}
end

local function sizes(N, H, C, M)
  return function(draw, scale)
    local n = N * scale
    return {q = draw.rand(n, H, C), k = draw.rand(n, H, C), v = draw.randn(n, H, M), least = 1e-3}
  end
end

-- Keys that almost vanish: the denominator is below `least`.
local function faint(draw)
  return {q = draw.rand(5, 2, 3), k = draw.rand(5, 2, 3) * 1e-5, v = draw.randn(5, 2, 2),
    least = 1e-3}
end

return {
  title = "The causal sum as a loop", chapter = 4, order = 1, language = "c", minutes = 25,
  points = 10,
  summary = "causal linear attention in one pass over the tokens, heads inside of tokens",
  equations = "eqs 10 to 12",
  entry = "prefix_loop",
  parameters = {
    "size_t N", "size_t H", "size_t C", "size_t M",
    {"const float *q", "N", "H", "C"}, {"const float *k", "N", "H", "C"},
    {"const float *v", "N", "H", "M"}, {"float *out", "N", "H", "M"}, "float least",
  },
  spec = spec,
  tol = {k = 64, why = "sums of up to 64 positive terms in float32"},
  cases = {
    {name = "a single token is its own value", equation = "eq 12", points = 1,
      inputs = sizes(1, 1, 3, 2)},
    {name = "one head, tokens in order", equation = "eqs 10 to 12", points = 3,
      inputs = sizes(9, 1, 4, 3)},
    {name = "each head has a state of its own", equation = "eq 10", points = 3,
      inputs = sizes(7, 3, 4, 5)},
    {name = "a faint denominator is kept from below", equation = "eq 12", points = 1,
      inputs = faint},
    {name = "twice the tokens, twice the work", equation = "eqs 10 and 11", points = 2,
      inputs = sizes(32, 2, 4, 4), limit = {growth = 2.1, heap = 4096}},
  },
  hints = {
    "What does query i need of the tokens before it, and what did query i - 1 need of them?",
    "S_i = S_{i-1} + k_i v_i^T and z_i = z_{i-1} + k_i; out_i = q_i^T S_i / max(q_i^T z_i, least).",
    "for each head: clear S[C][M] and z[C]; for each i: add k[i][h][c] * v[i][h][m] to S[c][m] " ..
      "and k[i][h][c] to z[c], then read with q[i][h]. Element (i, h, c) is q[(i * H + h) * C + c].",
  },
  wrong = {
    {name = "read-first", fails = "a single token is its own value", says = "is 0",
      because = "the state is read before the token is in it",
      change = {
        {[[
                z[c] += k_i[c];
                den += q_i[c] * z[c];]], [[
                den += q_i[c] * z[c];
                z[c] += k_i[c];]]},
        {[[
                    S[c * M + m] += k_i[c] * v_i[m];
                    out_i[m] += q_i[c] * S[c * M + m];]], [[
                    out_i[m] += q_i[c] * S[c * M + m];
                    S[c * M + m] += k_i[c] * v_i[m];]]},
      }},
    {name = "one-state", fails = "each head has a state of its own", says = "out[",
      because = "all heads write into one state",
      change = {
        {"for (size_t h = 0; S && z && h < H; h++) {", "if (S && z) {"},
        {"for (size_t i = 0; i < N; i++) {",
         "for (size_t i = 0; i < N; i++) for (size_t h = 0; h < H; h++) {"},
      }},
    {file = "wrong/quadratic.c", fails = "twice the tokens, twice the work",
      says = "times the work", because = "each query asks all keys before it"},
  },
  paste = {{region = "src/stages/prefix.c:prefix_naive", file = "paste/prefix_naive.c"}},
}
