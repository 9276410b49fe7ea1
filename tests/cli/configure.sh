# configure.sh: what configure says when something is missing or must not be. Realises
# BLD-05: each optional tool is really taken away, one at a time.
. "$srcdir/tests/cli/tap.sh"

if test -f "$srcdir/config.status"; then
    skip "configure is tried out" "the source folder itself is configured"
    finish
    exit
fi
# A cache of the slow answers about the compiler, none of those about libraries and tools.
cache() { grep -Ev '^(ac_cv_env|pkg_cv|ac_cv_prog_ac_ct|ac_cv_prog_HELP2MAN|ac_cv_prog_GNUPLOT|ac_cv_path)' cache; }

# Mirrors of the tools and of pkg-config's modules, as links that can be removed.
cd "$SCRATCH" || exit
mkdir bin modules work
(IFS=:; for folder in $PATH; do ln -s "$folder"/* bin/ 2>/dev/null; done)
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
without pkg-config '^    pkg-config: not found, so no library' bin/pkg-config bin/pkgconf \
    bin/*-pkg-config bin/*-pkgconf
check "--without-readline is named in the summary" \
    summary 'readline: left out by --without-readline' --without-readline

# refused FLAG: configure stops and names what it does not like.
refused() { ! configured CFLAGS="-O2 $1" && grep -q "error: .*-ffast-math" work/err; }
for flag in -ffast-math -Ofast; do
    check "CFLAGS with $flag are refused with the reason" refused $flag
done
compiles() { $CC -x c -std=gnu17 $1 -I"$srcdir/src" -fsyntax-only "$srcdir/src/core/context.h"; }
refuse "the source itself refuses -ffast-math" compiles -ffast-math
check "the source itself compiles without" compiles -O2
finish
