## cuda/: the kernels. The same .cu file is compiled for each device that there is, with
## TARN_TARGET as the prefix of its tables:
##
##   x.emu.lo      by $(CXX), for the emulated device
##   x.checked.lo  the same, instrumented: each access is seen by emu/hooks.c
##   x.cuda.lo     by $(NVCC), for GPUs
kernel_sources = cuda/table.cu cuda/elementwise.cu cuda/features.cu cuda/finite.cu
kernel_sources += cuda/sim.cu cuda/sim_grad.cu
kernel_sources += cuda/assoc.cu cuda/assoc_grad.cu
kernel_sources += cuda/prefix.cu cuda/prefix_grad.cu cuda/rnn.cu cuda/rnn_grad.cu
kernel_headers = cuda/forms.h cuda/launch.cuh cuda/tile.cuh cuda/sums.cuh cuda/walk.cuh \
	cuda/sweeps.cuh cuda/chunks.cuh cuda/phi.cuh cuda/products.cuh cuda/mma.cuh \
	cuda/pairs.cuh cuda/queries.cuh cuda/average.cuh cuda/assoc.cuh cuda/row_terms.cuh cuda/ladder.cuh \
	cuda/held.cuh
kernel_headers += cuda/user.h cuda/user.cuh
EXTRA_DIST += $(kernel_sources) $(kernel_headers)

## What a user's kernel is compiled with, by the program: lua/kernel.lua.
kernelsdir = $(pkgdatadir)/kernels
kernels_DATA = src/tarn.h
kernels_cudadir = $(kernelsdir)/cuda
kernels_cuda_DATA = cuda/user.h cuda/user.cuh cuda/launch.cuh cuda/forms.h
kernels_emudir = $(kernelsdir)/emu
kernels_emu_DATA = emu/emu.h emu/words.h emu/atomics.h emu/numbers.h emu/vectors.h
kernels_includedir = $(kernelsdir)/emu/include
kernels_include_DATA = emu/include/cuda_runtime.h emu/include/assert.h emu/include/cassert
kernels_coredir = $(kernelsdir)/core
kernels_core_DATA = src/core/pass.h

kernel_libraries =
SUFFIXES = .cu .emu.lo .checked.lo .cuda.lo

if WITH_EMU
kernel_libraries += libemu.la
noinst_LTLIBRARIES += libemu.la
libemu_la_SOURCES = $(emu_sources)
libemu_la_LIBADD = $(kernel_sources:.cu=.emu.lo) $(kernel_sources:.cu=.checked.lo)
CLEANFILES += $(libemu_la_LIBADD) cuda/*.d
endif

if WITH_CUDA
kernel_libraries += libgpu.la
noinst_LTLIBRARIES += libgpu.la
libgpu_la_SOURCES = cuda/device.c
libgpu_la_CFLAGS = $(AM_CFLAGS) $(CUDA_CFLAGS)
libgpu_la_LIBADD = $(kernel_sources:.cu=.cuda.lo)
CLEANFILES += $(libgpu_la_LIBADD) cuda/*.d
endif

## One short line for each, as Automake has them.
AM_V_KERNEL = $(am__v_KERNEL_$(V))
am__v_KERNEL_ = $(am__v_KERNEL_$(AM_DEFAULT_VERBOSITY))
am__v_KERNEL_0 = @echo "  KERNEL  " $@;
am__v_KERNEL_1 =

kernel_compile = $(CXX) $(DEFS) -I. $(AM_CPPFLAGS) $(CPPFLAGS) -x c++

.cu.emu.lo:
	$(AM_V_KERNEL)$(MKDIR_P) $(@D) && $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	$(LIBTOOLFLAGS) --mode=compile $(kernel_compile) -DTARN_TARGET=emu $(CXXFLAGS) \
	$(KERNEL_CXXFLAGS) $(SANITIZER_CFLAGS) $(COVERAGE_CFLAGS) \
	-MD -MP -MT $@ -MF $@.d -c -o $@ $<

## -fsanitize=thread only here, never when linking: its calls are ours. -g: for the lines.
.cu.checked.lo:
	$(AM_V_KERNEL)$(MKDIR_P) $(@D) && $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	$(LIBTOOLFLAGS) --mode=compile $(kernel_compile) -DTARN_TARGET=checked $(CXXFLAGS) \
	$(KERNEL_CXXFLAGS) -O1 -g -fsanitize=thread -MD -MP -MT $@ -MF $@.d -c -o $@ $<

## One object for both kinds of library; see NVCC_LIBTOOLFLAGS in m4/tarn.m4.
.cu.cuda.lo:
	$(AM_V_KERNEL)$(MKDIR_P) $(@D) && $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	$(LIBTOOLFLAGS) --mode=compile $(NVCC) $(NVCC_LIBTOOLFLAGS) $(DEFS) -I. $(AM_CPPFLAGS) \
	-DTARN_TARGET=cuda $(NVCCFLAGS) $(KERNEL_NVCCFLAGS) -MD -MP -MT $@ -MF $@.d -c -o $@ $<

-include $(kernel_sources:.cu=.emu.lo.d)
-include $(kernel_sources:.cu=.checked.lo.d)
-include $(kernel_sources:.cu=.cuda.lo.d)
