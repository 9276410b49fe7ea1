## tests/: one line for each test.
##   criterion_tests += tests/test_x      from tests/test_x.c; links libcore.la
##   cli_tests += tests/cli/x.sh          writes TAP, see tests/cli/tap.sh
##   program_tests += tests/cli/x.sh      the same, needs the program tarn
##   lua_tests += tests/lua/x.lua         writes TAP, run by the program tarn

## Those that make release-check runs: what they do depends on where things lie.
release_tests = tests/cli/house.sh tests/cli/reading.sh tests/cli/install.sh \
	tests/cli/readme.sh tests/cli/doctest.sh tests/cli/labs.sh tests/cli/kernel.sh \
	tests/cli/repl_modules.sh tests/lua/kernel.lua tests/lua/kernel_words.lua \
	tests/lua/tensor_files.lua tests/lua/tour_runs.lua tests/cli/lab.sh

## The core.
criterion_tests += tests/test_context tests/test_tensor tests/test_view tests/test_elementwise \
	tests/test_reduce tests/test_mm tests/test_arrange tests/test_compare tests/test_random \
	tests/test_laws
EXTRA_DIST += tests/tensors.h

## Files; tests/fuzz has the fuzz programs and what they found.
criterion_tests += tests/test_file tests/test_npy tests/test_save tests/test_idx \
	tests/test_png tests/test_corpus
tests_test_idx_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_test_corpus_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_test_png_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
EXTRA_DIST += tests/files.h tests/golden/npy tests/golden/npy.py tests/fuzz

## The stages and what compares them.
criterion_tests += tests/test_phi tests/test_forms tests/test_cell tests/test_fast_grads \
	tests/test_fast_rnn tests/test_fast_forms
EXTRA_DIST += tests/attention.h tests/golden/attention.h tests/golden/attention.py

## The bindings and the tour.
lua_tests += tests/lua/tensor_create.lua tests/lua/tensor_files.lua \
	tests/lua/tensor_index.lua tests/lua/tensor_math.lua tests/lua/tensor_memory.lua \
	tests/lua/tensor_reduce.lua tests/lua/tensor_shape.lua
lua_tests += tests/lua/phi_maps.lua tests/lua/phi_functions.lua \
	tests/lua/stages_forms.lua tests/lua/stages_errors.lua tests/lua/rnn_states.lua \
	tests/lua/check_reports.lua tests/lua/tour_runs.lua tests/lua/devices.lua \
	tests/lua/profile.lua tests/lua/memory.lua
lua_tests += tests/lua/show_tensors.lua tests/lua/show_values.lua tests/lua/help.lua \
	tests/lua/complete.lua tests/lua/signatures.lua tests/lua/suggestions.lua \
	tests/lua/transcript.lua
EXTRA_DIST += tests/lua/tap.lua

## A user's own kernels.
lua_tests += tests/lua/kernel.lua tests/lua/kernel_words.lua tests/lua/kernel_mistakes.lua
program_tests += tests/cli/kernel.sh
EXTRA_DIST += tests/kernels

## The course: tarn-lab.
lua_tests += tests/lua/lab_course.lua tests/lua/lab_learner.lua tests/lua/lab_watch.lua
lua_tests += tests/lua/lab_data.lua tests/lua/lab_grade.lua tests/lua/lab_run.lua
program_tests += tests/cli/lab.sh tests/cli/lab_terminal.sh tests/cli/lab_grade.sh \
	tests/cli/lab_author.sh
lua_tests += tests/lua/lab_hostile.lua tests/lua/lab_waits.lua
EXTRA_DIST += tests/lua/lab.lua tests/cli/lab_terminal.py

## The book.
cli_tests += tests/cli/book.sh
EXTRA_DIST += tests/book

## Pictures.
lua_tests += tests/lua/plot.lua tests/lua/heat.lua tests/lua/hist.lua
program_tests += tests/cli/gnuplot.sh
EXTRA_DIST += tests/lua/pictures.lua

## The program, from outside.
program_tests += tests/cli/repl_options.sh tests/cli/repl_scripts.sh tests/cli/repl_terminal.sh \
	tests/cli/repl_editing.sh tests/cli/repl_paste.sh tests/cli/repl_memory.sh \
	tests/cli/readme.sh tests/cli/doctest.sh tests/cli/commands.sh tests/cli/restricted.sh
program_tests += tests/cli/repl_help.sh tests/cli/repl_wrong.sh tests/cli/repl_modules.sh \
	tests/cli/valgrind.sh
cli_tests += tests/cli/reference.sh
EXTRA_DIST += tests/cli/terminal.sh tests/cli/terminal.py tests/cli/repl_terminal.py \
	tests/cli/repl_editing.py tests/cli/repl_paste.py tests/cli/repl_help.py \
	tests/cli/wrong_inputs.lua tests/cli/wrong_inputs.txt

