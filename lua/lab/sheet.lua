-- sheet.lua: tables of marks as files: CSV, read and written, and Markdown.
--
--   sheet.csv(columns, rows)        text; rows are tables by the names of columns
--   sheet.parse(text)               the rows of such a text
--   sheet.markdown(columns, rows)   text

local sheet = {}

-- A cell of text that a spreadsheet would take for a formula gets an apostrophe before it.
local function plain(value)
  if type(value) ~= "string" then return ("%.6g"):format(value) end
  return (value:gsub("^[=+@-]", "'%0"))
end

local function quoted(value)
  local text = plain(value)
  if text:find('[",;\t\r\n]') then return '"' .. text:gsub('"', '""') .. '"' end
  return text
end

function sheet.csv(columns, rows)
  local lines = {table.concat(columns, ",")}
  for _, row in ipairs(rows) do
    local cells = {}
    for c, column in ipairs(columns) do cells[c] = quoted(row[column] or "") end
    lines[#lines + 1] = table.concat(cells, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A cell in quotes that begins at a place, and the place behind it.
local function quoted_cell(text, at)
  local from = at + 1
  while true do
    local close = text:find('"', from, true) or #text + 1
    if text:sub(close + 1, close + 1) ~= '"' then
      return (text:sub(at + 1, close - 1):gsub('""', '"')), close + 1
    end
    from = close + 2
  end
end

-- The cells of each line; a cell in quotes may hold commas, quotes and line ends.
local function records(text)
  local list, cells, at = {}, {}, 1
  while at <= #text do
    local cell, after
    if text:sub(at, at) == '"' then cell, after = quoted_cell(text, at)
    else cell, after = text:match("^([^,\r\n]*)()", at) end
    cells[#cells + 1] = (cell:gsub("^'([=+@-])", "%1"))
    at = text:match("^,()", after) or text:match("^\r?\n?()", after)
    if text:sub(after, after) ~= "," then list[#list + 1], cells = cells, {} end
  end
  if #cells > 0 then list[#list + 1] = cells end
  return list
end

function sheet.parse(text)
  local list, rows = records(text), {}
  local columns = table.remove(list, 1) or {}
  for i, cells in ipairs(list) do
    rows[i] = {}
    for c, column in ipairs(columns) do rows[i][column] = cells[c] or "" end
  end
  return rows
end

function sheet.markdown(columns, rows)
  local rule = {}
  for c in ipairs(columns) do rule[c] = "---" end
  local function line(cells) return "| " .. table.concat(cells, " | ") .. " |" end
  local lines = {line(columns), "|" .. table.concat(rule, "|") .. "|"}
  for _, row in ipairs(rows) do
    local cells = {}
    for c, column in ipairs(columns) do
      cells[c] = plain(row[column] or ""):gsub("[\r\n]+", " "):gsub("[\\|<%[`*]", "\\%0")
    end
    lines[#lines + 1] = line(cells)
  end
  return table.concat(lines, "\n") .. "\n"
end

return sheet
