"""repl_editing.py: completion, history and keys at the prompt, on a terminal."""

import os

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
    text = open(file).read()
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
