# mutations.sh: tests/mutate-barriers on a handful of barriers; `make check-mutations` takes all.
. "$srcdir/tests/cli/tap.sh"
claim="a barrier that is deleted from the source is noticed"
reason=
case "$CFLAGS" in *sanitize* | *coverage*) reason="this build is slow, and another one does it" ;; esac
case "$("$CC" --version)" in *clang*) reason="the build by gcc does it" ;; esac
if test -n "$reason"; then
    skip "$claim" "$reason"
    finish
    exit
fi
cd "$builddir" || exit
check "$claim" sh "$srcdir/tests/mutate-barriers" --every=16
finish
