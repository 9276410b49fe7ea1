-- The backward sweeps for tokens that see only those before them, heads inside of tokens.

local function zeros_like(rows)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for h, entries in ipairs(row) do
      out[i][h] = {}
      for c = 1, #entries do out[i][h][c] = 0 end
    end
  end
  return out
end

local function dot(x, y)
  local sum = 0
  for c = 1, #x do sum = sum + x[c] * y[c] end
  return sum
end

local function add(a, x, y)
  for c = 1, #x do y[c] = y[c] + a * x[c] end
end

local function is_zero(x)
  for c = 1, #x do
    if x[c] ~= 0 then return false end
  end
  return true
end

-- What output i of head h gives to its query and to the keys and values before it.
local function row_gradient(x, i, h, eps, dq, dk, dv)
  local weights, den, out, dout = {}, eps, {}, x.dout[i][h]
  for m = 1, #dout do out[m] = 0 end
  for j = 1, i - 1 do
    weights[j] = dot(x.q[i][h], x.k[j][h])
    den = den + weights[j]
    add(weights[j], x.v[j][h], out)
  end
  for m = 1, #out do out[m] = out[m] / den end
  for j = 1, i - 1 do
    local dweight = (dot(dout, x.v[j][h]) - dot(dout, out)) / den
    add(dweight, x.k[j][h], dq[i][h])
    add(dweight, x.q[i][h], dk[j][h])
    add(weights[j] / den, dout, dv[j][h])
  end
end

-- Pair by pair. Rows whose dout is 0 give nothing to anybody.
local function spec(inputs)
  local x = {}
  for _, name in ipairs {"q", "k", "v", "dout"} do x[name] = inputs[name]:totable() end
  local dq, dk, dv = zeros_like(x.q), zeros_like(x.k), zeros_like(x.v)
  for i = 1, inputs.N do
    for h = 1, inputs.H do
      if not is_zero(x.dout[i][h]) then row_gradient(x, i, h, inputs.eps, dq, dk, dv) end
    end
  end
  return {dq = dq, dk = dk, dv = dv}
end

local function sizes(N, H, C, M, eps)
  return function(draw, scale)
    local n = N * scale
    return {
      q = draw.double.rand(n, H, C), k = draw.double.rand(n, H, C),
      v = draw.double.randn(n, H, M), dout = draw.double.randn(n, H, M), eps = eps or 1e-3,
    }
  end
end

-- 20,000 tokens of which four are asked: the pairs of four rows are soon summed up.
local function long(draw)
  local inputs = sizes(20000, 1, 32, 32)(draw, 1)
  local asked = zeros(20000, 1, 32, {dtype = "float64"})
  for _, i in ipairs {2, 7001, 13000, 20000} do asked[i] = inputs.dout[i] end
  inputs.dout = asked
  return inputs
end

