-- A state that forgets, by chunks: the pair that makes it a scan.

-- Token after token, S = S a + v k^T, and what stood there when each chunk began.
local function spec(inputs)
  local k, v, a = inputs.k:totable(), inputs.v:totable(), inputs.a:totable()
  local S, before = inputs.start:totable(), {}
  for i, k_i in ipairs(k) do
    local copy = {}
    for m, row in ipairs(S) do copy[m] = table.move(row, 1, #row, 1, {}) end
    if (i - 1) % inputs.L == 0 then before[#before + 1] = copy end
    for m, row in ipairs(S) do
      for c in ipairs(row) do row[c] = row[c] * a[i][c] + v[i][m] * k_i[c] end
    end
  end
  return {before = before, last = S}
end

local function tokens(N, C, M, L, least)
  return function(draw)
    return {L = L, k = draw.rand(N, C), v = draw.randn(N, M),
      a = least + (1 - least) * draw.rand(N, C), start = draw.randn(M, C)}
  end
end

return {
  title = "A scan that forgets", chapter = 9, order = 3, language = "lua", minutes = 35,
  points = 12,
  summary = "the associative pair for a state that fades, and its neutral element",
  equations = "eq 9.4",
  parameters = {"k", "v", "a", "L", "start"},
  results = {"before", "last"},
  without = {"prefix", "assoc", "rnn", "cumsum"},
  spec = spec,
  tol = {k = 256, why = "up to 26 roundings of products in float32, some of which cancel"},
  cases = {
    {name = "one chunk of one token", equation = "eq 9.4", points = 2,
      inputs = tokens(1, 3, 2, 1, 0.5)},
    {name = "one chunk: a token fades what came before it, not itself", equation = "eq 9.4",
      points = 2, inputs = tokens(6, 3, 2, 6, 0.5)},
    {name = "two chunks: the older one has faded more", equation = "eq 9.4", points = 3,
      inputs = tokens(8, 4, 3, 4, 0.3)},
    {name = "seven chunks: a node joined with nothing", equation = "the neutral element",
      points = 3, inputs = tokens(26, 3, 4, 4, 0.3)},
    {name = "a token that forgets everything", equation = "eq 9.4", points = 2,
      inputs = function(draw)
        local x = tokens(10, 2, 3, 2, 0.5)(draw)
        x.a[5] = 0
        return x
      end},
  },
  hints = {
    "A chunk is a function: whatever state S comes in, S a + T goes out. What is the " ..
      "function that first does the left chunk and then the right one?",
    "(S a_l + T_l) a_r + T_r = S (a_l a_r) + (T_l a_r + T_r). And which a and T change nothing?",
    "neutral: a = ones(C), T = zeros(M, C). leaf: begin with neutral and join a pair for " ..
      "each token, {a = a[i], T = outer product of v[i] and k[i]}; v[i]:unsqueeze(2) * k[i] " ..
      "is one. join: {a = l.a * r.a, T = l.T * r.a + r.T}.",
  },
  wrong = {
    {name = "swapped", fails = "two chunks: the older one has faded more",
      because = "the left sum is added as it is and the right one fades",
      change = {{"T = l.T * r.a + r.T}", "T = l.T + r.T * l.a}"}}},
    {name = "zero", fails = "seven chunks: a node joined with nothing",
      because = "(0, 0) is taken as the neutral pair, which forgets all that stands before",
      change = {
        {"function neutral(M, C) return {a = ones(C),",
         "function neutral(M, C) return {a = zeros(C),"},
        {"local pair = neutral(v.shape[2], k.shape[2])",
         "local pair = {a = ones(k.shape[2]), T = zeros(v.shape[2], k.shape[2])}"},
      }},
    {name = "fades-itself", fails = "one chunk of one token", says = "last[",
      because = "a token is added before the state fades",
      change = {{"v[i]:unsqueeze(2) * k[i]})", "v[i]:unsqueeze(2) * k[i] * a[i]})"}}},
    {name = "ratios", fails = "a token that forgets everything",
      because = "decays are divided by one another, and one of them is 0",
      change = {
        {[[
  local pair = neutral(v.shape[2], k.shape[2])]], [[
  local products, T = {}, zeros(v.shape[2], k.shape[2])
  local all = ones(k.shape[2])]]},
        {[[
    pair = join(pair, {a = a[i], T = v[i]:unsqueeze(2) * k[i]})]], [[
    all = all * a[i]
    products[i] = all]]},
        {[[
  return pair]], [[
  for i = 1, #k do T = T + v[i]:unsqueeze(2) * k[i] * (all / products[i]) end
  return {a = all, T = T}]]},
      }},
  },
  paste = {{region = "src/stages/prefix.c:prefix_scan_tree", file = "paste/prefix_scan_tree.lua"}},
  predict = {
    {ask = "Is join(l, r) the same as join(r, l)? Why may the tree be used all the same?",
      answer = "No: what is older fades more. A tree changes brackets, and never left and right."},
  },
}
