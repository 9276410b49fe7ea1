"""repl_editing.py: completion, history and keys at the prompt, on a terminal."""

import os
import signal

from terminal import Terminal, claim, finish, has_readline, readline_claim


@claim
def says_how_to_edit():
    """REP-10: a build without Readline says once how to get editing"""
    with Terminal() as t:
        assert t.screen.count("libreadline-dev") == (0 if has_readline() else 1)
        t.enter("1 + 1", "2")
        assert t.leave() == 0


@readline_claim
def completes():
    """TAB completes globals, fields and methods"""
    with Terminal() as t:
        t.type("zer\t")
        t.wait("zeros(")
        t.enter("3)", "tensor [3]")
        t.enter("t = zeros(2, 2)")
        t.type("t:resh\t")
        t.wait("t:reshape(")
        t.enter("4)", "tensor [4]")
        t.type("t.dty\t")
        t.wait("t.dtype")
        t.enter("", "float32")
        t.enter("abc = {inner = {deep_field = 77}}")
        t.type("abc.inner.de\t")
        t.wait("deep_field")
        t.enter("", "77")
        t.type("math.\t\t")
        t.wait("floor")
        t.drop_line()
        t.type("nosuch.name.\t\tx")
        t.wait("nosuch.name.x")
        t.drop_line()
        t.enter("1 + 1", "2")


@readline_claim
def completion_runs_nothing():
    """completion runs no metamethod"""
    with Terminal() as t:
        t.enter("calls = 0")
        t.enter("count = function() calls = calls + 1 return {} end")
        t.enter("trap = setmetatable({}, {__index = count, __pairs = count})")
        t.type("trap.x\t\ttrap.x.y\t\tz")
        t.wait("trap.xtrap.x.yz")
        t.drop_line()
        t.enter("calls", "0")


@readline_claim
def completes_what_calls_take():
    """TAB completes options, their words, names of files, help topics; says how to call"""
    open(os.path.join(os.environ["SCRATCH"], "some data.npy"), "w").close()
    with Terminal() as t:
        t.type("prefix(\t")
        t.wait("\nprefix(q, k, v, {phi=")
        t.type("q, q, q, {met\t")
        t.wait("method=")
        t.type('"seq\t')
        t.wait('"sequential"')
        t.drop_line()
        t.type("zeros(2, 3):resh\t")
        t.wait("\nt:reshape(")
        t.drop_line()
        t.type('sim(q, k, v, {by="so\t\t\t')
        t.wait("softmax   softplus")
        t.drop_line()
        t.type('print("~/some da\t')
        t.wait(f'{os.environ["SCRATCH"]}/some data.npy"')
        t.drop_line()
        t.type("?t:su\t")
        t.wait("?t:sum")
        t.enter("", "t:sum(dim")


@readline_claim
def completes_odd_files():
    """TAB writes a file's name so that Lua reads it back"""
    odd = os.path.join(os.environ["SCRATCH"], 'odd "quotes" and \\ here')
    open(odd, "w").close()
    with Terminal() as t:
        t.run('io.open("~/odd\t):close(),#_G', "true")
        t.run('io.open("~/odd \\"quo\t):close()', "true")


@readline_claim
def completes_in_a_block():
    """TAB knows the lines before of an unfinished input"""
    with Terminal() as t:
        t.enter("prefix(1, 2,")
        t.type("3, {met\t")
        t.wait("method=")
        t.drop_line()


@readline_claim
def arrows_search():
    """Up and Down go through the inputs that begin as the line does"""
    with Terminal(TARN_HISTORY=os.path.join(os.environ["SCRATCH"], "arrows")) as t:
        t.enter("alpha = 1")
        t.enter("beta = 2")
        t.enter("alpha = 3")
        t.enter("gamma = 4")
        t.run("al\x1b[A\x1b[A + 10")
        t.enter("alpha", "11")
        t.run("al\x1b[A\x1b[A\x1b[A\x1b[B + 30")
        t.enter("alpha", "41")
        t.run("be\x1b[A\x1b[Bta .. 'typed'", '"2typed"')
        t.run("\x1b[A\x1b[A .. 'any'", '"41any"')


@readline_claim
def own_keys_win():
    """what the user's inputrc binds stays bound"""
    keys = os.path.join(os.environ["SCRATCH"], "inputrc")
    with open(keys, "w") as file:
        file.write('$if tarn\n"\\e[A": "40 + 2"\n$endif\n')
    with Terminal(INPUTRC=keys) as t:
        t.type("\x1b[A")
        t.wait("40 + 2")
        t.enter("", "42")


@readline_claim
def history_survives():
    """an input is kept before it runs: it survives os.exit and a kill"""
    file = os.path.join(os.environ["SCRATCH"], "survives")
    with Terminal("--history=" + file, TARN_HISTORY="/nonexistent/never") as t:
        t.type("(function() os.exit(3) end)()\r")
        assert t.status() == 3
    with Terminal("--history=" + file) as t:
        t.type("print('bu' .. 'sy') while true do end\r")
        t.wait("\nbusy")
        os.kill(t.pid, signal.SIGKILL)
        assert t.status() == -signal.SIGKILL
    text = open(file).read()
    assert "os.exit(3)" in text and "while true" in text, text