return {
  title = "The backward sweeps", chapter = 7, order = 2, language = "c", minutes = 60, points = 12,
  summary = "the gradient of a causal sum with two running states, 20,000 tokens in 8 MB",
  equations = "eqs 13 to 15, 7.2",
  capstone = true,
  entry = "backward_sweeps",
  parameters = {
    "size_t N", "size_t H", "size_t C", "size_t M",
    {"const double *q", "N", "H", "C"}, {"const double *k", "N", "H", "C"},
    {"const double *v", "N", "H", "M"}, {"const double *dout", "N", "H", "M"}, "double eps",
    {"double *dq", "N", "H", "C"}, {"double *dk", "N", "H", "C"}, {"double *dv", "N", "H", "M"},
  },
  spec = spec,
  tol = {k = 1e5, why = "sums of up to 20,000 terms in double, where terms cancel"},
  cases = {
    {name = "a single token sees nothing, and has no gradient", equation = "eq 13", points = 1,
      inputs = sizes(1, 1, 3, 2)},
    {name = "one head, the numerator's and the denominator's gradient", equation = "eq 7.2",
      points = 4, inputs = sizes(9, 1, 4, 3)},
    {name = "eps stands in each denominator", equation = "eq 7.1", points = 1,
      inputs = sizes(6, 1, 2, 2, 2.0)},
    {name = "each head has sweeps of its own", equation = "eq 7.2", points = 2,
      inputs = sizes(7, 3, 4, 5)},
    {name = "twice the tokens, twice the work", equation = "eqs 13 and 14", points = 1,
      inputs = sizes(40, 1, 4, 4), limit = {growth = 2.1}},
    {name = "20,000 tokens, C = M = 32, in 8 MB", equation = "eq 14", points = 3, inputs = long,
      limit = {heap = 8e6}},
  },
  hints = {
    "Which S does output i read if token i does not see itself? And from the key's side: which "
      .. "queries read key j? Nothing of one token has to be known to the other sweep but G "
      .. "and g.",
    "Forwards, S before token i is added: out_i = q_i^T S / den_i, G_i = dout_i / den_i, "
      .. "g_i = -G_i . out_i, dq_i = S G_i + g_i z. Backwards, R before token i is added: "
      .. "dk_i = R v_i + r, dv_i = R^T k_i, then R += q_i G_i^T, r += g_i q_i.",
    "for each head: G = malloc(N * M), g = malloc(N), clear S, z; for i up: den = eps + q_i . "
      .. "z, read "
      .. "out, write G[i], g[i], dq[i], then add k_i v_i^T to S and k_i to z; clear S, z (now "
      .. "R, r); "
      .. "for i down: write dk[i], dv[i], then add q_i G_i^T and g_i q_i. 20,000 * 33 doubles "
      .. "are 5.3 MB.",
  },
  wrong = {
    {name = "sees-itself", fails = "a single token sees nothing, and has no gradient",
      says = "expected 0",
      because = "the token is added before its query reads, and its query before its key does",
      change = {
        {[[
                add(M, k[at * C + c], v + at * M, S + c * M);
                z[c] += k[at * C + c];]], ""},
        {[[
            const double *q_i = q + at * C, den]], [[
            for (size_t c = 0; c < C; c++) {
                add(M, k[at * C + c], v + at * M, S + c * M);
                z[c] += k[at * C + c];
            }
            const double *q_i = q + at * C, den]]},
        {[[
                dk[at * C + c] = dot(M, S + c * M, v + at * M) + z[c];
                add(M, k[at * C + c], S + c * M, dv + at * M);
                add(M, q[at * C + c], G + i * M, S + c * M);
                z[c] += g[i] * q[at * C + c];]], [[
                add(M, q[at * C + c], G + i * M, S + c * M);
                z[c] += g[i] * q[at * C + c];
                dk[at * C + c] = dot(M, S + c * M, v + at * M) + z[c];
                add(M, k[at * C + c], S + c * M, dv + at * M);]]},
      }},
    {name = "no-denominator", fails = "one head, the numerator's and the denominator's gradient",
      says = "dk[",
      because = "r, the denominator's path to the keys, is missing",
      change = {{"dot(M, S + c * M, v + at * M) + z[c]", "dot(M, S + c * M, v + at * M)"}}},
    {name = "all-states", fails = "20,000 tokens, C = M = 32, in 8 MB", says = "bytes",
      because = "every state of the way there is kept, as automatic differentiation does",
      change = {
        {[[
    double *S = malloc((C * M + C + M) * sizeof *S), *z = S + C * M, *out = z + C;]], [[
    const size_t size = C * M + C;
    double *S = malloc((size + M) * sizeof *S), *z = S + C * M, *out = z + C;
    double *states = malloc(N * size * sizeof *states);]]},
        {[[
            const double *q_i = q + at * C, den = dot(C, q_i, z) + eps;]], [[
            for (size_t e = 0; e < size; e++) states[i * size + e] = S[e];
            const double *q_i = q + at * C, den = dot(C, q_i, z) + eps;]]},
        {"dq[at * C + c] = dot(M, S + c * M, G + i * M) + g[i] * z[c];", ""},
        {[[
            clear(M, dv + at * M);]], [[
            const double *S_i = states + i * size, *z_i = S_i + C * M;
            for (size_t c = 0; c < C; c++)
                dq[at * C + c] = dot(M, S_i + c * M, G + i * M) + g[i] * z_i[c];
            clear(M, dv + at * M);]]},
        {[[
    free(S);]], [[
    free(S);
    free(states);]]},
      }},
  },
  paste = {{region = "src/stages/prefix_grad.c:prefix_grad_forward",
    file = "paste/prefix_grad.c"}},
}
