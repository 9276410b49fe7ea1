# configure.sh: what configure says when something is missing or must not be. Realises
# BLD-05: each optional tool is really taken away, one at a time.
. "$srcdir/tests/cli/tap.sh"

if test -f "$srcdir/config.status"; then
    skip "configure is tried out" "the source folder itself is configured"
    finish
    exit
fi
# A cache of the slow answers about the compiler, none of those about libraries and tools.
another_nvcc=false
cache() {
    grep -Ev '^(ac_cv_env|pkg_cv|ac_cv_prog_ac_ct|ac_cv_prog_HELP2MAN|ac_cv_prog_GNUPLOT|ac_cv_path|tarn_cv_path)' cache |
        if $another_nvcc; then grep -v tarn_cv_cuda; else cat; fi
}

# Mirrors of the tools and of pkg-config's modules, as links that can be removed.
cd "$SCRATCH" || exit
unset PANDOC NODE KATEX # which other tests are told
mkdir bin modules work
# ccache under a compiler's name looks for the real one further on in PATH: so does this.
real_compilers() {
    for tool in gcc g++ cc c++ clang clang++; do
        case $(readlink -f "bin/$tool") in */ccache) rm "bin/$tool" ;; esac
    done
}
(IFS=:; for folder in $PATH; do ln -s "$folder"/* bin/ 2>/dev/null; real_compilers; done)
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    ln -s "$folder"/*.pc modules/ 2>/dev/null
done

# configured [ARGUMENT...]: runs configure with what the mirrors have left.
configured() (
    cd work && rm -f ./* 2>/dev/null
    test -f ../cache && (cd .. && cache) >mycache
    PATH=$SCRATCH/bin PKG_CONFIG_LIBDIR=$SCRATCH/modules
    export PATH PKG_CONFIG_LIBDIR
    "$srcdir/configure" --cache-file=mycache "$@" >out 2>err </dev/null
    status=$?
    cat out err
    test -f ../cache || cp mycache ../cache
    return $status
)

# summary PATTERN: configure succeeded without a word on stderr and one line fits.
summary() {
    pattern=$1
    shift
    configured "$@" && ! grep . work/err && test "$(grep -Ec "$pattern" work/out)" = 1
}

# without CLAIM-WORD PATTERN LINK...: takes the links away for one run of configure.
without() {
    name=$1 pattern=$2
    shift 2
    mkdir away && mv "$@" away/ 2>/dev/null
    check "without $name configure says so in one line" summary "$pattern"
    for link; do
        test -e "away/${link##*/}" && mv "away/${link##*/}" "$link"
    done
    rmdir away
}

check "configure with everything succeeds in silence" summary '^  found$'
if grep -q '^    lua: the program' work/out; then
    without lua '^    lua: not found, so no program.*liblua5.4-dev' modules/lua*.pc
fi
without readline '^    readline: not found, so a plain prompt.*libreadline-dev' modules/readline.pc
without zlib '^    zlib: not found, .*zlib1g-dev' modules/zlib.pc
without libpng '^    libpng: not found, .*libpng-dev' modules/libpng*.pc
without criterion '^    criterion: not found, .*libcriterion-dev' modules/criterion.pc
without cblas '^    cblas: not found, .*libopenblas-dev' modules/openblas.pc modules/cblas.pc \
    modules/flexiblas.pc
without cjson '^    cjson: not found, .*libcjson-dev' modules/libcjson.pc
without help2man '^    help2man: not found, .*Debian package: help2man' bin/help2man
without gnuplot '^    gnuplot: not found, .*gnuplot-nox' bin/gnuplot
if grep -q '^    book: make html' work/out; then
    without pandoc '^    book: pandoc not found, so no make html.*Debian package: pandoc' bin/pandoc
    # Ubuntu 22.04 has such a one; the package would not help.
    old_pandoc() {
        mv bin/pandoc pandoc && printf '#!/bin/sh\necho pandoc 2.9.2.1\n' >bin/pandoc && chmod +x bin/pandoc
        summary '^    book: pandoc 2[.]9[.]2[.]1 is older than 2[.]17, so no make html, no make pdf$'
        status=$?
        mv -f pandoc bin/pandoc
        return $status
    }
    check "a pandoc that is too old is told with its version" old_pandoc
    without node '^    book: node not found, so no make html.*Debian package: nodejs' bin/node
