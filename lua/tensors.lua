-- tensors.lua: tensors as text.
--
--   tensor [2, 3] float32 cpu
--      1.0000     2.5000  -0.1000
--         nan        inf   3.0000
--
--   - All numbers of a tensor share one format: whole numbers without a point; otherwise
--     so many digits after it as needed, at most `digits` (4); powers of ten where that
--     would show a number that is not 0 as 0, or is too long. Nothing is scaled.
--   - What does not fit the window, or MAX_LINES lines, is left out in the middle of its
--     dimension, marked by an ellipsis; only what is shown is read.

local host = require "tarn.host"

local tensors = {}

local MAX_LINES = 38 -- besides the head, so that a page of 40 holds it
local EDGE_ROWS = 3  -- shown at either end of a slice that is too long
local LONG_VECTOR, VECTOR_EDGE = 400, 50 -- the same for vectors
local INDENT, GAP = 2, 2
local ellipsis = host.utf8 and "…" or "..."
local ellipsis_width = host.utf8 and 1 or 3

-- ---- numbers --------------------------------------------------------------------------

-- Chooses the format of a list of numbers: a function from number to text.
local function choose_format(values, max_digits)
  local largest, smallest, whole = 0, math.huge, true
  for _, x in ipairs(values) do
    if x == x and x ~= math.huge and x ~= -math.huge then
      local size = math.abs(x)
      largest = math.max(largest, size)
      if size > 0 then smallest = math.min(smallest, size) end
      whole = whole and x == math.floor(x)
    end
  end
  local digits = max_digits or 4
  if whole and largest < 1e10 and not max_digits then return "%.0f" end
  if largest >= 1e6 or smallest < 0.5 * 10.0 ^ -digits then
    return "%." .. digits .. "e"
  end
  return "%." .. digits .. "f", not max_digits
end

