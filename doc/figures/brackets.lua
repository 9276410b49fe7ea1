-- brackets.lua: three matrices in a row, multiplied from the left and from the right. The
-- sides are to scale with N = 6 C.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 330)
local N, C = 96, 18

local function box(x, y, width, height, kind, name)
  d:rect(x, y, width, height, kind)
  d:text(x + width / 2, y + height / 2 + 5, name, {size = 14, italic = true})
end

-- The first line: Q K^T first, and the matrix of all pairs.
d:text(16, 24, "(φ(Q) φ(K)ᵀ) V", {anchor = "start", size = 15, bold = true})
box(40, 44, C, N, "a", "Q")
d:text(49, 158, "N × C")
box(76, 44, N, C, "a", "Kᵀ")
d:text(124, 80, "C × N")
d:arrow(190, 92, 232, 92)
d:text(210, 82, "1st", {size = 12})
box(250, 44, N, N, "b", "all pairs")
d:text(298, 158, "N × N")
box(364, 44, C, N, "a", "V")
d:text(373, 158, "N × M")
d:arrow(400, 92, 442, 92)
d:text(420, 82, "2nd", {size = 12})
box(460, 44, C, N, "plain", "")
d:text(469, 158, "N × M")
d:text(520, 84, "N N C + N N M", {anchor = "start", size = 14})
d:text(520, 104, "multiplications", {anchor = "start"})

-- The second line: K^T V first, and nothing larger than C x M.
d:text(16, 192, "φ(Q) (φ(K)ᵀ V)", {anchor = "start", size = 15, bold = true})
box(40, 212, N, C, "a", "Kᵀ")
d:text(88, 248, "C × N")
box(148, 212, C, N, "a", "V")
d:text(157, 326, "N × M")
d:arrow(190, 260, 232, 260)
d:text(210, 250, "1st", {size = 12})
box(286, 212, C, N, "a", "Q")
d:text(295, 326, "N × C")
box(322, 212, C, C, "b", "S")
d:text(331, 248, "C × M")
d:arrow(400, 260, 442, 260)
d:text(420, 250, "2nd", {size = 12})
box(460, 212, C, N, "plain", "")
d:text(469, 326, "N × M")
d:text(520, 252, "N C M + N C M", {anchor = "start", size = 14})
d:text(520, 272, "multiplications", {anchor = "start"})
d:write(arg[1])
