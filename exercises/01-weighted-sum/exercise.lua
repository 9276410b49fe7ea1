-- weighted-sum: eq 3 as two loops, in another layout, with masses and another similarity.

local function average(inputs)
  local q, k, v = inputs.q:totable(), inputs.k:totable(), inputs.v:totable()
  local mass, out = inputs.mass:totable(), {}
  local N_q, N, D, M = #q[1], #k[1], #q, #v
  for m = 1, M do out[m] = {} end
  for i = 1, N_q do
    local num, den = {}, inputs.eps
    for m = 1, M do num[m] = 0 end
    for j = 1, N do
      local distance = 0
      for c = 1, D do distance = distance + (q[c][i] - k[c][j]) ^ 2 end
      local s = mass[j] / (1 + distance)
      for m = 1, M do num[m] = num[m] + s * v[m][j] end
      den = den + s
    end
    for m = 1, M do out[m][i] = den == 0 and 0 or num[m] / den end
  end
  return {out = out}
end

local function draw_tokens(draw, N_q, N, D, M, eps)
  return {
    N_q = N_q, N = N, D = D, M = M, eps = eps,
    q = draw.randn(D, N_q), k = draw.randn(D, N), v = draw.randn(M, N),
    mass = draw.rand(N),
  }
end

local tol = {k = 64, why = "two sums of N terms of one sign each, and a quotient"}

return {
  title = "The weighted sum, pair by pair",
  chapter = 1,
  order = 1,
  language = "c",
  minutes = 20,
  points = 10,
  summary = "eq 3 as two loops, a token a column, keys with a mass",
  equations = "eq 3",
  entry = "weighted_sum",
  parameters = {
    {"size_t N_q"}, {"size_t N"}, {"size_t D"}, {"size_t M"},
    {"const double *q", "D", "N_q"}, {"const double *k", "D", "N"},
    {"const double *v", "M", "N"}, {"const double *mass", "N"},
    {"double eps"}, {"double *out", "M", "N_q"},
  },
  hints = {
    "One query after the other. For each, go once over the keys and keep two sums: a number, and "
      .. "a vector of M numbers for which out itself has room.",
    "out_i = sum_j mass_j s_ij v_j / (eps + sum_j mass_j s_ij). Token j is column j: its entry c "
      .. "lies at k[c * N + j].",
    "den = eps; for each j: s = mass[j] / (1 + distance), out[m * N_q + i] += s * v[m * N + j] for "
      .. "all m, den += s; at the end divide, or write 0 if den is 0.",
  },
  spec = average,
  cases = {
    {
      name = "two keys by hand", equation = "eq 3", points = 2, tol = tol,
      inputs = function()
        -- Distances 0 and 1, so similarities 1 and 1/2: (1 * 3 + 1/2 * 9) / (3/2) = 5.
        return {
          N_q = 1, N = 2, D = 2, M = 1, eps = 0,
          q = tensor {{1}, {2}}, k = tensor {{1, 1}, {2, 3}}, v = tensor {{3, 9}},
          mass = tensor {1, 1},
        }
      end,
    },
    {
      name = "many tokens, all widths different", equation = "eq 3", points = 3, tol = tol,
      inputs = function(draw) return draw_tokens(draw, 7, 50, 3, 5, 1e-6) end,
      limit = {heap = 4096},
    },
    {
      name = "eps is added to the denominator, once", equation = "eq 3", points = 2, tol = tol,
      inputs = function(draw) return draw_tokens(draw, 4, 9, 2, 2, 0.5) end,
    },
    {
      name = "a key of mass 0 is not there", equation = "eq 3", points = 1, tol = tol,
      inputs = function(draw)
        local inputs = draw_tokens(draw, 3, 8, 2, 2, 0)
        inputs.mass[3], inputs.mass[8] = 0, 0
        return inputs
      end,
    },
    {
      name = "where no key is left the output is 0", points = 2, tol = tol,
      inputs = function(draw)
        local inputs = draw_tokens(draw, 3, 4, 2, 2, 0)
        inputs.mass = zeros(4)
        return inputs
      end,
    },
  },
  wrong = {
    {name = "rows", fails = "many tokens, all widths different",
      because = "tokens are read as rows, where they are columns",
      change = {
        {"double d = q[c * N_q + i] - k[c * N + j];", "double d = q[i * D + c] - k[j * D + c];"},
        {"v[m * N + j];", "v[j * M + m];"},
      }},
    {name = "eps-each", fails = "eps is added to the denominator, once",
      because = "eps is added for every key",
      change = {
        {"double den = eps;", "double den = 0;"},
        {"den += s;", "den += s + eps;"},
      }},
    {name = "no-zero", fails = "where no key is left the output is 0", says = "nan",
      because = "0 / 0 is NaN",
      change = {{"den == 0 ? 0 : out[m * N_q + i] / den", "out[m * N_q + i] / den"}}},
  },
  paste = {{region = "src/stages/sim.c:sim_naive", file = "paste/sim-naive.c"}},
}
