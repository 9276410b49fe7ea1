-- pictures.lua: what the tests of plot, heat and hist share.
--
--   pictures.drawn("plot({1, 2})", 40)        the lines that a window of 40 columns gets
--   pictures.ascii("plot({1, 2})", 40)        the same in the C locale
--   pictures.is(lines, [[...]])               compares lines with a picture
--
-- Each picture comes from a process of its own, which alone decides on UTF-8.

local pictures = {}

local function run(locale, columns, code)
  local quoted = "'" .. code:gsub("'", "'\\''") .. "'"
  local pipe = assert(io.popen(("LC_ALL=%s COLUMNS=%d '%s' --no-init -e %s 2>&1"):format(locale,
    columns, os.getenv("TARN"), quoted)))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

function pictures.drawn(code, columns) return run("C.UTF-8", columns or 80, code) end

function pictures.ascii(code, columns) return run("C", columns or 80, code) end

function pictures.is(lines, expected)
  local got = table.concat(lines, "\n")
  expected = expected:gsub("\n$", "")
  if got ~= expected then error("got\n" .. got .. "\nexpected\n" .. expected, 2) end
end

-- Whether all lines fit so many columns.
function pictures.fits(lines, columns)
  assert(#lines > 1, lines[1])
  for _, line in ipairs(lines) do
    if (utf8.len(line) or #line) > columns then error("too wide: " .. line, 2) end
  end
end

-- Whether a text stands somewhere in the lines.
function pictures.has(lines, text)
  if not table.concat(lines, "\n"):find(text, 1, true) then
    error("no " .. text .. " in\n" .. table.concat(lines, "\n"), 2)
  end
end

return pictures
