# readme.sh: what README.md says is true: its transcript, its links.
. "$srcdir/tests/cli/tap.sh"
if test -n "$TARN"; then
    check "the transcript in README.md is what the prompt says" \
        "$TARN" --doctest "$srcdir/README.md"
    some() { "$TARN" --doctest "$srcdir/README.md" | grep -q '^[1-9][0-9]* passed'; }
    check "there is one" some
else
    skip "the transcript in README.md is what the prompt says" "built without Lua"
fi

# The picture is drawn from a real session; numbers in their last digit are this machine's.
picture_is_current() {
    SCRATCH=$SCRATCH /usr/bin/python3 "$srcdir/doc/figures/terminal.py" "$TARN" >"$SCRATCH/picture.svg" &&
        diff "$srcdir/doc/figures/terminal.svg" "$SCRATCH/picture.svg"
}
name="the picture in README.md is what the terminal shows"
if test -n "$TARN" && "$TARN" --version | grep -q Readline && test -x /usr/bin/python3 &&
    test "$(uname -m)" = x86_64; then
    check "$name" picture_is_current
else
    skip "$name" "needs Readline, Python and the processor it was drawn on"
fi

linked_files_exist() {
    grep -o '](\([^)]*\))' "$srcdir/README.md" | sed 's/](\(.*\))/\1/' >"$SCRATCH/links"
    test -s "$SCRATCH/links" || return 1
    while read -r link; do test -e "$srcdir/$link" || { echo "$link"; return 1; }; done <"$SCRATCH/links"
}
check "what README.md links to is there" linked_files_exist
finish
