# repl_scripts.sh: scripts: how errors look, what ^C does, which names there are.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "scripts" "built without Lua"; finish; exit; }
cd "$SCRATCH" || exit

# gives STATUS: runs s.lua (from standard input of this function); stdout in out, stderr
# must be what is in the file expected, if there is one.
script() { cat >s.lua; }
gives() {
    "$TARN" s.lua >out 2>err </dev/null
    status=$?
    test $status = "$1" || { echo "status $status, expected $1"; cat out err; return 1; }
}
says() { gives 1 && diff expected err; }

script <<'END'
local function inner(x)
  error("boom " .. x)
end
function outer() inner(1) return 1 end
outer()
END
cat >expected <<'END'
s.lua:2: boom 1
  s.lua:2: in function 'inner'
  s.lua:4: in function 'outer'
  s.lua:5: in main chunk
END
check "an error: its message, then the script's own frames" says

script <<'END'
function outer(x)
  error("boom")
end
return outer(1)
END
cat >expected <<'END'
s.lua:2: boom
  s.lua:2: in function 'outer'
END
check "a global function that is called at the end has its name too" says

script <<'END'
local t = zeros(2, 3)
t:reshape(7)
END
gives 1
message=$(head -1 err)
"$TARN" -e 'print(select(2, pcall(function() zeros(2, 3):reshape(7) end)))' >caught
echo 'zeros(2, 3):reshape(7)' | "$TARN" -i --no-init 2>prompted >/dev/null
same_text() {
    case $message in *:[0-9]*:*) return 1 ;; esac
    test -n "$message" && test "$(cat caught)" = "$message" && test "$(cat prompted)" = "$message"
}
check "an error of tarn's has one text in script, pcall and prompt (REP-07)" same_text

script <<'END'
local function f(n) return 1 + f(n + 1) end
f(1)
END
overflow() { gives 1 && grep -q '^  \.\.\.$' err && test "$(wc -l <err)" -lt 25; }
check "the frames of a stack overflow fit a screen" overflow

echo 'error({})' | script
check "an error that is no string" gives 1
check "is named by its type" grep -qx '(error object is a table value)' err
echo 'error(setmetatable({}, {__tostring = function() return "in words" end}))' | script
gives 1
check "or speaks for itself" grep -qx 'in words' err
echo 'x = = 1' | script
gives 1
check "a syntax error names file and line" grep -q '^s.lua:1: ' err

# ^C. The signal is sent when the script says that it runs. Its input is a pipe into which
# nobody writes.
mkfifo "$SCRATCH/silence"
stopped() {
    # stopped CODE: true if ^C ends it with 130 and a message
    rm -f "$SCRATCH/ready"
    timeout --foreground -k 5 20 "$TARN" -e 'assert(io.open("ready", "w")):close()' -e "$1" \
        <>"$SCRATCH/silence" >out 2>err &
    job=$!
    tries=0
    while test ! -f ready && test $tries -lt 100; do
        tries=$((tries + 1))
        sleep 0.1
    done
    sleep 0.2
    # timeout hands the signal on, and gives the program's status back. In the foreground it
    # does so once; else once more to its group, and a second ^C ends a script at once.
    kill -INT $job
    wait $job
    status=$?
    test $status = 130 && grep -q interrupted err && return
    echo "status $status"; cat err
    return 1
}
if timeout --foreground 1 true 2>/dev/null; then
    check "^C stops a loop" stopped 'while true do end'
    check "^C stops a loop that catches errors" stopped \
        'while true do pcall(function() while true do end end) end'
    check "^C stops a loop in coroutines" stopped \
        'while true do pcall(coroutine.wrap(function() while true do end end)) end'
    check "^C stops a loop with a message handler" stopped \
        'while true do xpcall(error, function() local x = 1 end) end'
    check "^C stops C code" stopped 'x = randn(3000, 3000) while true do x:mm(x) end'
    check "^C stops C code that is called in pcall" stopped \
        'x = randn(3000, 3000) while true do pcall(x.mm, x, x) end'
    check "^C stops a picture of 10^12 elements: heat" stopped 'heat(tensor(1):expand(1e6, 1e6))'
    check "^C stops a picture of 10^12 elements: plot" stopped 'plot(tensor(1):expand(1e12))'
    check "^C stops the counting of hist" stopped 't = rand(2000000) while true do hist(t) end'
    check "^C ends the wait for input" stopped 'io.read()'
