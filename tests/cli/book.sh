# book.sh: the book is woven without a complaint, its pages hold together, and each kind of
# mistake in a chapter stops the build with file, line and what is wrong.
. "$srcdir/tests/cli/tap.sh"
if test "$BOOK" != yes; then
    skip "the book" "configure found no pandoc, KaTeX or Lua"
    finish
    exit
fi
case "${CC-} ${CFLAGS-}" in
*clang* | *-fsanitize* | *--coverage*)
    skip "the book" "left to the plain build of gcc"; finish; exit ;;
esac
cd "$SCRATCH" || exit

# ---- one chapter, and its mistakes ----------------------------------------------------------

# A small book: root/ holds the sources, build/ what is made of them.
fresh() {
    rm -rf root build
    mkdir -p root/src root/doc/en root/doc/figures build/en build/katex
    cp "$srcdir/tests/book/good.md" root/doc/en/01-good.md
    cp "$srcdir/tests/book/regions.c" root/src/regions.c
    sed 's/include="/&src\//' <root/doc/en/01-good.md >spoilt && mv spoilt root/doc/en/01-good.md
    cp "$srcdir/tests/book/someone.bib" root/doc/references.bib
    echo '-- makes a drawing' >root/doc/figures/drawing.lua
}
weave() {
    "$PANDOC" --from markdown-implicit_figures --lua-filter "$srcdir/doc/weave.lua" -M mode="$1" \
        -M root=root -M build=build --to html5 "$3" -M chapters="$2" -o page.html
}
# The steps that the build takes, up to the page of 01-good.
woven() {
    for name in $names; do weave facts "$names" root/doc/en/$name.md || return; done
    weave book "$names" /dev/null && weave page "$names" root/doc/en/01-good.md
}
names=01-good
fresh
check "a chapter with all kinds of mark-up becomes a page" woven
cp page.html good.html

shows() { grep -qF -e "$1" good.html || { cat good.html; return 1; }; }
check "a listing tells file, lines and the function it is inside of" \
    shows '<span class="file">src/regions.c</span>, line 7, in <code>twice</code>'
check "or that it is the whole of" \
    shows '<span class="file">src/regions.c</span>, lines 13–18, function <code>half</code>'
check "or the test" shows 'line 24, test <code>halves, are_half_of_it</code>'
check "it is shown without the indent that all lines share" grep -q '^>*<.*><span class="dt">int</span> y' good.html
check "an equation has its number and an anchor" shows '<span class="equation" id="eq-8">'
check "MathML stands beside what KaTeX draws" shows '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'
check "a reference is a link with the number" shows '<a class="ref" href="#eq-8">equation (8)</a>'
check "an answer is folded away without JavaScript" shows '<details class="answer"><summary>Answer</summary>'
hides() { ! grep -q 'hidden = 1' good.html; }
check "what is hidden is not shown" hides

# says MESSAGE: weaving stops, and a line on stderr is this.
says() {
    woven >out 2>err && { echo "no complaint"; return 1; }
    grep -qxF -e "$1" err || { cat err; return 1; }
}
# mistake CLAIM FILE SED MESSAGE: the file spoilt by sed stops the build with the message.
mistake() {
    fresh
    sed "$3" "root/$2" >spoilt && mv spoilt "root/$2"
    check "$1" says "$4"
}
text=doc/en/01-good.md
mistake "a region that is not there" $text 's/region="inner"/region="outer"/' \
    "$text:27: src/regions.c has no region outer; it has: inner, whole, claim"
mistake "a file that is not there" $text '30s/regions.c/nosuch.c/' "$text:30: there is no file src/nosuch.c"
mistake "a region that begins twice" src/regions.c 's/> region whole/> region inner/' \
    "$text:27: src/regions.c:12: region inner begins a second time, first at line 6"
mistake "a region that is not closed" src/regions.c '/< region claim/d' \
    "$text:27: src/regions.c:23: region claim is not closed"
mistake "a region that ends without a beginning" src/regions.c '/> region inner/d' \
    "$text:27: src/regions.c:7: region inner ends here and did not begin"
