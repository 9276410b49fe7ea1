# doctest.sh: --doctest and --doctest-fix: transcripts in Markdown files, run again.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "transcripts" "built without Lua"; finish; exit; }
cd "$SCRATCH" || exit
unset TARN_SLOW

# says STATUS ARGUMENT...: runs tarn with these; what it says is in out and err.
says() {
    expected=$1
    shift
    "$TARN" "$@" >out 2>err
    status=$?
    test $status = "$expected" && return
    echo "status $status, expected $expected"
    cat out err
    return 1
}
# block [TAGS]: makes the file t.md of a block. holds SUMMARY: it passes. differs LINE...: it
# fails, and these lines are said. wrong FILE LINE: an error that is said so.
block() { { echo '```repl'" $1"; cat; echo '```'; } >t.md; }
holds() { says 0 --doctest t.md && test ! -s err && test "$(cat out)" = "$1"; }
none="0 skipped (gpu: 0, slow: 0)"
one="1 passed, 0 failed, $none"
differs() {
    says 1 --doctest t.md || return 1
    for line; do grep -qFx -e "$line" out || { echo "missing: $line"; cat out err; return 1; }; done
}
wrong() { says 1 --doctest "$1" && grep -qFx -e "$2" err && return; cat out err; return 1; }

# What is in the source. How often a kernel goes to memory is the compiler's doing as well: the
# counts in the pages on kernels are those of gcc.
for file in "$srcdir/README.md" "$srcdir"/doc/*.md "$srcdir"/doc/*/*.md; do
    claim="what ${file#"$srcdir"/} shows is what tarn says"
    case ${file##*/} in
    kernels.md | *-gpu.md) "$CC" --version | grep -q clang && { skip "$claim" "not built by gcc"; continue; } ;;
    esac
    check "$claim" "$TARN" --doctest "$file"
done

