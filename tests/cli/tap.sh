# tap.sh: what the shell tests share. Begin one with:  . "$srcdir/tests/cli/tap.sh"
#
#   check CLAIM COMMAND...  a test: passed if COMMAND succeeds; else its output is shown
#   refuse CLAIM COMMAND... the same if COMMAND must fail
#   skip CLAIM REASON       a test that can't be run here, counted as skipped
#   finish                  the last line: how many there were
#
# The harness (tests/run, Makefile.am) sets srcdir, builddir, TARN (the program, empty if
# it is not built), CC and SCRATCH (a folder that is removed afterwards).
tests=0

result() {
    tests=$((tests + 1))
    echo "$1 $tests - $2"
}

check() {
    claim=$1
    shift
    if "$@" >"$SCRATCH/output" 2>&1; then
        result ok "$claim"
    else
        result "not ok" "$claim"
        sed 's/^/# /' "$SCRATCH/output"
    fi
}

fails() { ! "$@"; }

refuse() {
    claim=$1
    shift
    check "$claim" fails "$@"
}

skip() { result ok "$1 # SKIP $2"; }

finish() { echo "1..$tests"; }
