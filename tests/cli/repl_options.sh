# repl_options.sh: the command line of tarn: options, what runs in which order, and what
# the exit status says.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the command line" "built without Lua"; finish; exit; }
cd "$SCRATCH" || exit

# run STATUS ARGUMENT...: runs tarn, its output in out and err; true if it leaves so.
run() {
    expected=$1
    shift
    "$TARN" "$@" >out 2>err </dev/null
    status=$?
    test $status = "$expected" && return
    echo "status $status, expected $expected"
    cat out err
    return 1
}
# prints TEXT ARGUMENT...: leaves with 0 and has written exactly this.
prints() {
    text=$1
    shift
    run 0 "$@" && printf "$text" | diff - out && test ! -s err
}
# complains TEXT ARGUMENT...: a wrong command line: 2, the text and a hint on stderr.
complains() {
    text=$1
    shift
    run 2 "$@" && test ! -s out && grep -q -e "$text" err && grep -q "tarn --help" err
}
# fails_saying TEXT ARGUMENT...: 1, the text on stderr.
fails_saying() {
    text=$1
    shift
    run 1 "$@" && grep -q -e "$text" err
}

# with_isa NAME COMMAND..: the command with TARN_ISA set to this.
with_isa() {
    export TARN_ISA=$1
    shift
    "$@"
    status=$?
    unset TARN_ISA
    return $status
}
known="TARN_ISA in the environment is 'avx9', expected .*baseline; this processor can run .*baseline$"
check "a word in TARN_ISA that is not known is an error" \
    with_isa avx9 fails_saying "^tarn: $known" -e 'print(1)'
check "one that is known is what backends() shows" \
    with_isa baseline prints 'baseline\n' -e 'print(backends()[1].isa)'
check "and none is as if it was not set" with_isa '' prints '1\n' -e 'print(1)'
check "-e runs code" prints '2\n' -e 'print(1 + 1)'
check "several -e run in their order, with one set of globals" \
    prints '3\n' -e 'x = 1' -e 'x = x + 2' -e 'print(x)'
echo 'return {answer = 42}' >mod.lua
check "-l requires a module into a global" prints '42\n' -l mod -e 'print(mod.answer)'
check "-l of what is not there fails" fails_saying "module 'nosuch' not found" -l nosuch
printf 'print(arg[0], arg[1], #arg, ...)\n' >script.lua
check "a script has its arguments, options among them" \
    prints 'script.lua\t-x\t2\t-x\tb\n' script.lua -x b
check "-- ends the options" prints 'script.lua\tnil\t0\n' -- script.lua
printf '#!%s\nprint("by itself", arg[1])\n' "$TARN" >direct
chmod +x direct
shebang() { test "$(./direct now)" = "by itself	now"; }
check "a script can name tarn in its first line" shebang
from_stdin() { echo 'print(7)' | "$TARN" "$@" | grep -qx 7; }
check "standard input that is no terminal is a script" from_stdin
check "- is standard input" from_stdin -
nothing_else() { test "$(echo 'x = 1' | "$TARN" 2>&1)" = ""; }
check "such a script shows no banner and no prompt (REP-10)" nothing_else
check "an empty script is a good one" prints '' -
prompted() { echo '1 + 1' | "$TARN" -i --no-init | grep -q '^> 2'; }
check "-i prompts although standard input is no terminal" prompted
after_error() {
    echo 'kept' | "$TARN" -i --no-init -e 'kept = 42 error("boom")' >out 2>err
    test $? = 1 && grep -q '^> 42' out && grep -q 'boom' err
}
check "-i prompts after an error too, with the variables as they are; the status tells" after_error
after() { echo 'x + 1' | "$TARN" -i --no-init -e 'x = 41' | grep -q '^> 42'; }
check "-i keeps what ran before" after

check "--version names version and licence" run 0 --version
check "the version is that of the library" grep -q "^tarn [0-9]" out
check "--help fits 80 columns" run 0 --help
refuse "no line of it is longer" grep -q '.\{81\}' out
check "--seed gives the same numbers again" \
    prints 'true\n' --seed=7 -e 'a = randn(3)' -e 'seed(7)' -e 'print(allclose(a, randn(3)))'
