# kernel.sh: a user's kernel from outside: in a pipe, without a compiler, in a session that is
# restricted, in a cache that can't be written to or trusted, twice at once.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "kernels of a user's own" "built without Lua"; finish; exit; }
"$TARN" -e 'zeros(1, {device="emu"})' 2>/dev/null ||
    { skip "kernels of a user's own" "no emulated device"; finish; exit; }
cd "$SCRATCH" || exit
cat >triple.cu <<'END'
__global__ void triple(float *x) { x[threadIdx.x] *= 3; }
END
code='k = kernel("triple.cu", "triple") x = ones(2, {device="emu"}) k({grid=1, block=2}, x) print(x:to("cpu"):sum())'

# says TEXT VARIABLE=VALUE..: the code fails with one message that has the text.
says() {
    text=$1
    shift
    out=$(env "$@" "$TARN" -e "$code" 2>&1)
    test $? -eq 1 && printf '%s\n' "$out" | grep -q "$text"
}
left() { find . -name '*.so' -o -name '*.o' -o -name '*.log' | grep .; }

check "without a compiler the message says what to install" \
    says "there is no compiler 'g++-none'; hint: install one" TARN_CXX=g++-none
refuse "and nothing is left" left

computes() { test "$(printf '%s\n' "$code" | env "$@" "$TARN" 2>&1)" = 6.0; }
check "in a pipe" computes A=b
check "the cache lies in XDG_CACHE_HOME" computes XDG_CACHE_HOME="$SCRATCH/cache"
has_one() { test "$(ls "$1" | wc -l)" -eq 1 && ls "$1" | grep -qx '[0-9a-f]*\.so'; }
check "and holds one object" has_one cache/tarn
check "from where it comes without a compiler" computes XDG_CACHE_HOME="$SCRATCH/cache" PATH=/nowhere

# A folder that others can write to could hold their code.
mkdir -p open/tarn temporary && chmod 777 open/tarn
check "a cache that others can write to is not used" \
    computes XDG_CACHE_HOME="$SCRATCH/open" TMPDIR="$SCRATCH/temporary"
has_one_there() { has_one temporary/tarn-* && test -z "$(ls open/tarn)"; }
check "but a folder in TMPDIR" has_one_there
chmod 777 temporary/tarn-*
check "nor there: then it is an error" says "no folder for what is compiled: .*others can write to it" \
    XDG_CACHE_HOME="$SCRATCH/open" TMPDIR="$SCRATCH/temporary"

at_once() {
    for i in 1 2 3; do
        XDG_CACHE_HOME="$SCRATCH/shared" "$TARN" -e "$code" >"out.$i" 2>&1 &
    done
    wait
    cat out.1 out.2 out.3 | uniq -c | grep -q '3 6.0' && has_one shared/tarn
}
check "three sessions compile the same file at once" at_once

# A compiler that fails half-way: what it has written must not be taken for an object.
cat >half <<'END'
#!/bin/sh
for last; do :; done
case "$*" in *-shared*) for o; do case $o in *.so) echo half >"$o" ;; esac; done; exit 1 ;; esac
exec ${REAL_CXX} "$@"
END
chmod +x half
cxx=$("$TARN" -e 'print(require("tarn.loader").cxx)')
fails_half() { says "does not compile" TARN_CXX="$SCRATCH/half" REAL_CXX="$cxx" XDG_CACHE_HOME="$SCRATCH/third" &&
    test -z "$(ls third/tarn)"; }
check "a failure while linking leaves nothing" fails_half

mkdir 'a b'"'"'s' && cp triple.cu 'a b'"'"'s'
spaces() { test "$(cd "a b's" && "$TARN" -e "$code")" = 6.0; }
check "blanks and quotes in the name of the folder" spaces

restricted() { "$TARN" --restricted -e "$code" 2>&1 | grep -q 'kernel: closed by --restricted'; }
check "--restricted runs no compiler" restricted
finish
