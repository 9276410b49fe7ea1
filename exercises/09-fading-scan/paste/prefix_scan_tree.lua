-- The tree of src/stages/prefix.c in Lua: the order of its additions, for sums that do not fade.

local function add_scaled(size, a, x, y)
  for e = 1, size do y[e] = y[e] + a * x[e] end
end

local function up_sweep(leaves, size, nodes)
  local step = 1
  while step < leaves do
    for n = 2 * step, leaves, 2 * step do add_scaled(size, 1, nodes[n - step], nodes[n]) end
    step = 2 * step
  end
end

local function down_sweep(leaves, size, nodes)
  local step = leaves // 2
  while step > 0 do
    for n = 2 * step, leaves, 2 * step do
      local left, right = nodes[n - step], nodes[n]
      for e = 1, size do
        local left_sum = left[e]
        left[e] = right[e]
        right[e] = right[e] + left_sum
      end
    end
    step = step // 2
  end
end

return function(k, v, a, L, start)
  local N, C, M = #k, k.shape[2], v.shape[2]
  local size, nodes, count = C * M, {}, (N + L - 1) // L
  for i = 1, N, L do
    local chunk = {{i, math.min(i + L - 1, N)}}
    nodes[#nodes + 1] = v[chunk]:t():mm(k[chunk]):reshape(size):totable()
  end
  local leaves = 1
  while leaves < count do leaves = 2 * leaves end
  while #nodes < leaves do nodes[#nodes + 1] = zeros(size):totable() end
  up_sweep(leaves, size, nodes)
  local last = start + tensor(nodes[leaves]):reshape(M, C)
  nodes[leaves] = start:reshape(size):totable()
  down_sweep(leaves, size, nodes)
  local before = zeros(count, M, C)
  for n = 1, count do before[n] = tensor(nodes[n]):reshape(M, C) end
  return before, last
end
