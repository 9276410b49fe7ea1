-- run_cuda.lua: exercises in CUDA, on the emulated device with all its checks. The child is
-- this program itself (child_cuda.lua): once to compile, once to launch. Chapter 11.

local loader = require "tarn.loader"
local system = require "tarn.lab.system"
local arguments = require "tarn.lab.run_arguments"
local faults = require "tarn.lab.run_faults"
local literal = require "tarn.lab.run_literal"
local process = require "tarn.lab.run_process"

local cuda = {name = "CUDA"}

-- compiler() -> true; or nil, why kernels can't be run here.
function cuda.compiler()
  local why = loader.why_not("emu")
  if why ~= "" then return nil, "no kernels can be run here: " .. why end
  local name = (os.getenv("TARN_CXX") or loader.cxx):match("%S+") or "g++"
  if process.on_path(name) then return os.getenv("TARN_CXX") or loader.cxx end
  return nil, ("there is no C++ compiler '%s'; hint: install one (Debian package g++), or name " ..
    "it in TARN_CXX"):format(name)
end

-- Where tarn's headers for kernels are: of the source only what a compiler needs, for beside
-- it lie the solutions.
local function header_folders()
  local shown = {}
  local beside = loader.program:gsub("/[^/]*$", "") .. "/share/tarn/kernels"
  for _, path in ipairs {loader.installed, beside, loader.source .. "/cuda",
    loader.source .. "/emu", loader.source .. "/src"} do
    if system.kind(path) == "folder" then shown[#shown + 1] = path end
  end
  return shown
end

-- ---- what the child is to do -----------------------------------------------------------------

-- A case's launches: one, or a list of those.
local function launches_of(work, run)
  local launch = run.case.launch or work.exercise.launch
  local list = launch(run.inputs)
  return list[1] and list or {list}
end

-- One launch with the values of its arguments; all parameters in order unless it names some.
local function complete_launch(work, run, one)
  local given, by_name = {}, {}
  for _, p in ipairs(work.arguments) do by_name[p.name] = p end
  local names = one.arguments
  if not names then
    names = {}
    for i, p in ipairs(work.arguments) do names[i] = p.name end
  end
  for i, name in ipairs(names) do
    local p = by_name[name]
    if not p then error("a launch has the argument " .. name .. ", which is no parameter", 0) end
    given[i] = {name = name, value = not p.pointer and run.inputs[name] or nil}
  end
  return {kernel = one.kernel or work.exercise.entry, grid = one.grid, block = one.block,
    shared = one.shared or 0, arguments = given}
end

local function run_of(work, run)
  local letters = arguments.complete(work.arguments, run.inputs)
  local arrays, launches, results = {}, {}, {}
  for _, p in ipairs(work.arguments) do
    if p.pointer then
      local _, count = arguments.shape(p, letters)
      arrays[#arrays + 1] = {name = p.name, given = run.inputs[p.name] ~= nil, count = count,
        dtype = p.dtype}
    end
  end
  for i, one in ipairs(launches_of(work, run)) do
    launches[i] = complete_launch(work, run, one)
    work.kernels[launches[i].kernel] = true
  end
  for i, result in ipairs(work.changed) do results[i] = result.name end
  return {number = run.number, arrays = arrays, launches = launches, results = results}
end

local function write_order(work, order)
  order.file, order.kernels, order.gpu = work.file, {}, work.exercise.gpu
  for name in pairs(work.kernels) do order.kernels[#order.kernels + 1] = name end
  table.sort(order.kernels)
  process.write(work.folder .. "/order.lua", "return " .. literal.write(order))
end

-- A compiler's word on a name that was taken away; clang does not say which.
local function solved_without(line, names)
  return (line:gsub('attempt to use poisoned "([^"]+)"', "this exercise is solved without %1")
    :gsub("attempt to use a poisoned identifier", "this exercise is solved without " .. names))
end

-- What kernel.lua says of a file that does not compile: of several errors those in the file.
local function compile_problem(text, file, names)
  local first = "kernel: " .. file .. " does not compile:\n"
  if text:sub(1, #first) ~= first then return (text:gsub("^kernel: ", "")) end
  local own, all = {}, {}
  for line in text:sub(#first + 1):gmatch("[^\n]+") do
    line = solved_without(line:gsub("^%s+", ""), names)
    all[#all + 1] = line
    if line:sub(1, #file + 1) == file .. ":" then own[#own + 1] = line end
  end
  return "does not compile: " .. table.concat(#own > 0 and own or all, "\n")
end

-- Names that an exercise is to be solved without become errors, however a macro spells them.
local function take_away(work)
  local names = work.exercise.without
  if not names then return end
  local path = work.folder .. "/" .. work.file
  process.write(path, ('#pragma GCC poison %s\n#line 1 "%s"\n%s'):format(table.concat(names, " "),
    work.file, assert(system.read(path, 1 << 20))))
end

-- ---- the parts of a check (see run.lua) --------------------------------------------------------

function cuda.prepare(work)
  take_away(work)
  work.arguments = arguments.read(work.exercise.parameters)
  work.changed = arguments.results(work.arguments)
  work.kernels, work.all = {}, {}
  for _, run in ipairs(work.runs) do
    arguments.write(work.arguments, run.inputs, work.folder .. "/in/" .. run.number)
    work.all[run.number] = run_of(work, run)
  end
  write_order(work, {compile = true})
  local ended, why = process.run {argv = {process.PROGRAM, "--child=cuda"}, own = true,
    shown = header_folders(), folder = work.folder, writes = "all", isolate = work.isolate,
    limits = process.COMPILER, env = {"TARN_CXX=" .. work.compiler}}
  if not ended then return "can't compile: " .. why end
  if ended.said:find("compiled\n", 1, true) then return nil end
  local said = ended.said:match("unloadable ([^\n]*)")
  if not said then return faults.compiler(ended, work.file) end
  local names = table.concat(work.exercise.without or {}, " and ")
  return compile_problem(literal.unescape(said), work.file, names)
end

function cuda.order(work, numbers)
  local runs = {}
  for i, number in ipairs(numbers) do runs[i] = work.all[number] end
  write_order(work, {runs = runs})
  -- Not alone: what lines findings are in is asked of addr2line.
  return {argv = {process.PROGRAM, "--child=cuda"}, own = true, shown = header_folders(),
    env = {"TARN_CXX=" .. work.compiler}}
end

function cuda.result_files(work, run, folder)
  return arguments.result_files(work.changed, folder, run.number)
end

cuda.shaped = arguments.shaped

function cuda.fault(work, ended)
  return faults.run(ended, work.file)
end

return cuda
