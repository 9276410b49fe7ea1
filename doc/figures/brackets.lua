-- brackets.lua: three matrices in a row, multiplied from the left and from the right. The
-- sides are to scale with N = 6 C.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 334)
local SIDE = {N = 96, C = 18, M = 18}

-- A matrix, rows by columns, with its size below it.
local function matrix(x, y, rows, columns, kind, name)
  local width, height = SIDE[columns], SIDE[rows]
  d:box(x, y, width, height, kind, name, {size = 14, italic = true})
  d:text(x + width / 2, y + height + 18, rows .. " × " .. columns)
end

-- One way through the product: what is multiplied first, what then, what it costs.
local function way(y, title, first, second, cost)
  d:text(16, y, title, {anchor = "start", size = 15, bold = true})
  for _, factor in ipairs(first) do matrix(factor[1], y + 20, table.unpack(factor, 2)) end
  for _, factor in ipairs(second) do matrix(factor[1], y + 20, table.unpack(factor, 2)) end
  matrix(460, y + 20, "N", "M", "plain", "")
  for x, word in pairs {[190] = "1st", [400] = "2nd"} do
    d:arrow(x, y + 68, x + 42, y + 68)
    d:text(x + 20, y + 58, word, {size = 12})
  end
  d:text(520, y + 60, cost, {anchor = "start", size = 14})
  d:text(520, y + 80, "multiplications", {anchor = "start"})
end

-- From the left Q K^T comes first, the matrix of all pairs; from the right nothing is larger
-- than C x M.
way(24, "(φ(Q) φ(K)ᵀ) V",
  {{40, "N", "C", "a", "Q"}, {76, "C", "N", "a", "Kᵀ"}},
  {{250, "N", "N", "b", "all pairs"}, {364, "N", "M", "a", "V"}}, "N N C + N N M")
way(194, "φ(Q) (φ(K)ᵀ V)",
  {{40, "C", "N", "a", "Kᵀ"}, {148, "N", "M", "a", "V"}},
  {{286, "N", "C", "a", "Q"}, {322, "C", "M", "b", "S"}}, "N C M + N C M")
d:write(arg[1])
