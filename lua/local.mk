## lua/: the program's own Lua, embedded by tools/embed in this order.
lua_sources = lua/report.lua lua/bench.lua lua/profile.lua lua/tour.lua \
	lua/canvas.lua lua/axes.lua lua/curves.lua lua/options.lua lua/series.lua lua/gnuplot.lua \
	lua/plot.lua lua/heat.lua lua/hist.lua \
	lua/names.lua lua/tensors.lua lua/show.lua lua/entry.lua lua/pager.lua lua/help.lua \
	lua/signatures.lua lua/cursor.lua lua/complete.lua lua/meant.lua \
	lua/source.lua lua/kernel.lua \
	lua/transcript.lua lua/markdown.lua lua/compare.lua lua/doctest.lua \
	lua/commands.lua lua/env.lua lua/restricted.lua

## Those of tarn-lab: lua/lab/show.lua is required as tarn.lab.show, by who needs it.
lab_lua_sources = lua/lab/files.lua lua/lab/arguments.lua lua/lab/printable.lua \
	lua/lab/page.lua lua/lab/entries.lua lua/lab/manifest.lua lua/lab/course.lua lua/lab/predict.lua \
	lua/lab/start.lua lua/lab/progress.lua lua/lab/desk.lua lua/lab/show.lua lua/lab/learner.lua \
	lua/lab/reset.lua lua/lab/report.lua lua/lab/watch.lua \
	lua/lab/data.lua lua/lab/rules.lua lua/lab/sheet.lua lua/lab/identity.lua \
	lua/lab/marks.lua lua/lab/grade.lua lua/lab/package.lua lua/lab/paste.lua lua/lab/change.lua \
	lua/lab/forms.lua lua/lab/author.lua lua/lab/main.lua

## What runs a learner's file, and what is in the child process.
lab_lua_sources += lua/lab/run.lua lua/lab/run_draw.lua lua/lab/run_compare.lua \
	lua/lab/run_costs.lua lua/lab/run_judge.lua lua/lab/run_process.lua lua/lab/run_arguments.lua \
	lua/lab/run_literal.lua lua/lab/run_faults.lua lua/lab/run_c.lua lua/lab/run_lua.lua \
	lua/lab/run_cuda.lua lua/lab/child.lua lua/lab/child_cuda.lua

## Among them is what help() says, gathered from the comments of these files.
help_sources = src/tarn.h doc/topics.help $(repl_sources) $(lua_sources)
lua/help_entries.lua: $(help_sources) tools/help.awk
	$(AM_V_GEN)$(MKDIR_P) lua && (cd $(srcdir) && \
	LC_ALL=C $(AWK) -f tools/help.awk $(help_sources)) >$@.tmp && mv -f $@.tmp $@
CLEANFILES += lua/help_entries.lua lua/help_entries.lua.tmp

## Which chapter of the book explains what. The file stays as it is unless that has changed.
lua/chapters.lua: $(wildcard $(srcdir)/doc/en/[0-9]*.md) tools/chapters.awk
	$(AM_V_at)$(MKDIR_P) lua && LC_ALL=C $(AWK) -f $(srcdir)/tools/chapters.awk \
	$(srcdir)/doc/en/[0-9]*.md >$@.tmp && { cmp -s $@.tmp $@ || mv -f $@.tmp $@; }
CLEANFILES += lua/chapters.lua lua/chapters.lua.tmp
EXTRA_DIST += tools/chapters.awk
