## cuda/: the kernels. The same .cu file is compiled for each device that there is, with
## TARN_TARGET as the prefix of its tables:
##
##   x.emu.lo      by $(CXX), for the emulated device
kernel_sources = cuda/features.cu cuda/prefix.cu cuda/prefix_grad.cu
kernel_headers = cuda/forms.h cuda/launch.cuh cuda/tile.cuh cuda/sums.cuh cuda/walk.cuh \
	cuda/sweeps.cuh cuda/chunks.cuh cuda/phi.cuh cuda/products.cuh cuda/mma.cuh
EXTRA_DIST += $(kernel_sources) $(kernel_headers)
kernel_libraries =
SUFFIXES = .cu .emu.lo

if WITH_EMU
kernel_libraries += libemu.la
noinst_LTLIBRARIES += libemu.la
libemu_la_SOURCES = $(emu_sources)
libemu_la_LIBADD = $(kernel_sources:.cu=.emu.lo)
CLEANFILES += $(kernel_sources:.cu=.emu.lo) cuda/*.d
endif

kernel_compile = $(CXX) $(DEFS) -I. $(AM_CPPFLAGS) $(CPPFLAGS) -x c++

.cu.emu.lo:
	$(AM_V_CXX)$(MKDIR_P) $(@D) && $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	$(LIBTOOLFLAGS) --mode=compile $(kernel_compile) -DTARN_TARGET=emu $(CXXFLAGS) \
	$(KERNEL_CXXFLAGS) $(SANITIZER_CFLAGS) $(COVERAGE_CFLAGS) \
	-MD -MP -MF $@.d -c -o $@ $<

-include $(kernel_sources:.cu=.emu.lo.d)
