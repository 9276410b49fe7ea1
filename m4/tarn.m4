dnl tarn.m4: the macros of configure.ac. One concern each; every finding of interest adds
dnl a line to tarn_found or tarn_missing, which TARN_SUMMARY prints at the end.

dnl TARN_DEFAULT_CFLAGS: -O3 -g unless the user set CFLAGS; -O0 for coverage, where each
dnl line must keep its own code. Must come before AC_PROG_CC.
AC_DEFUN([TARN_DEFAULT_CFLAGS],
[AC_ARG_ENABLE([coverage],
  [AS_HELP_STRING([--enable-coverage], [count executed lines; then: make coverage])],
  [], [enable_coverage=no])
AS_IF([test -n "${CFLAGS+set}"], [],
  [test "$enable_coverage" != no], [CFLAGS="-O0 -g"],
  [CFLAGS="-O3 -g"])
test -n "${CXXFLAGS+set}" || CXXFLAGS=$CFLAGS])

dnl TARN_REFUSE_FAST_MATH: stops if the flags let the compiler assume that there is no NaN.
AC_DEFUN([TARN_REFUSE_FAST_MATH],
[AC_MSG_CHECKING([that the compiler keeps NaN, Inf and the order of sums])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([
#if defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__
#error NaN and Inf are assumed away
#endif
#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__
#error sums are reordered, quotients replaced
#endif
])],
[AC_MSG_RESULT([yes])],
[AC_MSG_RESULT([no])
AC_MSG_ERROR([the flags set -ffast-math or a part of it (CFLAGS="$CFLAGS"). In tarn NaN and Inf are data and a sum has its order: leave out -ffast-math, -Ofast, -ffinite-math-only, -fassociative-math, -freciprocal-math])])])

dnl TARN_FLAG(VARIABLE, FLAG, [PROLOGUE]): appends FLAG to VARIABLE if the compiler knows it
dnl and says nothing about PROLOGUE. -Werror makes clang refuse what it would only warn of.
AC_DEFUN([TARN_FLAG],
[AS_VAR_PUSHDEF([cache], [tarn_cv_flag_$2])
AC_CACHE_CHECK([whether $CC accepts $2], [cache],
  [tarn_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([$3], [])],
    [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
  CFLAGS=$tarn_save_CFLAGS])
AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
AS_VAR_POPDEF([cache])])

dnl TARN_LANGUAGE_FLAGS: C17 and what the results depend on.
dnl -ffp-contract=off: gcc fuses a * b + c into one rounding wherever the machine can, clang
dnl only within an expression. Results would then depend on compiler and processor, and
dnl two forms that must agree bit for bit might not. Fused code asks for fma() by name.
AC_DEFUN([TARN_LANGUAGE_FLAGS],
[TARN_CFLAGS=
TARN_FLAG([TARN_CFLAGS], [-std=gnu17])
TARN_FLAG([TARN_CFLAGS], [-ffp-contract=off])
TARN_FLAG([TARN_CFLAGS], [-fvisibility=hidden])
AC_SUBST([TARN_CFLAGS])])

dnl TARN_WARNINGS: all that the compiler at hand knows; errors with --enable-werror.
dnl -Wdouble-promotion: clang, unlike gcc, minds the constant NAN where a double is wanted.
AC_DEFUN([TARN_WARNINGS],
[AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror], [treat warnings as errors (continuous integration)])],
  [], [enable_werror=no])
WARN_CFLAGS=
m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wconversion
  -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla-larger-than=65536],
  [TARN_FLAG([WARN_CFLAGS], flag)])
TARN_FLAG([WARN_CFLAGS], [-Wdouble-promotion], [@%:@include <math.h>
extern double nothing; double nothing = NAN;])
AS_IF([test "$enable_werror" != no], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])])

dnl TARN_INSTRUCTION_SETS: what src/fast is compiled for beside the compiler's own baseline. There
dnl products and sums may be fused: another instruction set, other last bits.
AC_DEFUN([TARN_INSTRUCTION_SETS],
[FAST_CFLAGS=
TARN_FLAG([FAST_CFLAGS], [-ffp-contract=fast])
AC_SUBST([FAST_CFLAGS])
have_v3=
have_v4=
AS_CASE([$host_cpu], [x86_64],
  [TARN_FLAG([have_v3], [-march=x86-64-v3])
  TARN_FLAG([have_v4], [-march=x86-64-v4])])
AS_IF([test -n "$have_v3"], [AC_DEFINE([HAVE_V3], [1], [src/fast is compiled for x86-64-v3.])])
AS_IF([test -n "$have_v4"], [AC_DEFINE([HAVE_V4], [1], [src/fast is compiled for x86-64-v4.])])
AM_CONDITIONAL([WITH_V3], [test -n "$have_v3"])
AM_CONDITIONAL([WITH_V4], [test -n "$have_v4"])])

