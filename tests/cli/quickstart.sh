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
finish
