# help.awk: gathers the help blocks of all sources into one Lua table.
#
#   awk -f tools/help.awk src/tarn.h src/repl/lua_stages.c lua/bench.lua ... >help_entries.lua
#
# A block is a comment that begins with `help:`. It ends with the comment, or at an empty
# line in it. In C (in Lua the same after `--`, in doc/topics.help without any sign):
#
#   /* help: where(mask, a, b) -> tensor
#    * Takes from a where mask is not 0, and from b where it is.
#    * shapes: mask, a and b broadcast together
#    * math: out_i = mask_i != 0 ? a_i : b_i  cost: O(numel of out)
#    * errors: shapes that do not broadcast
#    * example:
#    *   > where(tensor{1, 0}, tensor{1, 2}, tensor{3, 4})
#    *   tensor [2] float32 cpu
#    *     1  4
#    * see: clamp, eq */
#
#   - First how it is called: name(..), t:method(..), t.field, st:method(..), rnn.load(..).
#     Then a sentence. Then labels, of which several may share a line, two blanks between.
#   - options: one a line, its name first; each {name=} of the call needs one.
#   - example: what is typed after "> ", below it what the prompt answers, times as "-".
#     It is run as a test. Behind the colon may stand tags of --doctest, such as slow.
#   - note: is for what fits nowhere else. Lines that go on are indented.
#   - A name in quotes is a topic: a sentence, about: and see:. So is a command of the
#     prompt, such as :save. All others need every label but note, and options if any.
#   - In src/tarn.h a block is the comment above declarations; its labels are there too.
#
# What is wrong stops the build with file:line. Written for any awk, in the C locale.

BEGIN {
    LABELS = "shapes|math|cost|errors|options|aliasing|about|note|example|see"
    print "-- Written by tools/help.awk from the comments of the sources: do not edit."
    print "return {"
}

FNR == 1 { end_of_file(); form = FILENAME; sub(/.*\./, "", form) }
{ read_line($0) }
END {
    end_of_file()
    print "}"
    check_references()
    exit failed
}

function complain(where, what) {
    print where ": help: " what | "cat 1>&2"
    failed = 1
}

function end_of_file() {
    end_of_block()
    in_comment = declaring = held = 0
}

# ---- lines into blocks --------------------------------------------------------------

# Takes the sign of a comment away; `text` is what it says. False outside of comments.
function is_comment(line) {
    text = line
    if (form == "lua") return sub(/^-- ?/, "", text)
    if (form == "help") return text !~ /^#/
    if (line ~ /^\/\*/) in_comment = 1
    if (!in_comment) return 0
    sub(/^(\/\*| \*)( |$)/, "", text)
    if (sub(/ *\*\/.*$/, "", text)) { in_comment = 0; last_line = 1 }
    return 1
}

function read_line(line) {
    last_line = 0
    if (form == "h") { read_header(line); return }
    if (!is_comment(line) || text == "" && !last_line) { end_of_block(); return }
    if (text ~ /^help: /) {
        end_of_block()
        begin_block(FILENAME ":" FNR)
        signature = substr(text, 7)
        part = "signature"
    } else if (open) {
        read_text(text)
    }
    if (last_line) end_of_block()
}

# The header: a comment is held until the declarations below it, or an empty line.
function read_header(line) {
    if (line == "") { end_of_block(); return }
    if (line ~ /^\/\* ---- [0-9]/) {
        section = line
        gsub(/^\/\* -* [0-9]*\. *| *-* \*\/$/, "", section)
    }
    if (line ~ /^TARN_API/) { declaring = 1; declaration = "" }
    if (declaring) { read_declaration(line); return }
    if (line ~ /^\/\*/) { end_of_block(); begin_block(FILENAME ":" FNR); part = "sentence" }
    if (open && is_comment(line)) read_text(text)
}

function read_declaration(line) {
    sub(/^TARN_API +| +$/, "", line)
    sub(/^ +/, " ", line)
    declaration = declaration line
    if (declaration !~ /;$/) return
    declaring = 0
    if (!open) { complain(FILENAME ":" FNR, "a declaration without a comment"); return }
    signature = declaration
    sub(/;$/, "", signature)
    name = signature
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    check_and_write(name, "shapes|math|cost|errors|aliasing")
}

# ---- one block ----------------------------------------------------------------------

function begin_block(where) {
    open = 1
    place = where
    signature = sentence = ""
    split("", fields)
}

