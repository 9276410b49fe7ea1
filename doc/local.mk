## doc/: the man page, made from --help by the program itself, and later the book.
## It is part of the release archive, so those who build from that need no help2man.
if WITH_MAN
dist_man_MANS += doc/tarn.1
endif
if WITH_HELP2MAN
doc/tarn.1: src/repl/options.c configure.ac | tarn$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && \
	$(HELP2MAN) --no-info --name='Transformers are RNNs, at a Lua prompt' \
		--output=$@.tmp ./tarn$(EXEEXT) && mv -f $@.tmp $@
endif
CLEANFILES += doc/tarn.1.tmp
MAINTAINERCLEANFILES = doc/tarn.1
EXTRA_DIST += doc/reading-order doc/house.md doc/topics.help
