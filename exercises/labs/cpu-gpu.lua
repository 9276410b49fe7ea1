-- cpu-gpu.lua: the forms on every device at hand: how far off, how long, and how they reach
-- memory. Chapter 11.
--
--   tarn cpu-gpu.lua [--quick] [--forms=prefix,sim,assoc] [--sizes=256,1024] [--heads=8]
--        [--width=64] [--dtype=float32] [--devices=cpu,emu] [--grad] [--out=FOLDER]
--
-- Writes results.csv, report.md and plot.svg into the folder. The emulated device runs the
-- kernels that a GPU would run, so that their errors and accesses are those of a GPU; its time
-- is that of a program on the CPU and is compared with nothing.
--
--   cpu-gpu/arguments.lua   the command line
--   cpu-gpu/measure.lua     errors, times and accesses of one form at one size
--   cpu-gpu/files.lua       the folder; CSV; files whole or not at all
--   cpu-gpu/picture.lua     the plot
--   cpu-gpu/report.lua      the report

local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "cpu-gpu/?.lua;" .. package.path
local arguments = require "arguments"
local files = require "files"
local measure = require "measure"
local picture = require "picture"
local write_report = require "report"

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

local opt = arguments.read("cpu-gpu", [[
Usage: tarn cpu-gpu.lua [OPTION]...
Runs forms of attention on all devices at hand: errors, times and accesses of memory.

  --quick          small sizes, two heads, few runs: less than a minute
  --forms=LIST     of prefix, sim, assoc; all unless given
  --sizes=LIST     numbers of tokens; 256,1024,2048 unless given
  --heads=N        heads, computed side by side; 8 unless given
  --width=N        D = M, the width of a head; 64 unless given
  --dtype=NAME     float32, unless given, or float64
  --devices=LIST   of cpu, emu, cuda; all that can be used unless given
  --grad           gradients as well, of up to 2048 tokens
  --out=FOLDER     where the files go; cpu-gpu-results unless given
  --help           this text

Exit status: 0 all is well, 1 something is wrong, 2 usage.
]], {
  quick = {kind = "flag"},
  forms = {kind = "words", words = measure.forms, default = measure.forms},
  sizes = {kind = "counts", default = {256, 1024, 2048}, quick = {64, 128, 256}},
  heads = {kind = "count", default = 8, quick = 2},
  width = {kind = "count", default = 64},
  dtype = {kind = "word", words = {"float32", "float64"}, default = "float32"},
  devices = {kind = "words", words = {"cpu", "emu", "cuda"}, default = at_hand},
  grad = {kind = "flag"},
  out = {kind = "text", default = "cpu-gpu-results"},
})
for _, name in ipairs(opt.devices) do
  if why_not[name] then
    arguments.complain("cpu-gpu", ("device '%s' can't be used: %s"):format(name, why_not[name]))
  end
end
opt.why_not = why_not

local folder = files.open(opt.out)
local rows = {}
for _, form in ipairs(opt.forms) do
  for _, N in ipairs(opt.sizes) do
    print(("%-6s  N = %d"):format(form, N))
    for _, row in ipairs(measure.rows(form, N, opt)) do rows[#rows + 1] = row end
  end
end

local beyond = 0
for _, row in ipairs(rows) do
  if not row.ok then beyond = beyond + 1 end
end
folder:write("results.csv", files.csv(measure.columns, rows))
local drawn, why = picture.write(folder, rows, opt)
folder:write("report.md", write_report(rows, opt, not drawn and why or nil))
print(("%d rows, %s"):format(#rows,
  beyond == 0 and "all within their bounds" or beyond .. " beyond their bounds"))
print("results.csv, report.md" .. (drawn and ", plot.svg" or "") .. " are in " .. opt.out)
if not drawn then print("no plot.svg: " .. why) end
os.exit(beyond == 0)
