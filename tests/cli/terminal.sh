# terminal.sh: runs the tests on a pseudo terminal that stand in the Python file beside the
# script that reads this. Needs Python 3.9 with its standard library alone.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "the prompt" "built without Lua"; finish; exit; }
export TARN
export PYTHONDONTWRITEBYTECODE=1 # the source folder may be read-only
# Sanitizers and counters make C code slower, and with it the way to its next look at the flag.
case ${CFLAGS-} in *-fsanitize* | *--coverage*) export TARN_SLOWNESS=10 ;; esac
case ${CFLAGS-} in *--coverage*) export TARN_COUNTED=yes ;; esac
for python in /usr/bin/python3 python3; do
    if $python -c 'import sys, pty; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        exec $python "${0%.sh}.py"
    fi
done
skip "the prompt on a terminal" "no Python 3.9 with pty"
finish
