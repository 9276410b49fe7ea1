# ptxas.sh: what every kernel takes of each kind of GPU: registers per thread, fixed shared
# memory per block. Nothing may spill, nothing may warn, nothing may grow beyond the table in
# tests/golden/ptxas.txt, which fewer blocks at a time would be the price of.
#
#   sh tests/cli/ptxas.sh record    writes the table anew, with the nvcc on PATH
#
# Another release of nvcc gives other sizes: then they are not compared, spills and warnings
# are errors all the same.
targets="75 80 86 89 90 100 120"

if test "$1" = record; then
    srcdir=. NVCC=nvcc CXX=g++ SCRATCH=$(mktemp -d) || exit
    trap 'rm -rf "$SCRATCH"' EXIT
else
    . "$srcdir/tests/cli/tap.sh"
    NVCC=$(sed -n 's/^NVCC = //p' "$builddir/Makefile")
    CXX=$(sed -n 's/^CXX = //p' "$builddir/Makefile")
fi
table=$srcdir/tests/golden/ptxas.txt
now=$SCRATCH/now

sources() { grep '^kernel_sources' "$srcdir/cuda/local.mk" | grep -o 'cuda/[a-z0-9_]*\.cu'; }
release() { "$NVCC" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'; }
# Those that this nvcc knows, in one line.
known() {
    "$NVCC" --list-gpu-arch >"$SCRATCH/list"
    for target in $targets; do
        ! grep -qx "compute_$target" "$SCRATCH/list" || printf '%s ' "$target"
    done
}

# compiles SOURCE: for all targets at once; what ptxas says is left in $SCRATCH/said.
compiles() {
    "$NVCC" -std=c++17 -ccbin "$CXX" -DTARN_TARGET=cuda -I"$srcdir/src" -I"$srcdir" \
        -Werror all-warnings -Xptxas -v,-Werror,-warn-spills \
        -Xcompiler -fno-exceptions,-fno-threadsafe-statics,-Wall,-Wextra \
        $(known | sed 's/[0-9]*[0-9]/-gencode arch=compute_&,code=sm_&/g') \
        -c "$srcdir/$1" -o "$SCRATCH/kernels.o" >"$SCRATCH/said" 2>&1 ||
        { complaints; return 1; }
}
# What is worth reading of it: an error stands before the lines on the target that it is about.
complaints() {
    awk -F"'" '/error|warning/ { waiting = waiting $0 "\n"; next }
    /Compiling entry/ { if (waiting) printf "%s: %s", $4, waiting; waiting = "" }
    END { printf "%s", waiting }' "$SCRATCH/said"
}

# rows SOURCE: a line for each kernel: file, name, registers/shared for each target. Names
# are read without what stands for the file and for the types of the arguments; f is float.
rows() {
    sed "s/'_ZN[0-9]*_GLOBAL__N__[0-9a-f_]*_[a-z0-9_]*_cu_[0-9a-f]\{8\}[0-9]*/'/; s/Ev[^']*'/'/
        s/I\([fd]\)E'/<\1>'/; s/I\([fd]\)\([fd]\)E'/<\1,\2>'/" "$SCRATCH/said" |
        awk -v file="${1##*/}" -v targets="$(known)" -F"'" '
        /Compiling entry function/ { kernel = $2; target = substr($4, 4); names[kernel] }
        /Used [0-9]+ registers/ {
            split($0, word, " ")
            shared = 0
            for (i = 1; i in word; i++) {
                if (word[i] ~ /^registers/) registers = word[i - 1]
                if (word[i] ~ /^smem/) shared = word[i - 2]
            }
            size[kernel, target] = registers "/" shared
        }
        END {
            count = split(targets, columns, " ")
            for (kernel in names) {
                printf "%s %s", file, kernel
                for (i = 1; i <= count; i++) printf " %s", size[kernel, columns[i]]
                print ""
            }
        }' | LC_ALL=C sort
}

heading() {
    echo "# Registers per thread / bytes of fixed shared memory per block, by ptxas $(release)."
    echo "file kernel $(known)" | sed 's/ $//'
}

# no_growth TABLE ROWS: every kernel is in both, and takes no more than the table says.
no_growth() {
    awk 'FNR == 1 { part++ }
    /^#/ { next }
    part == 1 && FNR == 2 { for (i = 3; i <= NF; i++) target[i] = $i; next }
    part == 1 { for (i = 3; i <= NF; i++) old[$1 " " $2, i] = $i; had[$1 " " $2] }
    part == 2 {
        name = $1 " " $2
        if (!(name in had)) { print name ": not in the table"; bad++; next }
        delete had[name]
        for (i = 3; i <= NF; i++) {
            split(old[name, i], was, "/"); split($i, is, "/")
            if (is[1] + 0 <= was[1] + 0 && is[2] + 0 <= was[2] + 0) continue
            print name ", sm_" target[i] ": " $i ", the table has " old[name, i]
            bad++
        }
    }
    END {
        for (name in had) { print name ": in the table, but not there"; bad++ }
        if (bad) print "If it is meant so: sh tests/cli/ptxas.sh record"
        exit bad > 0
    }' "$1" "$2"
}

if test "$1" = record; then
    heading >"$now"
    for source in $(sources); do
        compiles "$source" && rows "$source" >>"$now" || exit
    done
    cp "$now" "$table.new" && mv "$table.new" "$table"
    exit
fi

claim="no kernel takes more of a GPU than it did"
# It takes minutes; once is enough, and where the kernels are edited.
reason=
grep -q 'HAVE_CUDA 1' "$builddir/config.h" || reason="built without nvcc"
test -e "$srcdir/.git" || reason="this is no repository"
case "$CC $CFLAGS" in *clang* | *sanitize* | *coverage*) reason="this build is not for speed" ;; esac
if test -n "$reason" && test -z "$TARN_PTXAS"; then
    skip "$claim" "$reason"
    finish
    exit
fi

: >"$now"
for source in $(sources); do
    check "$source compiles for $(known)without a warning or a spill" compiles "$source"
    rows "$source" >>"$now"
done
if test "$(sed -n '1s/.*ptxas \(.*\)\.$/\1/p' "$table")" = "$(release)"; then
    check "$claim" no_growth "$table" "$now"
    awk 'NR == 3 { sub("/", "1&") } { print }' "$table" >"$SCRATCH/grown"
    sed '1,2d' "$SCRATCH/grown" >"$SCRATCH/grown.rows"
    refuse "growth would be seen" no_growth "$table" "$SCRATCH/grown.rows"
else
    skip "$claim" "the table is of another release of nvcc"
fi
finish