-- How many zeros all the texts have in common after the point, and the point itself.
local function common_zeros(texts)
  local fewest = math.huge
  for _, text in ipairs(texts) do
    local digits = text:match("%.(%d+)$")
    if digits then fewest = math.min(fewest, #digits:match("0*$")) end
  end
  return fewest == math.huge and 0 or fewest
end

-- Puts the points of all texts below each other by padding; nan and inf end where the
-- whole part ends.
local function align(texts)
  local before, after = 0, 0
  for _, text in ipairs(texts) do
    local whole, rest = text:match("^([^.]*)(.*)$")
    before, after = math.max(before, #whole), math.max(after, #rest)
  end
  for i, text in ipairs(texts) do
    local whole, rest = text:match("^([^.]*)(.*)$")
    texts[i] = (" "):rep(before - #whole) .. text .. (" "):rep(after - #rest)
  end
  return before + after
end

-- Turns numbers into texts of one width; gives them and the width.
local function format_all(values, max_digits)
  local format, trim = choose_format(values, max_digits)
  local texts = {}
  for i, x in ipairs(values) do
    if x ~= x then texts[i] = "nan"
    elseif x == math.huge then texts[i] = "inf"
    elseif x == -math.huge then texts[i] = "-inf"
    else texts[i] = format:format(x) end
  end
  local zeros = trim and common_zeros(texts) or 0
  if zeros > 0 then
    for i, text in ipairs(texts) do
      if text:find(".", 1, true) then
        -- one digit stays after the point: 0.5 is no whole number
        texts[i] = text:sub(1, #text - math.min(zeros, #text:match("%.(%d+)$") - 1))
      end
    end
  end
  return texts, align(texts)
end

-- ---- what to show ---------------------------------------------------------------------

-- The positions 1..n, or `head` of them at the beginning and `tail` at the end with
-- false between.
local function positions(n, head, tail)
  local list = {}
  if n <= head + tail then head, tail = n, 0 end
  for i = 1, head do list[i] = i end
  if head + tail < n then list[#list + 1] = false end
  for i = n - tail + 1, n do list[#list + 1] = i end
  return list
end

local function number_at(t, index)
  local x = t[index]
  return type(x) == "number" and x or x:item()
end

-- Reads the numbers at rows x columns below the fixed leading positions.
local function read_block(t, leading, rows, columns, values)
  local rank = #leading + 2
  for _, row in ipairs(rows) do
    for _, column in ipairs(columns) do
      if row and column then
        local index = table.move(leading, 1, #leading, 1, {})
        index[rank - 1], index[rank] = row, column
        values[#values + 1] = number_at(t, index)
      end
    end
  end
end

-- How many columns of a width fit into the window, and one of an ellipsis if not all do.
local function fitting(n, width)
  local space = host.columns() - INDENT + GAP
  if n * (width + GAP) <= space then return n, 0 end
  local count = math.max(1, (space - ellipsis_width - GAP) // (width + GAP))
  return count - count // 2, count // 2
end

-- ---- drawing --------------------------------------------------------------------------

local function paint(text, state)
  if state.color and text:find("n", 1, true) then return "\27[31m" .. text .. "\27[0m" end
  return text
end

-- One line of cells, without blanks at its end.
local function join(cells)
  local line = (" "):rep(INDENT) .. table.concat(cells, (" "):rep(GAP))
  return (line:gsub(" +$", ""))
end

-- One slice as lines; `texts` are consumed from position `at` on, row by row.
local function draw_block(lines, rows, columns, texts, at, state)
  for _, row in ipairs(rows) do
    if not row then
      lines[#lines + 1] = (" "):rep(INDENT) .. ellipsis
    else
      local cells = {}
      for i, column in ipairs(columns) do
        if column then
          cells[i], at = paint(texts[at], state), at + 1
        else
          cells[i] = ellipsis
        end
      end
      lines[#lines + 1] = join(cells)
    end
  end
  return at
end

-- Slice number s (0-based) of the leading dimensions as their positions.
local function leading_positions(shape, s)
  local leading = {}
  for d = #shape - 2, 1, -1 do
    leading[d] = s % shape[d] + 1
    s = s // shape[d]
  end
  return leading
end

-- Chooses the slices and the rows of each, so that MAX_LINES hold them all.
local function choose_lines(slices, n_rows, full)
  if full then return positions(slices, slices, 0), positions(n_rows, n_rows, 0) end
  local titles = slices > 1 and 1 or 0
  if slices * (n_rows + titles) <= MAX_LINES then
    return positions(slices, slices, 0), positions(n_rows, n_rows, 0)
  end
  if slices == 1 then
    local edge = (MAX_LINES - 1) // 2
    if n_rows > 2 * MAX_LINES then edge = 2 * EDGE_ROWS end
    return {1}, positions(n_rows, edge, edge)
  end
  local rows = positions(n_rows, EDGE_ROWS, EDGE_ROWS)
  local count = math.max(2, (MAX_LINES - 1) // (#rows + 1))
  return positions(slices, count - count // 2, count // 2), rows
end

-- Draws a tensor of rank 2 or more. Numbers are read for as many columns as could fit if
-- each took one digit; how many do fit is known when they are texts.
local function draw_matrices(t, shape, lines, state)
  local rank = #shape
  local slices = 1
  for d = 1, rank - 2 do slices = slices * shape[d] end
  local shown, rows = choose_lines(slices, shape[rank - 1], state.full)
  local function draw(columns)
    local values, blocks = {}, {}
    for i, s in ipairs(shown) do
      blocks[i] = s and leading_positions(shape, s - 1)
      if s then read_block(t, blocks[i], rows, columns, values) end
    end
    return blocks, format_all(values, state.digits)
  end
  local head, tail = fitting(shape[rank], 1)
  if state.full then head, tail = shape[rank], 0 end
  local columns = positions(shape[rank], head, tail)
  local blocks, texts, width = draw(columns)
  if not state.full then
    -- Once more with the columns that fit; fewer numbers may be shorter, never longer.
    local h, l = fitting(shape[rank], width)
    if h + l < head + tail then
      columns = positions(shape[rank], h, l)
      blocks, texts = draw(columns)
    end
  end
  local at = 1
  for _, leading in ipairs(blocks) do
    if not leading then
      lines[#lines + 1] = ellipsis
    else
      if rank > 2 then
        lines[#lines + 1] = "[" .. table.concat(leading, ", ") .. ", :, :]"
      end
      at = draw_block(lines, rows, columns, texts, at, state)
    end
  end
end

-- Adds texts to lines, so many to a line.
local function add_paragraph(lines, texts, first, last, per_line, state)
  for i = first, last, per_line do
    local cells = {}
    for j = i, math.min(i + per_line - 1, last) do
      cells[#cells + 1] = paint(texts[j], state)
    end
    lines[#lines + 1] = join(cells)
  end
end

-- Draws a tensor of rank 1 as a paragraph of numbers below each other.
local function draw_vector(t, n, lines, state)
  local function format_edges(edge)
    local values = {}
    for _, i in ipairs(positions(n, edge, edge)) do
      if i then values[#values + 1] = number_at(t, {i}) end
    end
    return format_all(values, state.digits)
  end
  local edge = (state.full or n <= LONG_VECTOR) and n or VECTOR_EDGE
  local texts, width = format_edges(edge)
  local per_line = math.max(1, (host.columns() - INDENT + GAP) // (width + GAP))
  local most = per_line * (MAX_LINES // 2 - 1)
  if #texts > 2 * most and not state.full then
    edge = most
    texts = format_edges(edge)
  end
  if 2 * edge >= n then
    add_paragraph(lines, texts, 1, n, per_line, state)
  else
    add_paragraph(lines, texts, 1, edge, per_line, state)
    lines[#lines + 1] = (" "):rep(INDENT) .. ellipsis
    add_paragraph(lines, texts, edge + 1, #texts, per_line, state)
  end
end

-- ---- the module -----------------------------------------------------------------------

function tensors.head(t)
  return ("tensor [%s] %s %s"):format(table.concat(t.shape, ", "), t.dtype, t.device)
end

-- The tensor where its elements can be read one by one: copied once if it is on a device.
function tensors.on_host(t) return t.device == "cpu" and t or t:to("cpu") end

-- A tensor as text; state may have digits, full and color.
function tensors.render(t, state)
  local lines, shape = {tensors.head(t)}, t.shape
  t = tensors.on_host(t)
  if t:numel() == 0 then
    lines[2] = (" "):rep(INDENT) .. "(no elements)"
  elseif #shape == 0 then
    local texts = format_all({t:item()}, state.digits)
    lines[2] = (" "):rep(INDENT) .. paint(texts[1], state)
  elseif #shape == 1 then
    draw_vector(t, shape[1], lines, state)
  else
    draw_matrices(t, shape, lines, state)
  end
  return table.concat(lines, "\n")
end

return tensors
