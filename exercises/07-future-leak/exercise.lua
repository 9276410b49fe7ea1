-- Find the bug: a way back in chunks, in which a key learns from queries before it. R comes in
-- and goes out transposed.

-- R_j for each key by its definition: what came in, and all queries from j on.
local function spec(inputs)
  local x = {}
  for _, name in ipairs {"q", "G", "g", "k", "v", "R", "r"} do x[name] = inputs[name]:totable() end
  local N, C, M = inputs.N, inputs.C, inputs.M
  local dk, dv, R, r = {}, {}, {}, {}
  for m = 1, M do
    R[m] = {}
    for c = 1, C do R[m][c] = x.R[m][c] end
  end
  for c = 1, C do r[c] = x.r[c] end
  for j = N, 1, -1 do
    for c = 1, C do
      r[c] = r[c] + x.g[j] * x.q[j][c]
      for m = 1, M do R[m][c] = R[m][c] + x.q[j][c] * x.G[j][m] end
    end
    dk[j], dv[j] = {}, {}
    for c = 1, C do
      dk[j][c] = r[c]
      for m = 1, M do dk[j][c] = dk[j][c] + R[m][c] * x.v[j][m] end
    end
    for m = 1, M do
      dv[j][m] = 0
      for c = 1, C do dv[j][m] = dv[j][m] + R[m][c] * x.k[j][c] end
    end
  end
  return {dk = dk, dv = dv, R = R, r = r}
end

local function drawn(N, C, M, L)
  return function(draw)
    return {q = draw.double.rand(N, C), G = draw.double.randn(N, M), g = draw.double.randn(N),
      k = draw.double.rand(N, C), v = draw.double.randn(N, M), L = L,
      R = draw.double.randn(M, C), r = draw.double.randn(C)}
  end
end

-- Only output 3 of 8 is asked for: keys and values behind it have no gradient at all.
local function third(draw)
  local inputs = drawn(8, 2, 2, 4)(draw)
  for i = 1, 8 do
    if i ~= 3 then inputs.G[i], inputs.g[i] = 0, 0 end
  end
  inputs.R, inputs.r = zeros(2, 2, {dtype = "float64"}), zeros(2, {dtype = "float64"})
  return inputs
end

return {
  title = "Find the bug: the future leaks", chapter = 7, order = 4, language = "c", minutes = 25,
  points = 10,
  summary = "a gradient in chunks that forgets the mask inside of a chunk",
  equations = "eqs 14, 15",
  entry = "way_back",
  parameters = {
    "size_t N", "size_t C", "size_t M", "size_t L",
    {"const double *q", "N", "C"}, {"const double *G", "N", "M"}, {"const double *g", "N"},
    {"const double *k", "N", "C"}, {"const double *v", "N", "M"},
    {"double *R", "M", "C"}, {"double *r", "C"},
    {"double *dk", "N", "C"}, {"double *dv", "N", "M"},
  },
  spec = spec,
  tol = {k = 256, why = "sums of a few dozen terms in double"},
  cases = {
    {name = "chunks of one token", equation = "eqs 14, 15", points = 1, inputs = drawn(5, 3, 2, 1)},
    {name = "only output 3 is asked for: nothing behind it has a gradient", equation = "eq 14",
      points = 4, inputs = third},
    {name = "chunks of four", equation = "eqs 14, 15", points = 3, inputs = drawn(12, 3, 4, 4)},
    {name = "the last chunk is not full", equation = "eqs 14, 15", points = 2,
      inputs = drawn(11, 2, 3, 4)},
  },
  predict = {
    {
      ask = "Only output 3 of 8 has a gradient. Which rows of dk and dv are not 0? And in the "
        .. "code as it is, with "
        .. "chunks of 4?",
      answer = "Rows 1 to 3; in the code as it is row 4 as well: it is in the same chunk.",
    },
  },
  hints = {
    "With chunks of one token everything is right. What differs for the first and the last "
      .. "token of a longer "
      .. "chunk when the code reads R?",
    "R_j is the sum over the queries from j on. A key in the middle of a chunk must not have "
      .. "the queries of "
      .. "the chunk that stand before it.",
    "One loop instead of two: for (size_t i = end; i-- > start;) add query i to R and r, then "
      .. "compute dk and "
      .. "dv of token i.",
  },
  wrong = {
    {name = "forwards", fails = "chunks of four", says = "[",
      because = "adds and reads token by token, but from the front of the chunk",
      change = {
        {"for (size_t i = end; i-- > start;) {", "for (size_t i = start; i < end; i++) {"},
      }},
    {name = "late", fails = "chunks of one token", says = "[",
      because = "reads R before the token's own query is in it",
      change = {
        {[[
            for (size_t c = 0; c < C; c++) {
                r[c] += g[i] * q[i * C + c];
                for (size_t m = 0; m < M; m++)
                    R[m * C + c] += q[i * C + c] * G[i * M + m];
            }]], ""},
        {[[
                    dv[i * M + m] += R[m * C + c] * k[i * C + c];
                }
            }]], [[
                    dv[i * M + m] += R[m * C + c] * k[i * C + c];
                }
            }
            for (size_t c = 0; c < C; c++) {
                r[c] += g[i] * q[i * C + c];
                for (size_t m = 0; m < M; m++)
                    R[m * C + c] += q[i * C + c] * G[i * M + m];
            }]]},
      }},
  },
  paste = {{region = "src/stages/prefix_grad.c:prefix_grad_backward",
    file = "paste/prefix_grad_backward.c"}},
}
