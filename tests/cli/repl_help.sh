# repl_help.sh: help on a terminal and in a pipe; those on a terminal are in repl_help.py.
. "$srcdir/tests/cli/terminal.sh"
