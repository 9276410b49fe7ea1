# labs.sh: the labs that measure run, and say what they promise.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the labs" "built without Lua"; finish; exit; }

# The times are another matter; the operations are arithmetic.
crosses() {
    "$TARN" --threads=1 "$srcdir/exercises/labs/crossing.lua" 16 >"$SCRATCH/out" &&
        grep -q '^equal operations at N = 31, equal times at about N = [0-9]' "$SCRATCH/out" ||
        { cat "$SCRATCH/out"; return 1; }
}
if echo "$CFLAGS" | grep -q sanitize; then
    skip "crossing.lua finds where linear attention begins to win" "too slow with sanitizers"
else
    check "crossing.lua finds where linear attention begins to win" crosses
fi

# cpu-gpu.lua, from the command line to the files. Small problems: it is the way that is tested.
lab="$srcdir/exercises/labs/cpu-gpu.lua"
results=$SCRATCH/results session=
small() { "$TARN" $session "$lab" --quick --sizes=70,16 --heads=2 --width=8 --out="$results" "$@"; }
whole() {
    small --grad >"$SCRATCH/out" || { cat "$SCRATCH/out"; return 1; }
    grep -q '^[1-9][0-9]* rows, all within their bounds$' "$SCRATCH/out" &&
        test "$(wc -l <"$SCRATCH/out")" -le 10 && test ! -e "$results/report.md.tmp"
}
# column NAME: its number in the first line of the CSV.
column() { sed 1q "$results/results.csv" | tr -d '\r' | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
# Each line has as many fields as the first, ends in CR LF, and its error is below its bound.
csv_holds() {
    awk -F, -v error="$(column max_rel)" -v bound="$(column bound)" -v ok="$(column ok)" '
        !/\r$/ { print "no CR: " $0; bad = 1 }
        NR == 1 { fields = NF; next }
        NF != fields || $ok != "true" || !($error + 0 <= $bound + 0) || $bound == "" {
            print; bad = 1
        }
        END { exit bad || NR < 30 }' "$results/results.csv"
}
names_devices() {
    "$TARN" --no-init -e 'for _, b in ipairs(backends()) do
        if b.usable then print(b.device) end end' | sort -u >"$SCRATCH/devices"
    grep -qx cpu "$SCRATCH/devices" || return 1
    while read -r device; do
        grep -q "^| 70 | $device |" "$results/report.md" &&
            grep -q ",$device," "$results/results.csv" || { echo "$device"; return 1; }
    done <"$SCRATCH/devices"
}
# An emulated time says so, and has no speed-up.
emulated() {
    awk -F, -v device="$(column device)" -v is="$(column time_is)" \
        -v speedup="$(column speedup_over_cpu_fast)" -v sectors="$(column head_sectors)" '
        $device == "emu" && ($is != "emulated" || $speedup != "") { bad = 1 }
        $device == "emu" && $sectors > 0 { counted++ }
        END { exit bad || counted < 14 }' "$results/results.csv" &&
        grep -q '(emulated) |  |$' "$results/report.md"
}
# Where tensors of the session lie changes nothing.
session_device() { session=--device=emu && small --forms=assoc --sizes=16 --out="$SCRATCH/emu" >"$SCRATCH/out"; }
xml() { /usr/bin/python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$results/plot.svg"; }
# The shell says 127 of a program that is not there.
without_gnuplot() {
    mkdir -p "$SCRATCH/bin" && printf '#!/bin/sh\nexit 127\n' >"$SCRATCH/bin/gnuplot" &&
        chmod +x "$SCRATCH/bin/gnuplot"
    PATH=$SCRATCH/bin:$PATH small --forms=assoc --sizes=16 --devices=cpu --out="$SCRATCH/plain" \
        >"$SCRATCH/out" || { cat "$SCRATCH/out"; return 1; }
    grep -q 'There is no picture: gnuplot, which is not on the PATH' "$SCRATCH/plain/report.md" &&
        test "$(cd "$SCRATCH/plain" && echo *)" = "report.md results.csv"
}
# refused MESSAGE OPTION...: status 2, with this on stderr, and no folder.
refused() {
    message=$1
    shift
    "$TARN" "$lab" --out="$SCRATCH/none" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    test $? = 2 && test "$(sed 1q "$SCRATCH/err")" = "cpu-gpu: $message" && test ! -e "$SCRATCH/none" &&
        test ! -s "$SCRATCH/out" || { cat "$SCRATCH/err"; return 1; }
}
helps() { "$TARN" "$lab" --help | grep -q '^Usage: tarn cpu-gpu.lua'; }
# A file where the folder would be: nothing can be written, whoever runs this.
unwritable() {
    echo old >"$SCRATCH/file"
    "$TARN" "$lab" --quick --out="$SCRATCH/file/below" >"$SCRATCH/out" 2>"$SCRATCH/err"
    test $? = 1 && test ! -s "$SCRATCH/out" && test "$(cat "$SCRATCH/file")" = old &&
        grep -q "^cpu-gpu: can't write .*/file/below: Not a directory" "$SCRATCH/err" ||
        { cat "$SCRATCH/out" "$SCRATCH/err"; return 1; }
}
# A folder in the place of a file: the others come, this one is left, and no rest of it.
occupied() {
    mkdir -p "$SCRATCH/taken/report.md"
    "$TARN" "$lab" --quick --forms=assoc --sizes=16 --heads=1 --width=4 --devices=cpu \
        --out="$SCRATCH/taken" >"$SCRATCH/out" 2>"$SCRATCH/err"
    test $? = 1 && grep -q "^cpu-gpu: can't write .*/report.md: Is a directory" "$SCRATCH/err" &&
        test -z "$(find "$SCRATCH/taken" -name '*tmp*')" || { cat "$SCRATCH/err"; return 1; }
}
check "cpu-gpu.lua --help says how it is used" helps
check "an unknown option of cpu-gpu.lua is refused with what may have been meant" \
    refused "unknown option '--sizs'; did you mean '--sizes'?" --sizs=16
check "so is an unknown form" \
    refused "forms is 'prefx', expected one of prefix, sim, assoc; did you mean 'prefix'?" --forms=prefx
check "so is a size that is no number" \
    refused "sizes is '16,x', expected a whole number from 1 to 16777216" --sizes=16,x
check "so is an option without its value" refused "--heads needs a value: --heads=..." --heads
check "so is a word that is no option" refused "'16' is no option, expected --name=value" 16
check "a folder that can't be written into is told before anything is measured" unwritable
check "a file that can't be written leaves no rests" occupied
if echo "$CFLAGS" | grep -q sanitize; then
    skip "cpu-gpu.lua runs on all devices at hand" "too slow with sanitizers"
else
    check "cpu-gpu.lua runs on all devices at hand, outputs and gradients" whole
    check "its CSV is whole, and every row is within its bound" csv_holds
    check "its report and its CSV have every device at hand" names_devices
    if grep -qx emu "$SCRATCH/devices"; then
        check "emulated times are marked and compare with nothing; accesses are counted" emulated
        check "it runs in a session of another device as well" session_device
        session=
    else
        skip "emulated times are marked" "no emulated device"
    fi
    if command -v gnuplot >"$SCRATCH/path" && test -x /usr/bin/python3; then
        check "its plot is XML" xml
    else
        skip "its plot is XML" "needs gnuplot and Python"
    fi
    check "without gnuplot the report says that there is no picture" without_gnuplot
fi
finish
