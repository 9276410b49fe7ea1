-- contrast.lua BOOK.CSS: each colour of words stands out from each ground it may lie on, light,
-- dark and in print: at least 4.5 to 1, as WCAG 2 counts it.

local css = assert(io.open(arg[1])):read "a"

local WORDS = {"ink", "faint", "link", "accent", "keyword", "string", "number", "comment", "prompt"}
local GROUNDS = {"page", "panel", "mark"}

local function linear(part)
  local c = tonumber(part, 16) / (16 ^ #part - 1)
  return c <= 0.03928 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4
end

local function luminance(color)
  local width = #color // 3
  local r, g, b = color:match("^#" .. ("(" .. ("%x"):rep(width) .. ")"):rep(3) .. "$")
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
end

local function contrast(one, other)
  local x, y = luminance(one), luminance(other)
  return (math.max(x, y) + 0.05) / (math.min(x, y) + 0.05)
end

-- What a :root leaves out is as in the first.
local first, bad, count = nil, false, 0
for block in css:gmatch(":root (%b{})") do
  local colors = setmetatable({}, {__index = first})
  for name, color in block:gmatch("%-%-(%l+): (#%x+)") do colors[name] = color end
  first, count = first or colors, count + 1
  for _, word in ipairs(WORDS) do
    for _, ground in ipairs(GROUNDS) do
      local ratio = contrast(colors[word], colors[ground])
      if ratio < 4.5 then
        print(("%s on %s: %.2f"):format(colors[word], colors[ground], ratio))
        bad = true
      end
    end
  end
end
assert(count == 3, "expected three sets of colours: light, dark, print")
os.exit(not bad)
