-- run_process.lua: child processes of the lab: where they run, what they may do, and several
-- at a time.
--
-- A child runs in a folder made for it, /lab inside of bwrap, which shows it only the system's
-- own folders and has neither network nor other processes. Where bwrap does not work the same
-- list of folders becomes rules of Landlock, in kernels that have it; that is a fence for
-- accidents, not a prison, and `grade` does not take it for one.

local system = require "tarn.lab.system"

local process = {}

local getenv, open = os.getenv, io.open

local DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

-- Limits that fit every exercise; options of a check may change them.
process.LIMITS = {
  seconds = 20,      -- of processor time, for all cases of one child
  clock = 6,         -- times that on the clock: it sleeps, or waits for its turn
  bytes = 2 << 30,   -- in use by the child and what it started
  output = 1 << 20,  -- bytes of each stream
  file = 256 << 20,  -- bytes of a file that it writes
  disk = 512 << 20,  -- bytes of all files
}

-- A compiler has the same, but waits for nobody.
process.COMPILER = setmetatable({clock = 2}, {__index = process.LIMITS})

-- The program that is its own child; a test is run by tarn, which lies beside it.
process.PROGRAM = system.program:gsub("[^/]*$", "tarn-lab")

-- ---- what a child sees -----------------------------------------------------------------------

local SYSTEM = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
  "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"}