# What kernels take of a GPU is copied from a table: sm_75, sm_80 and sm_90, shared memory. Of the
# float kernels without tensor cores; a name with ", k4" makes features on the way.
copied() {
    awk 'NR == FNR {
            gsub(/[`, ]/, "")
            if (split($0, a, "|") == 8 && a[2] ~ /\.cu$/) page[a[2] " " a[3]] = a[4] " " a[5] " " a[6] " " a[7]
            next
        }
        { name = $2 }
        { plain = sub(/<f>$|IfNS_11plain_coresIfEE(E|NS_20features_as_they_areIfEEE)$/, "", name) }
        { fused = sub(/IfNS_11plain_coresIfEENS_19features_on_the_wayIfEEE$/, "k4", name) }
        (plain || fused) && $1 " " name in page {
            split($3, a, "/"); split($4, b, "/"); split($7, c, "/"); seen++
            if (page[$1 " " name] != a[1] " " b[1] " " c[1] " " b[2]) { print; bad = 1 }
        }
        END { for (row in page) rows++; exit bad || rows < 10 || seen != rows }' "$1" \
        "$srcdir/tests/golden/ptxas.txt"
}
check "what doc/kernels.md says of registers is what ptxas said" copied "$srcdir/doc/kernels.md"
sed 's/| `walk` | 6/| `walk` | 7/' "$srcdir/doc/kernels.md" >other.md
refuse "other figures would be seen" copied other.md

# Outputs.
block <<'END'
> x = 20
> x + 1
21
> for i = 1, 2 do
>>   print(i)
>> end
1
2
> io.write("to stdout, ") os.execute("echo by a child") io.stderr:write("to stderr\n")
to stdout, by a child
to stderr
> print("first") error("boom\nits second line", 0)
first
boom
> prefix(zeros(2, 2), zeros(3, 2), zeros(2, 2))
prefix: k is [3, 2], expected [N, D] = [2, 2] to match q
> x;
> zeros(1, 2) + 0.5
tensor [1, 2] float32 cpu
  0.5000  0.5000
> time(function() end) < 1
true
> x = = 1
stdin:1: unexpected symbol near '='
END
check "an output is all that is written, then the first line of the error" \
    holds "10 passed, 0 failed, $none"
block <<'END'
> x = 1

> x
1
> print("a\n\nb")
a

b

END
check "blank lines after an output do not count" holds "3 passed, 0 failed, $none"
printf 'text\n\n```repl\n> 1 + 1\n3\n> 2 + 2\n4\n```\n' >t.md
check "a difference names file and line" differs "t.md:4: 1 + 1" "  - 3" "  + 2" \
    "1 passed, 1 failed, $none"
block <<'END'
> print("a") print("b") print("d")
a
c
d
END
check "lines that stay are shown beside those that do not" differs "    a" "  - c" "  + b" "    d"
block <<'END'
> 1
END
check "an output that is missing fails" differs "t.md:2: 1" "  + 1"
block <<'END'
> x = 1
1
END
check "an output that does not come fails" differs "t.md:2: x = 1" "  - 1"

# Elision.
block <<'END'
> for i = 1, 5 do print("line " .. i) end
line 1
...
line 5
> for i = 1, 5 do print("line " .. i) end
...
> "a long string with a tail"
"a long ... tail"
> print(io.stdout)
file (0x...)
> 1 / 3
0.333...
END
check "... stands for lines, and in a line for text" holds "5 passed, 0 failed, $none"
block <<'END'
> for i = 1, 5 do print("line " .. i) end
line 1
...
line 6
END
check "but not for what is there" differs "  - line 6" "  + line 5"

# Numbers.
block <<'END'
> 1 / 3
0.33334
END
check "numbers may differ by 1e-4 of their size" holds "$one"
block <<'END'
> 1 / 3
0.3334
END
check "but not by more" differs "  - 0.3334"
block tol=1e-3 <<'END'
> 1 / 3
0.3334
END
check "tol sets another tolerance" holds "$one"
block tol=0 <<'END'
> 1 / 3
0.333333333
END
check "tol=0 is none" differs "  - 0.333333333"
block <<'END'
> 1e-9
3e-8
> print("  9.99999 nan  -inf float32")
 10.00000 -nan -inf  float32
END
check "near 0, and across the widths of columns, they are equal" \
    holds "2 passed, 0 failed, $none"
for pair in "10000001 10000002" "inf -inf" "nan 1" "float32 float33" "1,000 1,001" "-1.5 1.5"; do
    block <<END
> print("${pair% *}")
${pair#* }
END
    check "${pair% *} is not ${pair#* }" differs "  + ${pair% *}"
done

# Blocks.
cat >t.md <<'END'
    > this is text

<!-- repl
> hidden = 41
-->
<!-- a comment
```repl
> not run
```
-->
~~~~ repl
> hidden + 1
42
~~~~

- in a list

  ```{.repl}
  > print("  indented")
    indented
  ```

```repl hidden
> hidden = hidden + 2
```

````markdown
```repl
> not run
```
````
```lua
> not run
```
```repl
> hidden
43
```
END
check "fences, indented ones, pandoc's, hidden set-up; one state for all" \
    holds "5 passed, 0 failed, $none"
cp t.md first.md
block <<'END'
> hidden
undefined variable 'hidden'
> randn(1)
tensor [1] float32 cpu
...
END
fresh() { says 0 --doctest first.md t.md first.md && grep -qx "12 passed, 0 failed, $none" out; }
check "each file has a state of its own" fresh
cat >t.md <<'END'
```repl gpu
> 1
2
> 1
2
```
```{.repl .slow #name}
> 1
1
```
END
if "$TARN" -e 'for _, b in ipairs(backends()) do if b.device == "cuda" and b.usable then os.exit(1) end end'
then
    check "gpu and slow are left out and counted" \
        holds "0 passed, 0 failed, 3 skipped (gpu: 2, slow: 1)"
    slow() { says 0 --doctest --slow t.md && grep -q "^1 passed.* 2 skipped (gpu: 2, slow: 0)" out; }
    check "--slow runs those" slow
    slow_too() { TARN_SLOW=1 says 0 --doctest t.md && grep -q "^1 passed" out; }
    check "so does TARN_SLOW=1" slow_too
else
    skip "gpu and slow are left out and counted" "there is a GPU"
fi
block <<'END'
> zeros(2, 300)
tensor [2, 300] float32 cpu
  0  0 ...  …  0 ...
  0  0 ...  …  0 ...
> "ä", "…"
"ä"	"…"
> io.read()
nil
END
strange() { COLUMNS=30 LC_ALL=C says 0 --doctest --color=always t.md && grep -qx "3 passed, 0 failed, $none" out; }
check "locale, colours and standard input are not those of the user" strange

# Errors in files.
printf '```repl\n> 1\n1\n' >t.md
check "a block that is not closed is an error" wrong t.md "t.md:1: this block is not closed"
printf 'x\n```repl fast\n> 1\n1\n```\n' >t.md
check "so is an unknown tag" wrong t.md \
    "t.md:2: unknown tag 'fast', expected gpu, emu, slow, hidden or tol=NUMBER"
block tol=x <<'END'
> 1
END
check "a tolerance that is no number" wrong t.md "t.md:1: tol is x, expected a number, 0 or more"
printf '```repl\nx = 1\n```\n' >t.md
check "a block without input" wrong t.md \
    "t.md:1: this block has no input, a line that begins with '> '"
printf '```repl\n1\n> x = 1\n```\n' >t.md
check "an output without input" wrong t.md "t.md:2: this stands above the first input of its block"
printf '```repl\n> "a\0b"\n```\n' >t.md
check "a NUL byte" wrong t.md "t.md:2: this input has a NUL byte"
block <<'END'
> 1
1
> pcall(os.exit, 3)
...
> 2
2
END
check "os.exit does not end the run, and is an error" wrong t.md \
    "t.md:4: os.exit is called here, but a transcript runs to its end"
check "what follows still runs" grep -q "^2 passed, 0 failed, .*, 1 error$" out
block <<'END'
> while true do pcall(print, ("x"):rep(100)) end
> os.execute("yes 2>/dev/null")
> 1
1
END
check "output without end is cut off" wrong t.md "t.md:2: this writes more than 1048576 bytes"
check "that of a program too, and the rest runs" grep -q "^1 passed, 0 failed, .*, 2 errors$" out
block <<'END'
> 1
1
END
both() { says 1 --doctest nosuch.md t.md . && grep -q '^1 passed.*, 2 errors$' out && grep -q '^nosuch.md: No such file' err; }
check "a file that can't be read is an error; the others run" both
printf '\377\376\0\1```repl\n> \0\r\n```lua\r\n~~~' >t.md
check "bytes that are no text are no block" holds "0 passed, 0 failed, $none"

# --doctest-fix.
cat >wrong.md <<'END'
```repl
> 1 + 1
3
> 1 / 3
0.33333
> for i = 1, 9 do print("line", i) end
line 1
...
line	8

> error("new", 0)
```
- list
  ```repl
  > 5
  ```
END
sed 's/^3$/2/; s/^line	8/line	9/; s/^> error.*/&\nnew/; s/^  > 5/&\n  5/' wrong.md >right.md
cp wrong.md t.md && chmod 640 t.md && ln -s t.md link.md
fixes() {
    says 0 --doctest-fix link.md && diff right.md t.md && test -h link.md &&
        grep -qx "1 passed, 4 fixed, $none" out &&
        grep -qx 'link.md:2: 4 outputs rewritten, this one first' out
}
check "--doctest-fix rewrites what differs, and nothing else" fixes
mode() { test "$(ls -l t.md | cut -c1-10)" = -rw-r-----; }
check "link and permissions stay" mode
check "then the file passes" holds "5 passed, 0 failed, $none"
touch -t 202001010000 t.md
unwritten() { says 0 --doctest-fix t.md && test t.md -ot right.md && test -z "$(find . -name '*.tarn-*')"; }
check "a file that passes is not written" unwritten
printf '```repl\r\n> 1\r\n2\r\n```' >t.md
crlf() { says 0 --doctest-fix t.md && printf '```repl\r\n> 1\r\n1\r\n```' | cmp - t.md; }
check "line ends stay, also a missing one" crlf
block <<'END'
> print("> 1")
END
cp t.md before.md
refuses() { says 1 --doctest-fix t.md && cmp t.md before.md && grep -q '^t.md:2: an output from here on' err; }
check "an output that looks like an input is not written" refuses
block <<'END'
> print("```")
END
cp t.md before.md
check "nor one that would close the block" refuses

# ^C.
block <<'END'
> io.open("ready", "w"):close() while true do pcall(function() while true do end end) end
END
stopped() {
    rm -f ready
    timeout --foreground -k 5 20 "$TARN" --doctest t.md >out 2>err &
    job=$!
    tries=0
    while test ! -f ready && test $tries -lt 100; do tries=$((tries + 1)); sleep 0.1; done
    sleep 0.2
    kill -INT $job
    wait $job
    test $? = 130 && grep -q interrupted err
}
if timeout --foreground 1 true 2>/dev/null; then
    check "^C stops the run" stopped
else
    skip "^C stops the run" "no timeout program"
fi
finish
