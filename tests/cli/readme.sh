# readme.sh: the transcript in README.md is what the prompt really says.
#
# Input from a pipe is not echoed, so each answer follows its prompt on the same line. The
# expected text is brought into that form. Times show as "-" and the seed is fixed.
. "$srcdir/tests/cli/tap.sh"

transcript() { sed -n '/^```repl$/,/^```$/p' "$srcdir/README.md" | sed '1d;$d'; }
transcript >"$SCRATCH/transcript"

said() {
    { echo 'tarn.quiet_times = true'; sed -n 's/^> //p' "$SCRATCH/transcript"; } |
        "$TARN" -i --no-init --no-history --seed=1 2>&1 | sed 1,2d
}
expected() { awk '/^> / { printf "> "; next } { print }' "$SCRATCH/transcript"; }

same_words() {
    { printf '> '; expected; echo '> '; } >"$SCRATCH/expected"
    said >"$SCRATCH/said"
    grep -q '^> > ' "$SCRATCH/said" && diff "$SCRATCH/expected" "$SCRATCH/said"
}
check "the transcript in README.md is what the prompt says" same_words

linked_files_exist() {
    grep -o '](\([^)]*\))' "$srcdir/README.md" | sed 's/](\(.*\))/\1/' >"$SCRATCH/links"
    test -s "$SCRATCH/links" || return 1
    while read -r link; do test -e "$srcdir/$link" || { echo "$link"; return 1; }; done <"$SCRATCH/links"
}
check "what README.md links to is there" linked_files_exist
finish
