-- pager.lua: text that is longer than the window goes through a pager.
--
--   - Only where someone is there to turn pages: host.lines() is 0 if stdin or stdout is
--     no terminal, or a dumb one. Not with --restricted: pagers can run commands.
--   - $PAGER if it is set (empty is none), else less, told by $LESS as git does it to leave
--     at once what fits, to let colours through and to keep the text on the screen.
--   - The pager reads a file, so that leaving it early hurts nobody, and ^C is its own:
--     os.execute ignores it meanwhile.

local host = require "tarn.host"

local pager = {}

local execute, tmpname, remove, getenv = os.execute, os.tmpname, os.remove, os.getenv

local function command()
  local chosen = getenv "PAGER"
  if chosen then return chosen:find("%S") and chosen end
  return execute("command -v less >/dev/null 2>&1") and "less"
end

local function through(chosen, text)
  local path = tmpname()
  local file = io.open(path, "w")
  if not file then return false end
  local written = file:write(text) and file:close()
  io.stdout:flush()
  local shown = written and
    execute(('LESS="${LESS-FRX}"; export LESS; (%s) <%s'):format(chosen, path))
  remove(path)
  return shown
end

local function count_lines(text)
  local _, count = text:gsub("\n", "")
  return count
end

function pager.write(text)
  local window = host.lines()
  local long = window > 0 and count_lines(text) >= window and io.output() == io.stdout
  local chosen = long and not host.restricted and command()
  if not (chosen and through(chosen, text)) then io.write(text) end
end

return pager
