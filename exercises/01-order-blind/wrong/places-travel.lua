-- Places are added before the shuffle.
local function layer(x) return sim(x, x, x) end

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
  local shuffled = index(x + places(#x, x.shape[2]), 1, order)
  return put_back(layer(shuffled), order)
end

local function bare(x, order) return put_back(layer(index(x, 1, order)), order) end

return {put_back = put_back, places = places, placed = placed, bare = bare}