@readline_claim
def edits_utf8():
    """letters of several bytes are edited as one"""
    with Terminal() as t:
        t.type('"é中x')
        t.wait("中x")
        t.type("\x7f\x7f\x7fab\"\r")
        t.wait('\n"ab"')
    with Terminal(TERM="dumb") as t:
        t.type('x = "é"\r')
        t.wait("\n> ")
        t.enter("#x", "2")


@readline_claim
def signatures_in_a_narrow_window():
    """in 40 columns a signature is broken at its blanks"""
    with Terminal(columns=40) as t:
        t.type("prefix(\t")
        t.wait("method=")
        t.drop_line()
        lines = t.screen.split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("prefix(q, k, v"))
        assert lines[at].endswith(",") and lines[at + 1].startswith("      "), lines
        assert all(len(line) < 40 for line in lines[at:at + 5]), lines


@readline_claim
def interrupt_at_a_question():
    """^C is a no to the question whether to list very many candidates"""
    with Terminal() as t:
        t.type("x = \t\t")
        t.wait("Display all")
        t.drop_line()
        t.enter("6 * 7", "42")


@readline_claim
def long_lines_in_a_narrow_window():
    """in 40 columns a line may be longer than the window"""
    with Terminal(columns=40) as t:
        t.type("'" + "0123456789" * 9 + "'\x1b[D\x7fX\x01#\r")
        t.wait("\n90")


@readline_claim
def tab_indents():
    """TAB at the beginning of a line indents"""
    with Terminal() as t:
        t.type("\t7\r")
        t.wait("    7")
        t.wait("\n7")


@readline_claim
def keeps_history():
    """REP-10: history survives a restart; a block is one entry; mode 0600"""
    state = os.path.join(os.environ["SCRATCH"], "state")
    file = os.path.join(state, "tarn", "history")
    with Terminal(XDG_STATE_HOME=state) as t:
        t.enter("first = 1")
        t.enter("for i = 1, 2 do")
        t.enter("print('block', i)")
        t.enter("end", "block\t2")
        t.enter("again = 1")
        t.enter("again = 1")
        assert t.leave() == 0
    assert os.stat(file).st_mode & 0o777 == 0o600
    with Terminal(XDG_STATE_HOME=state) as t:
        t.type("\x1b[A\x1b[A")
        t.wait("for i = 1, 2 do\nprint('block', i)\nend")
        t.type("\r")
        t.wait("block\t2")
    with open(file) as history:
        assert history.read().count("again = 1") == 1


@readline_claim
def history_elsewhere():
    """TARN_HISTORY moves the history, --no-history leaves it alone"""
    file = os.path.join(os.environ["SCRATCH"], "elsewhere")
    with Terminal(TARN_HISTORY=file) as t:
        t.enter("kept = 1")
    assert "kept = 1" in open(file).read()
    with Terminal("--no-history", TARN_HISTORY=file) as t:
        t.enter("secret = 1")
        t.type("\x1b[A")
        t.wait("secret = 1")
    assert "secret" not in open(file).read()


@readline_claim
def history_shared():
    """two sessions append to one history"""
    file = os.path.join(os.environ["SCRATCH"], "shared")
    with Terminal(TARN_HISTORY=file) as a, Terminal(TARN_HISTORY=file) as b:
        a.enter("from_a = 1")
        b.enter("from_b = 1")
        a.enter("from_a = 2")
        for i in range(40):  # both have much to write at the same time
            for t, name in ((a, "a"), (b, "b")):
                t.type(f"{name} = {i}\r")
        for t in (a, b):
            t.enter("'the last' .. ' one'", "the last one")
    text = open(file).read()
    for i in range(40):
        assert f"\na = {i}\n#" in text and f"\nb = {i}\n#" in text, text
    assert all(line in text for line in ("from_a = 1", "from_b = 1", "from_a = 2")), text


@readline_claim
def history_capped():
    """a history that has grown too long is cut to its last inputs"""
    file = os.path.join(os.environ["SCRATCH"], "capped")
    with open(file, "w") as history:
        for i in range(5000):
            history.write(f"#{1700000000 + i}\nx = {i}\n")
    with Terminal(TARN_HISTORY=file) as t:
        t.type("\x1b[A")
        t.wait("x = 4999")
    text = open(file).read()
    assert text.count("#") == 2000 and "x = 4999\n" in text and "x = 2999\n" not in text


@readline_claim
def history_that_cannot_be():
    """a history that can't be written is noted once"""
    with Terminal(TARN_HISTORY="/nonexistent/folder/history") as t:
        t.enter("x = 1", "note: the history is not kept")
        t.enter("y = 1")
        assert t.screen.count("note:") == 1


@readline_claim
def interrupt_in_search():
    """^C leaves a history search"""
    with Terminal() as t:
        t.enter("found = 1")
        t.type("\x12fou")
        t.wait("found = 1")
        t.drop_line()
        t.enter("1 + 1", "2")


finish(__file__)
