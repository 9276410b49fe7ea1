# valgrind.sh: no error and no leak in long sessions: every example of help and the
# documents, pictures, and the wrong inputs of repl_wrong.sh.
. "$srcdir/tests/cli/tap.sh"
claim="a session of a thousand inputs makes no memory error and leaks nothing"
test -n "$TARN" || { skip "$claim" "built without Lua"; finish; exit; }
case ${CFLAGS-} in *-fsanitize*) skip "$claim" "built with sanitizers"; finish; exit ;; esac
valgrind --version >/dev/null 2>&1 || { skip "$claim" "no valgrind"; finish; exit; }
# An older valgrind can't read what a newer clang writes about the code.
valgrind --log-file="$SCRATCH/probe" "$TARN" -e '' >/dev/null 2>&1
if grep -q 'debuginfo reader\|unhandled dwarf' "$SCRATCH/probe"; then
    skip "$claim" "valgrind can't read this program"; finish; exit
fi
source=$(cd "$srcdir" && pwd)
build=$(cd "$builddir" && pwd)
cd "$SCRATCH" || exit

# inputs FILE...: those of the transcripts in Markdown, but for slow ones and those that
# need a GPU.
inputs() {
    awk '/^```/ { inside = $0 == "```repl"; next }
         inside && sub(/^>>? /, "") { print }' "$@"
}

# clean_session OPTION...: runs standard input as a session; true if valgrind is content.
clean_session() {
    OMP_NUM_THREADS=1 valgrind --quiet --leak-check=full --error-exitcode=9 \
        --log-file=log "$TARN" -i --no-init --no-history --threads=1 --memory=1G "$@" \
        >out 2>err
    cat log
    test ! -s log && grep -qx '> 42' out
}

{
    inputs "$source/README.md" "$source"/doc/*.md "$build/doc/reference.md"
    cat <<'END'
plot({1, 2, 3}, {{1, 4, 9}, {3, 2, 1}}, {legend={"a", "b"}, title="t", logy=true})
plot(function(x) return x^2 end)
heat(randn(100, 100, {seed=1}), {log=true})
hist(randn(1000, {seed=1}), {bins=20})
?
:save all.lua
:bt
!true
END
    "$TARN" "$source/tests/cli/wrong_inputs.lua" inputs
} >inputs
check "$claim" clean_session <inputs
{ inputs "$build/doc/reference.md"; echo '6 * 7'; } >inputs
check "nor does a restricted one" clean_session --restricted <inputs
finish
