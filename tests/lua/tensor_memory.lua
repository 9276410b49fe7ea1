-- The memory of tensors counts for Lua's collector.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test = tap.test

-- Peak of this process in MiB, or nil where that can't be told.
local function peak()
  local file = io.open("/proc/self/status")
  if not file then return nil end
  local status <close> = file
  local text = status:read("a")
  local virtual = tonumber(text:match("VmPeak:%s*(%d+)"))
  if virtual > 1 << 32 then return nil end -- terabytes: a sanitizer keeps what is freed
  return tonumber(text:match("VmHWM:%s*(%d+)")) / 1024
end

if not peak() then
  tap.skip("temporaries are collected as they go", "no peak to measure here")
else
  test("temporaries are collected as they go", function()
    for _ = 1, 3000 do zeros(1 << 20) end -- 4 MiB each
    assert(peak() < 200, ("the peak is %.0f MiB"):format(peak()))
  end)

  test("so are those of expressions and views", function()
    local t = rand(1 << 20, {seed = 1})
    for _ = 1, 500 do
      local _ = ((t + 1) * 2):reshape(2, -1)[1]
    end
    assert(peak() < 200, ("the peak is %.0f MiB"):format(peak()))
  end)

  test("and those of a coroutine", function()
    coroutine.wrap(function()
      for _ = 1, 500 do zeros(1 << 20) end
    end)()
    assert(peak() < 200, ("the peak is %.0f MiB"):format(peak()))
  end)
end

test("the collector may be stopped without losing tensors", function()
  collectgarbage("stop")
  local kept = {}
  for i = 1, 100 do kept[i] = full(10, i) end
  collectgarbage("restart")
  collectgarbage()
  for i, t in ipairs(kept) do assert(t:sum() == 10 * i) end
end)

test("a view keeps the storage of its tensor", function()
  local view = range(1, 1000):reshape(10, 100)[10]
  collectgarbage()
  collectgarbage()
  assert(view[100] == 1000)
end)

test("<close> gives the memory back at the end of the block", function()
  for _ = 1, 10 do
    local t <close> = ones(1 << 20)
    assert(t:mean() == 1)
  end
end)

tap.done()
