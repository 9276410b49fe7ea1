-- A scan that forgets. Chapter 9, eq 9.4; about 15 lines.
--
-- A state S [M, C] fades before each token is added, column c by the factor a[i][c]:
--
--     S_i = S_{i-1} a_i + v_i k_i^T        (a_i multiplies columns: S * a[i] does it)
--
-- k and a are [N, C], v is [N, M]. The tree below finds what stands before each chunk of L
-- tokens. Give it what it needs:
--
--     neutral(M, C)            the pair that changes nothing
--     leaf(k, v, a)            the pair of a chunk, k [L, C], v [L, M], a [L, C]
--     join(l, r)               the pair of two stretches of tokens, l the older one
--
-- A pair {a = [C], T = [M, C]} stands for a stretch of tokens: S becomes S * a + T.

local neutral, leaf, join

--> todo
--: function neutral(M, C) return {a = zeros(C), T = zeros(M, C)} end
--: function join(l, r) return l end
--: function leaf(k, v, a) return neutral(v.shape[2], k.shape[2]) end
function neutral(M, C) return {a = ones(C), T = zeros(M, C)} end

function join(l, r) return {a = l.a * r.a, T = l.T * r.a + r.T} end

function leaf(k, v, a)
  local pair = neutral(v.shape[2], k.shape[2])
  for i = 1, #k do
    pair = join(pair, {a = a[i], T = v[i]:unsqueeze(2) * k[i]})
  end
  return pair
end
--< todo

-- The pairs before each item, and that of all items together: up by joining neighbours, down
-- by handing on what is older.
local function scan(items, first, nothing)
  if #items == 1 then return {first}, items[1] end
  local parents, before = {}, {}
  for i = 1, #items, 2 do parents[#parents + 1] = join(items[i], items[i + 1] or nothing) end
  local older, all = scan(parents, first, nothing)
  for i in ipairs(parents) do
    before[2 * i - 1] = older[i]
    if items[2 * i] then before[2 * i] = join(older[i], items[2 * i - 1]) end
  end
  return before, all
end

return function(k, v, a, L, start)
  local N, C, M = #k, k.shape[2], v.shape[2]
  local items = {}
  for i = 1, N, L do
    local chunk = {{i, math.min(i + L - 1, N)}}
    items[#items + 1] = assert(leaf(k[chunk], v[chunk], a[chunk]), "leaf returns nothing")
  end
  local nothing = neutral(M, C)
  local first = {a = ones(C), T = start}
  local before, all = scan(items, first, nothing)
  local states = zeros(#items, M, C)
  for n in ipairs(items) do states[n] = before[n].T end
  return states, join(first, all).T
end
