-- lab_hostile.lua: what learners may hand in that is no answer: the lab says so, its own files
-- and processes are as before, and the other cases still count.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is = tap.test, tap.is
local system = require "tarn.lab.system"
local process = require "tarn.lab.run_process"
local run = require "tarn.lab.run"

local scratch = os.getenv("SCRATCH") or assert(system.temporary("lab-hostile-test"))
assert(system.folder(scratch .. "/exercises"))
process.exercises = scratch .. "/exercises"

local function has(text, piece)
  if not tostring(text):find(piece, 1, true) then
    error(("%q is not in: %s"):format(piece, tostring(text)), 2)
  end
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

local function read(path)
  local file = io.open(path)
  return file and file:read("a"), file and file:close()
end

-- What nobody may read, change or remove.
local bait = {solution = scratch .. "/exercises/solution.c", home = scratch .. "/letters",
  learner = scratch .. "/other.c"}
for _, path in pairs(bait) do write(path, "int secret = 42;\n") end

local function bait_is_there()
  for _, path in pairs(bait) do is(read(path), "int secret = 42;\n") end
end

local written = 0
local function answer(text, extension)
  written = written + 1
  return write(("%s/answer%d.%s"):format(scratch, written, extension), text)
end

local LIMITS = {seconds = 1, bytes = 400 << 20, output = 200000, disk = 30 << 20}

-- How children are kept apart here: with bwrap where it works, and without it.
local ways = {"none"}
if run.isolation() then table.insert(ways, 1, "bwrap") end

-- A claim for each way; those about files need bwrap or Landlock.
local function test_ways(claim, body, about_files)
  for _, way in ipairs(ways) do
    local name = claim .. (way == "bwrap" and ", in bwrap" or ", without bwrap")
    if about_files and way == "none" and not system.landlock() then
      tap.skip(name, "this kernel has no Landlock")
    else
      test(name, function()
        body(way)
        bait_is_there()
      end)
    end
  end
  if #ways == 1 then tap.skip(claim .. ", in bwrap", select(2, run.isolation())) end
end

-- ---- C: one file, a case for each deed -------------------------------------------------

-- A course with one case for each {name, code, what is said of it, kind}.
local function attacks_course(attacks)
  local cases = {}
  for i, attack in ipairs(attacks) do
    cases[i] = {name = attack[1], points = 1,
      inputs = function() return {what = i} end}
  end
  return {name = "attacks", language = "c", entry = "deed", returns = "int",
    parameters = {"int what", {"float *out", "1"}},
    spec = function(inputs) return {out = {inputs.what}, returned = 7} end, cases = cases}
end

