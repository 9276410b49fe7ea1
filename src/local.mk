## src/: what stands on the stages and offers them through tarn.h.
core_sources += src/tarn.h src/attend.c src/backend.c src/backend.h src/call.c src/call.h \
	src/cell.c src/cell.h src/cell_file.c src/devices.c src/devices.h src/device_range.c src/heads.c src/on_device.c src/on_device.h src/kv.c src/phi.c src/stage0.c src/stage0.h
