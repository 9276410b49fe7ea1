-- child_cuda.lua: in the child process, compiles a learner's kernels, or launches them on the
-- emulated device with its checks, and profiles them. Chapter 11.
--
-- Compiling loads nothing, so that nothing of the learner's runs where a compiler may start
-- other processes; launching finds what was compiled.

local tarn = require "tarn"
local kernel = require "tarn.kernel"

local child = {}

local function compile(order, tools)
  for _, name in ipairs(order.kernels) do
    local ok, why = pcall(kernel.compile, order.file, name)
    if not ok then
      tools.say("unloadable " .. tools.escaped(why) .. "\n")
      return
    end
  end
  tools.say "compiled\n"
end

-- The tensors of a run on the device, by name; what nobody has written to is NaN.
local function tensors_of(run)
  local tensors = {}
  for _, p in ipairs(run.arrays) do
    local made
    if p.given then
      made = tarn.read(("in/%d.%s.npy"):format(run.number, p.name))
    else
      made = tarn.full(p.count, 0 / 0, {dtype = p.dtype})
    end
    tensors[p.name] = made:to("emu")
  end
  return tensors
end

local function launch(run, kernels, tensors)
  for _, one in ipairs(run.launches) do
    local values = {}
    for i, given in ipairs(one.arguments) do values[i] = tensors[given.name] or given.value end
    kernels[one.kernel]({grid = one.grid, block = one.block, shared = one.shared},
      table.unpack(values, 1, #one.arguments))
  end
end

-- What the kernels asked of memory, and the least that would have done.
local function say_costs(run, report, tools)
  local sums = {global_actual = 0, global_least = 0, shared_actual = 0, shared_least = 0}
  for _, row in ipairs(report.rows) do
    for _, which in ipairs {"actual", "least"} do
      local key = row.space .. "_" .. which
      sums[key] = sums[key] + row[which]
    end
  end
  for key, value in pairs(sums) do
    tools.say(("cost %d %s %d\n"):format(run.number, key, value))
  end
  tools.say(("note %d %s\n"):format(run.number, tools.escaped(report.verdict)))
end

local function run_one(run, kernels, tools)
  local tensors = tensors_of(run)
  tools.say("call " .. run.number .. "\n")
  local report = tarn.profile(function() launch(run, kernels, tensors) end)
  say_costs(run, report, tools)
  for _, name in ipairs(run.results) do
    tensors[name]:to("cpu"):save(("out/%d.%s.npy"):format(run.number, name))
  end
end

-- run(order, tools): what order.lua asks for; tools are those of child.lua.
function child.run(order, tools)
  if order.compile then return compile(order, tools) end
  tarn.emu {check = true, gpu = order.gpu}
  local kernels = {}
  for _, name in ipairs(order.kernels) do
    kernels[name] = tarn.kernel(order.file, name, {device = "emu", check = true})
  end
  tools.say "loaded\n"
  local word = io.stdin:read("l")
  for _, run in ipairs(order.runs) do tools.protected_run(run, run_one, kernels, tools) end
  tools.say("done " .. word .. "\n")
end

return child