fi
if grep -q '^    weasyprint: the book' work/out; then
    without weasyprint '^    weasyprint: not found, so no PDF .*weasyprint' bin/weasyprint
fi
check "--disable-doc is named in the summary" summary 'book: left out by --disable-doc' --disable-doc
without pkg-config '^    pkg-config: not found, so no library' bin/pkg-config bin/pkgconf \
    bin/*-pkg-config bin/*-pkgconf
check "--without-readline is named in the summary" \
    summary 'readline: left out by --without-readline' --without-readline

# ---- CUDA, with a toolkit of our own making: on machines with a real one it is the same ------

# A program nvcc that has heard of some GPUs and compiles C. Its folder is $1.
make_toolkit() {
    mkdir -p "$1/bin" "$1/include" "$1/lib64"
    cat >"$1/bin/nvcc" <<'END'
#!/bin/sh
for word; do
    case $word in
    --list-gpu-arch) printf 'compute_%s\n' 75 80 90 120 && exit ;;
    --dryrun) echo "#\$ TOP=${0%/*}/.." && exit ;;
    esac
    test "$last" = -o && object=$word
    last=$word
done
echo 'int cudaGetLastError(void); int main(void) { return cudaGetLastError(); }' >nvcc_out.c
$HOST_CC -c nvcc_out.c -o "$object" && rm nvcc_out.c
END
    chmod +x "$1/bin/nvcc"
    touch "$1/include/cuda_runtime_api.h"
    echo 'int cudaGetLastError(void) { return 0; }' >cudart.c
    $CC -c cudart.c -o cudart.o && ar cr "$1/lib64/libcudart_static.a" cudart.o
}

# complains PATTERN ARGUMENT...: configure stops with such an error.
complains() {
    pattern=$1
    shift
    ! configured "$@" && grep -Eq "error: .*$pattern" work/err
}
# builds_for WORDS ARGUMENT...: these GPUs, and no others.
builds_for() {
    words=$1
    shift
    summary "^    cuda: kernels for GPUs of $words\$" "$@" &&
        grep -q 'HAVE_CUDA 1' work/config.h
}
toolkit=$SCRATCH/toolkit
HOST_CC=$CC CUDA_HOME=$SCRATCH/nowhere another_nvcc=true
export HOST_CC CUDA_HOME
make_toolkit "$toolkit"
rm -f bin/nvcc bin/nvidia-smi

# BLD-04: no toolkit, or no GPU, and the build is a clean one for the CPU, or for fixed GPUs;
# check_gpu.sh has what the tests of a GPU do then.
check "without nvcc configure says so in one line" \
    summary '^    cuda: not found, so no kernel runs on a GPU.*nvidia-cuda-toolkit'
# plans PATTERN: make, in the folder that was configured last, would run such commands, and has
# nothing to complain of.
plans() (
    cd work && PATH=$SCRATCH/bin make -n >plan 2>complaints && ! grep . complaints &&
        grep -q "$1" plan
)
refuse "and make runs none: BLD-04" plans 'nvcc\|cuda\.lo'
check "though it builds all the rest" plans 'stages/'
check "--without-cuda is named in the summary" \
    summary '^    cuda: left out by --without-cuda' --without-cuda
check "--with-cuda=yes without nvcc is an error that tells where it was looked for" \
    complains 'with-cuda=yes: nvcc not found on PATH nor in .*nowhere' --with-cuda=yes
check "--with-cuda=DIR without a toolkit in it is an error" \
    complains 'with-cuda=/nowhere: there is no bin/nvcc' --with-cuda=/nowhere
check "nor is the folder without a name one" complains 'there is no bin/nvcc' --with-cuda=
check "NVCC that is not there is left out with the reason" summary \
    '^    cuda: there is no program /nowhere/nvcc, so no kernel runs on a GPU' NVCC=/nowhere/nvcc
mkdir -p broken/bin && printf '#!/bin/sh\nexit 1\n' >broken/bin/nvcc && chmod +x broken/bin/nvcc
check "one that fails is told as that" complains 'broken/bin/nvcc does not say where its toolkit is' \
    --with-cuda="$SCRATCH/broken"
relative() {
    builds_for '80 and newer' --with-cuda=../toolkit && grep -q '^NVCC = /.*/toolkit/bin/nvcc$' work/Makefile
}
check "--with-cuda=DIR takes that toolkit" builds_for '80 and newer' --with-cuda="$toolkit"
check "a folder is found from wherever make runs" relative
check "CUDA_HOME tells where the toolkit is" builds_for '80 and newer' CUDA_HOME="$toolkit"
check "--with-cuda-arch takes a list" \
    builds_for '75 90' --with-cuda="$toolkit" --with-cuda-arch=75,90
