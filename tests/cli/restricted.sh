# restricted.sh: --restricted closes the ways out of Lua that are known; --memory and --time
# end what takes too much.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "restricted sessions" "built without Lua"; finish; exit; }

mkdir "$SCRATCH/home" "$SCRATCH/outside"
cd "$SCRATCH/home" || exit 1
ln -s ../outside link
echo 'return "loaded"' >../outside/secret.lua
touched=$SCRATCH/outside/touched

# escape NAME CODE: the code must fail, or print "closed", and leave no trace outside.
escape() {
    escaped() {
        out=$("$TARN" --restricted -e "$1" 2>&1)
        status=$?
        echo "status $status: $out"
        test ! -e "$touched" && { test $status = 1 || test "$out" = closed; }
    }
    check "no way out: $1" escaped "$2"
}

escape "os.execute" "os.execute('touch $touched')"
escape "io.popen" "io.popen('touch $touched'):close()"
escape "io.open for writing" "io.open('$touched', 'w'):close()"
escape "io.open for reading" "print(io.open('/etc/passwd'):read('a'))"
escape "io.output of a file" "io.output('$touched') if not io.open then end error()"
escape "io.lines" "for l in io.lines('/etc/passwd') do print(l) end"
escape "os.remove" "os.remove('$SCRATCH/outside/secret.lua')"
escape "os.rename" "os.rename('link', '$touched')"
escape "os.tmpname" "print(os.tmpname())"
escape "os.getenv" "print(os.getenv('HOME'))"
escape "require of the whole io" "require('io').open('$touched', 'w')"
escape "package.loaded" "package.loaded.os.execute('touch $touched')"
escape "package.loadlib" "print(package.loadlib('libc.so.6', 'system') and 1)"
escape "a module in C" "package.cpath = '/usr/lib/?.so' require('socket')"
escape "searchers that were there" "print(package.searchers[3] or 'closed')"
escape "debug.getinfo" "print(debug.getinfo(1))"
escape "debug.getregistry" "print(debug.getregistry())"
escape "debug.sethook" "debug.sethook()"
escape "debug.getupvalue" "print(debug.getupvalue(print, 1))"
escape "require of debug" "require('debug').getregistry()"
escape "string.dump" "print(string.dump(function() end))"
escape "load of bytecode" "print(load('\27Lua' .. ('\0'):rep(40)) or 'closed')"
escape "load that asks for bytecode" "print(load('\27Lua', 'x', 'b') or 'closed')"
escape "the load behind the environment" "load = nil print(load('\27Lua', 'x', 'b') or 'closed')"
escape "rawget of the load behind" "print(rawget(_G, 'load')('\27Lua', 'x', 'b') or 'closed')"
escape "the insides of tarn" "print(require('tarn.host').write)"
escape "modules that are preloaded" "print(package.preload['tarn.commands'] or 'closed')"
escape "t:save outside" "zeros(2):save('$touched')"
escape "t:save through .." "zeros(2):save('../outside/touched')"
escape "t:save through a link" "zeros(2):save('link/touched')"
escape "imwrite outside" "imwrite('$touched', zeros(2, 2))"
escape "a state saved outside" "rnn{D=2, M=2}:save('$touched')"
escape "a NUL in a path" "zeros(2):save('$touched\0.npy')"
escape "a tensor that is freed twice" "local t = zeros(9) getmetatable(t).__gc(t) getmetatable(t).__gc(t) t:sum()"
escape "a metatable applied to something else" "getmetatable(zeros(1)).__gc(io.stdout) error()"
escape "the metatable of strings" "getmetatable('').__index.format = function() return '' end prefix(1)"

escape "a picture by gnuplot" "plot({1, 2, 3}, {title = '\`touch $touched\`', file = 'x.svg'})"

printf '!touch %s\n:save %s\n' "$touched" "$touched" >typed
at_prompt() { "$TARN" --restricted -i --no-init <typed 2>&1 | grep -c 'closed by --restricted\|outside of' | grep -qx 2 &&
    test ! -e "$touched"; }
check "no way out: commands of the prompt" at_prompt
"$TARN" -e 'io.open("code.luac", "wb"):write(string.dump(function() print(1) end)):close()'
as_script() { ! "$TARN" --restricted code.luac && ! "$TARN" --restricted - <code.luac &&
    ! "$TARN" --restricted -e 'dofile("code.luac")' && ! "$TARN" --restricted -e 'assert(loadfile("code.luac"))'; } 2>/dev/null
check "no way out: a script in bytecode" as_script

inside() { "$TARN" --restricted -e 'zeros(2):save("x.npy") print(read("x.npy"):sum())' | grep -qx '0.0' && rm x.npy; }
check "below the folder of the start files are written" inside
echo 'return {answer = 42}' >mine.lua
modules() { "$TARN" --restricted -e 'print(require("mine").answer)' | grep -qx 42; }
check "modules in Lua below it are found" modules
work() { "$TARN" --restricted -e 'q = randn(4, 3, {seed=1}) print(equiv(q, q, q).ok) io.write(os.time() > 0 and "on\n" or "")' |
    grep -c 'true\|on' | grep -qx 2; }
check "tarn itself works" work
why() { "$TARN" --restricted -e 'io.open("x")' 2>&1 | grep -q 'io.open is closed by --restricted'; }
check "what is closed says so" why

tensors() { "$TARN" --memory=20M -e 'zeros(10000, 10000)' 2>&1 | grep -q '^zeros: out of memory'; }
check "--memory limits tensors" tensors
strings() { "$TARN" --memory=20M -e 's = "x" while true do s = s .. s end' 2>&1 | grep -q '^not enough memory'; }
check "--memory limits Lua" strings
lives() { "$TARN" --memory=40M -e 'for i = 1, 100 do zeros(1000, 1000) end print("lives")' | grep -qx lives; }
check "garbage does not count" lives
# The processor's time that this takes is the limit itself.
loop() { "$TARN" --time=1 -e 'while true do pcall(error) end' 2>&1 | grep -q 'the time limit of 1 s is used up'; }
check "--time ends a loop, also in pcall" loop
finish_status() { "$TARN" --time=1 -e 'while true do end' >/dev/null 2>&1; test $? = 1; }
check "the exit status is 1 then" finish_status
kernel() { "$TARN" --time=1 -e 'q = randn(100000, 64) sim(q, q, q)' 2>&1 | grep -q 'the time limit'; }
check "--time ends a computation" kernel
wrong() { "$TARN" --memory=lots; test $? = 2 && { "$TARN" --time=0; test $? = 2; }; } 2>/dev/null
check "limits that are none are a wrong command line" wrong
finish
