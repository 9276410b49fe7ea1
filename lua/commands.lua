-- commands.lua: what the prompt takes beside Lua and ?name.
--
--   :save FILE   writes the inputs of this session as a script, with seed and version
--   :bt          shows the whole traceback of the last error
--   !COMMAND     hands a command to the system's shell (not under --restricted)
--
-- The prompt notes every input before it is run, and what came of it: the script shows what
-- the prompt has shown, leaves out what failed, and gives `local` variables the life that
-- they had here.

local tarn = require "tarn"
local host = require "tarn.host"

local execute, open = os.execute, io.open
local exit_kinds = {exit = "exit status ", signal = "ended by signal "}
local inputs = {}

-- ---- What was typed ---------------------------------------------------------------------

-- An input that is about to run; `is_expression` as the prompt has understood it.
local function note_input(text, is_expression)
  inputs[#inputs + 1] = {text = text, is_expression = is_expression, failed = true}
end

-- The last input gave so many values, shown or not.
local function note_values(count, silent)
  local input = inputs[#inputs]
  if input then input.count, input.silent = count, silent end
end

local function note_no_error() inputs[#inputs].failed = false end

local function commented(text) return "-- " .. text:gsub("\n", "\n-- ") end

-- A comment at the end must not swallow what comes after it.
local function end_of(text) return text:find("--", 1, true) and "\n" or "" end

-- The statements and the expression behind them that an input of several lines may be.
local function split(text)
  if load("return " .. text) then return "", text end
  return text:match("^(.*\n)(.*)$")
end

-- An expression as lines that show its values as the prompt did.
local function shown(input, text)
  if input.silent then return "_ = " .. text end
  return input.count == 1 and "_ = " .. text .. "\nshow(_)" or "print(" .. text .. end_of(text) .. ")"
end

-- An input as lines of a script that does what the prompt did.
local function as_script(input)
  local text = input.text
  if input.failed then return commented(text) .. "\n-- (ended in an error)" end
  if input.is_expression and input.count then -- else it is a call without results
    local statements, expression = split((text:gsub("[%s;]+$", "")))
    text = statements .. shown(input, expression)
  end
  return text:find("local", 1, true) and "do " .. text .. "\nend" or text
end

-- ---- The commands -----------------------------------------------------------------------

-- The first words of what :save writes. It replaces no file that begins in another way.
local SIGN = "-- tarn "

local function check_target(path)
  if path == "" then error(":save: expected the name of a file, as in :save lab.lua", 0) end
  local file = open(path)
  local line = file and file:read("l")
  if file then file:close() end
  if line and line:sub(1, #SIGN) ~= SIGN then
    error((":save: %s is there already, and not from :save; expected another name"):format(path), 0)
  end
end

local function backends_in_use()
  local found = {}
  for _, backend in ipairs(tarn.backends()) do
    if backend.usable then found[#found + 1] = backend.name end
  end
  return table.concat(found, ", ")
end

local function save(path)
  check_target(path)
  local lines = {
    ("%s%s (%s): the inputs of a session, saved %s"):format(SIGN, tarn.version,
      backends_in_use(), os.date("%Y-%m-%d")),
    "-- Run it with: tarn " .. path,
    ("seed(%d)"):format(host.seed),
  }
  for _, input in ipairs(inputs) do lines[#lines + 1] = as_script(input) end
  host.write(":save", path, table.concat(lines, "\n") .. "\n")
  print(("saved %d input%s in %s"):format(#inputs, #inputs == 1 and "" or "s", path))
end

local function backtrace()
  print(host.traceback() or "no error so far")
end

local commands = {save = save, bt = backtrace}

local function shell(command)
  if host.restricted then error("!" .. command .. ": commands are closed by --restricted", 0) end
  local ok, kind, code = execute(command)
  if not ok then host.note((exit_kinds[kind] or kind .. " ") .. code) end
end

-- Runs a line that begins with `:` or `!`.
local function run(line)
  local sign, rest = line:match("^%s*([:!])(.-)%s*$")
  if sign == "!" then return shell(rest) end
  local name, argument = rest:match("^(%S*)%s*(.*)$")
  if commands[name] then return commands[name](argument) end
  local meant = host.nearest(name, commands)
  error(("unknown command ':%s'%s; there are :save FILE, :bt and !COMMAND"):format(name,
    meant and ": did you mean ':" .. meant .. "'?" or ""), 0)
end

return {
  run = run,
  note_input = note_input,
  note_values = note_values,
  note_no_error = note_no_error,
  names = {"bt", "save"},
}
