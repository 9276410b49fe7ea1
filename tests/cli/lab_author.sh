# lab_author.sh: every exercise of the course holds what it promises: its solution passes, its
# start and its wrong answers fail, and so on (lua/lab/author.lua). It runs hundreds of
# programs, so one build of those that are tested does it for all: that of gcc as it is.
. "$srcdir/tests/cli/tap.sh"
claim="every exercise holds what it promises"
test -n "$TARN" || { skip "$claim" "built without Lua"; finish; exit; }
case "${CC-} ${CFLAGS-}" in
*clang* | *-fsanitize* | *--coverage*)
    skip "$claim" "left to the plain build of gcc"; finish; exit ;;
esac
unset TARN_EXERCISES
cd "$SCRATCH" || exit

"$builddir/tarn-lab" author >table 2>problems
status=$?
# row NAME: the row of an exercise has no FAIL; else what is said of it.
row() {
    ! grep -q "^$1 .*FAIL" table && grep -q "^$1 " table && return
    cat problems
    awk -v name="$1:" '/^[^ ]*: |^library code/ { on = $1 == name } on' table
    return 1
}
for folder in "$srcdir"/exercises/[0-9][0-9]-*; do
    name=${folder##*/}
    check "$name: solution, start, wrong answers, region, texts" row "$name"
done
little() { cat table; grep -q 'at most 25 %' table; }
check "the library's own code earns at most a quarter of all points" little
nothing_else() { cat table; test $status = 0 && test ! -s problems; }
check "and the course has no other fault" nothing_else
finish