local function attacks_file(head, attacks)
  local text = {head, "int deed(int what, float *out)\n{\n    *out = (float)what;\n"}
  for i, attack in ipairs(attacks) do
    text[#text + 1] = ("    if (what == %d) {\n%s\n    }\n"):format(i, attack[2])
  end
  return table.concat(text) .. "    return 7;\n}\n"
end

local HEAD = [[
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static int zero = 0, *nowhere;
static int deeper(int n)
{
    volatile char room[1000];
    room[n % 1000] = 1;
    return deeper(n + 1) + room[0];
}
static void late(void) { _exit(0); }
]]

local CRASHES = {
  {"an honest case", "", nil},
  {"segfault", "*nowhere = 1;", "null pointer", "crash"},
  {"INT_MIN / -1", "out[0] = (float)((INT_MIN + zero) / (zero - 1));",
    "cannot be represented in type 'int'", "crash"},
  {"recursion", "return deeper(0);", "the stack is full", "crash"},
  {"10 GB", "char *volatile p = malloc(10000000000u); out[0] = p ? 1 : 2;",
    "asks for 10 GB of memory", "crash"},
  {"memory bit by bit", "for (;;) { char *volatile p = malloc(1 << 20); memset(p, 1, 1 << 20); }",
    "more memory", "memory"},
  {"memory that malloc does not know", "for (;;) memset(mmap(0, 1 << 20, " ..
    "PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 1 << 20);",
    "more memory", "memory"},
  {"1 GB of output", "for (int i = 0; i < 1000000; i++) printf(\"%01000d\\n\", i);",
    "prints or writes too much", "output"},
  {"1 GB of output on stderr", "for (;;) fprintf(stderr, \"no\\n\");",
    "prints or writes too much", "output"},
  {"files without end", "static char much[1 << 20]; char name[40];\nfor (int i = 0;; i++) { " ..
    "sprintf(name, \"out/%d\", i);\nFILE *f = fopen(name, \"w\"); " ..
    "if (f) { fwrite(much, 1, sizeof much, f); fclose(f); } }", "writes too much", "output"},
  {"exit(0)", "exit(0);", "left the program before it returned", "crash"},
  {"_exit(0)", "_exit(0);", "left the program before it returned", "crash"},
  {"says done and leaves", "dprintf(3, \"end 13\\nend 14\\ndone me\\n\"); _exit(0);",
    "left the program", "crash"},
  {"kill -9", "raise(SIGKILL);", "it was stopped", "crash"},
  {"closes everything", "for (int i = 0; i < 20; i++) close(i);", "", "crash"},
  {"an exit handler", "atexit(late);", nil},
  {"an honest case at the end", "", nil},
  {"an endless loop", "for (volatile unsigned i = 0;; i++);", "it does not end", "time"},
  {"an endless loop that ignores signals", "signal(SIGXCPU, SIG_IGN);\n" ..
    "for (volatile unsigned i = 0;; i++);", "it does not end", "time"},
}

if not require("tarn.lab.run_c").compiler() then
  tap.skip("hostile C", "there is no C compiler")
else

test_ways("each crash is told as what it is, and the other cases count", function(way)
  local result = run.check(attacks_course(CRASHES), answer(attacks_file(HEAD, CRASHES), "c"),
    {limits = LIMITS, isolate = way})
  is(result.problem, nil)
  for i, attack in ipairs(CRASHES) do
    local case = result.cases[i]
    if attack[4] then
      assert(not case.ok, attack[1] .. " passes")
      has(attack[1] .. ": " .. case.message, attack[3])
      is({attack[1], case.kind}, {attack[1], attack[4]})
    else
      is({attack[1], case.message, case.ok}, {attack[1], nil, true})
    end
  end
end)

-- What must not work; the function gives the number of the first thing that did.
local DEEDS = [[
#define TRY(number, what) if (what) return number
static int opens(const char *path, int how)
{
    int f = open(path, how, 0600);
    if (f >= 0) close(f);
    return f >= 0;
}
static int has_open(int f) { while (f < 64 && fcntl(f, F_GETFD) < 0) f++; return f < 64; }
static int begin_process(void) { int p = fork(); if (p == 0) _exit(0); return p > 0; }
]]

local function deeds_file()
  local lines = {HEAD, DEEDS, "int deed(int what, float *out)\n{\n    *out = (float)what;\n" ..
    "    char parent[60];\n" ..
    "    snprintf(parent, sizeof parent, \"/proc/%d/mem\", (int)getppid());\n"}
  local number = 10
  local function try(what)
    lines[#lines + 1] = ("    TRY(%d, %s);\n"):format(number, what)
    number = number + 1
  end
  for _, path in pairs(bait) do
    try(("opens(%q, O_RDONLY)"):format(path))
    try(("opens(%q, O_WRONLY | O_TRUNC)"):format(path))
    try(("unlink(%q) == 0"):format(path))
    try(("rename(%q, \"out/taken\") == 0"):format(path))
  end
  try(("opens(%q, O_CREAT | O_WRONLY)"):format(scratch .. "/new"))
  try('opens("/etc/passwd", O_RDONLY)')
  try('opens("../../etc/passwd", O_RDONLY)')
  try('opens("in/1.values", O_WRONLY)')
  try('unlink("order.lua") == 0 || unlink("caller.c") == 0')
  try('symlink("/etc/passwd", "in/link") == 0')
  try("begin_process()")
  try("socket(AF_INET, SOCK_STREAM, 0) >= 0")
  try("socket(AF_UNIX, SOCK_STREAM, 0) >= 0")
  try('opens(parent, O_RDONLY) && getppid() > 1')
  try("setrlimit(RLIMIT_CPU, &(struct rlimit){1000, 1000}) == 0")
  try("kill(-1, 0) == 0 && getpid() > 10")
  for _, place in ipairs {"/", "/dev/", "/dev/shm/", "/tmp/", "/lab/", "/usr/"} do
    try(("opens(%q, O_CREAT | O_RDWR)"):format(place .. "tarn-lab-was-here"))
  end
  for _, device in ipairs {"/dev/kmsg", "/dev/pts/0", "/dev/tty", "/proc/kcore"} do
    try(("opens(%q, O_RDONLY)"):format(device))
  end
  try('opens("/proc/sys/kernel/core_pattern", O_WRONLY)')
  -- What rules for files do not cover, and memory that nobody counts.
  try(("truncate(%q, 0) == 0"):format(bait.home))
  try(("chmod(%q, 0) == 0 || chown(%q, 1, 1) == 0"):format(bait.home, bait.home))
  try('mkdir("out/folder", 0700) == 0 || symlink("/etc", "out/link") == 0')
  try('fchmod(open("out/new", O_CREAT | O_RDWR, 0600), 04755) == 0 || unlink("out/new") == 0')
  try('memfd_create("memory", 0) >= 0 || shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0')
  try("mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED")
  try("prctl(PR_SET_PDEATHSIG, 0) == 0 || prctl(PR_SET_DUMPABLE, 0) == 0")
  try("has_open(6)") -- 4 is the harness's, 5 the new file
  return table.concat(lines) ..
    "    if (getpid() > 10) { kill(getppid(), SIGKILL); kill(1, SIGKILL); kill(-1, SIGKILL); }\n" ..
    "    return 7;\n}\n"
end

test_ways("nothing outside can be read, written or removed; no process, no network", function(way)
  local inherited <close> = assert(io.open(bait.home, "r+"))
  local result = run.check(attacks_course {{"deeds"}}, answer(deeds_file(), "c"),
    {limits = LIMITS, isolate = way})
  is({result.cases[1].message, result.points}, {nil, 1})
end, true)

-- What happens before main, and while compiling.
local BEGIN = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
local FUNCTION = "int deed(int what, float *out) { *out = (float)what; return 7; }\n"
local one = attacks_course {{"one"}}

local function check_text(text, way)
  return run.check(one, answer(text, "c"), {limits = LIMITS, isolate = way})
end

test_ways("exit(0) before main, with results that were written then, is no answer", function(way)
  local case = check_text(BEGIN .. FUNCTION ..
    "__attribute__((constructor)) static void first(void) {\n" ..
    "FILE *f = fopen(\"out/1.out.npy\", \"w\"); if (f) fclose(f);\n" ..
    "dprintf(3, \"loaded\\nbegin 1\\nend 1\\ndone \\n\"); _exit(0); }\n", way).cases[1]
  assert(not case.ok)
  has(case.message, "left the program")
end)

test_ways("the compiler can't be made to read a solution", function(way)
  has(check_text(("#include %q\n"):format(bait.solution) .. FUNCTION, way).problem,
    "does not compile: ")
  has(check_text(('__asm__(".incbin \\"%s\\"");\n'):format(bait.solution) .. FUNCTION, way).problem,
    "does not compile: ")
  has(check_text("#include \"/etc/passwd\"\n" .. FUNCTION, way).problem, "does not compile: ")
end, true)

test("a compiler that does not end, or says too much, is stopped", function()
  local nested = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\n"
  has(check_text(nested .. "int a[] = {B(B(1,))};\n" .. FUNCTION).problem, "does not compile: ")
end)

-- An exercise whose answer is to be cheap: out[i] = x[i], once.
local cheap = {name = "cheap", language = "c", entry = "deed",
  parameters = {"size_t N", {"const float *x", "N"}, {"float *out", "N"}},
  spec = function(inputs) return {out = inputs.x} end,
  cases = {{name = "once", points = 1, limit = {growth = 2.1, loads = 40, heap = 100},
    inputs = function(draw, scale) return {x = draw.randn(16 * scale)} end}}}

local DEAR = "volatile float sum = 0;\nfor (size_t i = 0; i < N * N; i++) sum += x[i % N];\n"
local COPIES = "for (size_t i = 0; i < N; i++) out[i] = x[i];\n"

local CHEATS = {
  {"an honest answer", "", COPIES, nil},
  {"a dear answer", "", DEAR .. COPIES, "floats read"},
  {"counts that it says itself", "", DEAR .. COPIES ..
    "dprintf(3, \"cost 1 loads 0\\ncost 2 loads 0\\n\");",
    "floats read"},
  {"counts that are cleared", "__attribute__((weak)) void harness_count_begin(void);\n",
    DEAR .. COPIES .. "if (harness_count_begin) harness_count_begin();", "floats read"},
  {"right for short sequences only", "", "if (N < 20) {" .. COPIES .. "}",
    "for a sequence twice as long"},
  {"wrong where it is counted", "",
    "\n#ifdef __clang__\n#define COUNTED __has_feature(thread_sanitizer)\n" ..
    "#elif defined __SANITIZE_THREAD__\n#define COUNTED 1\n#else\n#define COUNTED 0\n#endif\n" ..
    "#if COUNTED\n(void)N, (void)x, (void)out;\n" ..
    "#else\n" .. DEAR .. COPIES .. "#endif\n", "out was not written"},
  {"not to be counted",
    "#define JOIN(a, b) a##b\n__attribute__((JOIN(no_, sanitize)(\"thread\")))\n",
    DEAR .. COPIES, "would hide what the function costs"},
}

test("lines can't be given to another file, where nobody would look for what hides costs", function()
  for _, line in ipairs {"#line 1", "# 1", "%:/**/line 1", "#li\\\nne 1"} do
    local text = line .. " \"a.h\"\n__attribute__((no_sanitize(\"thread\")))\n" ..
      "void deed(size_t N, const float *x, float *out)\n{\n" .. DEAR .. COPIES .. "}\n"
    has(run.check(cheap, answer(text, "c"), {limits = LIMITS}).problem, "there is no #line")
  end
end)

test("costs can't be talked down", function()
  for _, cheat in ipairs(CHEATS) do
    local text = "#include <stdio.h>\n" .. cheat[2] ..
      "void deed(size_t N, const float *x, float *out)\n{\n" .. cheat[3] .. "}\n"
    local case = run.check(cheap, answer(text, "c"), {limits = LIMITS}).cases[1]
    if cheat[4] then
      has(cheat[1] .. ": " .. tostring(case.message), cheat[4])
    else
      is({cheat[1], case.message}, {cheat[1], nil})
    end
  end
end)

test("a link, a folder and a pipe are no files to hand in", function()
  local link = scratch .. "/link.c"
  assert(os.execute(("ln -s '%s' '%s' && mkfifo '%s/pipe.c'"):format(bait.solution, link, scratch)))
  has(run.check(one, link).problem, "symbolic link")
  has(run.check(one, scratch .. "/pipe.c").problem, "no regular file")
  has(run.check(one, scratch .. "/exercises").problem, "no regular file")
  has(run.check(one, scratch .. "/nothing.c").problem, "No such file")
end)

end

-- ---- Lua -------------------------------------------------------------------------------

local plain = {name = "plain", language = "lua", parameters = {"x"}, results = {"y"},
  spec = function(inputs) return {y = inputs.x} end, cases = {
    {name = "as it is", points = 1, inputs = function(draw) return {x = draw.randn(3)} end}}}

-- Those that are tried without bwrap too have a fourth entry.
local LUA = {
  {"os.exit at load", "os.exit(0)", "left the program", true},
  {"os.exit in the function", "return function(x) os.exit(0) end", "left the program"},
  {"an endless loop that catches errors",
    "return function(x) while true do pcall(function() while true do end end) end end",
    "does not end"},
  {"an endless loop in coroutines", "return function(x) while true do coroutine.wrap(function() " ..
    "while true do end end)() end end", "does not end", true},
  {"a pattern that never ends", "return function(x) return (('a'):rep(40)):find(" ..
    "('a?'):rep(40) .. ('a'):rep(40) .. 'b') end", "does not end"},
  {"a text without end", "return function(x) return ('x'):rep(1 << 40) end",
    "resulting string too large"},
  {"memory", "return function(x) local t = {} " ..
    "while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end end", "memory"},
  {"tensors", "return function(x) local t = {} while true do t[#t + 1] = ones(1000, 1000) end end",
    "memory", true},
  {"recursion", "local function f(x) return 1 + f(x) end return f", "stack overflow"},
  {"print", "return function(x) while true do print('x') end end", "prints or writes too much"},
  {"its insides", "return require('tarn.lab.system').start", "tarn.lab.system", true},
  {"the debugger", "debug.sethook() return function(x) return x end", "closed by --restricted"},
  {"a command", "os.execute('id') return function(x) return x end", "closed by --restricted"},
  {"a file", "io.open('" .. bait.solution .. "') return function(x) return x end",
    "closed by --restricted"},
  {"an error that is an object", "return function(x) error(setmetatable({}, {__tostring = " ..
    "function() while true do end end})) end", "does not end"},
}

test_ways("a learner's Lua that does anything but answer is told so", function(way)
  for _, attack in ipairs(LUA) do
    if way == ways[1] or attack[4] then
      local result = run.check(plain, answer(attack[2], "lua"), {limits = LIMITS, isolate = way})
      is({attack[1], result.points}, {attack[1], 0})
      has(attack[1] .. ": " .. result.cases[1].message, attack[3])
    end
  end
end)

test_ways("a learner's Lua can't load a solution", function(way)
  local text = "local f, why = loadfile('" .. bait.solution .. "') error(why)"
  has(run.check(plain, answer(text, "lua"), {isolate = way}).cases[1].message, "cannot open")
end, true)

test("a library that a learner has changed changes nothing for the lab", function()
  local text = "string.format = nil table.concat = nil tarn.read = nil\n" ..
    "getmetatable('').__index = nil pairs = nil type = nil return function(x) return x end"
  is(run.check(plain, answer(text, "lua")).points, 1)
end)

-- What takes a million instructions where a counter may not look.
local UNCOUNTED = {
  {"a coroutine made before", "local f = coroutine.wrap(function(x) while true do " ..
    "for i = 1, 1e6 do end x = coroutine.yield(x) end end) return function(x) return f(x) end",
    "instructions of Lua, allowed are 2,000"},
  {"a finalizer", "return function(x) setmetatable({}, {__gc = function() " ..
    "for i = 1, 1e6 do end end}) collectgarbage() return x end", "there is no __gc"},
  {"the same from _G", "return function(x) rawget(_G, 'setmetatable')({}, {__gc = print}) end",
    "there is no __gc"},
  {"a finalizer of tensors", "return function(x) getmetatable(x).__gc = print return x end",
    "attempt to index a boolean value"},
}

test("instructions are counted wherever a learner hides them", function()
  local limited = {name = "limited", language = "lua", parameters = {"x"}, results = {"y"},
    spec = plain.spec, cases = {{name = "short", points = 1, limit = {instructions = 2000},
      inputs = plain.cases[1].inputs}}}
  is(run.check(limited, answer("return function(x) return x end", "lua")).points, 1)
  for _, attack in ipairs(UNCOUNTED) do
    local case = run.check(limited, answer(attack[2], "lua")).cases[1]
    has(attack[1] .. ": " .. tostring(case.message), attack[3])
  end
end)

-- ---- CUDA ------------------------------------------------------------------------------

local kernel = {name = "kernel", language = "cuda", entry = "copy",
  parameters = {{"float *y", "4"}, {"const float *x", "4"}}, launch = function()
    return {grid = 1, block = 4}
  end, spec = function(inputs) return {y = inputs.x} end,
  cases = {{name = "copied", points = 1, inputs = function(draw) return {x = draw.randn(4)} end}}}

local COPY = "#include <stdlib.h>\n#include <thread>\n#include <unistd.h>\n" ..
  "__global__ void copy(float *y, const float *x) { y[threadIdx.x] = x[threadIdx.x]; }\n" ..
  "__attribute__((constructor)) static void first() { %s }\n"

local CUDA = {
  {"nothing more", "", nil},
  {"exit(0) when loaded", "_exit(0);", "left the program"},
  {"processes without end", "for (;;) if (fork() == 0) for (;;) pause();",
    "more and more processes", "more memory"},
  {"orphans of a thread", "std::thread([] { for (;;) if (fork() == 0) { if (fork() == 0) " ..
    "for (;;) pause(); _exit(0); } }).join();", "more and more processes", "more memory"},
  {"a file", ("if (!unlink(%q)) _exit(0);"):format(bait.home), nil},
}

local there, why = require("tarn.lab.run_cuda").compiler()
if there then
  test_ways("a learner's kernels that do anything else are told so", function(way)
    for _, attack in ipairs(CUDA) do
      local result = run.check(kernel, answer(COPY:format(attack[2]), "cu"),
        {limits = LIMITS, isolate = way})
      local message = tostring(result.cases[1].message)
      if attack[3] then
        -- Where memory is dear, as with a sanitizer in this program, it is used up first.
        assert(message:find(attack[3], 1, true) or attack[4] and message:find(attack[4], 1, true),
          attack[1] .. ": " .. message)
      else
        is({attack[1], result.cases[1].message}, {attack[1], nil})
      end
    end
  end, true)
else
  tap.skip("hostile kernels", why)
end

-- ---- what a child says -----------------------------------------------------------------

test("escapes for the terminal are not shown", function()
  local text = "return function(x) error('\\27[2J\\7 boo') end"
  has(run.check(plain, answer(text, "lua")).cases[1].message, "?[2J? boo")
end)

test("no folder of a check is left behind", function()
  local place = os.getenv("TMPDIR") or "/tmp"
  local function count()
    local n = 0
    for _, name in ipairs(system.list(place)) do
      if name:find("^tarn%-lab%-") then n = n + 1 end
    end
    return n
  end
  local before = count()
  run.check(plain, answer("os.exit(1)", "lua"))
  is(count(), before)
end)

tap.done()
