-- gnuplot.lua: pictures as files, drawn by gnuplot.
--
--   gnuplot.check("plot", path)             refuses an ending that it can't write
--   gnuplot.write("plot", path, lines)      draws what the lines of a script say
--   gnuplot.quote(text)                     a user's text as part of a script
--
-- Every file of plot, heat and hist comes from `write`. It is drawn under a temporary name
-- beside its place and renamed when it is whole. Texts and paths are data, never commands:
-- gnuplot runs what stands in backquotes, so a script has letters of a text alone as they
-- are; and it sees no path, for the shell opens the files. The same script gives the same bytes.

local host = require "tarn.host"

local gnuplot = {}

-- Each kind of file: gnuplot's terminal for it, and what stands at its end.
local kinds = {
  svg = {terminal = "svg size 800,500 noenhanced", ending = "</svg>"},
  png = {terminal = "pngcairo size 800,500 noenhanced", ending = "IEND"},
}

local function kind_of(path) return kinds[path:match("%.(%a+)$") or ""] end

local function fail(name, ...) error(name .. ": " .. string.format(...), 0) end

function gnuplot.check(name, path)
  if kind_of(path) then return end
  fail(name, 'file is "%s", expected a name that ends in .svg or .png', path)
end

-- Text in double quotes, by number where it is no letter or blank: so no character is there
-- that gnuplot could take for its own. A digit behind a number would be read as part of it.
function gnuplot.quote(text)
  text = text:gsub("[^%a \128-\255]", function(c)
    return ("\\%03o"):format(c:byte())
  end)
  return '"' .. text .. '"'
end

-- A word for the shell.
local function shell_quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The lines that set what all pictures have: title and names of axes.
function gnuplot.texts(lines, opt)
  for _, field in ipairs {"title", "xlabel", "ylabel"} do
    if opt[field] then lines[#lines + 1] = "set " .. field .. " " .. gnuplot.quote(opt[field]) end
  end
end

-- Runs gnuplot on a script: what it says, and its exit status.
local function run(script_path, out_path)
  local pipe = assert(io.popen(("gnuplot -d 2>&1 >%s <%s"):format(shell_quote(out_path),
    shell_quote(script_path)), "r"))
  local said = pipe:read("a")
  local _, how, status = pipe:close()
  return said, how == "exit" and status or 1
end

local function fail_to_write(name, path, why) fail(name, "can't write %s: %s", path, why) end

-- Whether a picture is complete: gnuplot does not say when the disk is full.
local function is_whole(kind, out_path)
  local file <close> = assert(io.open(out_path, "rb"))
  file:seek("set", math.max(0, file:seek("end") - 16))
  return file:read("a"):find(kind.ending, 1, true)
end

-- Writes the script to a temporary file; a name of the same ending serves for the picture.
local function write_script(name, path, lines)
  local script_path = os.tmpname()
  local script = assert(io.open(script_path, "w"))
  script:write("set encoding utf8\nset terminal ", kind_of(path).terminal, "\n",
    table.concat(lines, "\n"), "\n")
  script:close()
  local out_path = path .. "." .. script_path:match("[^/]*$")
  local out, why = io.open(out_path, "w")
  if not out then
    os.remove(script_path)
    fail_to_write(name, path, why:sub(#out_path + 3))
  end
  out:close()
  return script_path, out_path
end

function gnuplot.write(name, path, lines)
  if host.restricted then
    fail(name, "file= is closed by --restricted, for gnuplot can run commands")
  end
  gnuplot.check(name, path)
  local script_path, out_path = write_script(name, path, lines)
  -- The second is no longer there once it is renamed.
  local removes <close> = host.finally(os.remove, script_path, out_path)
  local said, status = run(script_path, out_path)
  if status == 127 then
    fail(name, 'file="%s" needs gnuplot, which is not on the PATH; hint: apt install ' ..
      "gnuplot-nox, or leave file= out to see it in the terminal", path)
  end
  if status ~= 0 then fail(name, "gnuplot failed: %s", said:match("line %d+: (.-)%s*$") or said) end
  if not is_whole(kind_of(path), out_path) then
    fail_to_write(name, path, "the file is incomplete; is the disk full?")
  end
  local renamed, why = os.rename(out_path, path)
  if not renamed then fail_to_write(name, path, why) end
end

return gnuplot
