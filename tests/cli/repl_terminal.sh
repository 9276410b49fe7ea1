# repl_terminal.sh: the prompt on a pseudo terminal; the tests are in repl_terminal.py.
. "$srcdir/tests/cli/terminal.sh"
