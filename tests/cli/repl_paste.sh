# repl_paste.sh: pasting at the prompt; the tests are in repl_paste.py.
. "$srcdir/tests/cli/terminal.sh"
