# reading.sh: what a reader relies on: the reading order names files that exist and leaves
# no stage out, and the regions that the book shows are whole.
. "$srcdir/tests/cli/tap.sh"
cd "$srcdir" || exit

listed_files() { sed -n 's/^\([a-z][^ ]*\) .*/\1/p' doc/reading-order; }

files_exist() {
    test "$(listed_files | wc -l)" -ge 5 || return 1
    for file in $(listed_files); do
        test -f "$file" || { echo "$file is not there"; return 1; }
    done
}
check "each file of the reading order exists" files_exist

no_stage_missing() {
    for file in src/stages/*.c; do
        listed_files | grep -qx "$file" || { echo "$file is not in doc/reading-order"; return 1; }
    done
}
check "each stage is in the reading order" no_stage_missing

in_order() {
    listed_files | grep -E 'stages/(phi|sim|assoc|prefix|rnn)\.c' | sed 's/.*\///; s/\.c//' |
        tr '\n' ' ' | grep -qx 'phi sim assoc prefix rnn '
}
check "the stages stand in the order of the derivation" in_order

# A region opens once in a file, closes under its own name, is not empty, and none of its
# lines is wider than a page.
whole_regions() {
    grep -l '^//> region' src/*/*.c src/*/*.h >"$SCRATCH/with" || return 1
    xargs awk '
        FNR == 1 && open != "" { print last ": region " open " is not closed"; bad = 1; open = "" }
        { last = FILENAME }
        /^\/\/> region / {
            if (open != "") { print FILENAME ":" FNR ": region inside a region"; bad = 1 }
            if (seen[FILENAME, $3]++) { print FILENAME ":" FNR ": region " $3 " twice"; bad = 1 }
            open = $3; lines = 0; next
        }
        /^\/\/< region / {
            if ($3 != open || lines == 0) { print FILENAME ":" FNR ": region " $3; bad = 1 }
            open = ""; next
        }
        open != "" { lines++; if (length($0) > 92) { print FILENAME ":" FNR ": too wide"; bad = 1 } }
        END { exit bad || open != "" }' <"$SCRATCH/with"
}
check "each region is closed, not empty and named once in its file" whole_regions
finish
