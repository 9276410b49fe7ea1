## doc/: pages of man and the reference, made by the program itself, and later the book.
## The pages are part of the release archive: those who build from that need no help2man.
if WITH_MAN
dist_man_MANS += doc/tarn.1 doc/tarn-lab.1
endif
if WITH_BENCH_MAN
dist_man_MANS += doc/tarn-bench.1
endif
if WITH_HELP2MAN
doc/tarn.1: src/repl/options.c configure.ac | tarn$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && \
	$(HELP2MAN) --no-info --name='Transformers are RNNs, at a Lua prompt' \
		--output=$@.tmp ./tarn$(EXEEXT) && mv -f $@.tmp $@
doc/tarn-lab.1: lua/lab/main.lua configure.ac | tarn-lab$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && \
	$(HELP2MAN) --no-info --name='the exercises of tarn' \
		--output=$@.tmp ./tarn-lab$(EXEEXT) && mv -f $@.tmp $@
doc/tarn-bench.1: src/bench/options.c configure.ac | tarn-bench$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && \
	$(HELP2MAN) --no-info --name='how fast tarn is on this machine' \
		--output=$@.tmp ./tarn-bench$(EXEEXT) && mv -f $@.tmp $@
endif

## What help() says, as pages and as a chapter; tools/reference.lua knows how they look.
reference = $(AM_V_GEN)$(MKDIR_P) doc && ./tarn$(EXEEXT) $(srcdir)/tools/reference.lua
if WITH_LUA
dist_man_MANS += doc/tarn-functions.7 doc/libtarn.3
check_DATA = doc/reference.md
doc/tarn-functions.7: $(help_sources) tools/reference.lua configure.ac | tarn$(EXEEXT)
	$(reference) functions >$@.tmp && mv -f $@.tmp $@
doc/libtarn.3: src/tarn.h tools/reference.lua configure.ac | tarn$(EXEEXT)
	$(reference) library >$@.tmp && mv -f $@.tmp $@
doc/reference.md: $(help_sources) tools/reference.lua tarn$(EXEEXT)
	$(reference) markdown >$@.tmp && mv -f $@.tmp $@
reference: doc/reference.md
endif
CLEANFILES += doc/tarn.1.tmp doc/tarn-lab.1.tmp doc/tarn-bench.1.tmp doc/tarn-functions.7.tmp doc/libtarn.3.tmp \
	doc/reference.md doc/reference.md.tmp
MAINTAINERCLEANFILES = doc/tarn.1 doc/tarn-lab.1 doc/tarn-bench.1 doc/tarn-functions.7 doc/libtarn.3
include doc/book.mk
EXTRA_DIST += doc/en doc/weave doc/weave.lua doc/references.bib
EXTRA_DIST += doc/performance.md tools/performance.py
EXTRA_DIST += doc/reading-order doc/house.md doc/kernels.md \
	doc/coming-from-pytorch.md doc/transcripts.md \
	doc/figures doc/topics.help tools/reference.lua
