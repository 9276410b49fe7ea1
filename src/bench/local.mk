## src/bench/: the program tarn-bench. What measures is in libbench.la, for the prompt as well.
bench_sources = src/bench/peak.h src/bench/timing.h src/bench/timing.c \
	src/bench/machine.h src/bench/machine.c \
	src/bench/operations.h src/bench/cases.c src/bench/operations.c
bin_PROGRAMS += tarn-bench
tarn_bench_SOURCES = src/bench/options.h src/bench/options.c src/bench/results.h \
	src/bench/table.c src/bench/json.c src/bench/compare.c src/bench/sgemm.c \
	src/bench/main.c
tarn_bench_CFLAGS = $(AM_CFLAGS) $(CBLAS_CFLAGS) $(CJSON_CFLAGS)
tarn_bench_LDADD = libbench.la $(CBLAS_LIBS) $(CJSON_LIBS)

noinst_LTLIBRARIES += libbench.la $(peak_libraries)
libbench_la_SOURCES = $(bench_sources)
libbench_la_LIBADD = $(peak_libraries) libcore.la

## The peak is that of one element type and one instruction set, as in src/fast/local.mk.
peak_libraries = libpeak_base_f32.la libpeak_base_f64.la
libpeak_base_f32_la_SOURCES = src/bench/peak.c
libpeak_base_f32_la_CPPFLAGS = $(libfast_base_f32_la_CPPFLAGS)
libpeak_base_f32_la_CFLAGS = $(libfast_base_f32_la_CFLAGS)
libpeak_base_f64_la_SOURCES = src/bench/peak.c
libpeak_base_f64_la_CPPFLAGS = $(libfast_base_f64_la_CPPFLAGS)
libpeak_base_f64_la_CFLAGS = $(libfast_base_f64_la_CFLAGS)

if WITH_V3
peak_libraries += libpeak_v3_f32.la libpeak_v3_f64.la
libpeak_v3_f32_la_SOURCES = src/bench/peak.c
libpeak_v3_f32_la_CPPFLAGS = $(libfast_v3_f32_la_CPPFLAGS)
libpeak_v3_f32_la_CFLAGS = $(libfast_v3_f32_la_CFLAGS)
libpeak_v3_f64_la_SOURCES = src/bench/peak.c
libpeak_v3_f64_la_CPPFLAGS = $(libfast_v3_f64_la_CPPFLAGS)
libpeak_v3_f64_la_CFLAGS = $(libfast_v3_f64_la_CFLAGS)
endif

if WITH_V4
peak_libraries += libpeak_v4_f32.la libpeak_v4_f64.la
libpeak_v4_f32_la_SOURCES = src/bench/peak.c
libpeak_v4_f32_la_CPPFLAGS = $(libfast_v4_f32_la_CPPFLAGS)
libpeak_v4_f32_la_CFLAGS = $(libfast_v4_f32_la_CFLAGS)
libpeak_v4_f64_la_SOURCES = src/bench/peak.c
libpeak_v4_f64_la_CPPFLAGS = $(libfast_v4_f64_la_CPPFLAGS)
libpeak_v4_f64_la_CFLAGS = $(libfast_v4_f64_la_CFLAGS)
endif
