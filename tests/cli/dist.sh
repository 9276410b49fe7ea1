# dist.sh: the release archive has every file of the repository, so that whoever builds from
# it has the same tests and texts. (make distcheck then builds and tests in it.)
. "$srcdir/tests/cli/tap.sh"

# Files that only the repository needs.
only_here='^\.gitignore$'
complete() {
    $MAKE -C "$builddir" distdir distdir="$SCRATCH/dist" >/dev/null || return
    git -C "$srcdir" ls-files | grep -v "$only_here" | sort >"$SCRATCH/tracked"
    (cd "$SCRATCH/dist" && find . -type f | sed 's/^\.\///' | sort) >"$SCRATCH/packed"
    comm -23 "$SCRATCH/tracked" "$SCRATCH/packed" | grep . && return 1
    return 0
}
if test -e "$srcdir/.git" && git -C "$srcdir" ls-files >/dev/null 2>&1; then
    check "every file of the repository is in the release archive" complete
else
    skip "every file of the repository is in the release archive" "this is no repository"
fi
finish
