## src/repl/: the program. Everything but main.c is in librepl.la, so tests can link it.
repl_sources += src/repl/embedded.h \
	src/repl/bind.h src/repl/bind.c \
	src/repl/arguments.h src/repl/arguments.c \
	src/repl/lua_attention.h src/repl/lua_attention.c \
	src/repl/lua_arrange.c \
	src/repl/lua_bench.c \
	src/repl/lua_callback.c \
	src/repl/lua_check.c \
	src/repl/lua_create.c \
	src/repl/lua_emu.c \
	src/repl/lua_files.c \
	src/repl/lua_index.c \
	src/repl/lua_kernel.c \
	src/repl/lua_math.c \
	src/repl/lua_options.c \
	src/repl/lua_phi.c \
	src/repl/lua_reduce.c \
	src/repl/lua_rnn.c \
	src/repl/lua_shape.c \
	src/repl/lua_stages.c \
	src/repl/lua_state.c \
	src/repl/lua_tensor.c \
	src/repl/capture.h src/repl/capture.c \
	src/repl/complete.h src/repl/complete.c \
	src/repl/doctest.h src/repl/doctest.c \
	src/repl/edit.h src/repl/edit.c \
	src/repl/env.h src/repl/env.c \
	src/repl/history.h src/repl/history.c \
	src/repl/input.h src/repl/input.c \
	src/repl/interrupt.h src/repl/interrupt.c \
	src/repl/keys.h src/repl/keys.c \
	src/repl/options.h src/repl/options.c \
	src/repl/repl.h src/repl/repl.c \
	src/repl/report.h src/repl/report.c \
	src/repl/run.h src/repl/run.c \
	src/repl/session.h src/repl/session.c \
	src/repl/terminal.h src/repl/terminal.c