else
    skip "^C stops a script" "no timeout program"
fi

# The guard against misspelt names, and the modules that it must not disturb.
raises() { "$TARN" -e "$2" >out 2>err </dev/null; test $? = 1 && head -1 err | grep -qFx -e "$1"; }
check "an unknown name is an error with a suggestion" \
    raises "undefined variable 'tenosr': did you mean 'tensor'?" 'tenosr {1}'
check "a misspelt member of Lua's libraries" raises "(command line):1: attempt to call a nil value (field 'sqroot'); did you mean 'math.sqrt'?" 'math.sqroot(2)'
check "syntax of another language" raises "(command line):1: syntax error near '+'; hint: there is no += or ++; write x = x + 1" 'x += 1'
check "a name with nothing near" raises "undefined variable 'qqqqqqqqqq'" 'print(qqqqqqqqqq)'
check "exit says how to leave" raises "undefined variable 'exit': leave with ^D or os.exit()" 'exit()'
check "a variable made inside a function is an error" raises \
    "undefined variable 'conut' is assigned inside a function: write \`local\` before it, or assign it once outside of functions" \
    'local function f() conut = 1 end f()'
holds() { "$TARN" -e "assert($1)" </dev/null; }
check "a known one may be changed there" holds '(function() return true end)()'
cat >probing.lua <<'END'
-- as test frameworks do: look whether names exist, look through all of them, define some
assert(_G.jit == nil and rawget(_G, "jit") == nil and not _G.nosuch)
assert(type(tarn) == "table" and rawget(_G, "zeros") == nil)
made_by_module = function() made_later = 1 end
local tests = {}
for name in pairs(_G) do if type(name) == "string" and name:find("^Test") then tests[#tests + 1] = name end end
return {tests = tests}
END
script <<'END'
TestOne = {}
function TestTwo() end
local probing = require "probing"
table.sort(probing.tests)
assert(table.concat(probing.tests, " ") == "TestOne TestTwo")
made_by_module()
assert(made_later == 1)
END
check "modules see plain globals, and those of the script" gives 0
script <<'END'
assert(_G.print == print and _ENV == _G and _G._G == _G)
assert(rawget(_G, "print") == print and rawget(_G, "nosuch") == nil)
x = 1
assert(rawget(_G, "x") == 1 and _G.x == 1)
rawset(_G, "y", 2)
assert(y == 2)
local seen = {}
for name in pairs(_G) do seen[name] = true end
assert(seen.x and seen.y and seen.print)
assert(next(_G) ~= nil)
assert(not pcall(function() return _G.nosuch end))
x = nil
assert(x == nil, "a variable that was set to nil is still known")
local function set() x = 3 end
set()
assert(x == 3)
END
check "_G is the environment of the script" gives 0
script <<'END'
x = 1
assert(load("return x")() == 1 and load("return zeros")() == zeros)
assert(load("return x", "c", "t", {x = 2})() == 2)
local loaded = load("return nosuch")
assert(not pcall(loaded))
local f = assert(io.open("part.lua", "w"))
f:write("part = zeros(2) return 5, ...")
f:close()
assert(dofile("part.lua") == 5 and #part == 2)
assert(loadfile("part.lua")() == 5)
assert(loadfile("part.lua", "t", {zeros = function() end})() == 5)
assert(select("#", load("return ...")(1, 2)) == 2)
assert(load("x =") == nil and not pcall(dofile, "nosuch.lua"))
END
check "load, loadfile and dofile give chunks that environment" gives 0
script <<'END'
local meta = {__index = function(_, name) if name == "magic" then return 42 end end}
assert(setmetatable(_G, meta) == _G and getmetatable(_G) == meta)
assert(magic == 42 and zeros and not pcall(function() return nosuch end))
END
check "a metatable that the script puts on _G works beside the guard" gives 0
script <<'END'
tensors = 1
sim = 2
sim = 3
assert(sim == 3 and tarn.sim ~= 3)
local assoc = 4
load = 5
assert(load == 5)
END
noted() { gives 0 && test "$(cat err)" = "note: sim hides tarn.sim"; }
check "hiding a public name is noted once" noted
check "tarn.version is a string" holds 'tarn.version:find("^%d")'
finish
