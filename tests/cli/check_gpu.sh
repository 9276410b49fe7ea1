# check_gpu.sh: make check-gpu as far as it goes without a GPU: why it does not run, and all
# of its program on the emulated device.
. "$srcdir/tests/cli/tap.sh"
cd "$SCRATCH" || exit
program=$builddir/tests/gpu/check_gpu

if ! grep -q 'HAVE_EMU 1' "$builddir/config.h"; then
    skip "check_gpu goes through every rung" "built without the emulated device"
    finish
    exit
fi

# leaves STATUS COMMAND...: its output in out and err.
leaves() {
    expected=$1
    shift
    "$@" >out 2>err </dev/null
    status=$?
    test $status = "$expected" && return
    echo "status $status, expected $expected"
    tail -30 out err
    return 1
}
narrow() { ! awk 'length > 80' out | grep .; }

check "its program is built" $MAKE -C "$builddir" tests/gpu/check_gpu
helps() { leaves 0 "$program" --help && grep -q '^Usage: check_gpu' out && narrow; }
check "--help fits into 80 columns" helps
refuses() { leaves 2 "$program" --fast && grep -q "unknown option '--fast'; see --help" err; }
check "an unknown option is refused" refuses
says_why() {
    leaves 77 sh "$srcdir/tests/gpu/run" "$program" && test ! -s out &&
        grep -Eq 'device cuda: not available: (no NVIDIA driver|built without|a driver, but)' err
}
if test -e /dev/nvidia0 || test -e /dev/dxg; then
    skip "without a GPU it says why and exits with 77" "there is one"
else
    check "without a GPU it says why and exits with 77: BLD-04" says_why
fi

goes_through() { leaves 0 "$program" --device=emu --quick --json=x.json && narrow; }
check "every rung is compared and timed on the emulated device" goes_through
for form in 'sim softmax' 'sim rbf' 'sim phi' 'sim causal' assoc prefix rnn; do
    rows() { grep "^$form  *output  *k1  *float32 .* ok$" out && grep "^$form  *gradient  *k1  *float64 .* ok$" out; }
    check "$form has rows, output and gradient, of either type" rows
done
# Keys and numbers hang together, as Lua sees them.
valid() {
    "$TARN" -e '
      local text = io.open("x.json"):read("a")
      text = text:gsub("null", "0"):gsub("\"([%w_]+)\": ", "%1="):gsub("%[", "{"):gsub("%]", "}")
      local run = assert(load("return " .. text))()
      assert(run.device == "emu" and run.ok and run.copy_gbs > 0)
      assert(#run.compared == #run.timed and #run.compared > 50)
      for _, row in ipairs(run.compared) do
        assert(row.error_over_bound <= 1 and row.from_emu_over_bound == 0)
        assert(row.complaint == "" and row.problems > 2)
      end
      for _, row in ipairs(run.timed) do
        assert(row.seconds > 0 and row.floor_seconds > 0 and row.H and row.N and row.D)
      end'
}
if test -n "$TARN"; then
    check "--json has a row for each" valid
else
    skip "--json has a row for each" "built without Lua"
fi
finds() {
    leaves 1 "$program" --device=emu --quick --no-times --bound=1e-6 &&
        grep -q ' WRONG$' out && grep -q '^    B 2, H 1, .*: dq$' out &&
        grep -q '^something is wrong' out
}
check "an error beyond its bound is found and told with its problem" finds
runs() {
    leaves 0 sh "$srcdir/tests/gpu/run" "$program" --device=emu --quick --no-times &&
        test -s check-gpu.json && grep -q '^all is well$' out
}
check "the script writes check-gpu.json" runs
finish
