## exercises/: the data that the tour and the course read, and labs that measure.
mnistdir = $(pkgdatadir)/data/mnist
dist_mnist_DATA = exercises/data/mnist/README.md \
	exercises/data/mnist/t10k-images-idx3-ubyte.gz \
	exercises/data/mnist/t10k-labels-idx1-ubyte.gz
EXTRA_DIST += exercises/labs/crossing.lua exercises/labs/cpu-gpu.lua \
	exercises/labs/cpu-gpu/arguments.lua exercises/labs/cpu-gpu/files.lua \
	exercises/labs/cpu-gpu/measure.lua exercises/labs/cpu-gpu/picture.lua \
	exercises/labs/cpu-gpu/report.lua exercises/labs/peers/peers.py \
	exercises/labs/peers/worker.py exercises/labs/peers/peers.lua
