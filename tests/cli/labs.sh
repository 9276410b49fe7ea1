# labs.sh: the labs that measure run, and say what they promise.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the labs" "built without Lua"; finish; exit; }

# The times are another matter; the operations are arithmetic.
crosses() {
    "$TARN" --threads=1 "$srcdir/exercises/labs/crossing.lua" 16 >"$SCRATCH/out" &&
        grep -q '^equal operations at N = 31, equal times at about N = [0-9]' "$SCRATCH/out" ||
        { cat "$SCRATCH/out"; return 1; }
}
if echo "$CFLAGS" | grep -q sanitize; then
    skip "crossing.lua finds where linear attention begins to win" "too slow with sanitizers"
else
    check "crossing.lua finds where linear attention begins to win" crosses
fi
finish
