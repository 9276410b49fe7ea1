## exercises/: the data that the tour and the course read.
mnistdir = $(pkgdatadir)/data/mnist
dist_mnist_DATA = exercises/data/mnist/README.md \
	exercises/data/mnist/t10k-images-idx3-ubyte.gz \
	exercises/data/mnist/t10k-labels-idx1-ubyte.gz