# Adds a line to the part of the block that it belongs to.
function read_text(line,   label) {
    if (line ~ "^(" LABELS "):") {
        label = line
        sub(/:.*/, "", label)
        start_label(label, substr(line, length(label) + 2))
    } else if (part == "signature" && line ~ /^  /) {
        signature = signature " " trim(line)
    } else if (part == "signature" || part == "sentence" && line !~ /^  /) {
        part = "sentence"
        sentence = sentence (sentence == "" ? "" : " ") trim(line)
    } else if (line ~ /^  /) {
        go_on(line)
    } else {
        complain(FILENAME ":" FNR, "'" line "' is no label and not indented; labels: " LABELS)
    }
}

function start_label(label, rest) {
    if (label in fields) complain(FILENAME ":" FNR, "a second " label)
    part = label
    fields[label] = ""
    if (label == "options") {
        match(rest, /^ */)
        margin = length(label) + 1 + RLENGTH
        fields[label] = trim(rest)
    } else if (label == "example") {
        margin = -1
        if (trim(rest) != "") fields["tags"] = trim(rest)
    } else {
        add_words(rest)
    }
}

# Adds text to the current label, up to the next label on the same line.
function add_words(words,   rest, label) {
    if (match(words, "  +(" LABELS "): ")) {
        rest = substr(words, RSTART + RLENGTH)
        label = trim(substr(words, RSTART, RLENGTH - 2))
        words = substr(words, 1, RSTART - 1)
    }
    words = trim(words)
    fields[part] = fields[part] (fields[part] == "" || words == "" ? "" : " ") words
    if (label != "") start_label(label, rest)
}

function go_on(line,   indent) {
    match(line, /^ */)
    indent = RLENGTH
    if (part == "example") {
        if (margin < 0) margin = indent
        fields[part] = fields[part] (fields[part] == "" ? "" : "\n") substr(line, margin + 1)
    } else if (part == "options") {
        fields[part] = fields[part] (indent > margin ? " " : "\n") trim(line)
    } else {
        add_words(line)
    }
}

function end_of_block() {
    if (open && form != "h") {
        name = signature
        if (name !~ /^["?;:!_^]/) {
            sub(/[({ ].*/, "", name)
            check_and_write(name, "shapes|math|cost|errors|example|see")
        } else {
            sub(/ .*/, "", name)
            gsub(/"/, "", name)
            gsub(/"/, "", signature)
            check_and_write(name, "about|see")
        }
    }
    open = 0
}

# ---- what a block must have, and how it is written -----------------------------------

function check_and_write(name, needed,   i, n, list) {
    n = split(needed, list, "|")
    for (i = 1; i <= n; i++)
        if (!(list[i] in fields) || fields[list[i]] == "") complain(place, name " has no " list[i] ":")
    if (sentence == "") complain(place, name " has no sentence")
    if (name in written) complain(place, name " is also at " written[name])
    check_options(name)
    for (i in fields)
        if (i != "example" && fields[i] ~ /[\200-\377]/) complain(place, name ": " i " is not ASCII")
    written[name] = place
    if ("see" in fields) see[name] = fields["see"]
    write_entry(name)
}

# Each option of the call stands in the list of options.
function check_options(name,   call, option, options) {
    options = "options" in fields ? fields["options"] : ""
    call = signature
    sub(/ -> .*/, "", call)
    while (match(call, /[A-Za-z_]+=[^=]/)) {
        option = substr(call, RSTART, RLENGTH - 2)
        call = substr(call, RSTART + RLENGTH)
        if (("\n" options) !~ ("\n" option "[ ,]")) complain(place, name ": no option " option)
    }
}

function write_entry(name,   n, i, list, returns) {
    returns = ""
    if ((i = index(signature, " -> "))) {
        returns = substr(signature, i + 4)
        signature = substr(signature, 1, i - 1)
    }
    print "  {key = " quoted(name) ", place = " quoted(place) ","
    print "    signature = " quoted(signature) ", returns = " quoted(returns) ","
    print "    sentence = " quoted(sentence) ","
    if (form == "h") print "    section = " quoted(section) ","
    n = split(LABELS "|tags", list, "|")
    for (i = 1; i <= n; i++)
        if (list[i] in fields) print "    " list[i] " = " quoted(fields[list[i]]) ","
    print "  },"
}


# What `see` names must be there: by its key, or as a method or field of that name.
function check_references(   name, n, i, list, known, bare) {
    for (name in written) {
        known[name] = 1
        bare = name
        sub(/^.*[.:]/, "", bare)
        known[bare] = 1
    }
    for (name in see) {
        n = split(see[name], list, ", *")
        for (i = 1; i <= n; i++)
            if (!(list[i] in known))
                complain(written[name], name ": nothing to see at '" list[i] "'")
    }
}

function trim(s) {
    gsub(/^ +| +$/, "", s)
    return s
}

function quoted(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    gsub(/\n/, "\\n", s)
    return "\"" s "\""
}
