local function feature(x) return x > 0 and x + 1 or math.exp(x) end

-- The equations, head by head, over tables.
local function spec(x)
  local q, k, v, before = x.q:totable(), x.k:totable(), x.v:totable(), x.state:totable()
  local state, out = {}, {}
  for h = 1, x.H do
    state[h], out[h] = {}, {}
    for row = 1, x.M + 1 do
      state[h][row] = {}
      for c = 1, x.C do
        local value = row <= x.M and v[h][row] or 1
        state[h][row][c] = before[h][row][c] + feature(k[h][c]) * value
      end
    end
    local den = 0
    for c = 1, x.C do den = den + feature(q[h][c]) * state[h][x.M + 1][c] end
    for m = 1, x.M do
      local num = 0
      for c = 1, x.C do num = num + feature(q[h][c]) * state[h][m][c] end
      out[h][m] = num / math.max(den, x.least)
    end
  end
  return {state = state, out = out}
end

local function inputs(draw, H, C, M, state)
  return {H = H, C = C, M = M, least = 1e-6, q = draw.randn(H, C), k = draw.randn(H, C),
    v = draw.randn(H, M), state = state or draw.rand(H, M + 1, C) + 0.1}
end
local tol = {k = 64, why = "sums of C terms, and expf within a few roundings"}

return {
  title = "One token", chapter = 5, order = 1, language = "c", minutes = 25, points = 10,
  summary = "the step of a cell: write, then read, in another layout of the state",
  equations = "eqs 18 to 20",
  entry = "step",
  parameters = {
    {"size_t H"}, {"size_t C"}, {"size_t M"}, {"const float *q", "H", "C"},
    {"const float *k", "H", "C"}, {"const float *v", "H", "M"}, {"float least"},
    {"float *state", "H", "M + 1", "C"}, {"float *out", "H", "M"},
  },
  predict = {
    {ask = "How many numbers has the state of 8 heads with C = M = 64, after 1 token and after "
        .. "1000?",
      answer = "8 * 64 * 65 = 33,280, both times"},
  },
  hints = {
    "What should the output be after the very first token, when the state was all zeros "
      .. "before it? If you get 0 or NaN, think about the order of writing and reading.",
    "eqs 18 and 19 come first, for all c and m; then eq 20 reads the new s and z. "
      .. "Features are made of q and k alone, not of v.",
    "float *s = state + h*(M + 1)*C, *z = s + M*C; for each c: z[c] += feature(k[h*C + "
      .. "c]); den += feature(q[h*C + c]) * z[c]; then for each m: write and read s[m*C + c] "
      .. "in one loop.",
  },
  spec = spec,
  cases = {
    {name = "the first token gives its value back", equation = "eq 20", points = 2, tol = tol,
      inputs = function(draw) return inputs(draw, 1, 3, 2, zeros(1, 3, 3)) end},
    {name = "a state is gone on from", equation = "eqs 18 and 19", points = 3, tol = tol,
      inputs = function(draw) return inputs(draw, 1, 5, 4) end},
    {name = "heads do not mix", equation = "eq 20", points = 2, tol = tol,
      inputs = function(draw) return inputs(draw, 3, 4, 6) end},
    {name = "a denominator below least counts as least", equation = "eq 20", points = 2, tol = tol,
      inputs = function(draw)
        local x = inputs(draw, 2, 3, 2)
        x.q, x.least = x.q - 2, 2
        return x
      end},
    {name = "nothing from the heap", equation = "eq 20", points = 1, tol = tol,
      inputs = function(draw) return inputs(draw, 4, 16, 16) end,
      limit = {heap = 0}},
  },
  wrong = {
    {name = "reads-first", fails = "the first token gives its value back",
      because = "the state is read before the token is in it",
      change = {
        {[[
            z[c] += feature(k_h[c]);
            den += feature(q_h[c]) * z[c];]], [[
            den += feature(q_h[c]) * z[c];
            z[c] += feature(k_h[c]);]]},
        {[[
                s[m * C + c] += feature(k_h[c]) * v[h * M + m];
                num += feature(q_h[c]) * s[m * C + c];]], [[
                num += feature(q_h[c]) * s[m * C + c];
                s[m * C + c] += feature(k_h[c]) * v[h * M + m];]]},
      }},
    {name = "adds-least", fails = "a denominator below least counts as least",
      because = "least is added to the denominator, as eps would be",
      change = {{"if (den < least) den = least;", "den += least;"}}},
    {name = "z-stays", fails = "a state is gone on from",
      because = "the token is in the denominator once, but is never written into z",
      change = {
        {[[
            z[c] += feature(k_h[c]);
            den += feature(q_h[c]) * z[c];]], [[
            den += feature(q_h[c]) * (z[c] + feature(k_h[c]));]]},
      }},
  },
  paste = {{region = "src/stages/rnn.c:rnn_step_naive", file = "paste/rnn_step_naive.c"}},
}
