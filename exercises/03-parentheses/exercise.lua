-- The naive sum over all pairs, for each head; keys weigh w.
local function spec(x)
  local q, k, v, w = x.q:totable(), x.k:totable(), x.v:totable(), x.w:totable()
  local S, z, out = {}, {}, {}
  for h = 1, x.H do
    S[h], z[h] = {}, {}
    for c = 1, x.C do
      z[h][c] = 0
      for j = 1, x.N do z[h][c] = z[h][c] + w[j] * k[j][h][c] end
    end
    for m = 1, x.M do
      S[h][m] = {}
      for c = 1, x.C do
        local sum = 0
        for j = 1, x.N do sum = sum + w[j] * v[h][m][j] * k[j][h][c] end
        S[h][m][c] = sum
      end
    end
  end
  for i = 1, x.N do
    out[i] = {}
    for h = 1, x.H do
      local den, num = x.eps, {}
      for j = 1, x.N do
        local similarity = 0
        for c = 1, x.C do similarity = similarity + q[i][h][c] * k[j][h][c] end
        den = den + w[j] * similarity
        for m = 1, x.M do num[m] = (num[m] or 0) + w[j] * similarity * v[h][m][j] end
      end
      out[i][h] = {}
      for m = 1, x.M do out[i][h][m] = num[m] / den end
    end
  end
  return {S = S, z = z, out = out}
end

-- Features are positive, as those of elu1; all keys weigh `weight(draw, j)`.
local function inputs(draw, N, H, C, M, weight)
  local w = {}
  for j = 1, N do w[j] = weight(j) end
  return {
    N = N, H = H, C = C, M = M, eps = 1e-6,
    q = draw.rand(N, H, C) + 0.1, k = draw.rand(N, H, C) + 0.1, v = draw.randn(H, M, N),
    w = tensor(w),
  }
end
local function one() return 1 end

return {
  title = "Other parentheses", chapter = 3, order = 1, language = "c", minutes = 30, points = 10,
  summary = "full attention without visiting pairs, heads side by side, a weight for each key",
  equations = "eqs 5 and 6",
  entry = "attend",
  parameters = {
    {"size_t N"}, {"size_t H"}, {"size_t C"}, {"size_t M"},
    {"const float *q", "N", "H", "C"}, {"const float *k", "N", "H", "C"},
    {"const float *v", "H", "M", "N"}, {"const float *w", "N"}, {"float eps"},
    {"float *S", "H", "M", "C"}, {"float *z", "H", "C"}, {"float *out", "N", "H", "M"},
  },
  predict = {
    {ask = "One head, all weights 1, N = 1000, C = M = 32. How many multiplications if every query "
        .. "visits every key? And how many with the two sums?",
      answer = "N N (C + M) = 64,000,000 for the pairs; 2 N C M = 2,048,000 with S, and 2 N C more "
        .. "for z and the denominators"},
  },
  hints = {
    "Which factors of one term of the sum know i, and which know j? Collect those that "
      .. "know j.",
    "eq 5: out_i = phi(q_i)^T S / phi(q_i)^T z. S and z are sums over j alone; the weight "
      .. "w_j goes into both of them.",
    "for each token j, head h, feature c: f = w[j] * k[(j*H + h)*C + c]; S[(h*M + m)*C + "
      .. "c] += f * v[(h*M + m)*N + j] for each m; z[h*C + c] += f. The queries come in a "
      .. "second loop, after this one has ended.",
  },
  spec = spec,
  cases = {
    {name = "one head, all weights 1", equation = "eq 5", points = 1,
      inputs = function(draw) return inputs(draw, 7, 1, 3, 2, one) end,
      tol = {k = 64, why = "sums of up to 7 C terms"}},
    {name = "three heads do not mix", equation = "eq 5", points = 2,
      inputs = function(draw) return inputs(draw, 9, 3, 4, 5, one) end,
      tol = {k = 64, why = "sums of up to 9 C terms"}},
    {name = "eps is added to each denominator, once", equation = "eq 5", points = 1,
      inputs = function(draw)
        local x = inputs(draw, 5, 2, 3, 4, one)
        x.eps = 2
        return x
      end,
      tol = {k = 64, why = "sums of up to 5 C terms"}},
    {name = "keys of weight 0 do not exist", equation = "eq 5 with weights", points = 3,
      inputs = function(draw)
        local function weight(j) return j % 3 == 0 and 0 or draw.real(0.5, 2) end
        return inputs(draw, 12, 2, 4, 3, weight)
      end,
      tol = {k = 64, why = "sums of up to 12 C terms"}},
    {name = "twice the tokens, twice the loads", equation = "eq 6", points = 3,
      inputs = function(draw, scale) return inputs(draw, 64 * (scale or 1), 2, 6, 4, one) end,
      tol = {k = 256, why = "sums of up to 128 C terms"},
      limit = {growth = 2.3}},
  },
  wrong = {
    {name = "no-eps", fails = "eps is added to each denominator, once",
      because = "eps is not used",
      change = {{"float den = eps;", "float den = 0;"}}},
    {name = "all-pairs", fails = "twice the tokens, twice the loads",
      because = "the sums are made, but every query visits every key: right, and quadratic",
      change = {
        {[[
            for (size_t c = 0; c < C; c++) den += q_i[c] * z[h * C + c];
            for (size_t m = 0; m < M; m++) {
                float num = 0;
                for (size_t c = 0; c < C; c++) num += q_i[c] * S[(h * M + m) * C + c];
                out[(i * H + h) * M + m] = num / den;
            }]], [[
            for (size_t m = 0; m < M; m++) out[(i * H + h) * M + m] = 0;
            for (size_t j = 0; j < N; j++) {
                float s = 0;
                for (size_t c = 0; c < C; c++) s += q_i[c] * k[(j * H + h) * C + c];
                den += w[j] * s;
                for (size_t m = 0; m < M; m++)
                    out[(i * H + h) * M + m] += w[j] * s * v[(h * M + m) * N + j];
            }
            for (size_t m = 0; m < M; m++) out[(i * H + h) * M + m] /= den;]]},
      }},
    {name = "weight-above-only", fails = "keys of weight 0 do not exist",
      because = "the weight is missing in z, so hidden keys still count in the denominator",
      change = {{"z[h * C + c] += f;", "z[h * C + c] += k[(j * H + h) * C + c];"}}},
  },
  paste = {{region = "src/stages/assoc.c:assoc_naive", file = "paste/assoc_naive.c"}},
}
