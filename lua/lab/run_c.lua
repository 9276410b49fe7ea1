-- run_c.lua: exercises in C: the harness that calls a learner's function, and two programs of
-- it: one with sanitizers, which says what is wrong, and one that counts what the call costs.

local system = require "tarn.lab.system"
local arguments = require "tarn.lab.run_arguments"
local faults = require "tarn.lab.run_faults"
local process = require "tarn.lab.run_process"

local c = {name = "C"}

local WARNINGS = " -Wall -Wextra"
-- DWARF 4: addr2line mistakes the files of clang's DWARF 5.
local SANITIZERS = " -O1 -gdwarf-4 -fno-omit-frame-pointer -fsanitize=address,undefined " ..
  "-fno-sanitize-recover=all $blank"
-- In local variables that nobody has set stands a pattern, not the 0 that they happen to hold.
-- gcc knows this from version 12 on.
local BLANK = "blank=-ftrivial-auto-var-init=pattern; " ..
  "%s $blank -fsyntax-only -x c /dev/null 2>/dev/null || blank=; "
local COUNTED = " -O1 -g -fsanitize=thread"
local WRAPPED = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free",
  "memcpy", "memmove", "memset"}

-- ---- the generated files ---------------------------------------------------------------

-- The learner's function as the harness sees it. It is put before the learner's file too, so
-- that a changed signature is an error there.
local function prototype(exercise, list)
  local declared = {}
  for i, p in ipairs(list) do declared[i] = p.declaration end
  return ("#include <stddef.h>\n%s %s(%s);\n"):format(exercise.returns or "void", exercise.entry,
    #declared > 0 and table.concat(declared, ", ") or "void")
end

-- What takes one argument from the case's files.
local function take(p, inputs_of_all)
  if not p.pointer then
    return ("    %s %s = (%s)harness_number();\n"):format(p.type, p.name, p.type)
  end
  local use = p.constant and "HARNESS_INPUT" or inputs_of_all[p.name] and "HARNESS_CHANGED" or
    "HARNESS_RESULT"
  return ('    size_t harness_%s;\n    %s *%s = harness_take("%s", HARNESS_%s, %s, &harness_%s);\n')
    :format(p.name, p.type, p.name, p.name, p.type, use, p.name)
end

-- The function that runs a case.
local function caller(exercise, list, given)
  local text, names, after = {'#include "harness.c"\n', prototype(exercise, list),
    "static void harness_run(void)\n{\n"}, {}, {}
  for i, p in ipairs(list) do
    text[#text + 1] = take(p, given)
    names[i] = p.name
    if p.pointer and not p.constant and not p.scratch then
      after[#after + 1] = ('    harness_save("%s", HARNESS_%s, %s, harness_%s);\n'):format(p.name,
        p.type, p.name, p.name)
    end
    if p.pointer then after[#after + 1] = ("    free(%s);\n"):format(p.name) end
  end
  text[#text + 1] = "    harness_begin();\n"
  local call = exercise.entry .. "(" .. table.concat(names, ", ") .. ");\n"
  local kind = exercise.returns
  text[#text + 1] = kind and ("    %s harness_returned = %s"):format(kind, call) or "    " .. call
  text[#text + 1] = "    harness_end();\n"
  if kind then
    text[#text + 1] = ('    harness_save("returned", HARNESS_%s, &harness_returned, 1);\n')
      :format(kind)
  end
  return table.concat(text) .. table.concat(after) .. "}\n"
end

-- The harness's own files: beside a built program those of the source.
local function harness_folder()
  local built = system.program:match("^(.*)/") == system.build
  local beside = system.program:gsub("/[^/]*/[^/]*$", "") .. "/share/tarn/exercises"
  for _, root in ipairs {built and system.source or beside, system.installed, system.source} do
    if system.kind(root .. "/harness/harness.c") == "file" then return root .. "/harness" end
  end
  error("the harness of the exercises is not installed: " .. system.installed .. "/harness", 0)
end

local function copy(work, name)
  local text = assert(system.read(harness_folder() .. "/" .. name, 1 << 20))
  process.write(work.folder .. "/" .. name, text)
end

-- ---- compiling -------------------------------------------------------------------------

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The compiler: $TARN_CC, that of the build, gcc, cc, clang: the first that is there.
local function compilers()
  local named = os.getenv("TARN_CC")
  if named then return {named} end
  return {system.cc, "gcc", "cc", "clang"}
end

-- compiler() -> how it is called, perhaps with options; or nil, what is missing.
function c.compiler()
  for _, name in ipairs(compilers()) do
    if process.on_path(name:match("%S*")) then return name end
  end
  return nil, "there is no C compiler; hint: install one (Debian package gcc), or name it in " ..
    "TARN_CC"
end

-- Runs a line of sh that compiles, where only the exercise's own files can be seen. How it
-- ended; the compiler's words are in err.
local function compile(work, line)
  return process.run {argv = {"/bin/sh", "-c", line}, folder = work.folder, writes = "all",
    isolate = work.isolate, limits = process.COMPILER}
end

local function learners_object(work, flags, object)
  return ("%s -std=gnu17%s%s -I. -include prototype.h -c %s -o %s"):format(work.compiler, WARNINGS,
    flags, quote(work.file), object)
end

local function problem_of(work, ended, why)
  if not ended then return "can't compile: " .. why end
  if ended.ending == "exit" and ended.code == 0 then return nil end
  return faults.compiler(ended, work.file)
end

-- Compiles learner's file and harness into a program.
local function build(work, program, flags, link, defines)
  local line = table.concat({learners_object(work, flags, program .. ".o"),
    ("%s -std=gnu17 -O1 %s -c caller.c -o %s-caller.o"):format(work.compiler, defines, program),
    ("%s %s -o %s %s.o %s-caller.o -lm"):format(work.compiler, link, program, program, program)},
    " && ")
  local ended, why = compile(work, BLANK:format(work.compiler) .. line)
  return problem_of(work, ended, why), ended
end

-- Words that could keep what a function does from being counted.
local HIDING = {"no_sanitize", "disable_sanitizer", "asm", "__real_", "__wrap_", "__libc_",
  "__tsan_", "mmap", "sbrk", "alloca", "maskload", "__builtin_ia32"}

-- Looks for patterns in the learner's file, where macros and comments are gone: nil, or the first
-- that is there, in words.
local function found_in(work, patterns, format)
  local ended = compile(work, ("%s -std=gnu17 -E -include prototype.h %s"):format(work.compiler,
    quote(work.file)))
  if not ended or ended.ending ~= "exit" or ended.code ~= 0 then return "can't be read again" end
  local file, number = "", 0
  for line in ended.out:gmatch("([^\n]*)\n") do
    local at, name = line:match('^# (%d+) "([^"]*)"')
    if at then
      file, number = name:match("[^/]*$"), tonumber(at)
    else
      for _, pattern in ipairs(file == work.file and patterns or {}) do
        local word = line:match(pattern)
        if word then return format:format(file, number, word) end
      end
      number = number + 1
    end
  end
end

-- What tells lines of the file apart from those of headers has to be true: nil, or why it is not.
local function renamed_lines(work)
  local text = assert(system.read(work.folder .. "/" .. work.file, 1 << 20))
  text = text:gsub("\\\r?\n", ""):gsub("/%*.-%*/", " "):gsub("%%:", "#"):gsub("%?%?=", "#")
  for line in text:gmatch("[^\r\n]+") do
    if line:find("^%s*#%s*line%f[^%w_]") or line:find("^%s*#%s*%d") then
      return work.file .. ": there is no #line in an exercise"
    end
  end
end

-- Whole words that the exercise is to be solved without: nil, or which is there, and where.
local function not_taken_away(work)
  local words = {}
  for i, word in ipairs(work.exercise.without or {}) do
    words[i] = "%f[%w_]" .. word .. "%f[^%w_]"
  end
  if #words == 0 then return nil end
  return found_in(work, words, "%s:%d: this exercise is solved without %s")
end

-- The results that inputs say what they hold before the call: in all cases, or in none.
local function given_results(work)
  local given = {}
  for _, result in ipairs(work.changed) do
    local count = 0
    for _, run in ipairs(work.runs) do
      if run.inputs[result.name] ~= nil then count = count + 1 end
    end
    if count > 0 and count < #work.runs then
      error("some cases have " .. result.name .. " in their inputs, others have not", 0)
    end
    given[result.name] = count > 0
  end
  return given
end

-- prepare(work) -> nil, or why the exercise's file can't be run. work: folder, file (its name
-- in the folder), exercise, cases, isolate.
function c.prepare(work)
  local exercise = work.exercise
  work.arguments = arguments.read(exercise.parameters)
  work.changed = arguments.results(work.arguments, exercise.returns)
  local given = given_results(work)
  for _, run in ipairs(work.runs) do
    arguments.write(work.arguments, run.inputs, work.folder .. "/in/" .. run.number)
  end
  copy(work, "harness.c")
  process.write(work.folder .. "/prototype.h", prototype(exercise, work.arguments))
  process.write(work.folder .. "/caller.c", caller(exercise, work.arguments, given))
  local problem, ended = build(work, "exercise", SANITIZERS, "-fsanitize=address,undefined", "")
  if problem then return problem end
  work.warnings = faults.warnings(ended.err, work.file)
  return renamed_lines(work) or not_taken_away(work)
end

-- prepare_costs(work) -> nil or a problem: the program that counts.
function c.prepare_costs(work)
  local hidden = found_in(work, HIDING, "%s:%d: '%s' would hide what the function costs")
  if hidden then return hidden end
  copy(work, "costs.c")
  local wrap = ""
  for _, name in ipairs(WRAPPED) do wrap = wrap .. " -Wl,--wrap=" .. name end
  return (build(work, "costs", COUNTED, wrap, "-DHARNESS_COSTS"))
end

-- How a child is started that runs some of the runs, by their numbers.
function c.order(work, numbers, costs)
  local argv = {costs and "./costs" or "./exercise"}
  for _, number in ipairs(numbers) do argv[#argv + 1] = tostring(number) end
  return {argv = argv, alone = true, space = costs and work.limits.bytes or nil}
end

function c.result_files(work, run, folder)
  return arguments.result_files(work.changed, folder, run.number)
end

c.shaped = arguments.shaped

-- clang's sanitizer needs another program to know lines, which it can't start: "(exercise+0x12)"
-- in its report. Here that is asked for.
local function with_lines(work, report)
  local addresses = {}
  for address in report:gmatch("/exercise%+(0x%x+)%)") do
    if #addresses < 20 then addresses[#addresses + 1] = address end
  end
  if #addresses == 0 then return report end
  local asked = process.run {argv = {"addr2line", "-e", "exercise", table.unpack(addresses)},
    folder = work.folder, writes = "out", isolate = work.isolate, alone = true}
  local lines = (asked and asked.out or ""):gmatch("[^\n]+")
  return (report:gsub("%([^()\n]*/exercise%+0x%x+%)", function()
    local place = (lines() or ""):match("^%S+:%d+")
    return place and "in code " .. place
  end))
end

-- What is wrong with a child that did not end as it should, in words.
function c.fault(work, ended)
  ended.err = with_lines(work, ended.err)
  return faults.run(ended, work.file)
end

return c
