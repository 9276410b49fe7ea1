-- Find the bug: sums of blocks of tokens, whose last block is read past the end.

local function spec(inputs)
  local k, v = inputs.k:totable(), inputs.v:totable()
  local S, z = {}, {}
  for b = 1, inputs.B do
    S[b], z[b] = {}, {}
    for m = 1, inputs.M do
      S[b][m] = {}
      for c = 1, inputs.C do S[b][m][c] = 0 end
    end
    for c = 1, inputs.C do z[b][c] = 0 end
  end
  for i = 1, inputs.N do
    local b = (i - 1) // inputs.L + 1
    for c = 1, inputs.C do
      z[b][c] = z[b][c] + k[c][i]
      for m = 1, inputs.M do S[b][m][c] = S[b][m][c] + k[c][i] * v[i][m] end
    end
  end
  return {S = S, z = z}
end

local function drawn(N, C, M, L)
  return function(draw)
    return {k = draw.rand(C, N), v = draw.randn(N, M), L = L, B = (N + L - 1) // L}
  end
end

return {
  title = "Find the bug: past the end", chapter = 8, order = 4, language = "c", minutes = 15,
  points = 8,
  summary = "partial sums of blocks, of which the last one is not full",
  equations = "eqs 10, 11",
  entry = "block_sums",
  parameters = {
    "size_t N", "size_t C", "size_t M", "size_t L", "size_t B",
    {"const float *k", "C", "N"}, {"const float *v", "N", "M"},
    {"float *S", "B", "M", "C"}, {"float *z", "B", "C"},
  },
  spec = spec,
  tol = {k = 64, why = "sums of up to 64 terms in float32"},
  cases = {
    {name = "full blocks", equation = "eq 10", points = 1, inputs = drawn(12, 3, 2, 4)},
    {name = "one token more than full blocks", equation = "eq 10", points = 2,
      inputs = drawn(13, 3, 2, 4)},
    {name = "one token less than full blocks", equation = "eq 10", points = 2,
      inputs = drawn(63, 2, 3, 16)},
    {name = "fewer tokens than a block", equation = "eq 10", points = 1,
      inputs = drawn(5, 2, 2, 64)},
    {name = "130 tokens in blocks of 64", equation = "eq 10", points = 2,
      inputs = drawn(130, 2, 3, 64)},
  },
  predict = {
    {
      ask = "k is stored with one row for each feature: k[c * N + i]. In the last block the "
        .. "code reads k for a token i = N. "
        .. "Whose number does it get, for c = 0, and why does no program crash there?",
      answer = "That of feature 1 of token 0: it is the next number in memory, and a good "
        .. "one. Only for the last "
        .. "feature, and for v, it reads memory that is not its own.",
    },
  },
  hints = {
    "The lengths that work are multiples of L. Which tokens does the last block read otherwise?",
    "Block b has the tokens b L .. min((b + 1) L, N) - 1.",
    "size_t end = N - start < L ? N : start + L; and then i < end.",
  },
  wrong = {
    {name = "drops-tail", fails = "one token more than full blocks", says = "[4,",
      because = "a block that is not full is left out",
      change = {
        {"end = N - start < L ? N : start + L;", "end = start + L;"},
        {"for (size_t i = start; i < end; i++)",
         "for (size_t i = start; end <= N && i < end; i++)"},
      }},
    {name = "last-again", fails = "one token less than full blocks", says = "[4,",
      because = "the last token is counted again until the block is full",
      change = {
        {"end = N - start < L ? N : start + L;", "end = start + L;"},
        {[[
        for (size_t i = start; i < end; i++)
            for (size_t c = 0; c < C; c++) {]], [[
        for (size_t j = start; j < end; j++)
            for (size_t c = 0; c < C; c++) {
                const size_t i = j < N ? j : N - 1;]]},
      }},
  },
}
