# mutations.sh: tests/mutate-barriers on a handful of barriers; `make check-mutations` takes all.
. "$srcdir/tests/cli/tap.sh"
claim="a barrier that is deleted from the source is noticed"
reason=
grep -q 'HAVE_EMU 1' "$builddir/config.h" || reason="built without the emulated device"
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
