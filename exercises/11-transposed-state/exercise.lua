-- A step that reads its state the other way round, with coalesced accesses.

-- out[h][m] = q_h . S[h][m] / max(q_h . z_h, least), z the last row of the state.
local function spec(inputs)
  local q, S, out = inputs.q:totable(), inputs.S:totable(), {}
  for h = 1, inputs.H do
    local sums = {}
    for row = 1, inputs.M + 1 do
      sums[row] = 0
      for c = 1, inputs.C do sums[row] = sums[row] + q[h][c] * S[h][row][c] end
    end
    local den = math.max(sums[inputs.M + 1], inputs.least)
    out[h] = {}
    for m = 1, inputs.M do out[h][m] = sums[m] / den end
  end
  return {out = out}
end

local function state(H, C, M, scale)
  return function(draw)
    local S = draw.randn(H, M + 1, C)
    S[{{}, M + 1}] = draw.rand(H, C) * (scale or 1)
    return {H = H, C = C, M = M, q = draw.rand(H, C), S = S, least = 1e-3}
  end
end

return {
  title = "A state read side by side", chapter = 11, order = 3, language = "cuda", minutes = 60,
  points = 12,
  summary = "a query asks a transposed state, and neighbouring lanes read neighbours",
  equations = "eq 20",
  entry = "ask",
  parameters = {{"float *out", "H", "M"}, {"const float *q", "H", "C"},
    {"const float *S", "H", "M + 1", "C"}, "int C", "int M", "float least"},
  launch = function(inputs) return {grid = inputs.H, block = 128, shared = 4 * (inputs.M + 1)} end,
  spec = spec,
  tol = {k = 256, why = "sums of up to 70 products in float32, in another order"},
  cases = {
    {name = "one value", equation = "eq 20", points = 1, inputs = state(1, 8, 1)},
    {name = "fewer features than lanes, more rows than warps", equation = "eq 20", points = 2,
      inputs = state(2, 7, 9)},
    {name = "more features than lanes", equation = "eq 20", points = 2, inputs = state(2, 70, 5)},
    {name = "more values than threads", equation = "eq 20", points = 1, inputs = state(1, 5, 131)},
    {name = "a faint denominator is kept from below", equation = "eq 20", points = 1,
      inputs = state(2, 12, 6, 1e-6)},
    {name = "four sectors a request", equation = "coalesced", points = 5, inputs = state(2, 64, 40),
      limit = {global = 1.05}},
  },
  predict = {
    {ask = "With C = 64: how many sectors does a warp touch when each lane reads S[h][lane][0]?",
      answer = "32: the rows are 256 bytes apart, and each lane brings a sector of its own."},
  },
  hints = {
    "Which of the two indices of S should differ from lane to lane, and what does that say " ..
      "about who adds up a row?",
    "A warp has a row: lane l adds q_c S[row][c] for c = l, l + 32, ..; the lanes' sums are " ..
      "added by __shfl_xor_sync with 16, 8, 4, 2, 1, in which all 32 lanes take part.",
    "for (row = warp; row <= M; row += warps) { sum over c; the five shuffles; if (lane == " ..
      "0) sums[row] = sum; } __syncthreads(); then thread m divides sums[m] by max(sums[M], " ..
      "least).",
  },
  wrong = {
    {name = "row-a-thread", fails = "four sectors a request", says = "global",
      because = "a thread walks along a row, so that lanes read far apart",
      change = {
        {[[
    const int lane = t % 32, warps = blockDim.x / 32;
    for (int row = t / 32; row <= M; row += warps) {]], [[
    for (int row = t; row <= M; row += blockDim.x) {]]},
        {[[
        for (int c = lane; c < C; c += 32) sum += q_h[c] * S_h[row * C + c];
        for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
        if (lane == 0) sums[row] = sum;]], [[
        for (int c = 0; c < C; c++) sum += q_h[c] * S_h[row * C + c];
        sums[row] = sum;]]},
      }},
    {name = "no-barrier", fails = "fewer features than lanes, more rows than warps",
      says = "nobody has written",
      because = "the denominator is read before its warp has written it",
      change = {{"__syncthreads();", ""}}},
    {name = "some-lanes", fails = "fewer features than lanes, more rows than warps",
      because = "lanes without a feature stay away from the shuffles",
      change = {
        {"for (int by = 16; by > 0; by /= 2)", "for (int by = 16; lane < C && by > 0; by /= 2)"},
      }},
    {name = "value-a-thread", fails = "more values than threads",
      because = "each thread divides one value, and those beyond the 128th are left out",
      change = {{"for (int m = t; m < M; m += blockDim.x)", "if (const int m = t; m < M)"}}},
    {name = "one-turn", fails = "more features than lanes",
      because = "features beyond the 32nd are left out",
      change = {{"for (int c = lane; c < C; c += 32)", "if (const int c = lane; c < C)"}}},
  },
}
