## src/fast/: the stages tuned for the CPU, compiled for each element type and each instruction
## set that the compiler knows: baseline, and on x86-64 the levels v3 (AVX2) and v4 (AVX-512).
fast_sources = src/fast/vec.h src/fast/exp.h src/fast/phi.h src/fast/blocks.h \
	src/fast/recurrence.h src/fast/products.h src/fast/features.h src/fast/grads.h \
	src/fast/scores.h src/fast/averages.h src/fast/query.h src/fast/fast.h src/fast/sim.c \
	src/fast/sim_grad.c src/fast/assoc.c src/fast/assoc_grad.c src/fast/phi.c src/fast/prefix.c \
	src/fast/prefix_grad.c src/fast/rnn.c src/fast/table.c
core_sources += src/fast/dispatch.h src/fast/dispatch.c

fast_flags = $(AM_CFLAGS) $(FAST_CFLAGS)
fast_libraries = libfast_base_f32.la libfast_base_f64.la
noinst_LTLIBRARIES += $(fast_libraries)
libfast_base_f32_la_SOURCES = $(fast_sources)
libfast_base_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=float -DTARN_ISA=base -DTARN_VEC_BYTES=16
libfast_base_f32_la_CFLAGS = $(fast_flags)
libfast_base_f64_la_SOURCES = $(fast_sources)
libfast_base_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=double -DTARN_ISA=base -DTARN_VEC_BYTES=16
libfast_base_f64_la_CFLAGS = $(fast_flags)

if WITH_V3
fast_libraries += libfast_v3_f32.la libfast_v3_f64.la
libfast_v3_f32_la_SOURCES = $(fast_sources)
libfast_v3_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=float -DTARN_ISA=v3 -DTARN_VEC_BYTES=32
libfast_v3_f32_la_CFLAGS = $(fast_flags) -march=x86-64-v3
libfast_v3_f64_la_SOURCES = $(fast_sources)
libfast_v3_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=double -DTARN_ISA=v3 -DTARN_VEC_BYTES=32
libfast_v3_f64_la_CFLAGS = $(fast_flags) -march=x86-64-v3
endif

if WITH_V4
fast_libraries += libfast_v4_f32.la libfast_v4_f64.la
libfast_v4_f32_la_SOURCES = $(fast_sources)
libfast_v4_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=float -DTARN_ISA=v4 -DTARN_VEC_BYTES=64
libfast_v4_f32_la_CFLAGS = $(fast_flags) -march=x86-64-v4
libfast_v4_f64_la_SOURCES = $(fast_sources)
libfast_v4_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DTARN_REAL=double -DTARN_ISA=v4 -DTARN_VEC_BYTES=64
libfast_v4_f64_la_CFLAGS = $(fast_flags) -march=x86-64-v4
endif
