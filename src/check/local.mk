## src/check/: the oracle and the comparisons with it.
core_sources += src/check/oracle.h src/check/oracle_phi.h src/check/oracle_phi.c
