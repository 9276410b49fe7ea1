# lab_grade.sh: tarn-lab grade on a small class in which one student's code does not end and
# another's ends the program: each costs its own points, and the tables are the same twice.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "grading" "built without Lua"; finish; exit; }
lab=$builddir/tarn-lab
exercises=$(cd "$srcdir/exercises" && pwd)
cd "$SCRATCH" || exit
unset TARN_EXERCISES
mkdir temporary
TMPDIR=$SCRATCH/temporary
export TMPDIR

# hands_in STUDENT NAME: a file from stdin.
hands_in() { mkdir -p "class one/$1" && cat >"class one/$1/$2"; }
solution=$exercises/00-warm-up/solution.lua
hands_in anna 00-warm-up.lua <"$solution"
echo 'while true do end' | hands_in endless warm-up.lua
echo 'os.exit(0)' | hands_in "exit, early" 00-warm-up.lua
mkdir "class one/nothing"
ln -s "$solution" "class one/nothing/00-warm-up.lua"
mkfifo "class one/nothing/05-step.c" 2>/dev/null
cat >course.lua <<'END'
return {
  exercises = {"warm-up", "step"}, seeds = {3, 4}, limits = {seconds = 2},
  deadline = "2026-01-01 00:00", late = {per_day = 10, at_most = 30},
  handed_in = {anna = "2026-01-02 12:00", endless = "2025-12-31 00:00",
    ["exit, early"] = "2025-12-31 00:00"},
}
END
# A bwrap that does not work, as on machines that forbid it.
mkdir broken && printf '#!/bin/sh\nexit 1\n' >broken/bwrap && chmod +x broken/bwrap
refuses() {
    PATH=$SCRATCH/broken:$PATH "$lab" grade "class one" --course=course.lua --out=first >out 2>err
    test $? = 1 && grep -q "nothing keeps students' code apart" err && test ! -e first/grades.csv
}
check "without bubblewrap nothing is run" refuses
trusts() {
    PATH=$SCRATCH/broken:$PATH "$lab" grade "class one" --course=course.lua --out=trusted \
        --trust >out 2>err && grep -q '^anna,warm-up,.*,6,6,1,2,4.8' trusted/grades.csv
}
check "unless one trusts it" trusts
trust=
"$lab" grade "class one" --course=course.lua --out=first >out 2>err || {
    trust=--trust
    "$lab" grade "class one" --course=course.lua --out=first --trust >out 2>err
}
# row PATTERN: a line of the table matches.
row() { grep -q "$1" first/grades.csv || { cat out err first/grades.csv; return 1; }; }
check "who is right has the points, less what is late" \
    row '^anna,warm-up,.*,3 4,0,6,6,1,2,4.8,,$'
check "an endless loop costs its own points" row '^endless,.*,0,6,0,0,0,,.*does not end'
check "so does a program that leaves early" row '^"exit, early",.*,0,6,0,0,0,,.'
check "a link is not read" row '^nothing,.*,"00-warm-up.lua is a link, not a file"$'
if test -p "class one/nothing/05-step.c"; then
    check "nothing is waited for" row '^nothing,step,.*,"05-step.c is something else, not a file"$'
fi
once_more() {
    "$lab" grade "class one" --course=course.lua --out=second $trust >out 2>err
    diff -r first second
}
check "the same files give the same tables" once_more
left() { ls -A temporary | grep .; }
refuse "no folders are left behind" left
finish