check "--threads and --device take their values" prints '' --threads=2 --device=cpu -e ''
usable() { "$TARN" -e 'for _, b in ipairs(backends()) do
    if b.device == arg[1] then os.exit(b.usable) end end' - "$1" </dev/null; }
best=cpu
for device in emu cuda; do usable $device && best=$device; done
auto() { run 0 --device=auto -e 'print(zeros(1).device:match("%a+"))' &&
    grep -qx $best out && grep -q "^note: .*using $best\$" err; }
check "--device=auto takes a GPU, or else the emulated device, and says so" auto
if usable cuda; then
    skip "a device that is not there is an error" "there is a GPU"
else
    check "a device that is not there is an error" \
        fails_saying 'device cuda: not available: ' --device=cuda -e ''
fi
if usable emu; then
    check "--device=emu is where tensors and states are made" prints 'emu emu emu cpu\n' \
        --device=emu -e 'print(zeros(2).device .. " " .. tensor{1}.device .. " " ..
        rnn{D=1, M=1}.device .. " " .. rand(2, {device="cpu"}).device)'
    check "read, mnist and rnn.load take what they read there" prints 'emu emu emu\n' \
        --device=emu -e 'ones(2):save("t.npy") rnn{D=1, M=1}:save("st")
        print(read("t.npy").device .. " " .. mnist(1).device .. " " .. rnn.load("st").device)'
    check "pictures of tables are drawn there too" run 0 --device=emu \
        -e 'heat{{1, 2}} hist{1, 2} plot{1, 2}'
else
    check "--device=emu is an error in a build without it" \
        fails_saying 'device emu: not available: built without' --device=emu -e ''
fi

check "an unknown option" complains "unknown option '--frobnicate'" --frobnicate
check "an unknown letter" complains "unknown option '-x'" -x
check "--doctest without a file" complains '--doctest needs a FILE' --doctest
check "--doctest with code" complains '--doctest takes neither' --doctest -e 1 x
check "--slow by itself" complains '--slow goes with --doctest' --slow x.lua
check "-e without code" complains "'-e' needs a value" -e
check "--seed without a number" complains "'--seed' needs a value" --seed
check "--no-init with a value" complains "takes no value" --no-init=1
check "a seed that is no number" complains 'seed=abc' --seed=abc
check "a seed with something behind" complains 'seed=1x' --seed=1x
check "a negative seed" complains 'seed=-1' --seed=-1
check "a seed beyond 64 bits" complains 'seed=99999999999999999999' --seed=99999999999999999999
check "no thread at all" complains 'threads=0' --threads=0
check "a device nobody knows" complains 'expected cpu, emu, cuda or auto' --device=gpu
check "a colour that is none" complains 'expected auto, always or never' --color=red

check "a script that is not there" fails_saying 'cannot open nosuch.lua' nosuch.lua
check "a folder as a script" fails_saying 'cannot read' .
check "an error in -e ends it" fails_saying 'boom' -e 'error("boom")' -e 'print("not reached")'
refuse "what follows does not run" grep -q reached out
check "os.exit has the last word" run 3 -e 'os.exit(3)'
piped_error() { echo 'error("boom")' | "$TARN" >out 2>err; test $? = 1 && grep -q boom err; }
check "an error in a script on standard input is 1" piped_error
if test -c /dev/full; then
    full() { "$TARN" "$@" >/dev/full 2>err; test $? = 1 && grep -q 'write error' err; }
    check "a full disk behind stdout is an error" full -e 'print(1)'
    check "also of much output" full -e 'for i = 1, 1e5 do print(i) end'
    check "also after os.exit" full -e 'print(1) os.exit(0)'
    check "also of --help" full --help
else
    skip "a full disk behind stdout is an error" "no /dev/full"
fi
silent_without_stdout() { "$TARN" -e 'x = 1' >&-; }
check "a closed stdout is no error of a script that prints nothing" silent_without_stdout
closed_pipe() { { "$TARN" -e 'for i = 1, 1e6 do print(i) end' 2>err; echo $? >status; } | head -1; test "$(cat status)" != 0; }
check "a closed pipe ends the script" closed_pipe

# Colours: as asked, else by the stream (a file here).
colored() { "$TARN" "$@" -e 'error("x", 0)' 2>&1 | grep -q '\['; }
check "--color=always colours errors" colored --color=always
refuse "--color=never does not" colored --color=never
refuse "--color=auto does not colour a file" colored --color=auto

# The startup file runs for the prompt alone.
mkdir -p config/tarn
echo 'print("started") answer = 42' >config/tarn/init.lua
XDG_CONFIG_HOME=$SCRATCH/config
export XDG_CONFIG_HOME
starts() { echo 'answer' | "$TARN" -i "$@" | grep -q started; }
check "the startup file runs before the prompt" starts
refuse "--no-init leaves it out" starts --no-init
check "it does not run for a script" prints '' -e ''
echo 'error("in init")' >config/tarn/init.lua
survives() { echo '1 + 1' | "$TARN" -i >out 2>err && grep -q '^> 2' out && grep -q 'in init' err; }
check "an error in it is shown, and the prompt comes" survives
finish
