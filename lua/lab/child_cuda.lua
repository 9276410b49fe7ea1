-- child_cuda.lua: in the child process, compiles a learner's kernels or launches them. Chapter 11.
return {run = function() error("exercises in CUDA can't be run yet", 0) end}
