# reference.sh: the reference and the pages of man that the build makes of the help blocks:
# examples are what the prompt says, nothing is left out, what is malformed stops the build.
. "$srcdir/tests/cli/tap.sh"

# ---- blocks -------------------------------------------------------------------------------

# A block that has all it needs; the tests below spoil it with sed.
cat >"$SCRATCH/good.c" <<'END'
/* a.c: a file. */

/* help: twice(t, {by=2}) -> tensor
 * Doubles.
 * shapes: out as t  math: 2 t  cost: O(numel)
 * errors: none
 * options: by   a number,
 *               of any size
 * example:
 *   > twice(1)
 *   2
 * see: twice */
static int twice(void);
END
gather() { LC_ALL=C ${AWK:-awk} -f "$srcdir/tools/help.awk" "$@"; }
gathers() { gather "$SCRATCH/good.c" >"$SCRATCH/out" && grep -q 'by   a number, of any size' "$SCRATCH/out"; }
check "a complete block is gathered" gathers

# complains MESSAGE SED: the block spoilt by SED stops the build with file:line and MESSAGE.
complains() {
    sed "$2" "$SCRATCH/good.c" >"$SCRATCH/bad.c"
    gather "$SCRATCH/bad.c" >"$SCRATCH/out" 2>"$SCRATCH/err" && return 1
    cat "$SCRATCH/err"
    grep -q "bad.c:[0-9]*: help: $1" "$SCRATCH/err"
}
for label in shapes math cost errors example see; do
    check "a block without $label is refused" \
        complains "twice has no $label" "s/$label: [^ ].*//; s/$label:\$//; /^ \*\$/d"
done
check "a block without a sentence is refused" complains "twice has no sentence" '/Doubles/d'
check "an option without a line is refused" complains "twice: no option by" 's/by  /of  /'
check "an unknown label is refused" complains "'price: 1' is no label" 's/errors: none/price: 1/'
check "a label that comes twice is refused" complains "a second errors" 's/math: 2 t/errors: none/'
check "text beyond ASCII is refused" complains "twice: math is not ASCII" 's/2 t/2·t/'
check "a reference to nothing is refused" complains "twice: nothing to see at 'thrice'" 's/see: twice/see: thrice/'
twice() {
    cp "$SCRATCH/good.c" "$SCRATCH/bad.c"
    gather "$SCRATCH/good.c" "$SCRATCH/bad.c" 2>&1 >/dev/null | grep "bad.c:3: help: twice is also at .*good.c:3"
}
check "a name that comes twice is refused" twice

# ---- the reference and the pages ------------------------------------------------------------

if test -z "$TARN"; then
    skip "the reference" "built without Lua"
    finish
    exit
fi
reference=$builddir/doc/reference.md
check "every example is what the prompt says" "$TARN" --doctest "$reference"

keys() {
    "$TARN" -e 'for _, topic in ipairs(require "tarn.names".topics) do
        for _, e in ipairs(topic) do print(e.key) end end'
}
all_there() {
    grep '^### ' "$reference" | sed 's/^### //; s/\\//g' | sort >"$SCRATCH/there"
    { keys; sed -n 's/^TARN_API.*[ *]\(tarn_[a-z0-9_]*\)(.*/\1/p' "$srcdir/src/tarn.h"; } | sort >"$SCRATCH/names"
    comm -23 "$SCRATCH/names" "$SCRATCH/there" | grep -v '^tarn_' | grep . && return 1
    grep -o 'tarn_[a-z0-9_]*(' "$reference" | sort -u | sed 's/($//' >"$SCRATCH/mentioned"
    grep '^tarn_' "$SCRATCH/names" | comm -23 - "$SCRATCH/mentioned" | grep . && return 1
    test "$(wc -l <"$SCRATCH/names")" -gt 150
}
check "the reference has every name of Lua and every function in C" all_there

ascii() {
    LC_ALL=C "$TARN" -e 'for _, topic in ipairs(require "tarn.names".topics) do
        for _, e in ipairs(topic) do help(e.key) end end' >"$SCRATCH/ascii" &&
        test "$(wc -l <"$SCRATCH/ascii")" -gt 1000 &&
        ! LC_ALL=C grep -n "[^ -~]" "$SCRATCH/ascii" | grep -v "$(printf '\t')"
}
check "in the C locale all entries are ASCII" ascii

# The pages are in the build folder, or in the source of a release.
page() { test -f "$builddir/doc/$1" && echo "$builddir/doc/$1" || echo "$srcdir/doc/$1"; }
clean() {
    warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$(page "$1")" 2>&1 >/dev/null)
    echo "$warnings"
    test -z "$warnings"
}
for name in tarn-functions.7 libtarn.3; do
    if man --warnings --version >/dev/null 2>&1; then
        check "$name is a page without warnings" clean "$name"
    else
        skip "$name is a page without warnings" "no man that lists warnings"
    fi
    check "$name says what it is" grep -q '^.TH [A-Z\\-]* [37] ' "$(page "$name")"
done
finish
