-- no-finite-map: the rank of a matrix of similarities, and what it says of feature maps.

-- Rank by elimination with the largest entry of all that is left as pivot.
local function rank_of(a)
  local rows, columns, found = #a, #a[1], 0
  local largest = 0
  for _, row in ipairs(a) do
    for _, x in ipairs(row) do largest = math.max(largest, math.abs(x)) end
  end
  while found < math.min(rows, columns) do
    local best, r, c = 0, 0, 0
    for i = found + 1, rows do
      for j = found + 1, columns do
        if math.abs(a[i][j]) > best then best, r, c = math.abs(a[i][j]), i, j end
      end
    end
    if best <= 1e-10 * largest then break end
    found = found + 1
    a[found], a[r] = a[r], a[found]
    for i = 1, rows do a[i][found], a[i][c] = a[i][c], a[i][found] end
    for i = found + 1, rows do
      local factor = a[i][found] / a[found][found]
      for j = found, columns do a[i][j] = a[i][j] - factor * a[found][j] end
    end
  end
  return found
end

local function spec(inputs) return {rank = rank_of(inputs.A:totable())} end

local function product(draw, n, m, r)
  return {A = draw.randn(n, r):to("float64"):mm(draw.randn(r, m):to("float64"))}
end

-- By the theorem of chapter 2 the matrix of exp at distinct points has full rank.
local function distinct(inputs, got)
  local points = got.points:totable()
  if type(points[1]) == "table" or #points ~= inputs.C + 1 then
    return false, ("expected a tensor [%d] of points"):format(inputs.C + 1)
  end
  for i, x in ipairs(points) do
    if x ~= x or math.abs(x) == math.huge then
      return false, "a point is not a finite number"
    end
    for j = i + 1, #points do
      if points[j] == x then
        return false, ("points %d and %d are both %g, which makes two rows of the matrix equal")
          :format(i, j, x)
      end
    end
  end
  return true
end

local function given(rows)
  return function() return {A = tensor(rows, {dtype = "float64"})} end
end

local function case(name, points, inputs)
  return {
    name = name, points = points, inputs = inputs, spec = spec, equation = "eq 2.2",
    entry = "rank", parameters = {"A"}, results = {"rank"},
  }
end

return {
  title = "No finite features for exp",
  chapter = 2,
  order = 4,
  language = "lua",
  minutes = 30,
  points = 10,
  summary = "the rank of a matrix of similarities bounds the width of a feature map from below",
  equations = "eq 2.2",
  predict = {
    {
      ask = "Six different points, single numbers, as queries and keys. The rank of the 6 x 6 "
        .. "matrix of similarities: for q k? for (1 + q k)^2? for cos(q - k)? for exp(q k)?",
      answer = "1, 3, 2 and 6: the features are x; 1, sqrt(2) x, x^2; cos x, sin x; and for exp "
        .. "there are never enough.",
    },
    {
      ask = "A head with D = 64 and elu + 1 reads 1000 tokens, without a mask. How large can the "
        .. "rank of its 1000 x 1000 matrix of weights be?",
      answer = "64: the matrix is phi(Q) phi(K)^T, with each row divided by a number.",
    },
  },
  hints = {
    "Elimination: pick a pivot that is not 0, subtract multiples of its row from the rows below, "
      .. "go on with the rest. The rank is the number of pivots.",
    "If the entry where you look is 0, exchange its row with one below whose entry is not. If "
      .. "there is none, go to the next column, but stay in the same row. \"0\" means: small "
      .. "beside the largest entry of A, for rounding leaves something like 1e-16 of it.",
    "local row = 1; for c = 1, columns: find the largest |a[r][c]| for r >= row; if it is at most "
      .. "1e-10 * largest, next c; else exchange, eliminate below, row = row + 1. The rank is "
      .. "row - 1. For the points, any that are all different will do.",
  },
  cases = {
    case("full rank", 1, function(draw) return {A = draw.randn(4, 4):to("float64")} end),
    case("a pivot of 0 needs another row", 1, given {{0, 1, 2}, {3, 0, 1}, {0, 0, 4}}),
    case("a column without a pivot is skipped", 1,
      given {{0, 2, 1, 5}, {0, 4, 7, 1}, {0, 6, 8, 2}}),
    case("entries below 0 are pivots too", 1, given {{-1, -2, -3}, {-2, -4, -6}, {-1, -1, -1}}),
    case("a product through 3 features has rank 3, up to rounding", 1,
      function(draw) return product(draw, 8, 8, 3) end),
    case("small entries are none of them 0 if all are small", 1, function(draw)
      return {A = draw.randn(3, 3):to("float64") * 1e-12}
    end),
    case("more rows than columns", 1, function(draw) return product(draw, 9, 5, 4) end),
    case("fewer rows than columns", 1, function(draw) return product(draw, 3, 7, 3) end),
    case("a matrix of zeros", 1, function() return {A = zeros(3, 4, {dtype = "float64"})} end),
    {
      name = "points that show: 7 features are not enough for exp", points = 1,
      equation = "eq 2.3", entry = "witness",
      parameters = {"C"}, results = {"points"}, check = distinct,
      inputs = function() return {C = 7} end,
    },
  },
  wrong = {
    {name = "no-exchange", fails = "a pivot of 0 needs another row",
      because = "the pivot is taken where it stands: a row whose entry is 0 is divided by",
      change = {
        {[=[
    local best = row
    for r = row, n do
      if math.abs(a[r][c]) > math.abs(a[best][c]) then best = r end
    end
    if row <= n and math.abs(a[best][c]) > nothing then
      a[row], a[best] = a[best], a[row]]=], [[
    if row <= n and math.abs(a[row][c]) > nothing then]]},
      }},
    {name = "exact-zero", fails = "a product through 3 features has rank 3, up to rounding",
      because = "what rounding leaves of a 0 is counted as a pivot",
      change = {{"local nothing, row = 1e-10 * A:abs():max(), 1", "local nothing, row = 0, 1"}}},
    {name = "signed-pivot", fails = "entries below 0 are pivots too",
      because = "the largest entry is taken for the one that is farthest from 0",
      change = {
        {"math.abs(a[r][c]) > math.abs(a[best][c])", "a[r][c] > a[best][c]"},
        {"math.abs(a[best][c]) > nothing", "a[best][c] > nothing"},
      }},
    {name = "absolute", fails = "small entries are none of them 0 if all are small",
      because = "what is 0 does not depend on the size of the entries",
      change = {{"1e-10 * A:abs():max(), 1", "1e-10, 1"}}},
    {name = "out-of-rows", fails = "fewer rows than columns",
      because = "it looks for a pivot below the last row",
      change = {{"if row <= n and math.abs", "if math.abs"}}},
    {name = "diagonal", fails = "a column without a pivot is skipped",
      because = "row and column go on together, so a column without a pivot costs a row",
      change = {
        {"row = 1e-10 * A:abs():max(), 1", "row, found = 1e-10 * A:abs():max(), 1, 0"},
        {"row = row + 1", "found = found + 1"},
        {[[
  end
  return row - 1]], [[
    row = row + 1
  end
  return found]]},
      }},
  },
}
