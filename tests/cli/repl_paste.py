"""repl_paste.py: pasting at the prompt: blocks of code and transcripts, on a terminal."""

import os

from terminal import Terminal, claim, finish, readline_claim


def paste(t, text):
    """Pastes as a terminal with bracketed paste does, and presses Return."""
    t.type("\x1b[200~" + text + "\x1b[201~\r")


def history(name):
    return os.path.join(os.environ["SCRATCH"], name)


@readline_claim
def pastes_as_one():
    """a paste is one input: its locals last until its end, it is one history entry"""
    with Terminal(TARN_HISTORY=history("one")) as t:
        assert "\x1b[?2004h" in t.raw
        paste(t, "local p = 20\nlocal q = 22\nprint(p + q)")
        t.wait("\n42\n")
        t.wait("> ")
        t.enter("p", "undefined variable 'p'")
        t.type("\x1b[A\x1b[A")
        t.wait("local p = 20\nlocal q = 22\nprint(p + q)")
        t.type("\r")
        t.wait("\n42\n> ")
    assert open(history("one")).read().count("\n#") == 2


@readline_claim
def shows_the_last_line():
    """of pasted statements the expression on the last line is shown"""
    with Terminal() as t:
        paste(t, "local p = 20\np + 1")
        t.wait("\n21\n> ")
        paste(t, "p = 20\np + 2;")
        t.enter("_", "22")
        paste(t, "p = 20\np + 3 -- not silenced;")
        t.wait("\n23\n> ")
        paste(t, "p = 20\nerror('boom')")
        t.wait("boom")
        paste(t, "n = 0\nfor i = 1, 3 do\n")
        t.wait(">> ")
        t.type("n = n + i end\r")
        t.wait("> ")
        t.enter("n", "6")


@readline_claim
def saves_as_shown():
    """:save writes pasted statements so that a script shows what their last line has shown"""
    script = history("pasted.lua")
    with Terminal() as t:
        paste(t, "local p = 20\nq = p\np + 1")
        t.wait("\n21\n> ")
        paste(t, "q = q + 1\nq, 'text' -- two")
        t.wait('\n21\t"text"\n> ')
        paste(t, "local r = 7\nprint(q + r)")
        t.wait("\n28\n")
        t.wait("> ")
        t.enter(f":save {script}", "saved 3 inputs")
    with os.popen(f"'{os.environ['TARN']}' {script}") as output:
        assert output.read() == "21\n21\ttext\n28\n", open(script).read()


TRANSCRIPT = """> x = 5
> x + 1
6
> for i = 1, 2 do
>>   print("i is", i)
>> end
i is\t1
i is\t2
> error("boom", 0)
boom
> x > 4
true
"""


@readline_claim
def transcripts_lose_prompts():
    """a pasted transcript runs input by input, without prompts and outputs"""
    with Terminal(TARN_HISTORY=history("transcript")) as t:
        paste(t, TRANSCRIPT)
        t.wait("> x + 1\n6\n> for i")
        t.wait(">> end\ni is\t1\ni is\t2\n> error")
        t.wait("\nboom\n> x > 4\ntrue\n> ")
        assert "unexpected" not in t.screen
    text = open(history("transcript")).read()
    assert "\nfor i = 1, 2 do\n  print(\"i is\", i)\nend\n" in text, text
    assert text.count("#") == 5 and "> x" not in text, text


@readline_claim
def indented_transcripts():
    """so does one that is indented, or that has blank lines before it"""
    with Terminal() as t:
        paste(t, "\n   > y = 7\n   > y + 1\n   8\n")
        t.wait("> y + 1\n8\n> ")


@readline_claim
def unfinished_transcripts():
    """the last input of a pasted transcript may go on"""
    with Terminal() as t:
        paste(t, "> y = 7\n> for i = 1, 2 do\n")
        t.wait("> for i = 1, 2 do\n>> ")
        t.enter("y = y + i end")
        t.enter("y", "10")


@readline_claim
def leaves_lua_alone():
    """Lua with > in it is pasted as it is"""
    with Terminal() as t:
        t.enter("x = 7")
        paste(t, "if x\n> 5 then\n  print('great', x\n>> 1)\nend")
        t.wait("great\t3\n> ")
        t.enter("if x")
        t.enter("> 5 then")
        t.enter("print('greater', x")
        t.enter(">> 1) end", "greater\t3")


@readline_claim
def interrupt_drops_the_rest():
    """^C in a pasted transcript drops the inputs that are left"""
    with Terminal() as t:
        paste(t, "> y = 1\n> print('run' .. 'ning') while true do end\n> y = 2\n")
        t.wait("running\n")
        t.interrupt()
        t.wait("interrupted\n> ")
        t.enter("y", "1")


@claim
def line_by_line():
    """a transcript that is typed, or pasted line by line, loses its prompts too"""
    with Terminal() as t:
        t.enter("> z = 1")
        t.enter("> for i = 1, 3 do")
        t.enter(">>   z = z + i")
        t.enter(">> end")
        t.enter("> z", "7")
        t.enter(">")
        t.enter("z + 1", "8")


finish(__file__)
