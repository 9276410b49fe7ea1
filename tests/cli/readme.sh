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

linked_files_exist() {
    grep -o '](\([^)]*\))' "$srcdir/README.md" | sed 's/](\(.*\))/\1/' >"$SCRATCH/links"
    test -s "$SCRATCH/links" || return 1
    while read -r link; do test -e "$srcdir/$link" || { echo "$link"; return 1; }; done <"$SCRATCH/links"
}
check "what README.md links to is there" linked_files_exist
finish
