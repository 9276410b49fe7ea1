# bench.sh: tarn-bench from outside: its command line, its table, its JSON. What it measures
# is held to ratios in tests/test_speed.c.
. "$srcdir/tests/cli/tap.sh"
cd "$SCRATCH" || exit
bench=$builddir/tarn-bench

# run STATUS ARGUMENT...: runs tarn-bench, its output in out and err; true if it leaves so.
run() {
    expected=$1
    shift
    "$bench" "$@" >out 2>err </dev/null
    status=$?
    test $status = "$expected" && return
    echo "status $status, expected $expected"
    cat out err
    return 1
}
# complains TEXT ARGUMENT...: a wrong command line: 2, the text and a hint on stderr.
complains() {
    text=$1
    shift
    run 2 "$@" && test ! -s out && grep -q -e "$text" err && grep -q "tarn-bench --help" err
}
# fails_saying TEXT ARGUMENT...: 1, the text on stderr.
fails_saying() {
    text=$1
    shift
    run 1 "$@" && grep -q -e "$text" err
}
names_all() {
    for name in $names; do grep -q "\"name\": \"$name\"" out || { echo "$name"; return 1; }; done
}
narrow() { ! awk 'length > 80' out | grep .; }

check "an unknown operation is refused with a suggestion" \
    complains "no operation 'prefxi'; did you mean 'prefix'?" prefxi
check "an unknown option is refused" complains "unknown option '--jsn'" --jsn
check "a number of threads is a number" complains "threads=two: expected" --threads=two
check "--compare needs a value" complains "'--compare' needs a value" --compare
check "--compare and --json exclude each other" complains "without --json" --json --compare=x
helps() { run 0 --help && grep -q 'Usage: tarn-bench' out && narrow; }
check "--help fits into 80 columns" helps
versions() { run 0 --version && head -1 out | grep -q '^tarn-bench [0-9]'; }
check "--version says the version" versions
check "a full disk behind stdout is an error" sh -c \
    "test ! -c /dev/full || { '$bench' --help >/dev/full 2>err; test \$? = 1 && grep -q 'write error' err; }"

refuses() { TARN_ISA=avx9 fails_saying "^tarn-bench: TARN_ISA in the environment is 'avx9', expected " prefix; }
check "an instruction set that is not known is an error" refuses

# Measuring is for builds that are fast, and for those that count what is run.
if grep -q 'TARN_PARANOID 1' "$builddir/config.h" ||
    case $CFLAGS in *--coverage*) false ;; *-O0* | *sanitize*) ;; *) false ;; esac; then
    skip "tarn-bench measures" "this build is slow on purpose"
    finish
    exit
fi
names="phi_elu1 rnn_step"
tables() { run 0 --quick $names && grep -q '^rnn_step *f64 .* 128 ' out && narrow; }
check "the table fits into 80 columns" tables
check "--json names what was asked for and nothing else" sh -c "
    '$bench' --json --quick $names >earlier.json && test \$(grep -c '\"name\": ' earlier.json) = 8"
cp earlier.json out
check "all of it" names_all
valid() {
    "$TARN" -e '
      local text = io.open("earlier.json"):read("a")
      text = text:gsub("null", "0"):gsub("\"([%w_]+)\": ", "%1="):gsub("%[", "{"):gsub("%]", "}")
      local run = assert(load("return " .. text))()
      assert(run.machine ~= "" and run.peak_gflops > 0 and run.copy_gbs > 0 and run.sgemm_gflops)
      for _, row in ipairs(run.rows) do
        assert(row.min_s <= row.median_s and row.median_s <= row.max_s)
        assert(row.gflops > 0 and row.rms_error < 1e-6 and row.percent_peak < 100)
        assert(row.threads == 1 and row.B == 1 and row.D == row.M and row.N and row.H and row.isa)
      end
      assert(#run.rows == 8)'
}
if test -n "$TARN"; then
    check "--json has the keys and their numbers hang together" valid
else
    skip "--json has the keys and their numbers hang together" "built without Lua"
fi
compares() {
    run 0 --quick --compare=earlier.json rnn_step && grep -q 'phi_elu1 .*not in this run' out &&
        test "$(grep -Ec '^rnn_step .* [0-9.]+$' out)" = 6 && narrow
}
if grep -q 'HAVE_CJSON 1' "$builddir/config.h"; then
    check "--compare gives ratios, and names rows that are missing" compares
    echo '{"rows": 1}' >other.json
    check "a file that is something else is refused before anything is measured" \
        fails_saying 'other.json: this is not what' --compare=other.json
    check "a file that is not there too" fails_saying 'No such file' --compare=nosuch.json
else
    check "--compare says what is missing" fails_saying 'libcjson' --compare=earlier.json
fi
stops() {
    "$bench" sim_softmax >out 2>err &
    pid=$!
    sleep 1
    kill -INT $pid
    wait $pid
    test $? = 130 && test ! -s out
}
# A shell without job control starts what runs in the background deaf to ^C.
if (set -m) 2>/dev/null; then
    set -m
    check "^C ends it with 130 and without a report" stops
    set +m
else
    skip "^C ends it with 130 and without a report" "this shell has no job control"
fi
finish
