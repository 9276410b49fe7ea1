## emu/: an emulated device, which runs the kernels of cuda/ on the CPU.
emu_sources = emu/emu.h emu/inside.h emu/fiber.c emu/block.c emu/async.c emu/launch.c emu/heap.c \
	emu/fault.c emu/blame.c emu/where.c emu/hooks.c emu/check.c emu/profile.c \
	emu/device.c
EXTRA_DIST += emu/words.h emu/atomics.h emu/numbers.h emu/vectors.h $(emu_sources) \
	emu/include/cuda_runtime.h emu/include/assert.h emu/include/cassert
