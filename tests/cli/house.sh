# house.sh: the rules of the house that a machine can check: what the library exports, how
# tarn.h documents it, which way the includes run, and that no file is left out or grows
# beyond what one reads at a sitting.
. "$srcdir/tests/cli/tap.sh"
cd "$srcdir" || exit

# The functions that tarn.h declares, one a line.
declared() {
    grep -v '^#' src/tarn.h | tr '\n' ' ' | grep -o 'TARN_API [^;(]*(' | sed 's/.*[ *]\(tarn_[a-z0-9_]*\)(/\1/' | sort
}

declared_once() { test -n "$(declared)" && test -z "$(declared | uniq -d)"; }
check "tarn.h declares each function once" declared_once

# A run of declarations without a blank line shares the block above it.
documented() {
    awk 'BEGIN { RS = ""; FS = "\n" }
    /(^|\n)TARN_API/ {
        runs++
        for (i = split("shapes math cost errors aliasing", word, " "); i; i--)
            if ($0 !~ word[i] ":") { print word[i] ": missing above\n" $0; bad++ }
        if ($0 !~ /^\/\*/) { print "no comment above\n" $0; bad++ }
    }
    END { exit bad || runs < 30 }' src/tarn.h
}
check "each function of tarn.h has shapes, math, cost, errors and aliasing above it" documented

# Beside them compilers put names of their own: __asan_..., mangle_path (gcov.s).
# same_names FILE: the sorted names in FILE are those that tarn.h declares.
same_names() { declared >"$SCRATCH/declared" && diff "$SCRATCH/declared" "$1"; }
library=$(ls "$builddir"/.libs/libtarn.so "$builddir"/.libs/libtarn.dylib 2>/dev/null)
if test -n "$library"; then
    nm -D --defined-only "$library" | awk '$2 ~ /[TDBRW]/ { print $3 }' |
        grep -v '^__\|^_init$\|^_fini$\|^mangle_path$' | sort >"$SCRATCH/exported"
    check "libtarn.so exports what tarn.h declares and nothing else" \
        same_names "$SCRATCH/exported"
else
    skip "libtarn.so exports what tarn.h declares and nothing else" "no shared library here"
fi
# Kernels that the program loads call these in it. Copies of the C library's own stand beside.
shown() { nm -D --defined-only "$TARN" | awk '{ print $3 }' | grep -v '^_\|@'; }
shows_the_device() { shown | grep -qx tarn_emu_barrier && ! shown | grep -v '^tarn_\|^main$\|^data_start$'; }
if test -n "$TARN" && grep -q 'define HAVE_EMU' "$builddir/config.h"; then
    check "the program shows the emulated device to kernels, and no foreign names" shows_the_device
else
    skip "the program shows the emulated device to kernels, and no foreign names" "no such device"
fi
# nvcc gives names that are local in a .cu file a name of the file's own.
foreign() {
    nm -g --defined-only "$1" 2>/dev/null |
        awk 'NF == 3 && $3 !~ /^(tarn_|__|_ZN[0-9]*_GLOBAL__N__)/' | grep .
}
if test -f "$builddir/.libs/libtarn.a"; then
    refuse "every external name in libtarn.a starts with tarn_" foreign "$builddir/.libs/libtarn.a"
else
    skip "every external name in libtarn.a starts with tarn_" "no static library here"
fi

# Every source is built: it stands in the fragment of its folder.
listed() {
    for file in $(find src lua cuda emu -name '*.[ch]' -o -name '*.lua' -o -name '*.cu*'); do
        test "$file" = src/repl/main.c || test "$file" = src/repl/embedded.c ||
            grep -qw "$file" src/local.mk src/*/local.mk lua/local.mk cuda/local.mk \
                emu/local.mk || echo "$file"
    done | grep . && return 1
    return 0
}
check "every source file is in the local.mk of its folder" listed
tested() {
    for file in $(find tests -name 'test_*.c' | sed 's/\.c$//') \
        $(find tests/cli tests/lua -name '*.sh' -o -name '*.lua'); do
        grep -qw "$file" tests/local.mk Makefile.am || echo "$file"
    done | grep . && return 1
    return 0
}
check "every test is in tests/local.mk" tested

# upwards FOLDERS PATTERN: an include against the direction of the arrows.
upwards() { grep -rnE "#include \"$2" $1; }
refuse "core includes no other folder" upwards src/core '(stages|fast|check|repl|backend|call|cell)'
refuse "stages include core and stages alone" upwards src/stages '(fast|check|repl|backend|call|cell)'
refuse "kernels include plain headers alone, and of emu only what gives CUDA's words" upwards \
    cuda '(stages/[^p]|fast|check|repl|backend|call|cell|src|core/(tensor|context|walk)|emu/[^w])'
refuse "the emulated device knows nothing of attention" upwards \
    "$(ls emu/*.c emu/*.h | grep -v emu/device.c)" '(stages|fast|check/|repl|cuda|backend|call|cell)'
refuse "nothing but repl includes repl" upwards "src/core src/stages src/check src/bench" 'repl/'
refuse "the oracle includes no stage" upwards "$(ls src/check/oracle*.c)" \
    '(stages|backend|call|cell|core/(kernel|real))'

headed() {
    for file in $(find src tests cuda emu -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'); do
        head -1 "$file" | grep -q "^/\* ${file##*/}: " || echo "$file: no head comment"
    done | grep . && return 1
    return 0
}
check "every C file opens with its name and purpose" headed
# The interface, and tables of reference values, are as long as they are.
long() {
    find src tests lua cuda emu -name '*.[ch]' -o -name '*.lua' -o -name '*.cu*' | grep -v 'src/tarn.h\|tests/golden/' |
        xargs wc -l | awk '$1 > 500 && $2 != "total"' | grep .
}
refuse "no file is longer than 500 lines" long

# pandoc reads such a line, in an item of a list, as a list of its own: "elu\n   + 1" is one item.
prose_is_no_list() {
    awk 'FNR == 1 { code = maths = 0; before = "" }
    /^ *```/ { code = !code }
    !code && gsub(/\$\$/, "&") % 2 { maths = !maths }
    !code && !maths && /^ +([-+*]|[0-9]+\.) / && before ~ /[^ ]/ {
        print FILENAME ":" FNR ": begins like a list: " $0; bad++ }
    { before = $0 }
    END { exit bad || NR < 1000 }' "$@"
}
check "no line of a paragraph of the book begins like a list" prose_is_no_list doc/en/*.md

finish
