-- cpu-gpu.lua: the forms on every device at hand: how far off, how long, and how they reach
-- memory. Chapter 11.
--
--   tarn cpu-gpu.lua [--quick] [--forms=prefix,sim,assoc] [--sizes=256,1024] [--heads=8]
--        [--width=64] [--dtype=float32] [--devices=cpu,emu] [--grad] [--out=FOLDER]
--   tarn cpu-gpu.lua --check=REPORT
--
-- Writes results.csv, report.md and plot.svg into the folder. The emulated device runs the
-- kernels that a GPU would run, so that their errors and accesses are those of a GPU; its time
-- is that of a program on the CPU and is compared with nothing.
--
--   cpu-gpu/measure.lua     errors, times and accesses of one form at one size
--   cpu-gpu/picture.lua     the panels of the plot
--   cpu-gpu/report.lua      the report
--   common/lab.lua          what all labs do

local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "common/?.lua;" .. here .. "cpu-gpu/?.lua;" .. package.path
local arguments = require "arguments"
local lab = require "lab"
local measure = require "measure"
local panels_of = require "picture"
local report = require "report"

-- The devices that can be used: a list of names, and why others can't.
local function devices_at_hand()
  local names, why_not, seen = {}, {}, {}
  for _, backend in ipairs(backends()) do
    local name = backend.device
    if not backend.usable then
      why_not[name] = backend.why
    elseif not seen[name] then
      names[#names + 1], seen[name] = name, true
    end
  end
  return names, why_not
end

local at_hand, why_not = devices_at_hand()

local function prepare(opt)
  opt.why_not = why_not
  for _, name in ipairs(opt.devices) do
    if why_not[name] then
      arguments.complain("cpu-gpu", ("device '%s' can't be used: %s"):format(name, why_not[name]))
    end
  end
end

local function measure_all(opt)
  local rows = {}
  for _, form in ipairs(opt.forms) do
    for _, N in ipairs(opt.sizes) do
      print(("%-6s  N = %d"):format(form, N))
      for _, row in ipairs(measure.rows(form, N, opt)) do rows[#rows + 1] = row end
    end
  end
  return rows
end

lab.run {
  name = "cpu-gpu",
  summary = "Runs forms of attention on all devices at hand: errors, times and accesses of memory.",
  usage = [[
  --forms=LIST     of prefix, sim, assoc; all unless given
  --sizes=LIST     numbers of tokens; 256,1024,2048 unless given
  --heads=N        heads, computed side by side; 8 unless given
  --width=N        D = M, the width of a head; 64 unless given
  --dtype=NAME     float32, unless given, or float64
  --devices=LIST   of cpu, emu, cuda; all that can be used unless given
  --grad           gradients as well, of up to 2048 tokens
]],
  options = {
    forms = {kind = "words", words = measure.forms, default = measure.forms},
    sizes = {kind = "counts", default = {256, 1024, 2048}, quick = {64, 128, 256}},
    heads = {kind = "count", default = 8, quick = 2},
    width = {kind = "count", default = 64},
    dtype = {kind = "word", words = {"float32", "float64"}, default = "float32"},
    devices = {kind = "words", words = {"cpu", "emu", "cuda"}, default = at_hand},
    grad = {kind = "flag"},
  },
  prepare = prepare,
  columns = measure.columns,
  measure = measure_all,
  panels = panels_of,
  title = "The same forms on every device at hand",
  picture = "Errors, times and accesses",
  head = report.head,
  predict = report.predict,
  page = report.page,
  questions = report.questions,
}
