# repl_editing.sh: completion, history and keys; the tests are in repl_editing.py.
. "$srcdir/tests/cli/terminal.sh"
