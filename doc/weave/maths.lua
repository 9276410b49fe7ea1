-- maths.lua: formulas, by KaTeX at build time: HTML for the eye, MathML for screen readers.
--
-- All formulas of a chapter go to one process (katex.js); what it gives is kept in the build
-- folder under the hash of the formula. A display with \label{eq:8} gets the number 8 and an
-- anchor; our own numbers are chapter.number, as \label{eq:4.1}.

local chapter = require "chapter"
local setting = require "setting"
local marks = require "marks"
local html = require "html"

local maths = {}

local rendered = {} -- key -> HTML

local function is_display(m) return m.mathtype == "DisplayMath" end

-- The formula without its label, and the label.
local function split(m)
  local label
  local text = m.text:gsub("%s*\\label{([^}]*)}", function(name)
    if label then
      chapter.complain(m.text, ("two labels in one formula: %s, %s"):format(label, name))
    end
    label = name
    return ""
  end)
  return text, label
end

local function key_of(text, display)
  return pandoc.utils.sha1(maths.script .. (display and "D" or "I") .. text)
end

local function kept(key) return chapter.read(("%s/katex/%s.html"):format(setting.build, key)) end

-- Runs KaTeX on what is not kept; problems are told where the formula stands.
local function run(wanted, order)
  local input = {}
  for _, key in ipairs(order) do
    local text = wanted[key].text:gsub("\\", "\\\\"):gsub("\n", "\\n")
    table.insert(input, ("%s %s %s"):format(key, wanted[key].display and "D" or "I", text))
  end
  if #input == 0 then return end
  local script, folder = setting.folder .. "/weave/katex.js", setting.build .. "/katex"
  local out = pandoc.pipe(os.getenv "NODE", {script, folder}, table.concat(input, "\n") .. "\n")
  for key, message in out:gmatch("(%x+) ([^\n]*)\n") do
    local formula = wanted[key]
    chapter.complain(formula.original, ("maths: %s: %s"):format(message,
      formula.text:gsub("%s+", " "):match("^%s*(.-)%s*$")))
  end
end

-- Renders all formulas of a document.
function maths.prepare(doc)
  maths.script = chapter.read(setting.folder .. "/weave/katex.js")
  local wanted, order, all = {}, {}, {}
  doc:walk {
    Math = function(m)
      local text = split(m)
      local key = key_of(text, is_display(m))
      if all[key] then return end
      all[key] = true
      rendered[key] = kept(key)
      if rendered[key] then return end
      wanted[key] = {text = text, original = m.text, display = is_display(m)}
      table.insert(order, key)
    end,
  }
  run(wanted, order)
  for _, key in ipairs(order) do rendered[key] = kept(key) or "" end
end

-- A display that may be wider than a phone scrolls inside itself, and the keyboard reaches it;
-- how wide it is, its signs tell well enough: a command is about one of them.
local PHONE = 22
local function formula_box(text, formula)
  local signs = text:gsub("\\label%b{}", ""):gsub("\\%a+", "x"):gsub("[%s{}^_&\\]", "")
  local reached = #signs > PHONE and ' tabindex="0"' or ""
  return ('<span class="formula"%s>%s</span>'):format(reached, formula)
end

-- A display, with its number beside it.
local function display(text, label, formula)
  local box = formula_box(text, formula)
  if not label then return html.inline('<span class="equation">%s</span>', box) end
  local kind, number = label:match("^(eq):(%d[%w.]*)$")
  if not kind then
    chapter.complain("\\label{" .. label .. "}", "label " .. label .. ", expected eq:8 or eq:4.1")
    return html.inline("%s", formula)
  end
  marks.label("eq", number, "\\label{" .. label .. "}")
  return html.inline('<span class="equation" id="eq-%s">%s<span class="number">(%s)</span></span>',
    number, box, number)
end

function maths.Math(m)
  local text, label = split(m)
  local formula = rendered[key_of(text, is_display(m))] or ""
  if is_display(m) then return display(text, label, formula) end
  if label then chapter.complain(m.text, "a label in a formula that is no display") end
  return html.inline("%s", formula)
end

return maths