mistake "a region without a line" src/regions.c '/int y/d' "$text:27: src/regions.c:7: region inner is empty"
mistake "a line of more than 80 columns" src/regions.c \
    's/int y = x + x;/int a_name_that_is_rather_long = x + x; int another_name_that_is_long_as_well = 1 + 23;/' \
    "$text:27: src/regions.c: line 1 of region inner has 87 columns, at most 80 fit: int a_name_that_is_rather_long = x + x; int another_name_that_is_long_as_well = 1 + 23;"
long="> a_name_that_is_rather_long = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15"
mistake "a line of a transcript that no sheet has room for" $text "s/^> 1 + 1/$long/" \
    "$text:41: this line has 94 columns, at most 90 fit in print"
mistake "a region that no chapter shows" $text '/region="inner"/s/inner/whole/' \
    "src/regions.c: region inner is in no chapter"
mistake "a formula that KaTeX can't read" $text 's/\\den}/\\dem}/' \
    "$text:7: maths: Undefined control sequence: \\dem at position 42: …q)^\\T \\phi(k)}{\\dem}: \\simil(q, k) = \\frac{\\phi(q)^\\T \\phi(k)}{\\dem}"
mistake "a reference to nothing" $text 's/@eq:8/@eq:9/' "$text:12: unknown reference @eq:9"
mistake "a chapter that is not there" $text 's/@ch:good/@ch:god/' "$text:12: unknown reference @ch:god; there are good"
mistake "a source that the bibliography lacks" $text 's/@someone2020/@someone2021/' \
    "$text:13: unknown reference @someone2021: neither a label nor in doc/references.bib"
mistake "a link to a heading that is not there" $text 's/#the-code/#the-cod/' "$text:12: no heading or label the-cod in 01-good.md"
mistake "a link to a file that is not there" $text 's/(#the-code)/(nosuch.md)/' "$text:12: there is no file nosuch.md"
mistake "a label that comes twice" $text 's/eq:1.1}/eq:8}/' "$text:7: label eq:8 is also at line 7"
mistake "a label that is none" $text 's/label{eq:8}/label{8}/' "$text:7: label 8, expected eq:8 or eq:4.1"
mistake "a figure without words for those who don't see it" $text 's/alt="[^"]*"/alt=""/' \
    "$text:23: this figure has no alt text: what one sees, in words"
mistake "a figure that nothing makes" $text 's/drawing.svg/painting.svg/' \
    "$text:23: there is no doc/figures/painting.lua that makes figures/painting.svg"
mistake "a box of no kind" $text 's/::: question/::: qestion/' \
    "$text:15: unknown div 'qestion'; there are answer, claim, contents, cost, exercises, hand, note, pitfall, question, refs, register"
mistake "a transcript that pandoc takes for text" $text 's/^```repl/& slow/' \
    "$text:40: pandoc reads no word behind \`\`\`repl: write \`\`\`{.repl .slow}"
mistake "a chapter without a title" $text 1d "$text:1: a chapter begins with its title: # Title {#id}"
mistake "a second title" $text 's/^## The code/# The code/' "$text:25: a second title; headings below it are ## and ###"

names="01-good 02-other"
two() {
    fresh
    printf '# Another {#other}\n\n%s\n' "$1" >root/doc/en/02-other.md
}
two '[term]{.term}'
check "a term that two chapters define" says "doc/en/02-other.md:3: term term-term is also at doc/en/01-good.md:5"
two '$$a \label{eq:8}$$'
check "a label that two chapters have" says "doc/en/02-other.md:3: label eq:8 is also at doc/en/01-good.md:7"
two '[back](01-good.md#the-code) and @eq:1.1'
check "chapters refer to each other" woven

# ---- the book -------------------------------------------------------------------------------

