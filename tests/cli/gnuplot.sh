# gnuplot.sh: pictures as files: plot, heat and hist with {file=}.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "pictures as files" "built without Lua"; finish; exit; }
cd "$SCRATCH" || exit

path=$PATH
run() { PATH=$path "$TARN" --no-init -e "$1" >out 2>err; }
# complains TEXT CODE: fails with this as its first line, and leaves no file behind.
complains() {
    run "$2" && return 1
    head -1 err
    test "$(head -1 err)" = "$1" && test -z "$(ls -A pictures)"
}
mkdir pictures

without_gnuplot() {
    path=/nonexistent
    complains "$1: file=\"pictures/x.svg\" needs gnuplot, which is not on the\
 PATH; hint: apt install gnuplot-nox, or leave file= out to see it in the terminal" \
        "$1({1, 2}, {file='pictures/x.svg'})"
    status=$?
    path=$PATH
    return $status
}
for name in plot heat hist; do
    check "$name says what is missing when gnuplot is absent" without_gnuplot $name
    check "$name refuses other kinds of files" complains \
        "$name: file is \"pictures/x.pdf\", expected a name that ends in .svg or .png" \
        "$name({1, 2}, {file='pictures/x.pdf'})"
    check "$name tells of a folder that is not there" complains \
        "$name: can't write nowhere/x.svg: No such file or directory" \
        "$name({1, 2}, {file='nowhere/x.svg'})"
done

command -v gnuplot >"$SCRATCH/path" || {
    skip "what gnuplot draws" "no gnuplot"
    finish
    exit
}

svg() { run "$1({1, 2, 4}, {file='$1.svg'})" && test ! -s out && grep -q '</svg>' $1.svg; }
png() {
    run "$1({1, 2, 4}, {file='$1.png'})" || { cat err; return 1; }
    test "$(head -c 8 $1.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a &&
        tail -c 8 $1.png | grep -q IEND
}
same_twice() { cp $1.svg before.svg && svg $1 && cmp before.svg $1.svg; }
for name in plot heat hist; do
    check "$name writes SVG" svg $name
    check "$name writes PNG" png $name
    check "the same picture is the same bytes: $name" same_twice $name
done

# A gnuplot that fails after it has written something: the old picture stays.
mkdir bin
printf '#!/bin/sh\nls kept >names\necho half\necho "line 3: out of ink" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
keeps_the_old() {
    mkdir -p kept && echo old >kept/x.svg
    path=$SCRATCH/bin:$PATH
    run "plot({1, 2}, {file='kept/x.svg'})" && return 1
    path=$PATH
    test "$(head -1 err)" = "plot: gnuplot failed: out of ink" &&
        test "$(cat kept/x.svg)" = old && test "$(ls -A kept)" = x.svg
}
check "a picture that fails leaves the old file as it was" keeps_the_old
# That gnuplot saw the picture's temporary name, which ends as the script's does.
no_rests() {
    script=$(sed -n 's/^x\.svg\.//p' names)
    test -n "$script" && test ! -e "/tmp/$script" && test -z "$(find . -name '*.lua_*')"
}
check "no temporary file stays behind" no_rests

# gnuplot itself does not notice when there is no room; this one leaves before the end.
half_a_picture() {
    mkdir -p half && echo old >half/x.$1
    printf '#!/bin/sh\nexec "%s" "$@" | head -c 4000\n' "$(cat path)" >bin/gnuplot
    path=$SCRATCH/bin:$PATH
    run "plot({1, 2}, {file='half/x.$1'})" && return 1
    path=$PATH
    test "$(head -1 err)" = "plot: can't write half/x.$1: the file is incomplete; is the disk full?" &&
        test "$(cat half/x.$1)" = old && test "$(ls -A half)" = x.$1
    status=$?
    rm -r half
    return $status
}
check "half a picture is none: SVG" half_a_picture svg
check "half a picture is none: PNG" half_a_picture png
folder() {
    mkdir folder.svg && run "plot({1, 2}, {file='folder.svg'})" && return 1
    test "$(head -1 err)" = "plot: can't write folder.svg: Is a directory"
}
check "a folder is not overwritten" folder
nul() {
    echo old >n && run 'plot({1, 2}, {file="n\0.svg"})' && return 1
    test "$(head -1 err)" = 'plot: file is "n\0.svg", expected the name of a file' &&
        test "$(cat n)" = old
}
check "a name with a NUL is no name" nul

# Texts are the user's: none of it is a command, for gnuplot, the shell or SVG.
cat >texts.lua <<'LUA'
for i, text in ipairs {"`touch hacked`", "$(touch hacked)", "'; system 'touch hacked' #",
  "\n!touch hacked\n", "\"; `touch hacked` \"", "@hacked", "<b>&amp;", "φ ≠ \\n %s {/Bold x}",
  "END\n!touch hacked", "\0x", "1.2e-07"} do
  local opt = {title = text, xlabel = text, ylabel = text, file = "text" .. i .. ".svg"}
  plot({{y = {1, 2}, label = text}}, opt)
  opt.legend = {text}
  plot({1, 2}, opt)
  for _, draw in ipairs {heat, hist} do
    draw({1, 2}, {title = text, file = "other" .. i .. ".svg"})
  end
end
LUA
harmless() { "$TARN" --no-init texts.lua && test ! -e hacked; }
check "texts with quotes, backquotes, macros, line ends and commands are harmless" harmless
literal() { grep -q '`touch hacked`' text1.svg && grep -q 'φ ≠ \\n %s {/Bold x}' text8.svg &&
    test "$(grep -c '>1\.2e-07<' text11.svg)" -ge 3; }
check "they stand in the picture as they are" literal

cat >paths.lua <<'LUA'
for _, path in ipairs {"with space.svg", "--x.svg", "it's.svg", "`touch hacked`.svg",
  "|touch hacked.svg", "$(touch hacked).svg", "φ.svg", "a\nb.svg", '"quoted".png', "%d.png",
  "; touch hacked;.svg"} do
  plot({1, 2}, {file = path})
  assert(io.open(path)):close()
end
LUA
paths() { "$TARN" --no-init paths.lua && test ! -e hacked; }
check "any path is only a path" paths

# A configuration of the user's own would change the picture.
ignores() {
    svg plot && cp plot.svg before.svg && echo 'set title "mine"' >"$SCRATCH/.gnuplot" &&
        HOME=$SCRATCH svg plot && cmp before.svg plot.svg
}
check "the user's ~/.gnuplot does not change the picture" ignores

check "nothing to draw is an error, not an empty file" complains \
    "heat: there are no numbers to draw" "heat({0/0}, {file='pictures/x.svg'})"
log_axes() { run "plot({1, 10}, {0.1, 1000}, {logx=true, logy=true, file='log.svg'})" && grep -q '1000' log.svg; }
check "log axes" log_axes
extremes() {
    for numbers in '{1e-300, 1e300}' '{-1e300, 1e300}' '{5}' '{1, 0/0, 3, 1/0}'; do
        for name in plot heat hist; do
            run "$name($numbers, {file='extreme.svg'})" || { echo "$name $numbers"; cat err; return 1; }
        done
    done
}
check "the extremes of doubles, a single number, NaN and infinities" extremes
finish
