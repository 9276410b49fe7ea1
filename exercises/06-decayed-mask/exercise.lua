-- The mask of a decayed state, as a recurrence; features in rows, tokens in columns.

-- The mask entry by entry: L_ij is the product of the decays of the tokens j + 1 .. i.
local function spec(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local decay, out = inputs.decay:totable(), {}
  for i = 1, inputs.N do
    out[i] = {}
    for m = 1, inputs.M do out[i][m] = 0 end
    local mask = 1
    for j = i, 1, -1 do
      local weight = 0
      for c = 1, inputs.C do weight = weight + q[c][i] * k[c][j] end
      for m = 1, inputs.M do out[i][m] = out[i][m] + mask * weight * v[j][m] end
      mask = mask * decay[j]
    end
  end
  return {out = out}
end

local function drawn(N, C, M, decays)
  return function(draw, scale)
    local n = N * scale
    return {q = draw.rand(C, n), k = draw.rand(C, n), v = draw.randn(n, M),
      decay = decays(draw, n)}
  end
end

local function ones_of(_, n) return ones(n) end
local function some(draw, n) return 0.5 + draw.rand(n) / 2 end

-- A decay of 0 in the middle: what was before is forgotten.
local function with_zero(draw, n)
  local decay = some(draw, n)
  decay[n // 2] = 0
  return decay
end

-- exp(-5) at each of 128 tokens, features and values 1: the sum tends to 1 / (1 - exp(-5)).
local function strong()
  return {q = ones(1, 128), k = ones(1, 128), v = ones(128, 1),
    decay = full({128}, math.exp(-5))}
end

return {
  title = "The mask of a decayed state", chapter = 6, order = 3, language = "c", minutes = 30,
  points = 10,
  summary = "a mask whose entries are products of decays, applied in one pass",
  equations = "eqs 10, 12 and a decay",
  entry = "decayed",
  parameters = {
    "size_t N", "size_t C", "size_t M",
    {"const float *q", "C", "N"}, {"const float *k", "C", "N"}, {"const float *v", "N", "M"},
    {"const float *decay", "N"}, {"float *out", "N", "M"},
  },
  spec = spec,
  tol = {k = 200, why = "sums of up to 128 terms in float32"},
  cases = {
    {name = "no decay: the causal sum", equation = "eq 10", points = 2,
      inputs = drawn(9, 4, 3, ones_of)},
    {name = "each token has its decay", equation = "the mask", points = 3,
      inputs = drawn(12, 3, 4, some)},
    {name = "a decay of 0 forgets what was before", equation = "the mask", points = 2,
      inputs = drawn(10, 3, 2, with_zero)},
    {name = "exp(-5) over 128 tokens", equation = "the mask", points = 1, inputs = strong},
    {name = "twice the tokens, twice the work", equation = "eq 10", points = 2,
      inputs = drawn(256, 4, 4, some), limit = {growth = 2.1, heap = 512, stack = 2000}},
  },
  predict = {
    {
      ask = "All decays are 1/2, features and values 1, no denominator. What does the output "
        .. "tend to for large i?",
      answer = "2: 1 + 1/2 + 1/4 + ...",
    },
    {
      ask = "Which decays of the tokens 1 to 4 does the entry L_42 of the mask contain?",
      answer = "Those of the tokens 3 and 4: token 2 was written after its own decay.",
    },
  },
  hints = {
    "Row i of the mask is row i - 1 times decay_i, and a 1 on the diagonal. What does that "
      .. "say about the sum of row i and that of row i - 1?",
    "S_i = decay_i S_{i-1} + k_i v_i^T, out_i = q_i^T S_i. First the decay, then the token.",
    "for each i: clear row i of out; for c, m: S[c * M + m] = decay[i] * S[c * M + m] "
      .. "+ k[c * N + i] * v[i * M + m]; out[i * M + m] += q[c * N + i] * S[c * M + m].",
  },
  wrong = {
    {name = "token-decays-too", fails = "each token has its decay", says = "out[",
      because = "the token is written before its own decay",
      change = {
        {"decay[i] * S[c * M + m] + k[c * N + i] * v[i * M + m];",
         "decay[i] * (S[c * M + m] + k[c * N + i] * v[i * M + m]);"},
      }},
    {name = "quotients", fails = "a decay of 0 forgets what was before",
      because = "the mask is made of quotients of running products, which underflow",
      change = {
        {"float *S = calloc(C * M, sizeof *S);",
         "float *S = calloc(C * M, sizeof *S), product = 1;"},
        {[[
    for (size_t i = 0; S && i < N; i++) {]], [[
    for (size_t i = 0; S && i < N; i++) {
        product *= decay[i];]]},
        {[[
                S[c * M + m] = decay[i] * S[c * M + m] + k[c * N + i] * v[i * M + m];
                out[i * M + m] += q[c * N + i] * S[c * M + m];]], [[
                S[c * M + m] += k[c * N + i] / product * v[i * M + m];
                out[i * M + m] += q[c * N + i] * product * S[c * M + m];]]},
      }},
    {name = "a-state-a-token", fails = "twice the tokens, twice the work", says = "bytes",
      because = "it takes memory for the states of all tokens",
      change = {{"calloc(C * M, sizeof *S);", "calloc(N * C * M, sizeof *S);"}}},
    {name = "an-array-of-states", fails = "twice the tokens, twice the work", says = "bytes",
      because = "it takes that memory as a local array",
      change = {
        {"float *S = calloc(C * M, sizeof *S);", [[
float states[N + 1][C * M];
    for (size_t e = 0; e < C * M; e++) states[0][e] = 0;]]},
        {"for (size_t i = 0; S && i < N; i++) {", [[
for (size_t i = 0; i < N; i++) {
        const float *before = states[i];
        float *S = states[i + 1];]]},
        {"decay[i] * S[c * M + m] +", "decay[i] * before[c * M + m] +"},
        {"free(S);", ""},
      }},
    {file = "wrong/quadratic.c", fails = "twice the tokens, twice the work", says = "times "
      .. "the work",
      because = "each query asks all keys before it"},
  },
  paste = {{region = "src/stages/prefix.c:prefix_naive", file = "paste/prefix_naive.c"}},
}
