-- Files: read, t:save, imwrite, mnist.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local path = os.tmpname()

local function write(bytes)
  local file = assert(io.open(path, "wb"))
  assert(file:write(bytes))
  assert(file:close())
end

local function bytes()
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

-- The bytes of a .npy file; `room` pads the header to that many bytes.
local function npy(descr, shape, data, more)
  local o = more or {}
  local header = ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }"):format(
    descr, o.fortran and "True" or "False", shape)
  header = header .. (" "):rep((o.room or 0) - #header - 1) .. "\n"
  local version = o.version or 1
  return "\x93NUMPY" .. string.char(version, 0) ..
    string.pack(version == 1 and "<s2" or "<s4", header) .. data
end

local function floats(...)
  return string.pack("<" .. ("f"):rep(select("#", ...)), ...)
end

-- Checks that reading fails with a message that has all the parts in it.
local function refused(...)
  local ok, why = pcall(read, path)
  assert(not ok, "the file was read")
  for _, part in ipairs({path, ...}) do
    assert(why:find(part, 1, true), ("'%s' lacks '%s'"):format(why, part))
  end
end

test("what was saved is read again, type and shape included", function()
  for _, dtype in ipairs({"float32", "float64"}) do
    for _, shape in ipairs({{}, {5}, {2, 3}, {0}, {2, 0, 3}, {1, 2, 1, 2}}) do
      local t = randn(shape, {seed = 1, dtype = dtype})
      t:save(path)
      local again = read(path)
      is(again.dtype, dtype)
      is(again.shape, shape)
      is(again, t:totable())
    end
  end
end)

test("NaN, infinities and the smallest numbers survive (FMT-19)", function()
  local t = tensor({0 / 0, 1 / 0, -1 / 0, -0.0, 1.4e-45, 3.4028235e38})
  t:save(path)
  local again = read(path)
  is(again, t:totable())
  is(1 / again[4], -1 / 0)
end)

test("a view is saved as what it shows", function()
  local t = tensor({{1, 2}, {3, 4}})
  t:t():save(path)
  is(read(path), {{1, 3}, {2, 4}})
end)

test("NumPy can read what we write (FMT-08)", function()
  zeros(184):save(path)
  local file = bytes()
  local header = string.unpack("<s2", file, 9)
  assert(header:find("'shape': (184,)", 1, true), header)
  is(header:sub(-1), "\n")
  is((10 + #header) % 64, 0)
  read(path):save(path)
  is(bytes(), file)
end)

test("Fortran order becomes row-major (FMT-01)", function()
  write(npy("'<f4'", "(2, 3)", floats(1, 2, 3, 4, 5, 6), {fortran = true}))
  is(read(path), {{1, 3, 5}, {2, 4, 6}})
end)

test("header versions 1, 2 and 3 read alike, 4 is refused (FMT-02)", function()
  for version = 1, 3 do
    write(npy("'<f4'", "(4,)", floats(1, 2, 3, 4), {version = version}))
    is(read(path), {1, 2, 3, 4})
  end
  write(npy("'<f4'", "(4,)", floats(1, 2, 3, 4), {version = 4}))
  refused("4")
end)

test("long headers are read (FMT-03)", function()
  for _, room in ipairs({300, 1000, 65535}) do
    write(npy("'<f4'", "(2,)", floats(7, 8), {room = room}))
    is(read(path), {7, 8})
  end
end)

test("a truncated file is refused (FMT-05)", function()
  local whole = npy("'<f4'", "(4, 3)", ("\0"):rep(48))
  write(whole:sub(1, -2))
  refused("48", "47")
  for _, length in ipairs({#whole - 48, 30, 7, 0}) do
    write(whole:sub(1, length))
    refused()
  end
end)

test("shapes of one dimension, with or without spaces (FMT-06)", function()
  write(npy("'<f4'", "(3,)", floats(1, 2, 3)))
  is(read(path).shape, {3})
  write(npy("'<f4'", "(3,1,)", floats(1, 2, 3)))
  is(read(path).shape, {3, 1})
end)

test("types that are no plain numbers are refused by name (FMT-10)", function()
  for _, descr in ipairs({"'|O'", "'<U5'", "'|S3'", "'<c8'"}) do
    write(npy(descr, "(1,)", ("\0"):rep(20)))
    refused(descr:match("%w+"))
  end
end)

test("other files are refused (FMT-11)", function()
  local good = npy("'<f4'", "(1,)", floats(1))
  for i = 1, 10 do
    write(good:sub(1, i - 1) .. string.char(good:byte(i) ~ 0x55) .. good:sub(i + 1))
    refused()
  end
  write("a text file\n")
  refused()
end)

test("float64 and large integers become float64 (FMT-13)", function()
  write(npy("'<f8'", "(2,)", string.pack("<dd", 0.1, 2)))
  is(read(path).dtype, "float64")
  is(read(path), {0.1, 2})
  write(npy("'<i4'", "(1,)", string.pack("<i4", 16777217)))
  is(read(path), {16777217})
end)

test("missing files and folders are errors with the path (FMT-12)", function()
  local ok, why = pcall(read, path .. "-missing")
  assert(not ok and why:find(path .. "-missing", 1, true) and why:find("No such file"), why)
  ok, why = pcall(read, "/tmp")
  assert(not ok and why:find("/tmp", 1, true) and why:find("directory"), why)
  ok, why = pcall(tarn.save, zeros(1), "/nowhere/x.npy")
  assert(not ok and why:find("/nowhere/x.npy", 1, true), why)
end)

test("wrong arguments are refused", function()
  raises("read: the path is the number 3, expected a string", read, 3)
  raises("read: the path 'a..' has a zero byte in it", read, "a\0b")
  raises("save: the path is missing, expected a string", function() zeros(1):save() end)
  raises("save: expected a tensor as argument 1, not a string (use t:save() with a colon)",
    tarn.save, "x.npy")
  raises("imwrite: the image is missing, expected a tensor", function() imwrite(path) end)
  raises("imwrite: the path is tensor [1] float32, expected a string",
    imwrite, zeros(1), path)
end)

test("imwrite writes a PNG", function()
  local ok, why = pcall(imwrite, path, rand(5, 7, {seed = 1}))
  if not ok and why:find("libpng") then return tap.skip("PNG", why) end
  assert(ok, why)
  is(bytes():sub(1, 8), "\x89PNG\r\n\x1a\n")
  is({string.unpack(">I4I4", bytes(), 17)}, {7, 5, 25})
  assert(not pcall(imwrite, path, zeros(5)))
end)

local have_mnist, why = pcall(mnist, 1)
if not have_mnist then
  tap.skip("mnist gives images and labels", why)
else
  test("mnist gives images and labels", function()
    local image, label = mnist(1)
    is(image.shape, {28, 28})
    is(image.dtype, "float32")
    is(label, 7) -- the first digit of the test set
    is(image:min(), 0)
    is(image:max(), 1)
    is(select(2, mnist(10000)), 6)
    is(select(2, mnist(-1)), 6)
    raises("mnist: i is 10001, out of range for an extent of 10000", mnist, 10001)
    raises("mnist: i is 0: indices start at 1 (or at -1 from the end)", mnist, 0)
    raises("mnist: i is nil, expected an integer", mnist)
  end)

  test("an image of mnist is the caller's own", function()
    mnist(2):fill(0.5)
    is(mnist(2):max(), 1)
  end)
end

os.remove(path)
tap.done()
