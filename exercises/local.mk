## exercises/: the course, the data that the tour and it read, and labs that measure.
mnistdir = $(pkgdatadir)/data/mnist
dist_mnist_DATA = exercises/data/mnist/README.md \
	exercises/data/mnist/t10k-images-idx3-ubyte.gz \
	exercises/data/mnist/t10k-labels-idx1-ubyte.gz

## The labs: scripts for tarn that measure and write a report to hand in.
labsdir = $(pkgdatadir)/labs
dist_labs_DATA = exercises/labs/cpu-gpu.lua exercises/labs/crossing.lua \
	exercises/labs/precision.lua exercises/labs/scaling.lua
labscommondir = $(labsdir)/common
dist_labscommon_DATA = exercises/labs/common/arguments.lua exercises/labs/common/clock.lua \
	exercises/labs/common/files.lua exercises/labs/common/lab.lua \
	exercises/labs/common/page.lua exercises/labs/common/panels.lua
labscpugpudir = $(labsdir)/cpu-gpu
dist_labscpugpu_DATA = exercises/labs/cpu-gpu/measure.lua \
	exercises/labs/cpu-gpu/picture.lua exercises/labs/cpu-gpu/report.lua
EXTRA_DIST += exercises/labs/peers

## The exercises: a folder NN-name is all that it takes to add one. Whole folders are packed
## and installed, but for what editors leave.
exercise_folders = $(wildcard $(srcdir)/exercises/[0-9][0-9]-*)
EXTRA_DIST += $(exercise_folders) exercises/harness exercises/README.md
exercise_files = cd $(srcdir)/exercises && \
	find . -type f ! -name '.*' ! -name '*~' \
	\( -path './[0-9][0-9]-*' -o -path './harness/*' \)
install-data-local:
	@folder=$(DESTDIR)$(pkgdatadir)/exercises; ($(exercise_files)) | while read file; do \
		$(MKDIR_P) "$$folder/$${file%/*}" && \
		$(INSTALL_DATA) "$(srcdir)/exercises/$$file" "$$folder/$$file" || exit 1; \
	done
uninstall-local:
	rm -rf $(DESTDIR)$(pkgdatadir)/exercises

## In the build folder the course has a short name: exercises/lab.
if WITH_LUA
noinst_SCRIPTS = exercises/lab
exercises/lab: exercises/local.mk
	$(AM_V_GEN)$(MKDIR_P) exercises && \
	{ echo '#!/bin/sh'; echo 'exec "$$(dirname "$$0")/../tarn-lab" "$$@"'; } >$@.tmp && \
	chmod +x $@.tmp && mv -f $@.tmp $@
CLEANFILES += exercises/lab exercises/lab.tmp
endif
