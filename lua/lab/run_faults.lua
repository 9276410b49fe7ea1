-- run_faults.lua: what compilers and sanitizers say, boiled down to one paragraph each: what is
-- wrong, in which line of the learner's file, and what to do about it.

local faults = {}

-- The name of a signal, where it means something to a learner.
local SIGNALS = {[4] = "an illegal instruction", [6] = "abort() was called",
  [7] = "an access of memory that is not there", [8] = "a division that has no result",
  [11] = "an access of memory that is not there (a null pointer, or far past an array)",
  [25] = "a file grew too large", [31] = "a system call that no exercise needs"}

-- ---- compilers -------------------------------------------------------------------------

-- The lines of the first message that is an error, with the code and caret below it.
local function first_error(text)
  local found
  for line in text:gmatch("[^\n]+") do
    if found then
      if line:find("^%s+|") or line:find("^%s+%d+ |") or line:find("^%s*[~^ ]+$") or
        line:find("^ ") then
        found[#found + 1] = line
      else
        break
      end
    elseif (line:find(": error: ", 1, true) or line:find("fatal error: ", 1, true)) and
      not line:find("^collect2:") and not line:find("linker command failed", 1, true) then
      found = {line}
    end
    if found and #found > 5 then break end
  end
  return found
end

-- What a linker says, in words of the learner's file.
local function linking(text, file)
  local missing = text:match("undefined reference to [`']([^`']+)'")
  if missing then
    return ("%s: there is no function '%s'"):format(file, missing)
  end
  local twice = text:match("multiple definition of [`']([^`']+)'")
  if twice == "main" then
    return file .. ": it has a function main; the lab calls the exercise's function, leave main out"
  end
  if twice then return ("%s: '%s' is there twice"):format(file, twice) end
  local library = text:match("cannot find ([^\n]*san[^\n]*)")
  if library then
    return "the compiler has no sanitizers (" .. library:match("^[^:]+") ..
      "): install them (Debian: libasan and libubsan of the compiler's version)"
  end
end

-- compiler(ended, file) -> "does not compile: ..."
function faults.compiler(ended, file)
  if ended.ending == "time" then return "does not compile: the compiler took too long" end
  if ended.ending ~= "exit" and ended.ending ~= "signal" then
    return "does not compile: the compiler took too much " .. ended.ending
  end
  if ended.code == 127 then return "can't compile: " .. ended.err:gsub("%s+$", "") end
  local lines = first_error(ended.err)
  if lines then
    lines[1] = lines[1]:gsub(" %[%-[%w=+-]+%]$", ""):gsub("fatal ", "", 1):gsub("error: ", "", 1)
    return "does not compile: " .. table.concat(lines, "\n")
  end
  local said = linking(ended.err, file)
  return "does not compile: " .. (said or ended.err:match("^%s*([^\n]+)") or "no reason is given")
end

-- warnings(text, file) -> a list of "file:line: words".
function faults.warnings(text, file)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    local name, number, words = line:match("^([^:]+):(%d+):%d+: warning: (.*)$")
    if name and name:match("[^/]*$") == file then
      list[#list + 1] = ("%s:%s: %s"):format(file, number, (words:gsub(" %[%-[%w=+-]+%]$", "")))
    end
  end
  return list
end

-- ---- sanitizers ------------------------------------------------------------------------

-- The first frame of a stack that lies in the learner's file: "file:line".
local function place_in(text, file)
  for path, line in text:gmatch("#%d+ 0x%x+ +in [^\n]- ([^%s:]+):(%d+)") do
    if path:match("[^/]*$") == file then return file .. ":" .. line end
  end
end

-- The argument whose memory a report speaks of.
local function argument_at(said, first)
  for name, address, bytes in said:gmatch("at (%S+) 0x(%x+) (%d+)\n") do
    if tonumber(address, 16) == first then return name, tonumber(bytes) end
  end
end

local KINDS = {
  {"heap%-buffer%-overflow", "beside an array"},
  {"stack%-buffer%-overflow", "beside a local array"},
  {"global%-buffer%-overflow", "beside a global array"},
  {"dynamic%-stack%-buffer%-overflow", "beside a local array"},
  {"heap%-use%-after%-free", "in memory that was freed"},
  {"stack%-use%-after%-scope", "in a variable that is gone"},
  {"negative%-size%-param", "with a negative size"},
}

-- Where an access lies: "4 bytes after q (64 bytes)".
local function beside(report, said)
  local far, side, first = report:match(
    "is located (%d+) bytes (%S+ ?%S*) [%d,%.]*%-byte region %[0x(%x+)")
  if not far then
    far, side, first = report:match("is located (%d+) bytes (.-) %d+%-byte region %[0x(%x+)")
  end
  if not far then return nil end
  local name, bytes = argument_at(said, tonumber(first, 16))
  local word = side:find("left") and "before" or side:find("before") and "before" or
    side:find("inside") and "inside of" or "past the end of"
  local what = name and ("%s, which has %d bytes"):format(name, bytes) or "a block from malloc"
  if word == "past the end of" and far == "0" then return "just past the end of " .. what end
  return ("%s bytes %s %s"):format(far, word, what)
end

local function access(report)
  local verb, bytes = report:match("\n(%u+) of size (%d+)")
  if not verb then return "uses memory" end
  return (verb == "WRITE" and "writes " or "reads ") .. bytes .. " bytes"
end

-- What AddressSanitizer found.
local function address_report(report, said, file)
  local place = place_in(report, file) or file
  if report:find("stack%-overflow") then
    return place .. ": the stack is full: a recursion without end, or a local array that is " ..
      "too large (use malloc)"
  end
  if report:find("allocation%-size%-too%-big") or report:find("out of memory") or
    report:find("out%-of%-memory") then
    local size = report:match("allocation size (0x%x+)")
    return ("%s: asks for %s of memory: more than any exercise needs"):format(place,
      size and ("%.3g GB"):format(tonumber(size) / 1e9) or "a lot")
  end
  for _, kind in ipairs(KINDS) do
    if report:find(kind[1]) then
      local where = beside(report, said) or kind[2]
      return ("%s: %s%s %s"):format(place, access(report), where:find("^%d") and "," or "", where)
    end
  end
  if report:find("attempting double%-free") then return place .. ": frees memory a second time" end
  if report:find("attempting free on address which was not malloc") then
    return place .. ": frees what malloc did not give"
  end
  if report:find("SEGV") or report:find("BUS") then
    local null = report:find("points to the zero page", 1, true)
    return place .. ": uses " .. (null and "a null pointer" or
      "memory that is not there: a wild pointer, or an index far past an array")
  end
  if report:find("FPE") then return place .. ": a division that has no result" end
  return place .. ": " .. (report:match("AddressSanitizer: ([^\n]*)") or "a memory error")
    :gsub(" on .*", "")
end

-- run(ended, file) -> what is wrong with a child that ended before it was done; nil if it ended
-- well, as far as this shows.
function faults.run(ended, file)
  if ended.ending == "time" then
    return "it does not end: the time limit is used up (an endless loop?)"
  elseif ended.ending == "memory" then
    return "it takes more memory than any exercise needs, and was stopped"
  elseif ended.ending == "output" then
    return "it prints or writes too much, and was stopped"
  elseif ended.ending == "processes" then
    return "it starts more and more processes, and was stopped"
  end
  local path, line, words = ended.err:match("([^\n:]+):(%d+):%d+: runtime error: ([^\n]*)")
  if path then
    local name = path:match("[^/]*$")
    return ("%s:%s: %s"):format(name, line, (words:gsub("address 0x%x+", "an address")))
  end
  local report = ended.err:match("==%d+==ERROR: AddressSanitizer.*")
  if report then return address_report(report, ended.said, file) end
  if ended.ending == "signal" then
    return "it was stopped: " .. (SIGNALS[ended.code] or "signal " .. ended.code)
  end
  if ended.said:find("\ndone ") then return nil end
  local broken = ended.said:match("broken ([^\n]*)")
  if broken then return "the harness could not go on: " .. broken end
  return "it left the program before it returned (exit?)"
end

return faults
