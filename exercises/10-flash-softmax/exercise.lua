-- Softmax in one pass over a cache of keys in pages, with a sink.

-- The weights as they are defined, the largest score taken off, all of a query's at once.
local function spec(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local page, sink = inputs.page:totable(), inputs.sink:totable()
  local out = {}
  for i, q_i in ipairs(q) do
    local scores, largest = {}, sink[i]
    for n = 1, inputs.N do
      local at, row = page[(n - 1) // inputs.L + 1] + 1, (n - 1) % inputs.L + 1
      local score = 0
      for d, x in ipairs(q_i) do score = score + x * k[at][row][d] end
      scores[n], largest = score, math.max(largest, score)
    end
    local den, num = math.exp(sink[i] - largest), {}
    for m = 1, inputs.M do num[m] = 0 end
    for n, score in ipairs(scores) do
      local at, row = page[(n - 1) // inputs.L + 1] + 1, (n - 1) % inputs.L + 1
      local weight = math.exp(score - largest)
      den = den + weight
      for m = 1, inputs.M do num[m] = num[m] + weight * v[at][row][m] end
    end
    for m = 1, inputs.M do num[m] = num[m] / den end
    out[i] = num
  end
  return {out = out}
end

-- N keys in as many pages of L as they need, which lie in any order among `pages` of them.
local function cache(R, N, D, M, L, pages, size, sink)
  return function(draw)
    local order, used = draw.permutation(pages), (N + L - 1) // L
    local page = {}
    for n = 1, used do page[n] = order[n] - 1 end
    return {N = N, L = L, q = draw.randn(R, D) * size, k = draw.randn(pages, L, D),
      v = draw.randn(pages, L, M), page = tensor(page), sink = sink or draw.randn(R)}
  end
end

-- All scores and sinks far below zero: exp of any of them is 0 in float32.
local function all_small(draw)
  local x = cache(2, 30, 4, 3, 4, 9, 1, tensor{-300, -1e30})(draw)
  x.q, x.k = x.q:abs() + 1, (x.k:abs() + 1) * -40
  return x
end

-- What one pass reads: q and k for each score, v, and the sums, with a fifth to spare.
local function loads(i)
  return i.R * i.N * (2 * i.D + 2 * i.M + 2) * 6 // 5
end

return {
  title = "Softmax from a paged cache", chapter = 10, order = 1, language = "c", minutes = 60,
  points = 14,
  summary = "online softmax over a paged cache: no row of scores, scores of any size",
  equations = "eq 10.3",
  entry = "attend",
  parameters = {
    "size_t R", "size_t N", "size_t D", "size_t M", "size_t L", {"const float *q", "R", "D"},
    {"const float *k", "G", "L", "D"}, {"const float *v", "G", "L", "M"},
    {"const int *page", "U"}, {"const float *sink", "R"}, {"float *out", "R", "M"},
  },
  spec = spec,
  tol = {k = 256, why = "exp of sums of products, and sums over up to 800 keys, in float32"},
  cases = {
    {name = "one key, one sink", equation = "eq 10.3", points = 1,
      inputs = cache(2, 1, 4, 3, 2, 3, 1)},
    {name = "keys of one page", equation = "eq 10.3", points = 2,
      inputs = cache(3, 6, 4, 5, 8, 2, 0.5)},
    {name = "pages in any order, the last one not full", equation = "eq 10.3", points = 3,
      inputs = cache(3, 21, 4, 3, 4, 9, 0.5)},
    {name = "scores beyond what exp can take", equation = "eq 10.3", points = 2,
      inputs = cache(2, 30, 4, 3, 4, 9, 50),
      tol = {k = 2048, why = "exp of scores of some hundreds, which are off by 1e-5 themselves"}},
    {name = "scores so small that exp is 0", equation = "eq 10.3", points = 1, inputs = all_small,
      tol = {k = 2048, why = "scores of some hundreds, as above"}},
    {name = "a sink far below all scores", equation = "eq 10.3", points = 1,
      inputs = cache(2, 13, 4, 3, 4, 5, 1, tensor{-1e30, -200})},
    {name = "one pass, and memory that does not grow", equation = "eq 10.3", points = 4,
      inputs = cache(3, 800, 24, 4, 8, 110, 0.5),
      limit = {loads = loads, heap = 512, stack = 1500}},
  },
  hints = {
    "You know the largest score only at the end. What can you do to the sums so far when a " ..
      "larger one turns up?",
    "eq 10.3: m' = max(m, s); sums so far times exp(m - m'), the new term exp(s - m'). " ..
      "Begin with m = sink, den = 1: the sink is a key whose value is 0.",
    "for each query: m = sink[i], den = 1, out = 0. For each key n: row = page[n / L] * L + " ..
      "n % L; if (s > m) { f = expf(m - s); den *= f; out[] *= f; m = s; } w = expf(s - m); " ..
      "den += w; out[] += w v[]. At the end out[] /= den.",
  },
  wrong = {
    {name = "no-max", fails = "scores beyond what exp can take",
      because = "exp is taken of the scores themselves",
      change = {
        {"max = sink[i], den = 1;", "den = expf(sink[i]);"},
        {[[
            if (score > max) {
                const float factor = expf(max - score);
                for (size_t m = 0; m < M; m++) o[m] *= factor;
                den *= factor;
                max = score;
            }
            const float weight = expf(score - max);]], [[
            const float weight = expf(score);]]},
      }},
    {name = "from-zero", fails = "scores so small that exp is 0", says = "nan",
      because = "the largest score so far begins at 0, which no score may reach",
      change = {{"max = sink[i], den = 1;", "max = 0, den = expf(sink[i]);"}}},
    {name = "no-rescale", fails = "keys of one page",
      because = "the largest score changes and the sums so far stay as they are",
      change = {
        {[[
                const float factor = expf(max - score);
                for (size_t m = 0; m < M; m++) o[m] *= factor;
                den *= factor;]], ""},
      }},
    {file = "wrong/two-passes.c", fails = "one pass, and memory that does not grow",
      says = "floats read",
      because = "the largest score is looked for first, so keys are read twice"},
    {file = "wrong/keeps-scores.c", fails = "one pass, and memory that does not grow",
      says = "bytes of memory", because = "a row of N scores is kept"},
    {name = "keeps-them-locally", fails = "one pass, and memory that does not grow",
      says = "local variables", because = "a score of each key is kept, in a long local array",
      change = {
        {"den = 1;", "den = 1;\n        volatile float kept[N];"},
        {"expf(score - max);", "expf((kept[n] = score) - max);"},
      }},
    {name = "keeps-them-for-good", fails = "one pass, and memory that does not grow",
      says = "bytes of memory", because = "a score of each key is kept, in a static array",
      change = {
        {"den = 1;", "den = 1;\n        static volatile float kept[4096];"},
        {"expf(score - max);", "expf((kept[n] = score) - max);"},
      }},
    {name = "in-order", fails = "pages in any order, the last one not full",
      because = "pages are read as they lie, not as `page` says",
      change = {
        {[[
            const size_t row = (size_t)page[n / L] * L + n % L;]], [[
            const size_t row = n;
            (void)page, (void)L;]]},
      }},
  },
  paste = {{region = "src/stages/sim.c:sim_row", file = "paste/sim_row.c"}},
}