site=$builddir/doc/html/en
woven_whole() { $MAKE -C "$builddir" html; }
check "the book is woven without a complaint" woven_whole
check "its pages hold together" "$TARN" --no-init "$srcdir/tests/book/pages.lua" "$site"
cp -r "$builddir/doc/html" . && chmod -R u+w html
# spoilt CLAIM SED MESSAGE: the check above would have seen this.
page=$(ls html/en/03-*.html)
sees() {
    sed "$1" "$page" >html/en/spoilt.html && mv html/en/spoilt.html "$page"
    "$TARN" --no-init "$srcdir/tests/book/pages.lua" html/en 2>&1 | grep -q "${page##*/}: $2"
    status=$?
    cp "$site/${page##*/}" "$page"
    return $status
}
check "a broken link would be seen" sees 's/href="index.html"/href="nosuch.html"/' 'link to nosuch.html'
check "so would an anchor that is not there" sees 's/href="#text"/href="#txt"/' 'link to #txt'
check "something from the network" sees 's/src="figures/src="https:\/\/x.org\/figures/' 'img https://x.org/.* is not beside'
check "a script" sees 's/<main /<script><\/script>&/' 'a script'
check "an image without words" sees 's/ alt="[^"]*"/ alt=""/' 'an image without alt'
check "a heading that skips a level" sees 's/<h2\([^>]*>.*\)<\/h2>/<h4\1<\/h4>/' 'a heading of level 4 below one of level 1'

stands_out() { "$TARN" --no-init "$srcdir/tests/book/contrast.lua" "$1"; }
check "every colour of words stands out from its ground, light and dark" \
    stands_out "$srcdir/doc/weave/book.css"
faint() { sed 's/--comment: #[0-9a-f]*/--comment: #7d8276/' "$srcdir/doc/weave/book.css" >faint.css; ! stands_out faint.css; }
check "one that does not would be seen" faint

check "every public name, in Lua and in C, is spoken of on some page" \
    "$TARN" --no-init "$srcdir/tests/book/cited.lua" "$site"
uncited() {
    rm html/en/in-c.html
    "$TARN" --no-init "$srcdir/tests/book/cited.lua" html/en 2>&1 | grep -qx tarn_on_pressure
}
check "one that is not would be seen" uncited

# Equations that comments in the sources name, (eqs 10, 11) or eqs 18-20.
cited() {
    grep -rhoE '\beqs? [0-9.]+((-|, | and )[0-9.]+)*' "$srcdir/src" "$srcdir/cuda" "$srcdir/lua" "$srcdir/emu" |
        awk '{ gsub(/eqs? |,|and/, " "); for (i = 1; i <= NF; i++) { n = split($i, r, "-")
            if (n == 2) for (j = r[1]; j <= r[2]; j++) print j; else print $i } }' | sed 's/\.$//' | sort -u
}
equations() {
    cat "$site"/*.html | grep -o 'id="eq-[0-9.]*"' | sed 's/id="eq-//; s/"//' | sort >there
    test -z "$(uniq -d there)" && cited >named && test "$(wc -l <named)" -gt 15 && ! comm -23 named there | grep .
}
check "equations that the sources name are in the book, each once" equations

case $PAPER in
yes)
    check "the book becomes a PDF" $MAKE -C "$builddir" pdf
    numbers() {
        pdftotext -layout "$builddir/doc/tarn-book.pdf" text || return
        while read -r number; do grep -qF "($number)" text || { echo "no ($number)"; return 1; }; done <there
    }
    # on_its_page WORDS: the first page that the index gives for them, one before it, has them.
    on_its_page() {
        number=$(sed "1,/^ *Index\$/d" text | grep -o "\<$1 [0-9][0-9]*" | sed 's/.* //')
        test "${number:-999}" -lt "$(sed -n 's/^ *Index \.* *//p' text)" &&
            pdftotext -f "$number" -l "$number" "$builddir/doc/tarn-book.pdf" - |
            tr '\n' ' ' | grep -qF "$1" || { echo "$1 on page ${number:-none}"; return 1; }
    }
    indexed() { on_its_page "compensated sum" && on_its_page tarn_select && on_its_page st:run; }
    if command -v pdftotext >/dev/null; then
        check "its text has the number of each equation" numbers
        check "its index has the pages of words and functions" indexed
    else
        skip "its text has the number of each equation" "no pdftotext (poppler-utils)"
        skip "its index has the pages of words and functions" "no pdftotext (poppler-utils)"
    fi ;;
*) skip "the PDF" "configure found no WeasyPrint" ;;
esac
finish