dnl TARN_SANITIZERS: AddressSanitizer and UndefinedBehaviorSanitizer; the first report ends
dnl the program, because a test runner would not notice a line on stderr.
AC_DEFUN([TARN_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers], [stop at the first bad access or undefined step])],
  [], [enable_sanitizers=no])
SANITIZER_CFLAGS=
AS_IF([test "$enable_sanitizers" != no],
  [TARN_FLAG([SANITIZER_CFLAGS],
    [-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer])
  AS_IF([test -z "$SANITIZER_CFLAGS"],
    [AC_MSG_ERROR([--enable-sanitizers: $CC can't link with -fsanitize=address,undefined])])])
AC_SUBST([SANITIZER_CFLAGS])])

dnl TARN_COVERAGE: counters in the objects and the gcov that reads them.
AC_DEFUN([TARN_COVERAGE],
[AC_ARG_VAR([GCOV], [reads the counters of --enable-coverage])
COVERAGE_CFLAGS=
AS_IF([test "$enable_coverage" != no],
  [TARN_FLAG([COVERAGE_CFLAGS], [--coverage])
  TARN_FLAG([COVERAGE_CFLAGS], [-fprofile-update=atomic])
  AS_IF([$CC --version 2>/dev/null | grep clang >/dev/null],
    [AC_CHECK_PROGS([GCOV], [llvm-cov llvm-cov-14])
    test -z "$GCOV" || GCOV="$GCOV gcov"],
    [AC_CHECK_PROGS([GCOV], [gcov])])
  AS_IF([test -z "$COVERAGE_CFLAGS" || test -z "$GCOV"],
    [AC_MSG_ERROR([--enable-coverage needs a compiler with --coverage and gcov (Debian package gcc)])])])
AC_SUBST([COVERAGE_CFLAGS])
AM_CONDITIONAL([WITH_COVERAGE], [test "$enable_coverage" != no])])

dnl TARN_PARANOIA: fresh tensors are full of NaN and the n-th allocation can be made to fail.
AC_DEFUN([TARN_PARANOIA],
[AC_ARG_ENABLE([paranoid],
  [AS_HELP_STRING([--enable-paranoid],
    [fill fresh memory with NaN, let the n-th allocation fail on request])],
  [], [enable_paranoid=no])
AS_IF([test "$enable_paranoid" != no],
  [AC_DEFINE([TARN_PARANOID], [1], [Fresh memory is NaN and allocations can be made to fail.])])])

dnl TARN_NOTE(yes|no, NAME, FEATURE, PACKAGE, WITHOUT): one line for the summary.
AC_DEFUN([TARN_NOTE],
[AS_IF([test "$1" = yes],
  [tarn_found="$tarn_found
    $2: $3"],
  [tarn_missing="$tarn_missing
    $2: not found, so $5. Debian package: $4"])])

dnl TARN_LIBRARY(VARIABLE, NAME, MODULES, PACKAGE, FEATURE, WITHOUT): the first module of
dnl MODULES (separated by |) that pkg-config knows. Gives VARIABLE_CFLAGS, VARIABLE_LIBS,
dnl have_NAME, HAVE_VARIABLE in config.h and the conditional WITH_VARIABLE.
AC_DEFUN([TARN_LIBRARY],
[AC_ARG_WITH([$2], [AS_HELP_STRING([--without-$2], [do without $2: $6])], [], [with_$2=yes])
have_$2=no
AS_IF([test "$with_$2" != no],
  [m4_foreach([module], m4_split([$3], [|]),
    [AS_IF([test $have_$2 = no],
      [PKG_CHECK_MODULES([$1], module, [have_$2=yes], [have_$2=no])])
  ])])
AS_IF([test $have_$2 = yes],
  [AC_DEFINE([HAVE_$1], [1], [$2 is there: $5.])])
AM_CONDITIONAL([WITH_$1], [test $have_$2 = yes])
AS_IF([test "$with_$2" = no],
  [tarn_missing="$tarn_missing
    $2: left out by --without-$2, so $6"],
  [TARN_NOTE([$have_$2], [$2], [$5], [$4], [$6])])])

dnl TARN_PROGRAM(VARIABLE, NAME, PACKAGE, FEATURE, WITHOUT): a tool on PATH.
AC_DEFUN([TARN_PROGRAM],
[AC_ARG_VAR([$1], [$2, for $4])
AC_CHECK_PROG([$1], [$2], [$2])
AS_IF([test -n "$$1"], [have_$2=yes], [have_$2=no])
AM_CONDITIONAL([WITH_$1], [test $have_$2 = yes])
TARN_NOTE([$have_$2], [$2], [$4], [$3], [$5])])

dnl TARN_EMULATOR: a C++ compiler makes the kernels of cuda/ run on the emulated device; without
dnl one there is no such device. -fno-exceptions and its like: the objects need no libstdc++,
dnl and $CC links them.
AC_DEFUN([TARN_EMULATOR],
[AC_ARG_WITH([emu], [AS_HELP_STRING([--without-emu],
    [do without the emulated device: kernels need a GPU])], [], [with_emu=yes])
have_emu=no
KERNEL_CXXFLAGS=
AS_IF([test "$with_emu" != no && test -n "$CXX"],
  [AC_LANG_PUSH([C++])
  KERNEL_CXXFLAGS="-std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off -fvisibility=hidden"
  AC_CACHE_CHECK([whether $CXX compiles kernels], [tarn_cv_emu],
    [tarn_save_CXXFLAGS=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS $KERNEL_CXXFLAGS -Werror"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([auto twice = @<:@@:>@(auto x) { return x + x; };],
      [return twice(__builtin_LINE()) * int(sizeof(void *)) < 0;])],
      [tarn_cv_emu=yes], [tarn_cv_emu=no])
    CXXFLAGS=$tarn_save_CXXFLAGS])
  AC_LANG_POP([C++])
  have_emu=$tarn_cv_emu])
AS_IF([test $have_emu = yes],
  [AC_DEFINE([HAVE_EMU], [1], [The kernels are compiled for the emulated device.])
  AC_CHECK_HEADERS([valgrind/valgrind.h], [AC_DEFINE([HAVE_VALGRIND], [1],
    [valgrind is told of the stacks of fibers.])])])
dnl -gdwarf-4: errors in kernels name lines, which addr2line does not find in what clang writes
dnl by default.
for flag in -gdwarf-4 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wundef; do
  KERNEL_CXXFLAGS="$KERNEL_CXXFLAGS $flag"
done
dnl clang warns of loops that are unrolled on a GPU and, with all the checks in them, not here.
AS_CASE([`$CXX --version 2>&1`],
  [*clang*], [KERNEL_CXXFLAGS="$KERNEL_CXXFLAGS -Wno-pass-failed"])
AS_IF([test "$enable_werror" != no], [KERNEL_CXXFLAGS="$KERNEL_CXXFLAGS -Werror"])
AC_SUBST([KERNEL_CXXFLAGS])
AM_CONDITIONAL([WITH_EMU], [test $have_emu = yes])
AS_IF([test "$with_emu" = no],
  [tarn_missing="$tarn_missing
    emu: left out by --without-emu, so kernels run on a GPU only"],
  [TARN_NOTE([$have_emu], [emu], [kernels without a GPU], [g++],
    [there is no emulated device: kernels run on a GPU only])])])

dnl TARN_CUDA: nvcc compiles the kernels of cuda/ for GPUs as well. A slim toolkit is enough: nvcc,
dnl ptxas and libcudart_static.a. Whether there is a GPU is asked when the program runs. By
dnl default whatever is missing costs the device cuda alone; with yes or a folder it is an error.
AC_DEFUN([TARN_CUDA],
[AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR|yes|no|check],
    [kernels for GPUs, by the CUDA toolkit in DIR; yes: it has to be there; check, the default:
     if it is there])], [], [with_cuda=check])
AC_ARG_WITH([cuda-arch], [AS_HELP_STRING([--with-cuda-arch=LIST],
    [GPUs to compile for, such as 75,90, or native, or all, which takes minutes. Default: the
     GPUs of this machine; without any, 80 and PTX that the driver compiles for newer ones])],
  [], [with_cuda_arch=default])
AC_ARG_VAR([NVCC], [compiles kernels for GPUs])
AC_ARG_VAR([NVCCFLAGS], [flags for NVCC])
AC_ARG_VAR([CUDA_HOME], [where the CUDA toolkit is])
test -n "${NVCCFLAGS+set}" || NVCCFLAGS="-O2 -lineinfo"
have_cuda=no
cuda_problem=
AS_IF([test "$with_cuda" != no],
  [TARN_CUDA_FIND
  AS_IF([test -z "$cuda_problem"], [TARN_CUDA_ARCH])
  AS_IF([test -z "$cuda_problem"], [TARN_CUDA_TRY])
  AS_IF([test -z "$cuda_problem"], [have_cuda=yes],
    [test "$with_cuda" != check],
    [AC_MSG_ERROR([--with-cuda=$with_cuda: $cuda_problem])])])
AS_IF([test $have_cuda = yes],
  [AC_DEFINE([HAVE_CUDA], [1], [The kernels are compiled for GPUs.])
  AC_DEFINE_UNQUOTED([TARN_GPUS], [`AS_ECHO(["$cuda_arch"]) | tr ' ' ','`],
    [The kinds of GPU they are compiled for.])
  AC_DEFINE_UNQUOTED([TARN_GPU_PTX], [${cuda_ptx:-0}],
    [The driver can compile them for this kind and newer ones; 0: it can't.])
  KERNEL_NVCCFLAGS="-std=c++17 -ccbin $CXX $cuda_gencode"
  KERNEL_NVCCFLAGS="$KERNEL_NVCCFLAGS --compiler-options -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics"
  AS_IF([test "$enable_werror" != no],
    [KERNEL_NVCCFLAGS="$KERNEL_NVCCFLAGS -Werror all-warnings --compiler-options -Wall,-Wextra"])
  dnl One compilation, fit for both libraries: libtool knows nothing of nvcc's flags, and keeps
  dnl -Xcompiler for itself.
  AS_IF([test "$enable_shared" = yes], [NVCC_LIBTOOLFLAGS="-shared -prefer-non-pic"],
    [NVCC_LIBTOOLFLAGS=-static])],
  [CUDA_LIBS= CUDA_LDFLAGS=])
AC_SUBST([KERNEL_NVCCFLAGS])
AC_SUBST([NVCC_LIBTOOLFLAGS])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUDA_LDFLAGS])
AM_CONDITIONAL([WITH_CUDA], [test $have_cuda = yes])
AS_IF([test "$with_cuda" = no],
  [tarn_missing="$tarn_missing
    cuda: left out by --without-cuda, so no kernel runs on a GPU"],
  [test $have_cuda = yes || test "x$NVCC" = x],
  [TARN_NOTE([$have_cuda], [cuda], [kernels for GPUs of $cuda_arch_words],
    [nvidia-cuda-toolkit], [no kernel runs on a GPU])],
  [tarn_missing="$tarn_missing
    cuda: $cuda_problem, so no kernel runs on a GPU"])])

dnl TARN_CUDA_FIND: NVCC, and in its toolkit the header and the library of the run time.
AC_DEFUN([TARN_CUDA_FIND],
[AS_CASE([$with_cuda],
  [yes|check],
    [AS_IF([test -n "$CUDA_HOME"], [cuda_homes=$CUDA_HOME/bin],
      [cuda_homes=/usr/local/cuda/bin:/opt/cuda/bin])
    AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:$cuda_homes])
    AS_IF([test -z "$NVCC"], [cuda_problem="nvcc not found on PATH nor in $cuda_homes"],
      [test -x "$NVCC"], [], [cuda_problem="there is no program $NVCC"])],
  [NVCC=`cd "$with_cuda" 2>/dev/null && pwd`/bin/nvcc
  AS_IF([test -n "$with_cuda" && test -x "$NVCC"], [],
    [cuda_problem="there is no bin/nvcc in that folder"])])
AS_IF([test -z "$cuda_problem"],
  [echo 'int main() {}' >conftest.cu
  cuda_top=`$NVCC --dryrun -c conftest.cu 2>&1 | $SED -n 's/^#\\$ TOP=//p'`
  rm -f conftest.cu
  AS_IF([test -n "$cuda_top"], [cuda_top=`cd "$cuda_top" 2>/dev/null && pwd`],
    [cuda_problem="$NVCC does not say where its toolkit is"])])
AS_IF([test -z "$cuda_problem"],
  [cuda_include= cuda_lib=
  for folder in "$cuda_top"/include "$cuda_top"/targets/*/include /usr/include; do
    AS_IF([test -z "$cuda_include" && test -f "$folder/cuda_runtime_api.h"], [cuda_include=$folder])
  done
  for folder in "$cuda_top"/lib64 "$cuda_top"/lib "$cuda_top"/targets/*/lib \
    /usr/lib/$host_cpu-linux-gnu; do
    AS_IF([test -z "$cuda_lib" && test -f "$folder/libcudart_static.a"], [cuda_lib=$folder])
  done
  AS_IF([test -z "$cuda_include"],
    [cuda_problem="$NVCC is there, cuda_runtime_api.h is not"],
    [test -z "$cuda_lib"],
    [cuda_problem="$NVCC is there, libcudart_static.a is not"])
  CUDA_CFLAGS="-isystem $cuda_include"
  CUDA_LIBS="-L$cuda_lib -lcudart_static -lpthread -ldl -lrt"
  dnl libtarn.so exports no name of theirs.
  CUDA_LDFLAGS="-Wl,--exclude-libs,libcudart_static.a"])])

dnl TARN_CUDA_ARCH: --with-cuda-arch as flags; every one must be known to this toolkit. What
dnl nvidia-smi says is a list of GPUs only where it is numbers: without a GPU it is a sentence.
AC_DEFUN([TARN_CUDA_ARCH],
[AC_MSG_CHECKING([which GPUs to compile for])
cuda_known=`$NVCC --list-gpu-arch 2>/dev/null | $SED -n 's/^compute_//p' | sort -n | tr '\n' ' '`
cuda_here=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
  $SED -n 's/^\([[0-9]]*\)\.\([[0-9]]\)$/\1\2/p' | sort -nu | tr '\n' ' '`
cuda_arch= cuda_ptx=
AS_CASE([$with_cuda_arch],
  [native], [cuda_arch=$cuda_here],
  [default],
    [for arch in $cuda_here; do
      AS_CASE([" $cuda_known"], [*" $arch "*], [cuda_arch="$cuda_arch$arch "])
    done
    AS_IF([test -z "$cuda_arch"], [cuda_arch=80 cuda_ptx=80])],
  [all],
    [for arch in 75 80 86 89 90 100 120; do
      AS_CASE([" $cuda_known"], [*" $arch "*], [cuda_arch="$cuda_arch$arch " cuda_ptx=$arch])
    done],
  [cuda_arch=`AS_ECHO(["$with_cuda_arch"]) | tr ', ' '\n\n' | sort -n | uniq`])
set -f # a * is a wrong name, not those of files
set dummy $cuda_arch
shift
cuda_arch="$[]*"
cuda_gencode=
for arch in $cuda_arch; do
  AS_CASE([" $cuda_known"], [*" $arch "*], [],
    [AC_MSG_RESULT([none])
    AC_MSG_ERROR([--with-cuda-arch: this toolkit does not know $arch, only $cuda_known])])
  cuda_gencode="$cuda_gencode -gencode arch=compute_$arch,code=sm_$arch"
done
set +f
AS_IF([test -z "$cuda_gencode" && test "$with_cuda_arch" = native],
  [AC_MSG_RESULT([none])
  AC_MSG_ERROR([--with-cuda-arch=native: there is no GPU here])],
  [test -z "$cuda_gencode"],
  [AC_MSG_RESULT([none])
  AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: no GPU is named, this toolkit knows $cuda_known])])
cuda_arch_words=$cuda_arch
AS_IF([test -n "$cuda_ptx"],
  [cuda_gencode="$cuda_gencode -gencode arch=compute_$cuda_ptx,code=compute_$cuda_ptx"
  cuda_arch_words="$cuda_arch_words and newer"])
AC_MSG_RESULT([$cuda_arch_words])])

dnl TARN_CUDA_TRY: a kernel is compiled with $CXX for the host's part, which nvcc refuses if it
dnl is too new, and linked by $CC.
AC_DEFUN([TARN_CUDA_TRY],
[AC_CACHE_CHECK([whether $NVCC compiles kernels], [tarn_cv_cuda],
  [cat >conftest.cu <<CONFTEST_END
__global__ void one(int *x) { *x = 1; }
int main() { one<<<1, 1>>>(0); return cudaGetLastError(); }
CONFTEST_END
  tarn_cv_cuda=no
  AS_IF([{ $NVCC $NVCCFLAGS -ccbin $CXX $cuda_gencode -std=c++17 \
      --compiler-options -fPIC,-fno-exceptions,-fno-threadsafe-statics \
      -c conftest.cu -o conftest.$ac_objext &&
      $CC $CFLAGS $LDFLAGS conftest.$ac_objext -o conftest$ac_exeext $CUDA_LIBS; } \
      >&AS_MESSAGE_LOG_FD 2>&1], [tarn_cv_cuda=yes])
  rm -f conftest*])
AS_IF([test $tarn_cv_cuda = no],
  [cuda_problem="$NVCC does not work with $CXX and $CC (config.log has its words)"])])

dnl TARN_BOOK: what `make html` and `make pdf` need: pandoc with its Lua, KaTeX with node, for
dnl the second one WeasyPrint. KATEX is the folder of katex.js, katex.min.css and the fonts.
AC_DEFUN([TARN_BOOK],
[AC_ARG_VAR([KATEX], [folder with katex.js and katex.min.css])
AC_ARG_ENABLE([doc], [AS_HELP_STRING([--disable-doc], [do without the book as pages or PDF])],
  [], [enable_doc=yes])
have_book=no have_paper=no book_problem=
AC_PATH_PROG([PANDOC], [pandoc])
AC_PATH_PROG([NODE], [node])
AC_PATH_PROG([WEASYPRINT], [weasyprint])
AC_CACHE_CHECK([for KaTeX], [tarn_cv_path_katex],
  [tarn_cv_path_katex=no
  for folder in $KATEX /usr/share/javascript/katex /usr/share/nodejs/katex/dist; do
    AS_IF([test $tarn_cv_path_katex = no && test -f "$folder/katex.min.css" && test -d "$folder/fonts" &&
      test -n "$NODE" && $NODE -e "require('$folder/katex.js')" >&AS_MESSAGE_LOG_FD 2>&1],
      [tarn_cv_path_katex=$folder])
  done])
KATEX=$tarn_cv_path_katex
AS_IF([test "$enable_doc" = no],
  [tarn_missing="$tarn_missing
    book: left out by --disable-doc, so no make html, no make pdf"],
  [AS_IF([test -z "$PANDOC"], [book_package=pandoc book_problem="pandoc not found"],
    [tarn_pandoc=`$PANDOC -v | $AWK 'NR == 1 { print [$]2 }'`
    echo "$tarn_pandoc" | $AWK -F. '{ exit !([$]1 > 2 || [$]1 == 2 && [$]2 >= 17) }'],
    [AS_IF([test -z "$NODE"], [book_package=nodejs book_problem="node not found"],
      [test "$KATEX" = no], [book_package=katex book_problem="katex not found"])],
    [book_package= book_problem="pandoc ${tarn_pandoc:-without a version} is older than 2.17"])
  AS_IF([test "$have_lua" != yes], [book_package=liblua5.4-dev book_problem="the program tarn is not built"])
  AS_IF([test -z "$book_problem"],
    [have_book=yes
    TARN_NOTE([yes], [book], [make html])
    AS_IF([test -n "$WEASYPRINT"], [have_paper=yes])
    TARN_NOTE([$have_paper], [weasyprint], [the book as PDF, make pdf], [weasyprint],
      [no PDF of the book])],
    [tarn_missing="$tarn_missing
    book: $book_problem, so no make html, no make pdf${book_package:+. Debian package: $book_package}"])])
AC_SUBST([have_book])
AC_SUBST([have_paper])
AM_CONDITIONAL([WITH_BOOK], [test $have_book = yes])
AM_CONDITIONAL([WITH_PAPER], [test $have_paper = yes])])

dnl TARN_SUMMARY: what was found, what is missing, what to do next.
AC_DEFUN([TARN_SUMMARY],
[AS_IF([test "$have_lua" = yes], [tarn_next="make && ./tarn"], [tarn_next="make"])
cat <<SUMMARY_END

  tarn $PACKAGE_VERSION, $CC $CFLAGS
  installs under $prefix

  found$tarn_found
SUMMARY_END
AS_IF([test -n "$tarn_missing"], [cat <<SUMMARY_END
  missing$tarn_missing
SUMMARY_END
])
cat <<SUMMARY_END
  switched on: werror $enable_werror, sanitizers $enable_sanitizers, coverage $enable_coverage, paranoid $enable_paranoid

  next: $tarn_next
SUMMARY_END
])
