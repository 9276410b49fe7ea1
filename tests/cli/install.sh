# install.sh: make install, a program of a user's with pkg-config, make uninstall.
. "$srcdir/tests/cli/tap.sh"
prefix=$SCRATCH/prefix
data=$prefix/share/tarn/data/mnist

check "make install" $MAKE -C "$builddir" install prefix="$prefix"
check "the header, pkg-config's file and the data are there" \
    test -f "$prefix/include/tarn.h" -a -f "$prefix/lib/pkgconfig/tarn.pc" \
    -a -f "$data/t10k-images-idx3-ubyte.gz" -a -f "$data/README.md"

# tarn.pc names the prefix of configure: the copy under another one is told so.
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
# example NAME [pkg-config's arguments]: compiles tests/cli/example.c.
example() {
    name=$1
    shift
    flags=$(pkg-config --define-variable=prefix="$prefix" --cflags --libs "$@" tarn) &&
        $CC $CFLAGS -Wall -Wextra -Werror -o "$SCRATCH/$name" "$srcdir/tests/cli/example.c" $flags
}
expected=$(printf '1\n1.5\n2\n2.5')
prints() { out=$("$@") && test "$out" = "$expected"; }
if command -v pkg-config >/dev/null; then
    check "a program compiles against the installed library" example shared
    check "it computes the running mean" prints "$SCRATCH/shared"
    if test -f "$prefix/lib/libtarn.a" && rm -f "$prefix"/lib/libtarn.so*; then
        check "it compiles against the static library" example static --static
        check "it computes the same" prints "$SCRATCH/static"
        $MAKE -C "$builddir" install prefix="$prefix" >/dev/null 2>&1
    fi
else
    skip "a program compiles against the installed library" "no pkg-config"
fi

if test -n "$TARN"; then
    says_version() { "$prefix/bin/tarn" --version | grep -q '^tarn '; }
    check "the installed program says its version" says_version
    course() {
        mkdir -p "$SCRATCH/desk" && lab="$prefix/bin/tarn-lab --dir=$SCRATCH/desk" &&
            $lab start warm-up && $lab solution warm-up --give-up >"$SCRATCH/desk/00-warm-up.lua" &&
            $lab check warm-up
    }
    check "the installed course works where it was installed to" course
    # A user's kernel, by a compiler that writes down how it is called.
    echo '__global__ void twice(float *x) { x[0] *= 2; }' >"$SCRATCH/twice.cu"
    twice() {
        printf '#!/bin/sh\necho "$*" >>"%s/calls"\nexec %s "$@"\n' "$SCRATCH" \
            "$("$TARN" -e 'print(require("tarn.loader").cxx)')" >"$SCRATCH/cxx" &&
            chmod +x "$SCRATCH/cxx" && out=$(cd "$SCRATCH" && TARN_CXX=./cxx "$prefix/bin/tarn" -e '
            x = ones(1, {device="emu"})
            kernel("twice.cu", "twice", {check=true})({grid=1, block=1}, x)
            print(x:to("cpu"):sum())') && test "$out" = 2.0 &&
            grep -q "$prefix/share/tarn/kernels" "$SCRATCH/calls" &&
            ! grep -q -e "-I'*$srcdir" "$SCRATCH/calls"
    }
    if "$TARN" -e 'zeros(1, {device="emu"})' 2>/dev/null; then
        check "it compiles a kernel with the headers that are installed" twice
    else
        skip "it compiles a kernel with the headers that are installed" "no emulated device"
    fi
fi

check "make uninstall" $MAKE -C "$builddir" uninstall prefix="$prefix"
left() { find "$prefix" ! -type d | grep .; }
refuse "nothing is left" left
staged() {
    $MAKE -C "$builddir" install DESTDIR="$SCRATCH/stage" &&
        test -n "$(find "$SCRATCH/stage" -name tarn.h)" &&
        $MAKE -C "$builddir" uninstall DESTDIR="$SCRATCH/stage" &&
        test -z "$(find "$SCRATCH/stage" ! -type d)"
}
check "DESTDIR is honoured by install and uninstall" staged
finish
