# repl_memory.sh: Lua's memory ends at the n-th allocation: the program says so and leaves
# with 1, for every n until it gets by. Needs a build with --enable-paranoid.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the end of memory" "built without Lua"; finish; exit; }

cat >"$SCRATCH/work.lua" <<'END'
local t = {}
for i = 1, 20 do t[i] = tostring(i) .. "th" end
local co = coroutine.wrap(function() coroutine.yield(table.concat(t)) end)
assert(#co() > 20 and load("return 1")() == 1 and string.rep("ab", 100):find("b"))
END
echo 'a = {}
for i = 1, 5 do
a[i] = i .. "" end
a
local b = 1
nosuch' >"$SCRATCH/typed"

# survives FIRST STEP INPUT ARGUMENT...: lets the allocations FIRST, FIRST + STEP, ... fail.
survives() {
    n=$1 step=$2 input=$3
    shift 3
    while :; do
        TARN_FAIL_LUA_AT=$n "$TARN" "$@" <"$input" >"$SCRATCH/out" 2>"$SCRATCH/err"
        status=$?
        test $status = 0 && break
        if test $status != 1 || ! grep -q 'not enough memory' "$SCRATCH/err"; then
            echo "allocation $n: status $status"
            cat "$SCRATCH/err"
            return 1
        fi
        n=$((n + step))
    done
    echo "got by with $n allocations"
    test "$n" -gt 1000
}

echo 'q = randn(5, 3, {seed = 1})
equiv(q, q, q, {grad = true})
st = rnn {D = 3, M = 3}
st:step(q[1], q[2], q[3])
prefix(q, q, q, {phi = function(t) return t:exp() end})
prefix(q, 1)' >"$SCRATCH/session"

# Lets every allocation of tarn's own fail in turn in a session at the prompt.
survives_each() {
    n=1
    while :; do
        TARN_FAIL_AT=$n "$TARN" -i --no-init <"$SCRATCH/session" >"$SCRATCH/out" 2>"$SCRATCH/err"
        status=$?
        grep -q 'out of memory' "$SCRATCH/err" || break
        test $status = 1 || { echo "allocation $n: status $status"; cat "$SCRATCH/err"; return 1; }
        n=$((n + 1))
    done
    echo "got by with $n allocations"
    test "$n" -gt 100
}

if TARN_FAIL_LUA_AT=1 "$TARN" -e '' 2>/dev/null; then
    skip "the end of Lua's memory" "built without --enable-paranoid"
else
    # All of the first ones, and a sample of those that compile tarn's own Lua.
    check "a state that cannot be made" survives 1 211 /dev/null -e ''
    check "a script whose memory ends" survives 2 101 /dev/null "$SCRATCH/work.lua"
    check "an error after the end of memory" survives 3 307 /dev/null -e \
        'x = pcall(error, "a")'
    check "a session in which each allocation of tarn's fails" survives_each
    ended() { TARN_FAIL_LUA_AT=1500 "$TARN" -i --no-init <"$SCRATCH/typed" 2>&1 | grep -q 'not enough memory'; }
    check "a prompt that cannot start" ended
fi
finish
