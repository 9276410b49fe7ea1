# labs.sh: the labs that measure run, and say what they promise.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the labs" "built without Lua"; finish; exit; }

# The times are another matter; the operations are arithmetic.
labs=$srcdir/exercises/labs
crosses() {
    "$TARN" --threads=1 "$labs/crossing.lua" --widths=16 --most=64 --out="$SCRATCH/crossing" \
        >"$SCRATCH/out" && grep -qx 'D =  16  equal operations at N = 31' "$SCRATCH/out" &&
        grep -Eq '^\| 16 \| 31 \| (at most |more than )?[1-9][0-9]* \|$' "$SCRATCH/crossing/report.md" &&
        grep -q '^16,64,.*,2.03125' "$SCRATCH/crossing/results.csv" || { cat "$SCRATCH/out"; return 1; }
}
# In plain sums the naive loop loses all of features near exp(-60); nothing else does.
loses() {
    "$TARN" "$labs/precision.lua" --most=256 --width=4 --out="$SCRATCH/precision" >"$SCRATCH/out" &&
        awk -F, '$1 == "shift" && $2 == 60 { way[$3] = $4 + 0 }
            END { exit !(way["naive loop"] > 0.9) || !(way["two levels"] < 1e-5) ||
                !(way["chunked"] < 1e-5) || !(way["scan"] < 1e-5) || !(way["tuned"] < 1e-5) }' \
            "$SCRATCH/precision/results.csv" || { cat "$SCRATCH/out"; return 1; }
}
# A state is as large after 256 tokens as after 128, the cache twice as large.
grows() {
    "$TARN" --threads=1 "$labs/scaling.lua" --most=256 --width=8 --out="$SCRATCH/scaling" \
        >"$SCRATCH/out" && awk -F, '{ sub(/\r$/, "") } $1 == "step" { bytes[$2, $3] = $6 }
            END { exit !bytes["rnn", 128] || bytes["rnn", 128] != bytes["rnn", 256] ||
                2 * bytes["kv", 128] != bytes["kv", 256] }' "$SCRATCH/scaling/results.csv" ||
        { cat "$SCRATCH/out"; return 1; }
}
# Three labs measure the CPU, wherever a session makes its tensors: the same numbers come out.
cpu_in_any_session() {
    "$TARN" --device=emu "$labs/precision.lua" --most=256 --width=4 --out="$SCRATCH/on-emu" \
        >"$SCRATCH/said" 2>&1 && cmp "$SCRATCH/precision/results.csv" "$SCRATCH/on-emu/results.csv" &&
        "$TARN" --device=emu "$labs/scaling.lua" --most=128 --width=4 --out="$SCRATCH/on-emu" \
            >"$SCRATCH/said" 2>&1 || { cat "$SCRATCH/said"; return 1; }
}
lacks() {
    "$TARN" "$labs/scaling.lua" --check="$1" >"$SCRATCH/out"
    test $? = 1 && grep -q "^$2" "$SCRATCH/out" && tail -1 "$SCRATCH/out" | grep -q "^$3 of 4 " ||
        { cat "$SCRATCH/out"; return 1; }
}
answered() {
    sed -e 's/^\*Your answer:\*$/It grows as it should, see the table./' -e 's/^\*Your guess:\*$/& 64/' \
        "$SCRATCH/scaling/report.md" >"$SCRATCH/scaling/report.new" &&
        mv "$SCRATCH/scaling/report.new" "$SCRATCH/scaling/report.md"
    "$TARN" "$labs/scaling.lua" --check="$SCRATCH/scaling/report.md" >"$SCRATCH/out"
}
dropped() {
    sed '/^### Question 2/,/^### Question 3/d' "$SCRATCH/scaling/report.md" >"$SCRATCH/dropped"
    lacks "$SCRATCH/dropped" "question 2 is not in the report: " 2
}
# A prediction after the numbers is none, so the lab asks before it measures; a report has to have it.
asked_first() {
    sed 1q "$SCRATCH/out" | grep -q '^Before you look, predict' &&
        sed -n 5p "$SCRATCH/out" | grep -qx 'N = 128'
}
unguessed() {
    sed '/^### Prediction 2/,/^### /s/ 64$//' "$SCRATCH/scaling/report.md" >"$SCRATCH/unguessed"
    lacks "$SCRATCH/unguessed" "prediction 2 has no answer: " 4 &&
        grep -q '^4 of 4 questions answered, 2 of 3 predictions made' "$SCRATCH/out"
}
keeps() {
    cp "$SCRATCH/scaling/report.md" "$SCRATCH/answers" && grows &&
        cmp "$SCRATCH/answers" "$SCRATCH/scaling/report.md.1" &&
        ! cmp -s "$SCRATCH/answers" "$SCRATCH/scaling/report.md"
}
unread() {
    "$TARN" "$labs/scaling.lua" --check="$SCRATCH/nowhere" 2>"$SCRATCH/err"
    test $? = 1 && test "$(wc -l <"$SCRATCH/err")" = 1 &&
        grep -q "^scaling: can't read .*nowhere: No such file" "$SCRATCH/err"
}
if echo "$CFLAGS" | grep -q sanitize; then
    skip "crossing.lua finds where linear attention begins to win" "too slow with sanitizers"
else
    check "crossing.lua finds where linear attention begins to win" crosses
fi
check "precision.lua shows what the naive loop loses, and that nothing else does" loses
check "scaling.lua shows a state that stays and a cache that grows" grows
if "$TARN" --no-init -e 'zeros(1, {device="emu"})' 2>"$SCRATCH/err"; then
    check "in a session on another device they measure the CPU as well" cpu_in_any_session
else
    skip "in a session on another device they measure the CPU as well" "no emulated device"
fi
check "predictions are asked for before anything is measured" asked_first
check "a report as the lab wrote it answers nothing" lacks "$SCRATCH/scaling/report.md" \
    "question 1 has no answer: Compare each" 0
check "a report with an answer to each question and a guess at each prediction is complete" answered
check "a prediction that nobody made is missed" unguessed
check "a question that was deleted is missed" dropped
check "a report with answers is kept when the lab runs once more" keeps
check "a report that is not there is an error" unread

# cpu-gpu.lua, from the command line to the files. Small problems: it is the way that is tested.
lab="$srcdir/exercises/labs/cpu-gpu.lua"
results=$SCRATCH/results session=
small() { "$TARN" $session "$lab" --quick --sizes=70,16 --heads=2 --width=8 --out="$results" "$@"; }
whole() {
    small --grad >"$SCRATCH/out" || { cat "$SCRATCH/out"; return 1; }
    grep -q '^[1-9][0-9]* rows, all within their bounds$' "$SCRATCH/out" &&
        test "$(wc -l <"$SCRATCH/out")" -le 16 && test ! -e "$results/report.md.tmp"
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
