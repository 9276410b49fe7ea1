-- order-blind: attention cannot see order; places make it visible. Chapter 1.
--
-- put_back(t, order)  t is [N, D], the outputs for shuffled tokens; order is a list of N whole
--                     numbers: row n of the shuffled tokens was row order[n] before. Gives
--                     the rows of t in the old order.
-- places(N, D)        gives [N, D] in float64, D even. With the angle
--                         a = i / 100^((c - 1) / D),  c odd,
--                     entry (i, c) is sin(a) and entry (i, c + 1) is cos(a).
-- placed(x, order)    shuffles the tokens x, adds to each the place where it stands NOW, runs
--                     the layer, and puts the outputs back.
--
-- bare, below, does the same without places. About 20 lines.

local function layer(x) return sim(x, x, x) end

--> todo
local function put_back(t, order)
  local out = t * 0
  for n, from in ipairs(order) do out[from] = t[n] end
  return out
end

local function places(N, D)
  local p = zeros(N, D, {dtype = "float64"})
  for i = 1, N do
    for c = 1, D, 2 do
      local angle = i / 100 ^ ((c - 1) / D)
      p[{i, c}], p[{i, c + 1}] = math.sin(angle), math.cos(angle)
    end
  end
  return p
end

local function placed(x, order)
  local shuffled = index(x, 1, order)
  return put_back(layer(shuffled + places(#x, x.shape[2])), order)
end
--: local function put_back(t, order)
--:   return t
--: end
--:
--: local function places(N, D)
--:   return zeros(N, D, {dtype = "float64"})
--: end
--:
--: local function placed(x, order)
--:   return put_back(layer(index(x, 1, order)), order)
--: end
--< todo

local function bare(x, order) return put_back(layer(index(x, 1, order)), order) end

return {put_back = put_back, places = places, placed = placed, bare = bare}
