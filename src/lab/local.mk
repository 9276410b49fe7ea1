## src/lab/: the program tarn-lab, which runs the course. What it does is in lua/lab; the
## modules in C are in librepl.la, so that tests in Lua reach them.
repl_sources += src/lab/lab.h src/lab/files.c src/lab/taken.c \
	src/lab/fence.h src/lab/fence.c src/lab/filter.c \
	src/lab/usage.h src/lab/usage.c src/lab/process.h src/lab/process.c src/lab/processes.c src/lab/child.c
if WITH_LUA
bin_PROGRAMS += tarn-lab
tarn_lab_SOURCES = src/lab/main.c
tarn_lab_CFLAGS = $(librepl_la_CFLAGS)
tarn_lab_LDADD = librepl.la
## Kernels of CUDA exercises call the emulated device in the program, as with tarn.
tarn_lab_LDFLAGS = $(tarn_LDFLAGS)
endif
