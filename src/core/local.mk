## src/core/: what every stage stands on. Files over `real` are compiled twice.
core_sources += src/core/context.h src/core/file.h src/core/parallel.h src/core/tensor.h
real_sources += src/core/real.h
core_sources += src/core/context.c src/core/parallel.c src/core/tensor.c \
	src/core/view.c src/core/walk.c src/core/walk.h src/core/kernels.h \
	src/core/elementwise.c
real_sources += src/core/kernels.c
