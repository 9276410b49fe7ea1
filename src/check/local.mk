## src/check/: the oracle and the comparisons with it.
core_sources += src/check/oracle.h src/check/oracle.c src/check/oracle_grad.c \
	src/check/oracle_phi.h src/check/oracle_phi.c src/check/oracle_run.h \
	src/check/report.h src/check/report.c src/check/forms.h src/check/forms.c \
	src/check/equiv.c src/check/gradcheck.c
