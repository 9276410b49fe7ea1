-- pages.lua FOLDER: checks the pages of a site: links and anchors lead somewhere, nothing comes
-- from the network, no scripts, images have words, headings skip no level, formulas have MathML.
-- Problems go to stderr, one a line; the exit status tells whether there are any.

local folder = arg[1]
local problems = 0
local function complain(page, ...)
  problems = problems + 1
  io.stderr:write(page, ": ", string.format(...), "\n")
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- Pages, each with the set of its anchors.
local pages, names = {}, {}
for path in io.popen(("ls '%s'/*.html"):format(folder)):lines() do
  local name = path:match("[^/]*$")
  local page = {text = read(path), anchors = {}}
  pages[name] = page
  names[#names + 1] = name
  for id in page.text:gmatch('%sid="([^"]*)"') do
    if page.anchors[id] then complain(name, "two elements have the id %s", id) end
    page.anchors[id] = true
  end
end

local function check_link(name, target)
  if target:find("^https?:") or target:find("^mailto:") then return end
  local file, anchor = target:match("^([^#]*)#?(.*)$")
  local other = file == "" and pages[name] or pages[file]
  if not other and not read(folder .. "/" .. file) then
    complain(name, "link to %s, which is not there", target)
  elseif anchor ~= "" and not (other and other.anchors[anchor]) then
    complain(name, "link to %s, which is not there", target)
  end
end

local function check_headings(name, text)
  local last = 0
  for level in text:gmatch("<h(%d)[%s>]") do
    level = tonumber(level)
    if level > last + 1 then
      complain(name, "a heading of level %d below one of level %d", level, last)
    end
    last = level
  end
  local _, titles = text:gsub("<h1[%s>]", "")
  if titles ~= 1 then complain(name, "%d titles, expected 1", titles) end
end

for _, name in ipairs(names) do
  local text = pages[name].text
  for target in text:gmatch('<a%s[^>]-href="([^"]*)"') do check_link(name, target) end
  for tag, source in text:gmatch('<(%a+)%s[^>]-src="([^"]*)"') do
    if source:find(":", 1, true) or not read(folder .. "/" .. source) then
      complain(name, "%s %s is not beside the page", tag, source)
    end
  end
  for source in text:gmatch('<link%s[^>]-href="([^"]*)"') do
    if source:find(":", 1, true) or not read(folder .. "/" .. source) then
      complain(name, "%s is not beside the page", source)
    end
  end
  if text:find("<script") then complain(name, "a script") end
  for image in text:gmatch("<img[^>]*>") do
    if not image:find('alt="[^"]') then complain(name, "an image without alt: %s", image) end
  end
  if not text:find('<html lang="%a') then complain(name, "no language") end
  local _, drawn = text:gsub('class="katex%-html"', "")
  local _, spoken = text:gsub("<math ", "")
  if drawn ~= spoken then complain(name, "%d formulas, %d of them as MathML", drawn, spoken) end
  check_headings(name, text)
end
for _, style in ipairs {"book.css", "katex.min.css"} do
  for source in read(folder .. "/../assets/" .. style):gmatch("url%(([^)]*)%)") do
    if source:find(":", 1, true) or not read(folder .. "/../assets/" .. source) then
      complain(style, "%s is not beside it", source)
    end
  end
end
if #names < 3 then complain(folder, "%d pages", #names) end
os.exit(problems == 0)
