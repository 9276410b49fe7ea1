# quickstart.sh: what ./quickstart answers before it does anything. (That it builds and
# tests is seen by running it.)
. "$srcdir/tests/cli/tap.sh"

says() { out=$(sh "$srcdir/quickstart" "$1" 2>&1) && echo "$out" | grep -q -- "$2"; }
check "--help explains itself" says --help 'Usage: ./quickstart'
check "--help names --no-install" says --help '--no-install'

usage_error() {
    sh "$srcdir/quickstart" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    test $? = 2 && test ! -s "$SCRATCH/out" && grep -q -e "$1 is not understood" "$SCRATCH/err"
}
check "an unknown word is a usage error" usage_error chekc
check "an unknown option is a usage error" usage_error --noinstall
check "--prefix needs a folder" usage_error --prefix=
check "a usage error hides behind no other argument" usage_error --bad check

# A tree whose configure only gives its verdict: the check has to count and to tell it.
mkdir -p "$SCRATCH/tree/tests" "$SCRATCH/tree/m4" && cd "$SCRATCH/tree" || exit
cp "$srcdir/quickstart" . && cp "$srcdir/tests/count" tests/ && : >m4/tarn.m4
: >configure.ac && : >Makefile.am && : >Makefile.in
printf 'all check release-check:\n\t@:\n' >Makefile.all
# checked CONFIGURE-LINE: runs the check in that tree; its last line is left in `last`.
checked() {
    printf '#!/bin/sh\n%s\n' "$1" >configure && chmod +x configure
    rm -rf build && sh ./quickstart check --no-install >"$SCRATCH/out" 2>&1
    status=$?
    tail -1 "$SCRATCH/out" >"$SCRATCH/last"
}
tells_failures() {
    checked 'exit 1' && test $status = 1 && grep -Eq '^0 passed, [1-9][0-9]* failed' "$SCRATCH/last" ||
        { echo "status $status"; cat "$SCRATCH/last"; return 1; }
}
# One test fails, every step of the check succeeds.
tells_one_failure() {
    checked 'cp ../../../Makefile.all Makefile; touch config.status
        echo ":test-result: FAIL 1 - a test" >one.trs' && test $status = 1 &&
        grep -Eq '^[1-9][0-9]* passed, [1-9] failed' "$SCRATCH/last" ||
        { echo "status $status"; cat "$SCRATCH/last"; return 1; }
}
tells_success() {
    checked 'cp ../../../Makefile.all Makefile; touch config.status' && test $status = 0 &&
        grep -Eq '^[1-9][0-9]* passed, 0 failed' "$SCRATCH/last" ||
        { echo "status $status"; cat "$SCRATCH/last"; return 1; }
}
check "a check in which something fails counts it and ends with status 1" tells_failures
check "so does one in which all goes on after a test failed" tells_one_failure
check "a check in which nothing fails ends with status 0" tells_success

# A build of three files, and a program that says how it was called.
cat >Makefile.tour <<'END'
all:
	@echo "  CC       src/core/one.lo"; echo "  KERNEL   cuda/sim.emu.lo"
	@echo "  CC       src/core/two.lo"; echo "cc: warning"
	@printf '#!/bin/sh\necho "$$0 $$@"\n' >tarn; chmod +x tarn; $(ENDS)
install:
	@mkdir -p $(PREFIX)/bin && cp tarn $(PREFIX)/bin/
END
# toured ENDS ARGUMENT...: builds in that tree, the build ending with that command.
toured() {
    printf '#!/bin/sh\n{ echo "ENDS=%s"; echo "PREFIX=${1#--prefix=}"; cat ../Makefile.tour; } >Makefile
touch config.status\n' "$1" >configure
    shift
    rm -rf build && sh ./quickstart --no-install "$@" >"$SCRATCH/out" 2>&1 </dev/null
}
line() { grep -cxF -e "$1" "$SCRATCH/out" | grep -qx 1 || { cat "$SCRATCH/out"; return 1; }; }
shows_progress() { toured true && line "  src/core" && line "  cuda (emu)" && ! grep warning "$SCRATCH/out"; }
check "a build shows each folder once" shows_progress
names_programs() {
    toured true --prefix=there && line "$PWD/there/bin/tarn -e tour()" &&
        tail -1 "$SCRATCH/out" | grep -q "prompt: $PWD/there/bin/tarn;"
}
check "what is installed runs the tour and is named" names_programs
shows_failure() { ! toured false && line "cc: warning" && grep -q 'make failed' "$SCRATCH/out"; }
check "a build that fails shows what make said" shows_failure
finish
