local function feature(x) return math.max(x, 0) + math.log(1 + math.exp(-math.abs(x))) end

local function times(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b[1] do
      local sum = 0
      for n = 1, #b do sum = sum + a[i][n] * b[n][j] end
      c[i][j] = sum
    end
  end
  return c
end

-- The layer over all tokens, pair by pair; gives the outputs and q, k, v as tables [N][D].
local function layer(x, W)
  local q, k, v = times(x, W.WQ), times(x, W.WK), times(x, W.WV)
  local D, u = #x[1], {}
  local C = D // 2
  for i = 1, #x do
    u[i] = {}
    for h = 0, 1 do
      local num, den = {}, 0
      for j = 1, i do
        local similarity = 0
        for c = h * C + 1, h * C + C do
          similarity = similarity + feature(q[i][c]) * feature(k[j][c])
        end
        den = den + similarity
        for m = h * C + 1, h * C + C do num[m] = (num[m] or 0) + similarity * v[j][m] end
      end
      for m = h * C + 1, h * C + C do u[i][m] = num[m] / den + x[i][m] end
    end
  end
  local hidden = times(u, W.W1)
  for i = 1, #hidden do
    for n = 1, #hidden[i] do hidden[i][n] = math.max(hidden[i][n], 0) end
  end
  local y = times(hidden, W.W2)
  for i = 1, #y do
    for m = 1, D do y[i][m] = y[i][m] + u[i][m] end
  end
  return y, k, v
end

-- z and the columns of S of both heads, of all tokens in k and v.
local function state_of(k, v)
  local D, state = #k[1], {}
  local C = D // 2
  for h = 0, 1 do
    for column = 0, C do
      for c = 1, C do
        local sum = 0
        for j = 1, #k do
          sum = sum + feature(k[j][h * C + c]) * (column == 0 and 1 or v[j][h * C + column])
        end
        state[#state + 1] = sum
      end
    end
  end
  return state
end

local weights = {"WQ", "WK", "WV", "W1", "W2"}
local function tables(x)
  local W = {}
  for _, name in ipairs(weights) do W[name] = x[name]:totable() end
  return W
end

local function draw_weights(draw, D)
  local function matrix(rows, columns) return draw.randn(rows, columns) / math.sqrt(rows) end
  return {WQ = matrix(D, D), WK = matrix(D, D), WV = matrix(D, D), W1 = matrix(D, 2 * D),
    W2 = matrix(2 * D, D)}
end

local function first_inputs(draw, N, D)
  local x = draw_weights(draw, D)
  x.x = draw.randn(N, D)
  return x
end
local function first_spec(x)
  local y, k, v = layer(x.x:totable(), tables(x))
  return {y = y, state = state_of(k, v)}
end

-- The second part of a sequence of N tokens that was cut; what came before stays here.
local function rest_inputs(draw, N, D, cut)
  local x = draw_weights(draw, D)
  local all = draw.randn(N, D)
  local _, k, v = layer(all:totable(), tables(x))
  local before = {table.move(k, 1, cut, 1, {}), table.move(v, 1, cut, 1, {})}
  x.state = cut > 0 and tensor(state_of(before[1], before[2])) or zeros(2 * (D // 2 + 1) * (D // 2))
  x.x = all[{{cut + 1, N}}]
  x.all, x.cut = all, cut
  return x
end
local function rest_spec(x)
  local y = layer(x.all:totable(), tables(x))
  return {y = table.move(y, x.cut + 1, #y, 1, {})}
end

local tol = {k = 512, why = "three products of matrices, and sums of up to 60 tokens"}
local first = {"x", "WQ", "WK", "WV", "W1", "W2"}
local rest = {"state", "x", "WQ", "WK", "WV", "W1", "W2"}

return {
  title = "Stop in the middle", chapter = 5, order = 3, language = "lua", minutes = 40, points = 10,
  summary = "a whole layer in two programs, with C M + C numbers of a head between them",
  equations = "eqs 16 to 20",
  hints = {
    "prefix gives its state with {final = true}, and takes one as {state = {S = ..., z = "
      .. "...}}. What is left to do is to bring the numbers into the order that is asked for, "
      .. "and back.",
    "eqs 18 and 19: s is [C, M] and z [C], here with a head in front. A column of S is a "
      .. "row of its transpose.",
    "first: for each head cat st.z[h] and st.S[h]:t():reshape(-1). rest: rows = "
      .. "state:reshape(2, C + 1, C); z = rows[{{}, 1}], S = rows[{{}, {2, C + "
      .. "1}}]:transpose(2, 3).",
  },
  cases = {
    {name = "the outputs of the first part, and its state", equation = "eqs 18 and 19", points = 4,
      entry = "first", parameters = first, results = {"y", "state"}, spec = first_spec, tol = tol,
      inputs = function(draw) return first_inputs(draw, 11, 8) end},
    {name = "the rest, from the state", equation = "eq 20", points = 3, entry = "rest",
      parameters = rest, results = {"y"}, spec = rest_spec, tol = tol,
      inputs = function(draw) return rest_inputs(draw, 40, 8, 25) end},
    {name = "one token is left", equation = "eq 20", points = 2, entry = "rest",
      parameters = rest, results = {"y"}, spec = rest_spec, tol = tol,
      inputs = function(draw) return rest_inputs(draw, 13, 6, 12) end},
    {name = "nothing came before: a state of zeros", equation = "eqs 16 and 17", points = 1,
      entry = "rest", parameters = rest, results = {"y"}, spec = rest_spec, tol = tol,
      inputs = function(draw) return rest_inputs(draw, 9, 4, 0) end},
  },
  wrong = {
    {name = "rows", fails = "the rest, from the state",
      because = "S is read row by row, so it is turned round",
      change = {{"{2, C + 1}}]:transpose(2, 3)}", "{2, C + 1}}]}"}}},
    {name = "no-z", fails = "one token is left",
      because = "z begins at 0 in the second program",
      change = {{"z = rows[{{}, 1}]", "z = zeros(HEADS, C)"}}},
  },
}