local function add(list, ...)
  for _, word in ipairs {...} do list[#list + 1] = word end
end

-- Files of this program that lie elsewhere: itself, its libraries.
local function own_files()
  local found, seen = {process.PROGRAM}, {[process.PROGRAM] = true}
  for line in io.lines("/proc/self/maps") do
    local path = line:match("^%S+ r[%w-]+ %S+ %S+ %d+%s+(/.*)$")
    if path and not seen[path] and not path:find("^/usr/") and not path:find("^/lib") and
      not path:find(" %(deleted%)$") and system.kind(path) == "file" then
      found[#found + 1] = path
    end
    seen[path or ""] = true
  end
  return found
end

-- Folders that hold solutions, where they lie in what a child sees.
local function hidden_folders()
  local found = {}
  for _, path in ipairs {system.installed, system.source, process.exercises} do
    local real = system.realpath(path)
    for _, shown in ipairs(real and SYSTEM or {}) do
      if real:sub(1, #shown + 1) == shown .. "/" then
        add(found, real)
        break
      end
    end
  end
  return found
end

-- The arguments of bwrap before those of what it runs. `order.folder` becomes /lab.
local function bwrap_arguments(order)
  local argv = {"bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000",
    "--die-with-parent", "--new-session", "--hostname", "lab", "--proc", "/proc", "--dev",
    "/dev", "--dir", "/tmp"}
  for _, path in ipairs(SYSTEM) do
    local kind = system.kind(path)
    if kind == "link" then
      add(argv, "--ro-bind-try", path, path)
    elseif kind then
      add(argv, "--ro-bind", path, path)
    end
  end
  for _, path in ipairs(hidden_folders()) do add(argv, "--tmpfs", path) end
  for _, path in ipairs(order.shown or {}) do add(argv, "--ro-bind", path, path) end
  add(argv, order.writes == "all" and "--bind" or "--ro-bind", order.folder, "/lab")
  if order.writes ~= "all" then add(argv, "--bind", order.folder .. "/out", "/lab/out") end
  -- bwrap's own file systems are in memory, and what is in /proc belongs to who runs this.
  for _, path in ipairs {"/", "/proc", "/dev", table.unpack(hidden_folders())} do
    add(argv, "--remount-ro", path)
  end
  add(argv, "--chdir", "/lab")
  add(argv, "--seccomp", "4", "--")
  return argv
end

-- on_path(program) -> whether there is a program of this name.
function process.on_path(program)
  if program:find("/", 1, true) then return system.kind(program) ~= nil end
  for folder in (getenv("PATH") or DEFAULT_PATH):gmatch("[^:]+") do
    if system.kind(folder .. "/" .. program) then return true end
  end
  return false
end

-- ---- whether bwrap works -----------------------------------------------------------------------

local probed, probe_problem

local function environment(folder)
  return {"PATH=" .. (getenv("PATH") or DEFAULT_PATH), "LC_ALL=C",
    "HOME=" .. folder, "TMPDIR=" .. folder .. "/out", "CCACHE_DISABLE=1", "TERM=dumb",
    "XDG_CACHE_HOME=" .. folder .. "/cache",
    -- No leaks: that takes a process of its own. No limits are set: the filter refuses it.
    "ASAN_OPTIONS=detect_leaks=0:disable_coredump=0:abort_on_error=0:exitcode=99:" ..
      "allocator_may_return_null=0:max_allocation_size_mb=2000:detect_stack_use_after_return=0:" ..
      "handle_segv=1:color=never:" ..
      -- What nobody has written is NaN, not the 0 of a fresh page.
      "malloc_fill_byte=255:max_malloc_fill_size=2000000000",
    "UBSAN_OPTIONS=print_stacktrace=0:color=never:halt_on_error=1"}
end

local function start(order)
  local inside = order.isolate == "bwrap"
  local limits, argv = order.limits or process.LIMITS, {}
  if inside then argv = bwrap_arguments(order) end
  add(argv, table.unpack(order.argv))
  local env = environment(inside and "/lab" or order.folder)
  for _, entry in ipairs(order.env or {}) do add(env, entry) end
  local written = order.writes == "all" and order.folder or order.folder .. "/out"
  local readable, writable
  if not inside then
    readable, writable = {"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/proc/self",
      "/proc/meminfo", "/sys/devices/system/cpu"}, {"/dev/null"}
    add(readable, table.unpack(SYSTEM))
    add(readable, order.folder, table.unpack(order.shown or {}))
    for folder in (getenv("PATH") or ""):gmatch("[^:]+") do add(readable, folder) end
    add(writable, written)
  end
  return system.start {argv = argv, env = env, folder = order.folder, written = written,
    answer = order.answer, cpu = limits.seconds, wall = limits.seconds * limits.clock,
    memory = limits.bytes, output = limits.output, file = limits.file, disk = limits.disk,
    space = order.space, running = order.writes ~= "all", alone = order.alone,
    threads = order.threads, bwrap = inside, readable = readable, writable = writable}
end

-- isolation() -> "bwrap", or nil and why not. It is tried once, with what a child gets.
function process.isolation()
  if probed == nil then
    local folder = assert(system.temporary("tarn-lab"))
    local guard <close> = system.guard(folder)
    assert(system.folder(folder .. "/out"))
    local child, why = start {argv = {"true"}, folder = folder, isolate = "bwrap", alone = true,
      shown = own_files()}
    local ended = child and select(2, system.wait {child})
    probed = ended ~= nil and ended.ending == "exit" and ended.code == 0
    probe_problem = not child and "bwrap: " .. why ..
      "; hint: install it (Debian package bubblewrap)" or
      ended.err:gsub("%s+$", "") ~= "" and ended.err:gsub("%s+$", "") or "bwrap fails"
  end
  if probed then return "bwrap" end
  return nil, probe_problem
end

-- ---- running ------------------------------------------------------------------------------------

-- Set while `parallel` runs: the functions that wait for a child do so together.
local together = false

-- run(order) -> how the child ended (see src/lab/lua_process.c); or nil, why it did not begin.
-- order: argv, folder, isolate = "bwrap" | "none", writes = "all" (a compiler) | "out", alone,
-- threads, limits, answer, space, env; own = true: this program is what runs.
function process.run(order)
  if order.own then
    order.shown = table.move(order.shown or {}, 1, #(order.shown or {}), 1, {})
    add(order.shown, table.unpack(own_files()))
  end
  local child, why = start(order)
  if not child then return nil, why end
  if together and coroutine.isyieldable() then return coroutine.yield(child) end
  return select(2, system.wait {child})
end

-- parallel(functions, jobs) -> {{ok, value or error}, ...}: runs functions, at most `jobs` at a
-- time; while one waits for its child the others go on.
function process.parallel(functions, jobs)
  local results, children, owners, next_one = {}, {}, {}, 1
  local function resume(i, thread, ...)
    local ok, value = coroutine.resume(thread, ...)
    if coroutine.status(thread) == "dead" then
      results[i] = {ok, value}
      coroutine.close(thread)
    else
      add(children, value)
      owners[value] = {i, thread}
    end
  end
  together = true
  local closing <close> = setmetatable({}, {__close = function()
    together = false
    for _, child in ipairs(children) do system.stop(child) end
  end})
  while next_one <= #functions or #children > 0 do
    if next_one <= #functions and #children < jobs then
      resume(next_one, coroutine.create(functions[next_one]))
      next_one = next_one + 1
    else
      local at, ended = system.wait(children)
      local child = table.remove(children, at)
      local i, thread = table.unpack(owners[child])
      owners[child] = nil
      resume(i, thread, ended)
    end
  end
  return results
end

-- A file of text, whole; nothing of the learner's is written this way.
function process.write(path, text)
  local file = assert(open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

return process
