## src/core/: what every stage stands on. Files over `real` are compiled twice.
core_sources += src/core/context.h src/core/file.h src/core/parallel.h src/core/tensor.h
real_sources += src/core/real.h
core_sources += src/core/context.c src/core/parallel.c src/core/tensor.c \
	src/core/view.c src/core/walk.c src/core/walk.h src/core/kernels.h \
	src/core/elementwise.c src/core/reduce.c src/core/along.c src/core/mm.c \
	src/core/arrange.c src/core/compare.c src/core/random.c src/core/random.h \
	src/core/copy.c src/core/device.h src/core/pass.h src/core/device.c src/core/nearest.h src/core/nearest.c
real_sources += src/core/kernels.c src/core/folds.c src/core/tile.c
core_sources += src/core/file.c src/core/source.c src/core/source.h \
	src/core/stored.c src/core/stored.h src/core/npy.h src/core/npy_header.c \
	src/core/npy_read.c src/core/npy_write.c src/core/idx.c src/core/idx.h \
	src/core/png.c src/core/read.c src/core/read.h
