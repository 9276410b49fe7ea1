-- peers.lua: tarn's part of peers.py: one case, its inputs from .npy files.
--
--   tarn --threads=1 peers.lua FOLDER NAME    prints seconds, writes FOLDER/NAME.npy

local folder, name = arg[1], arg[2]
local kind = folder:match("(%w+)%-%d+%-%d+%-%d+$")
local function input(what) return read(folder .. "/" .. what .. ".npy") end
local q, k, v, dout = input "q", input "k", input "v", input "dout"

-- CPU seconds of the fastest call; a second's worth of calls, three at least.
local function fastest(f)
  local best, spent, calls = math.huge, 0, 0
  while calls < 4 or spent < 1 and calls < 200 do
    local start = os.clock()
    f()
    local took = os.clock() - start
    -- The first call finds cold caches and fresh memory.
    if calls > 0 then best = math.min(best, took) end
    spent, calls = spent + took, calls + 1
  end
  return best
end

local run = {}

function run.prefix() return function() return prefix(q, k, v) end, 1 end

function run.softmax() return function() return sim(q, k, v, {causal = true}) end, 1 end

-- The three gradients, one after the other in one tensor.
function run.grad()
  return function()
    prefix(q, k, v)
    return prefix_grad(q, k, v, dout)
  end, 1
end

-- Token after token; the output is that of the last one.
function run.step()
  local H, N, D = q.shape[2], q.shape[3], q.shape[4]
  local qt, kt, vt = {}, {}, {}
  for t = 1, N do
    qt[t] = q[{1, {}, t}]:contiguous()
    kt[t] = k[{1, {}, t}]:contiguous()
    vt[t] = v[{1, {}, t}]:contiguous()
  end
  return function()
    local st, out = rnn {D = D, M = D, H = H}, nil
    for t = 1, N do out = st:step(qt[t], kt[t], vt[t]) end
    return out
  end, N
end

local f, times = run[kind]()
local seconds = fastest(f) / times
local out, second, third = f()
if second then out = cat({out, second, third}, 1) end
out:save(folder .. "/" .. name .. ".npy")
print(seconds)