## tarn-bench, and ratios of times; what the flags say decides whether they mean anything.
criterion_tests += tests/test_speed
cli_tests += tests/cli/bench.sh
program_tests += tests/cli/labs.sh
tests_test_speed_CPPFLAGS = $(AM_CPPFLAGS) \
	-DBUILD_FLAGS='"$(CFLAGS) $(SANITIZER_CFLAGS) $(COVERAGE_CFLAGS)"'
tests_test_speed_LDADD = libbench.la $(LDADD)

## The build, the rules of the house, the installed library.
cli_tests += tests/cli/configure.sh tests/cli/dist.sh tests/cli/house.sh \
	tests/cli/reading.sh tests/cli/install.sh tests/cli/quickstart.sh
criterion_tests += tests/test_oracle tests/test_equiv tests/test_equiv_report tests/test_gradcheck \
	tests/test_cases_numbers tests/test_cases_shapes tests/test_cases_gradients \
	tests/test_cases_states
EXTRA_DIST += tests/every_form.h tests/comparison.h
lua_tests += tests/lua/wrong_calls.lua tests/lua/field_cases.lua tests/lua/device_cases.lua \
	tests/lua/device_range.lua

## The emulated device itself; kernels with planted mistakes, plain and instrumented.
if WITH_EMU
criterion_tests += tests/test_emu tests/test_emu_bugs tests/test_emu_profile \
	tests/test_emu_calls
bugs_objects = tests/bugs.emu.lo tests/bugs.checked.lo
tests/bugs.emu.lo: SANITIZER_CFLAGS = # the mistakes are for the device to find
tests_test_emu_bugs_LDADD = $(bugs_objects) $(LDADD)
tests_test_emu_profile_LDADD = tests/accesses.checked.lo $(LDADD)
CLEANFILES += $(bugs_objects) tests/accesses.checked.lo tests/*.lo.d
-include tests/bugs.emu.lo.d tests/bugs.checked.lo.d tests/accesses.checked.lo.d
## The same kernels once more as a module that the test loads, as kernels of users are.
check_LTLIBRARIES = tests/bugs.la
tests_bugs_la_SOURCES =
tests_bugs_la_LIBADD = $(bugs_objects)
tests_bugs_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
criterion_tests += tests/test_emu_module
tests_test_emu_module_LDFLAGS = -export-dynamic
EXTRA_tests_test_emu_module_DEPENDENCIES = tests/bugs.la
endif
EXTRA_DIST += tests/bugs.h tests/bugs.cu tests/accesses.h tests/accesses.cu tests/marked_lines.h

## A GPU as a device, with CUDA's run time played by the test.
criterion_tests += tests/test_cuda_device
tests_test_cuda_device_CPPFLAGS = -I$(top_srcdir)/tests/fake_cuda $(AM_CPPFLAGS)
EXTRA_DIST += tests/fake_cuda/cuda_runtime_api.h

## The kernels of cuda/ on a real GPU: make check-gpu. Its own test is on the emulated device.
EXTRA_PROGRAMS = tests/gpu/check_gpu
tests_gpu_check_gpu_SOURCES = tests/gpu/check_gpu.c tests/gpu/gpu.h tests/gpu/forms.c \
	tests/gpu/compare.c tests/gpu/times.c tests/gpu/report.c tests/tolerance.h
tests_gpu_check_gpu_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_gpu_check_gpu_LDADD = libcore.la
cli_tests += tests/cli/check_gpu.sh tests/cli/ptxas.sh
CLEANFILES += tests/gpu/check_gpu
EXTRA_DIST += tests/gpu/run tests/golden/ptxas.txt
check-gpu: tests/gpu/check_gpu
	$(SHELL) $(srcdir)/tests/gpu/run tests/gpu/check_gpu $(CHECK_GPU)
.PHONY: check-gpu

## The kernels of cuda/ on the emulated device.
if WITH_EMU
criterion_tests += tests/test_kernels_phi tests/test_kernels_prefix tests/test_kernels_rnn
criterion_tests += tests/test_kernels_sim tests/test_kernels_barriers
criterion_tests += tests/test_kernels_assoc tests/test_kernels_large tests/test_kernels_far
cli_tests += tests/cli/mutations.sh
endif
EXTRA_DIST += tests/mutate-barriers
check-mutations:
	MAKE="$(MAKE)" $(SHELL) $(srcdir)/tests/mutate-barriers $(CHECK_MUTATIONS)
.PHONY: check-mutations
EXTRA_DIST += tests/kernels.h tests/kernels_device.h
