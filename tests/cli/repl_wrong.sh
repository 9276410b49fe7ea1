# repl_wrong.sh: more than a thousand wrong inputs in one session. What they are, and what
# is claimed of the answers, is in wrong_inputs.lua and wrong_inputs.txt.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "wrong inputs" "built without Lua"; finish; exit; }
here=$(cd "$srcdir/tests/cli" && pwd)
cd "$SCRATCH" || exit

"$TARN" "$here/wrong_inputs.lua" inputs >inputs || exit
"$TARN" -i --no-init --no-history --memory=1G <inputs >out 2>answers
echo $? >status

"$TARN" "$here/wrong_inputs.lua" check answers >claims
sed '$d' claims # without its plan, for more claims follow
tests=$(grep -c '^\(not \)*ok ' claims)
check "afterwards every value is what it was" grep -qx '> 42' out
check "what is piped into the prompt has failed if one of its inputs has" grep -qx 1 status
finish
