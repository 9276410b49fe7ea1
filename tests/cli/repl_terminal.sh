# repl_terminal.sh: the prompt on a pseudo terminal; the tests are in repl_terminal.py.
# Needs Python 3.9 with its standard library alone.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the prompt" "built without Lua"; finish; exit; }
export TARN
# Sanitizers make C code slower, and with it the way to its next look at the flag.
case ${CFLAGS-} in *-fsanitize*) export TARN_SLOWNESS=10 ;; esac
for python in /usr/bin/python3 python3; do
    if $python -c 'import sys, pty; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        exec $python "$srcdir/tests/cli/repl_terminal.py"
    fi
done
skip "the prompt on a terminal" "no Python 3.9 with pty"
finish
