-- phi.name, phi("name"), phis(): the built-in feature maps.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function wide(x) return tensor(x, {dtype = "float64"}) end

test("a map is a function, by field or by name", function()
  is(phi.elu1(tensor({{1, 0}, {-1e9, 3}})), {{2, 1}, {0, 4}})
  is(phi("elu1") == phi.elu1, true)
  is(phi("relu")(tensor({-1, 2})), {0, 2})
end)

test("each map is what its row of phis() says", function()
  local values = {
    elu1 = math.exp(-0.5), relu = 0, relu2 = 0, exp_features = math.exp(-0.5),
    identity = -0.5, softplus = math.log(1 + math.exp(-0.5)), poly2 = 0.25,
  }
  for _, map in ipairs(phis()) do
    local got, expected = phi(map.name)(wide {-0.5})[1], values[map.name]
    assert(math.abs(got - expected) < 1e-15, map.name .. " " .. got)
  end
end)

test("poly2 has D (D + 1) / 2 features whose product is (q.k)^2", function()
  local q, k = wide {{1, 2, 3}}, wide {{-2, 0.5, 1}}
  local fq, fk = phi.poly2(q), phi.poly2(k)
  is(fq.shape, {1, 6})
  assert(math.abs((fq * fk):sum() - 4) < 1e-14)
end)

--> region ranks
-- The number of pivots of elimination that are more than rounding.
local function rank(matrix)
  local a, found = matrix:totable(), 0
  for c = 1, #a do
    local best = found + 1
    for r = best, #a do
      if math.abs(a[r][c]) > math.abs(a[best][c]) then best = r end
    end
    if best <= #a and math.abs(a[best][c]) > 1e-9 then
      found = found + 1
      a[found], a[best] = a[best], a[found]
      for r = found + 1, #a do
        local factor = a[r][c] / a[found][c]
        for j = c, #a do a[r][j] = a[r][j] - factor * a[found][j] end
      end
    end
  end
  return found
end

test("similarities by features have rank C, by exp full rank", function()
  local x = randn(6, 2, {seed = 1, dtype = "float64"})
  for name, C in pairs {elu1 = 2, softplus = 2, poly2 = 3} do
    local features = phi(name)(x)
    is(rank(features:mm(features:t())), C)
  end
  local points = range(0, 5):reshape(6, 1)
  is(rank(2 ^ points:mm(points:t())), 6)
end)
--< region ranks

test("maps work on rows of any rank and keep the type", function()
  is(phi.relu(zeros(2, 3, 4)).shape, {2, 3, 4})
  is(phi.poly2(zeros(2, 3, 4)).shape, {2, 3, 10})
  is(phi.elu1(wide {1}).dtype, "float64")
  is(phi.elu1(tensor {1}).dtype, "float32")
  is(phi.elu1(zeros(0, 3)).shape, {0, 3})
end)

test("NUM-01: a small positive feature is not lost", function()
  for _, x in ipairs {-8, -17, -30, -80} do
    local got, expected = phi.elu1(tensor {x})[1], math.exp(x)
    assert(math.abs(got - expected) <= 1e-6 * expected, x)
  end
end)

test("NUM-09: large x gives x + 1, infinity gives infinity", function()
  for _, x in ipairs {89, 100, 1000, 1e30, math.huge} do
    is(phi.elu1(wide {x})[1], x + 1)
    assert(phi.elu1(tensor {x})[1] >= x * (1 - 1e-6))
  end
end)

test("phis() lists name, equation, width, positivity and derivative", function()
  local maps = phis()
  is(maps[1].name, "elu1")
  for _, map in ipairs(maps) do
    for _, field in ipairs {"name", "equation", "width", "positivity", "derivative"} do
      is(type(map[field]), "string")
    end
  end
  assert(tostring(maps):find("elu1 +D +phi%(x%) +x %+ 1 if x > 0, exp%(x%) otherwise"))
  assert(tostring(maps[1]):find("^elu1: phi%(x%) = x %+ 1"))
end)

test("a name that is not there is refused, with what may have been meant", function()
  local all = "elu1, relu, relu2, exp_features, identity, softplus, poly2"
  raises("phi: 'elu' is no feature map; did you mean 'elu1'? There are " .. all, phi, "elu")
  raises("phi: 'gelu_tanh' is no feature map; there are " .. all, phi, "gelu_tanh")
  raises("phi: 'reul' is no feature map; did you mean 'relu'? There are " .. all,
    function() return phi.reul end)
  raises("phi: the name is the number 3, expected a string such as 'elu1'", phi, 3)
  raises("elu1: t is the number 3, expected a tensor", phi.elu1, 3)
end)

test("softmax is no feature map, and the message says why", function()
  local _, why = pcall(phi, "softmax")
  assert(why:find("exp(q.k) has no finite feature map", 1, true), why)
end)

tap.done()
