## src/stages/: the derivation, compiled for float and for double.
real_sources += src/stages/attn.h src/stages/flops.h src/stages/stages.h src/stages/sums.h src/stages/phi.h \
	src/stages/phi.c src/stages/sim.c src/stages/assoc.c src/stages/prefix.c \
	src/stages/prefix_grad.c src/stages/rnn.c src/stages/rnn_grad.c
