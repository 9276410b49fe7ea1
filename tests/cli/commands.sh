# commands.sh: :save, :bt and !command at the prompt.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the commands of the prompt" "built without Lua"; finish; exit; }

# prompt INPUT...: a piped prompt that is given these lines.
prompt() { printf '%s\n' "$@" | "$TARN" -i --no-init --seed=7 2>&1; }
lab=$SCRATCH/lab.lua

saved_script_repeats_the_session() {
    prompt 'x = randn(2)' 'x' '1, nil' 'x:sum();' 'local y = 3' 'for i = 1, 2 do' 'print(i)' 'end' \
        'nosuch' '"a" -- b;' ":save $lab" >/dev/null || true
    "$TARN" "$lab" >"$SCRATCH/again" && grep -q '^tensor \[2\] float32 cpu$' "$SCRATCH/again" &&
        grep -q '^1	nil$' "$SCRATCH/again" && grep -qx '2' "$SCRATCH/again" && grep -qx '"a"' "$SCRATCH/again"
}
check "a saved session runs again and shows what the prompt showed" saved_script_repeats_the_session
same_numbers() {
    prompt 'x = randn(2)' 'x' | tail -n 2 >"$SCRATCH/first"
    sed 's/^> //' "$SCRATCH/first" | grep -- '-\?[0-9]\.' >"$SCRATCH/numbers"
    "$TARN" "$lab" | grep -qxF "$(head -n 1 "$SCRATCH/numbers")"
}
check "with the same random numbers, for it begins with the seed" same_numbers
header() { head -n 1 "$lab" | grep -q '^-- tarn [0-9.]* (fast, plain.*): the inputs of a session'; }
check "its first line tells version and backends" header
failed() { grep -qx -- '-- nosuch' "$lab"; }
check "an input that failed is a comment in it" failed
kept() {
    echo 'my work' >"$SCRATCH/mine.lua"
    prompt '1' ":save $SCRATCH/mine.lua" | grep -q 'is there already, and not from :save' &&
        grep -qx 'my work' "$SCRATCH/mine.lua"
}
check ":save replaces no file of another kind" kept
again() { prompt '2' ":save $lab" | grep -q 'saved 1 input in' && ! grep -q nosuch "$lab"; }
check ":save replaces what it has saved before" again
nowhere() { prompt ":save $SCRATCH/no/x.lua" | grep -q "can't write: No such file"; }
check ":save says why it can't write" nowhere
nameless() { prompt ":save" | grep -q 'expected the name of a file'; }
check ":save without a name says what it expects" nameless

frames() {
    prompt 'function f() prefix(1) end' 'f()' ':bt' >"$SCRATCH/bt"
    grep -q "in function 'tarn.prefix'" "$SCRATCH/bt" && grep -q "in function 'f'" "$SCRATCH/bt"
}
check ":bt shows all frames of the last error" frames
no_error() { prompt ':bt' | grep -q 'no error so far'; }
check ":bt without an error says so" no_error
unknown() { prompt ':sav' | grep -q "unknown command ':sav': did you mean ':save'?"; }
check "an unknown command gets a suggestion" unknown
label() { prompt 'goto out ::out:: print(5)' '::x:: print(6)' | grep -q 6; }
check "a label is no command" label

shell() { prompt '!echo $((6 * 7))' | grep -q '^> 42$'; }
check "!command runs in the shell" shell
status() { prompt '!exit 3' | grep -q 'note: exit status 3$'; }
check "its exit status is told if it is not 0" status
finish
