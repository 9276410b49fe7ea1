# lab_terminal.sh: tarn-lab on a terminal; the claims are in lab_terminal.py.
. "$srcdir/tests/cli/terminal.sh"
