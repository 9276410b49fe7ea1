-- Find the bug: continuations that begin at one state, each of which changes it.

local function spec(inputs)
  local x = {}
  for _, name in ipairs {"S", "z", "q", "k", "v"} do x[name] = inputs[name]:totable() end
  local out = {}
  for b = 1, #x.k do
    local den, num = inputs.eps, {}
    for m = 1, #x.v[b] do num[m] = 0 end
    for c = 1, #x.z do
      den = den + x.q[c] * (x.z[c] + x.k[b][c])
      for m = 1, #num do num[m] = num[m] + x.q[c] * (x.S[c][m] + x.k[b][c] * x.v[b][m]) end
    end
    for m = 1, #num do num[m] = num[m] / den end
    out[b] = num
  end
  return {out = out, S = x.S, z = x.z}
end

local function drawn(B, C, M)
  return function(draw)
    return {S = draw.double.randn(C, M), z = draw.double.rand(C) + 1, q = draw.double.rand(C),
      k = draw.double.rand(B, C), v = draw.double.randn(B, M), eps = 0.5}
  end
end

-- Three tokens 1, 2, 3 with the feature 1 have been read; 10 or 20 may be next.
local function two_ways()
  local function t(x) return tensor(x, {dtype = "float64"}) end
  return {S = t {{6}}, z = t {3}, q = t {1}, k = t {{1}, {1}}, v = t {{10}, {20}}, eps = 0}
end

-- A value beside which the state is lost in rounding: what adds it cannot take it away again.
local function large(draw)
  local inputs = drawn(2, 3, 2)(draw)
  inputs.v[2] = 1e17
  return inputs
end

return {
  title = "Find the bug: the spoiled copy", chapter = 6, order = 4, language = "lua", minutes = 15,
  points = 8,
  summary = "several continuations from one state; the second one is wrong",
  equations = "eqs 18 to 20",
  entry = "continuations",
  parameters = {"S", "z", "q", "k", "v", "eps"},
  results = {"out", "S", "z"},
  without = {"prefix", "rnn", "assoc", "sim", "kv"},
  spec = spec,
  tol = {k = 64, why = "sums of a few terms in double"},
  cases = {
    {name = "one continuation", equation = "eq 20", points = 1, inputs = drawn(1, 3, 2)},
    {name = "10 or 20 after 1, 2, 3: 4 or 6.5", equation = "eqs 18 to 20", points = 3,
      inputs = two_ways},
    {name = "five continuations, none sees another", equation = "eqs 18 to 20", points = 2,
      inputs = drawn(5, 4, 3)},
    {name = "the state is what it was, to the last digit", equation = "eqs 18 to 20", points = 2,
      inputs = large},
  },
  predict = {
    {
      ask = "The state has read 1, 2, 3 with the feature 1. Continued by 10 the output is 4, "
        .. "by 20 it is 6.5. "
        .. "What does the second continuation give if it begins where the first one ended?",
      answer = "(6 + 10 + 20) / 5 = 7.2.",
    },
  },
  hints = {
    "The first continuation is right, the second is not, and the state that is returned is "
      .. "not the "
      .. "one that came in. Which line changes something that belongs to the caller?",
    "In Lua, as in Python, `local s = S` is a second name for the same tensor. s[{}] = x and "
      .. "s[c] = x write "
      .. "into it; s = s + x makes another one.",
    "Either take copies, local s, n = S:clone(), z:clone(), inside of the loop, or build new "
      .. "ones: "
      .. "local s = S + k_b:reshape(C, 1) * v_b:reshape(1, M), and n likewise.",
  },
  wrong = {
    {name = "one-copy", fails = "10 or 20 after 1, 2, 3: 4 or 6.5", says = "out[2, 1]",
      because = "the copy is made once, before the loop: each continuation goes on from the last",
      change = {
        {"local s, n = S:clone(), z:clone()", ""},
        {[[
  for b = 1, B do]], [[
  local s, n = S:clone(), z:clone()
  for b = 1, B do]]},
      }},
    {name = "float32", fails = "five continuations, none sees another", says = "out[",
      because = "the numerator is rounded to float32, and the state is float64",
      change = {{"mm(s):reshape(M) / den", 'mm(s):reshape(M):to("float32"):to("float64") / den'}}},
    {name = "half-copy", fails = "10 or 20 after 1, 2, 3: 4 or 6.5", says = "[",
      because = "S is copied, z is not",
      change = {{"local s, n = S:clone(), z:clone()", "local s, n = S:clone(), z"}}},
    {name = "taken-away", fails = "the state is what it was, to the last digit", says = "S[",
      because = "each token is subtracted again, which rounding does not undo",
      change = {
        {"local s, n = S:clone(), z:clone()", "local s, n = S, z"},
        {[[
    out[b] = q:reshape(1, C):mm(s):reshape(M) / den]], [[
    out[b] = q:reshape(1, C):mm(s):reshape(M) / den
    for c = 1, C do
      s[c] = s[c] - k[b][c] * v[b]
      n[c] = n[c] - k[b][c]
    end]]},
      }},
  },
}
