local function times(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b[1] do
      c[i][j] = 0
      for n = 1, #b do c[i][j] = c[i][j] + a[i][n] * b[n][j] end
    end
  end
  return c
end
local function turned(a)
  local t = {}
  for j = 1, #a[1] do
    t[j] = {}
    for i = 1, #a do t[j][i] = a[i][j] end
  end
  return t
end
local function below(a)
  return {{a[1][1], 0}, {a[2][1], a[2][2]}}
end

local function is_square(t)
  return type(t) == "userdata" and #t.shape == 2 and t.shape[1] == 2 and t.shape[2] == 2
end

-- Tells what the two give, or why that can't be told.
local function both(got, least)
  for _, name in ipairs {"Q", "K", "V"} do
    if not is_square(got[name]) then return nil, name .. " is not a tensor [2, 2]" end
    for _, row in ipairs(got[name]:totable()) do
      for _, x in ipairs(row) do
        if x < least or x > 9 or x % 1 ~= 0 then
          return nil, ("%s has the entry %g, expected a whole number from %d to 9"):format(name, x,
            least)
        end
      end
      if row[1] + row[2] == 0 then return nil, name .. " has a row of zeros" end
    end
  end
  local Q, K, V = got.Q:totable(), got.K:totable(), got.V:totable()
  return times(below(times(Q, turned(K))), V), times(Q, below(times(turned(K), V)))
end

local function equal(a, b)
  return a[1][1] == b[1][1] and a[1][2] == b[1][2] and a[2][1] == b[2][1] and a[2][2] == b[2][2]
end
local function written(a)
  return ("%g %g / %g %g"):format(a[1][1], a[1][2], a[2][1], a[2][2])
end

local function differs(_, got)
  local masked, moved = both(got, 1)
  if not masked then return false, moved end
  if not equal(masked, moved) then return true end
  return false, "both give " .. written(masked)
end
local function agrees(_, got)
  local masked, moved = both(got, 0)
  if not masked then return false, moved end
  if equal(masked, moved) then return true end
  return false, ("masked is %s, moved is %s"):format(written(masked), written(moved))
end

-- A mask can be moved if it is a number for each row times a number for each column.
local function is_movable(_, got)
  local L = got.L
  if not is_square(L) then return false, "L is not a tensor [2, 2]" end
  L = L:totable()
  local ones = 0
  for i = 1, 2 do
    for j = 1, 2 do
      if L[i][j] ~= 0 and L[i][j] ~= 1 then return false, "L has entries besides 0 and 1" end
      ones = ones + L[i][j]
    end
  end
  if ones == 0 or ones == 4 then return false, "L needs at least one 0 and one 1" end
  if L[1][1] * L[2][2] == L[1][2] * L[2][1] then return true end
  return false, "query 1 and query 2 see different keys, and both see some: no product of a number "
    .. "for each query and a number for each key is this mask"
end

local function spec(x)
  local Q, K, V, w = x.Q:totable(), x.K:totable(), x.V:totable(), x.w:totable()
  local S = {}
  for c = 1, #K[1] do
    S[c] = {}
    for m = 1, #V[1] do
      S[c][m] = 0
      for j = 1, #K do S[c][m] = S[c][m] + w[j] * K[j][c] * V[j][m] end
    end
  end
  return {out = times(Q, S)}
end

local function tokens(draw, N)
  local w = {}
  for j = 1, N do w[j] = draw.int(0, 1) end
  return {Q = draw.rand(N, 3), K = draw.rand(N, 3), V = draw.randn(N, 2), w = tensor(w)}
end

return {
  title = "Mask first, or parentheses first?", chapter = 3, order = 2, language = "lua",
  minutes = 20, points = 10,
  summary = "a counterexample, masks that can be moved, and how many sums there are",
  equations = "eqs 6 and 9",
  parameters = {},
  hints = {
    "Work with one entry of each product. Which pairs are in the first row of ((Q K^T) * "
      .. "L) V? Which keys are in the first row of (K^T V) * L?",
    "eq 9: each query has a sum of its own, over its own keys. A mask can be moved if it "
      .. "multiplies whole rows or whole columns of Q K^T by a number: then it goes into Q, or "
      .. "into K and V.",
    "Write both products out for letters. The second row differs by q21 s12, where s12 = "
      .. "k11 v12 + k21 v22; so q21 = 0 settles it. v21 = 0 helps in the first row. For "
      .. "masked(): ((Q K^T) * w) V = Q (K^T (w * V)), w as a column beside V: w:unsqueeze(2).",
  },
  spec = spec,
  cases = {
    {name = "masking and moving parentheses do not commute", equation = "eq 9", points = 1,
      entry = "counterexample", results = {"Q", "K", "V"}, check = differs,
      inputs = function() return {} end},
    {name = "one example where they agree", equation = "eq 9", points = 2,
      entry = "agreement", results = {"Q", "K", "V"}, check = agrees,
      inputs = function() return {} end},
    {name = "a mask that can be moved", equation = "eq 6", points = 2, entry = "movable",
      results = {"L"}, check = is_movable, inputs = function() return {} end},
    {name = "keys that do not exist, for 20,000 tokens", equation = "eq 6", points = 3,
      entry = "masked", parameters = {"Q", "K", "V", "w"}, results = {"out"},
      inputs = function(draw) return tokens(draw, 20000) end,
      tol = {k = 4096, why = "sums of 20,000 terms"}},
    {name = "how many sums", equation = "eq 10", points = 2, entry = "sums",
      results = {"full", "causal", "padded", "question"}, inputs = function() return {} end,
      check = function(_, got)
        local right = {full = 1, causal = 6, padded = 1, question = 4}
        for _, kind in ipairs {"full", "causal", "padded", "question"} do
          if got[kind] ~= right[kind] then
            return false, kind .. ": another number; which queries have the same set of keys?"
          end
        end
        return true
      end},
  },
  wrong = {
    {name = "ones", fails = "one example where they agree",
      because = "ones everywhere look harmless, but row 1 differs",
      change = {
        {"tensor {{1, 1}, {0, 1}}, tensor {{1, 1}, {1, 1}}, tensor {{1, 1}, {0, 1}}",
         "ones(2, 2), ones(2, 2), ones(2, 2)"},
      }},
    {name = "square", fails = "keys that do not exist, for 20,000 tokens", says = "out of memory",
      because = "the square of 20,000 tokens does not fit into memory",
      change = {{"Q:mm(K:t():mm(V * w:unsqueeze(2)))", "(Q:mm(K:t()) * w:unsqueeze(1)):mm(V)"}}},
  },
}
