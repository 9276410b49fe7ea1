# chapters.awk: the chapters of the book as a Lua table: which of them explains a function.
#
#   awk -f tools/chapters.awk doc/en/00-how-to-read.md doc/en/01-weighted-average.md .. >chapters.lua
#
# A chapter says it itself, in a comment below its title: <!-- help: prefix, tarn_prefix -->.
# help() then ends these entries with its number, title and file. Written for any awk.

BEGIN {
    print "-- Written by tools/chapters.awk from the chapters of the book: do not edit."
    print "return {"
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    title = id = $0
    gsub(/^# *| *\{#[^}]*\} *$/, "", title)
    gsub(/.*\{#|\}.*/, "", id)
}
/^<!-- help:/ { inside = 1; keys = ""; sub(/^<!-- help:/, "") }
inside {
    line = $0
    ended = sub(/-->.*/, "", line)
    keys = keys " " line
    if (ended) { inside = 0; write(keys) }
}
END { print "}" }

function quoted(text) { gsub(/["\\]/, "\\\\&", text); return "\"" text "\"" }

function write(keys,   n, list, i, text) {
    n = split(keys, list, /[ ,]+/)
    for (i = 1; i <= n; i++) if (list[i] != "") text = text quoted(list[i]) ", "
    printf "  {number = %d, id = %s, title = %s, file = %s, names = {%s}},\n", name + 0, quoted(id), \
        quoted(title), quoted("doc/en/" name), text
}