check "in any order, each once" \
    builds_for '75 90' --with-cuda="$toolkit" --with-cuda-arch='90,75, 90'
check "a * is no list of GPUs" \
    complains 'does not know [*], only 75' --with-cuda="$toolkit" --with-cuda-arch='*'
check "nor is nothing at all" \
    complains 'no GPU is named, this toolkit knows 75' --with-cuda="$toolkit" --with-cuda-arch=
check "--with-cuda-arch=all are those that the toolkit knows" \
    builds_for '75 80 90 120 and newer' --with-cuda="$toolkit" --with-cuda-arch=all
check "a GPU that the toolkit does not know is an error that tells those it knows" \
    complains 'does not know 70, only 75 80 90 120' --with-cuda="$toolkit" --with-cuda-arch=70
check "--with-cuda-arch=native needs a GPU" \
    complains 'with-cuda-arch=native: there is no GPU here' --with-cuda="$toolkit" \
    --with-cuda-arch=native
# says LINE...: this is what nvidia-smi says of the GPUs here.
says() {
    { echo '#!/bin/sh' && printf 'echo "%s"\n' "$@"; } >bin/nvidia-smi && chmod +x bin/nvidia-smi
}
says 9.0 7.5 9.0
check "the GPUs of this machine are the default" builds_for '75 90' --with-cuda="$toolkit"
says 9.0 5.2
check "those that the toolkit does not know are left out" builds_for 90 --with-cuda="$toolkit"
says 13.0
check "if that is all of them, the driver compiles" builds_for '80 and newer' --with-cuda="$toolkit"
for sentence in "No devices were found" \
    "Failed to initialize NVML: Driver/library version mismatch, NVML library version: 535.183" \
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."; do
    says "$sentence"
    check "a tool that says '$sentence' has named no GPU: BLD-04" \
        builds_for '80 and newer' --with-cuda="$toolkit"
done
rm bin/nvidia-smi
rm "$toolkit/lib64/libcudart_static.a"
check "a toolkit without its library is left out with the reason" summary \
    '^    cuda: .*libcudart_static.a is not, so no kernel runs on a GPU' CUDA_HOME="$toolkit"
check "where it was asked for that is an error" \
    complains 'libcudart_static.a is not' --with-cuda="$toolkit"
ar cr "$toolkit/lib64/libcudart_static.a"
# BLD-03: nvcc refuses a host compiler that is too new; the message names the pair, and CXX chooses.
check "a toolkit that does not work with the compilers is left out, and both are named" summary \
    "^    cuda: .*/nvcc does not work with [^ ]* and [^ ]* .*, so no kernel runs" CUDA_HOME="$toolkit"

# refused FLAG: configure stops and names what it does not like.
refused() { ! configured CFLAGS="-O2 $1" && grep -q "error: .*-ffast-math" work/err; }
for flag in -ffast-math -Ofast; do
    check "CFLAGS with $flag are refused with the reason" refused $flag
done
compiles() { $CC -x c -std=gnu17 $1 -I"$srcdir/src" -fsyntax-only "$srcdir/src/core/context.h"; }
refuse "the source itself refuses -ffast-math" compiles -ffast-math
check "the source itself compiles without" compiles -O2
finish
