# lab.sh: tarn-lab as a learner uses it, from list to passing, with exercises of the course; in
# a folder with blanks in its name, in a pipe and on a dumb terminal.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the course" "built without Lua"; finish; exit; }
lab=$builddir/tarn-lab
desk="$SCRATCH/my desk"
mkdir "$desk" && cd "$desk" || exit
unset TARN_EXERCISES
LC_ALL=C
export LC_ALL

# run STATUS ARGUMENT...: runs tarn-lab, its output in out and err; true if it leaves so.
run() {
    expected=$1
    shift
    "$lab" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    status=$?
    test $status = "$expected" && return
    echo "status $status, expected $expected"
    cat "$SCRATCH/out" "$SCRATCH/err"
    return 1
}
# says TEXT: the output has it; complains TEXT: stderr has it.
says() { grep -qF -e "$1" "$SCRATCH/out" || { cat "$SCRATCH/out"; return 1; }; }
complains() { grep -qF -e "$1" "$SCRATCH/err" || { cat "$SCRATCH/err"; return 1; }; }
narrow() { ! awk 'length > '"$1" "$SCRATCH/out" | grep .; }

lists() { run 0 list && grep -q '^4.1 *prefix-loop ' "$SCRATCH/out" && test ! -s "$SCRATCH/err" && narrow 80; }
check "list shows the exercises in the order of the course" lists
starts() { run 0 start prefix-loop && says "04-prefix-loop.c" && test -s 04-prefix-loop.c; }
check "start puts the file there" starts
again() { run 1 start 4.1 && complains "tarn-lab reset prefix-loop"; }
check "start keeps a file that is there" again
forms() {
    for name in prefix-loop 04-prefix-loop 4.1 04-prefix-loop.c ./04-prefix-loop.c \
        "$desk/04-prefix-loop.c" prefix_loop; do
        run 0 hint "$name" 1 || return
    done
}
check "an exercise is known by name, number and path" forms
near() { run 1 check prefixloop && complains "did you mean 'prefix-loop'?"; }
check "a name that is near is told" near

if test -n "$CC"; then
    fails_first() { run 1 check && says "FAILED" && says "eq 12" && says "0 of 10 points" && narrow 80; }
    check "the start fails, by equation and case" fails_first
    narrowly() { COLUMNS=40 run 1 check prefix-loop && narrow 40; }
    check "in 40 columns it fits too" narrowly
    plain() { ! LC_ALL=C grep -n '[^ -~]' "$SCRATCH/out"; }
    check "in the C locale and a pipe there is ASCII and no colour" plain
    colored() { TERM=dumb run 1 check --color=always && LC_ALL=C grep -q "$(printf '\033')\[31mFAILED" "$SCRATCH/out"; }
    check "colours are there when asked for" colored
    reports_failed() { run 0 report --json && says '"name": "prefix-loop", "chapter": 4, "language": "c", "status": "failed", "points": 0, "max": 10'; }
    check "report --json says failed" reports_failed
    solves() {
        run 1 solution prefix-loop && complains "has not passed yet" &&
            run 0 solution prefix-loop --give-up && cp "$SCRATCH/out" 04-prefix-loop.c
    }
    check "the solution is shown to who gives up" solves
    passes() { run 0 check ./04-prefix-loop.c && says "10 of 10 points" && says "next:"; }
    check "the solution passes, and what is next is told" passes
    reports_passed() { run 0 report --json && says '"status": "passed", "points": 10, "max": 10'; }
    check "report --json says passed" reports_passed
    valid() { "$TARN" -e 'local text = io.read("a"):gsub("\"(%w+)\": ", "%1="):gsub("%[", "{"):gsub("%]", "}")
        local report = assert(load("return " .. text))()
        assert(report.score == 10 and #report.exercises > 3)' <"$SCRATCH/out"; }
    check "it is JSON with the score" valid
    elsewhere() { cd / && run 0 check 4.1 --dir "$desk" && run 0 check "$desk/04-prefix-loop.c"; }
    check "it works from another folder" elsewhere
    cd "$desk" || exit
    is_told() { printf 'int x = ;\n' >04-prefix-loop.c && run 1 check && says "does not compile" && says "04-prefix-loop.c:1"; }
    check "what does not compile is told with its line" is_told
    watches() {
        "$lab" watch prefix-loop >"$SCRATCH/out" 2>&1 </dev/null &
        pid=$!
        tries=0
        until grep -q watching "$SCRATCH/out" || test $((tries += 1)) = 600; do sleep 0.1; done
        "$lab" solution prefix-loop >next && mv next 04-prefix-loop.c
        wait $pid && says "10 of 10 points"
    }
    check "watch sees the file change, and ends when it passes" watches
else
    skip "checking an exercise in C" "no C compiler"
fi
resets() {
    run 0 reset prefix-loop && says "04-prefix-loop.c.1~" && test -s 04-prefix-loop.c.1~ &&
        run 0 report --json && says '"status": "passed"'
}
check "reset keeps a copy, and the progress" resets
all() { run 1 reset --all && complains "--yes" && run 0 reset --all --yes; }
check "reset --all wants a word, for nobody can be asked" all

# An installed course is read-only, and may lie in a folder with blanks.
installed="$SCRATCH/the course"
cp -R "$srcdir/exercises" "$installed" && chmod -R a-w "$installed"
mkdir "$SCRATCH/other"
read_only() {
    run 0 --exercises="$installed" --dir="$SCRATCH/other" start warm-up &&
        test -w "$SCRATCH/other/00-warm-up.lua" &&
        { echo >>"$SCRATCH/other/00-warm-up.lua"; } &&
        run 1 --exercises="$installed" --dir="$SCRATCH/other" check
}
check "the exercises may be read-only: the learner's file is not" read_only
chmod -R u+w "$installed"
unwritable() {
    mkdir closed && chmod a-w closed && run 1 start warm-up --dir=closed && complains "closed"
}
if test "$(id -u)" = 0; then
    skip "a folder that can't be written to is told" "root may write everywhere"
else
    check "a folder that can't be written to is told" unwritable
fi
short() { "$builddir/exercises/lab" list >"$SCRATCH/out" && says "prefix-loop"; }
check "exercises/lab in the build folder is the same program" short

packs() {
    run 0 package "$SCRATCH/given" && run 0 list --exercises="$SCRATCH/given" &&
        ! find "$SCRATCH/given" -name 'solution*' -o -name after.md -o -name wrong | grep . &&
        test "$(find "$SCRATCH/given" -name 'start.*' | wc -l)" = \
            "$(ls -d "$srcdir"/exercises/[0-9][0-9]-* | wc -l)"
}
check "a student package has every exercise, and no solution" packs

usage() { run 2 "$@" && complains "Try 'tarn-lab --help'" && test ! -s "$SCRATCH/out"; }
check "no command is a wrong command line" usage
check "so is an unknown one" usage chek
check "and an unknown option" usage list --jsn
helps() { run 0 --help && says "Usage: tarn-lab" && narrow 80; }
check "--help fits into 80 columns" helps
versions() { run 0 --version && head -1 "$SCRATCH/out" | grep -q '^tarn-lab [0-9]'; }
check "--version says the version" versions
check "a full disk behind stdout is an error" sh -c \
    "test ! -c /dev/full || { '$lab' list >/dev/full 2>'$SCRATCH/err'; test \$? = 1 && grep -q 'tarn-lab: write error' '$SCRATCH/err'; }"
finish
