-- heat.lua: matrices as shades in the terminal.
local folder = arg[0]:match("^.*/")
local tap, pictures = dofile(folder .. "tap.lua"), dofile(folder .. "pictures.lua")
local test, raises = tap.test, tap.raises
local drawn, ascii, is, has = pictures.drawn, pictures.ascii, pictures.is, pictures.has

test("each cell has the shade of the nearest number", function()
  is(drawn("heat({{1, 0, 0.6}, {0.1, 0.2, 0.3}})"), [[
  1 2 3
1│██  ▒▒│
2│  ░░░░│
blank 0  ░ 0.25  ▒ 0.5  ▓ 0.75  █ 1
]])
end)

test("without UTF-8 there are ten shades", function()
  is(ascii("heat(range(0, 9):reshape(1, 10))"), [[
  1 2   4   6   8   10
1|  ..::--==++**##%%@@|
blank 0  . 1  : 2  - 3  = 4  + 5  * 6  # 7  % 8  @ 9
]])
end)

test("negative numbers have shades of their own", function()
  local code = "heat({{-4, -3, -2, -1}, {0, 1, 2, 4}})"
  is(drawn(code), [[
  1 2 3 4
1│≡≡==~~--│
2│  ░░▒▒██│
≡ -4  = -3  ~ -2  - -1  blank 0  ░ 1  ▒ 2  ▓ 3  █ 4
]])
  is(ascii(code), [[
  1 2 3 4
1|%%==~~--|
2|  ++**@@|
% -4  = -3  ~ -2  - -1  blank 0  + 1  * 2  # 3  @ 4
]])
end)

test("NaN and infinities stay visible, also in the mean of a block", function()
  is(drawn("heat({{1, 0/0}, {1/0, -1/0}})"), [[
  1 2
1│▒▒??│
2│^^vv│
▒ 1  ? NaN  ^ infinite  v -infinite
]])
  has(drawn("t = zeros(1, 1000) t[1][777] = 0/0 heat(t)"), "? NaN")
  is(drawn("heat({0/0})"), "  1\n1│??│\n? NaN")
end)

test("what is larger than the window is averaged, and says so", function()
  is(drawn("heat(range(1, 200):reshape(2, 100))", 40), [[
  1    16   31   46   61   76   91
1│         ░░░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒│
2│▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█████████│
blank 2  ░ 51.5  ▒ 101  ▓ 150.5  █ 200
each cell is the mean of 1 x 3
]])
end)

test("a square stays a square", function()
  local lines = drawn("heat(eye(784))")
  has(lines, "each cell is the mean of 22 x 11")
  has(lines, "\n771│")
  pictures.fits(lines, 80)
  has(drawn("heat(eye(28))", 40), "each cell is the mean of 2 x 1")
  assert(not table.concat(drawn("heat(eye(28))")):find("mean", 1, true))
end)

test("log gives shades of equal ratios; 0 stays blank", function()
  is(drawn("heat({0, 1e-6, 1e-4, 1e-2, 1}, {log=true})"), [[
  1 2 3 4 5
1│  ░░▒▒▓▓██│
blank 0 or less  ░ 1e-6  ▒ 0.0001  ▓ 0.01  █ 1
]])
  is(drawn("heat({1, 10}, {log=true, range={1, 1000}})"), [[
  1 2
1│░░▒▒│
░ 1  ▒ 10  ▓ 100  █ 1000
]])
end)

test("range fixes the shades, width and height the size, title stands above", function()
  is(drawn("heat({0.25, 0.5, 7}, {range={0, 1}, title='weights'})"), [[
weights
  1 2 3
1│░░▒▒██│
blank 0  ░ 0.25  ▒ 0.5  ▓ 0.75  █ 1
]])
  is(drawn("heat({{1, 1}, {3, 3}, {5, 5}, {7, 7}}, {height=2, width=6})"), [[
  1
1│  │
3│██│
blank 2
░ 3
▒ 4
▓ 5
█ 6
each cell is the mean of 2 x 1
]])
end)

test("it fits windows of 40 and of 120 columns", function()
  for _, columns in ipairs {40, 120} do
    for _, draw in ipairs {drawn, ascii} do
      pictures.fits(draw("heat(randn(50, 3000) * 1e-12)", columns), columns)
      pictures.fits(draw("heat(rand(300, 300), {log=true})", columns), columns)
    end
  end
end)

test("10^9 elements and the extremes of doubles", function()
  has(drawn("heat(tensor(2):expand(1000, 1000, 1000)[1])"), "▒ 2")
  has(drawn("heat(tensor(2):expand(1, 1000000000))"), "each cell is the mean of 1 x ")
  for _, code in ipairs {"{-1.7e308, 1.7e308}", "{1e-300, 1e300}", "{5e-324, 0}"} do
    has(drawn("heat(tensor(" .. code .. ", {dtype='float64'}))"), "1 2\n1│")
  end
end)

test("a digit of mnist goes straight in", function()
  local ok, why = pcall(mnist, 1)
  if not ok and why:find("without zlib", 1, true) then return tap.skip("the digits", why) end
  has(drawn("heat(mnist(1))"), "\n28│")
end)

test("wrong calls say what was expected", function()
  raises("heat: t is [2, 3, 4], expected [rows, columns]; hint: heat(t[1]) shows one matrix of it",
    heat, zeros(2, 3, 4))
  raises("heat: t is [2, 3, 4, 5], expected [rows, columns]; hint: heat(t[1][1]) shows one " ..
    "matrix of it", heat, zeros(2, 3, 4, 5))
  raises("heat: t is [0, 3], it has no elements to show", heat, zeros(0, 3))
  raises("heat: t is \"a\", expected a tensor [rows, columns]", heat, "a")
  raises("heat: t is nil, expected a tensor [rows, columns]", heat)
  raises("heat: unknown option 'rnage'; did you mean 'range'?", heat, zeros(2), {rnage = 1})
  raises("heat: unknown option 'x', expected one of file, height, log, range, title, width",
    heat, zeros(2), {x = 1})
  raises("heat: range begins at 0, expected more than 0 with log", heat, zeros(2),
    {log = true, range = {0, 1}})
  raises("heat: the options are \"a\", expected a table", heat, zeros(2), "a")
end)

tap.done()
