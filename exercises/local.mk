## exercises/: the data that the tour and the course read, and labs that measure.
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
