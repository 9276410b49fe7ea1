"""repl_terminal.py: the prompt on a terminal, as a user sees it. Editing and history have
a file of their own, repl_editing.py."""

import os
import time

from terminal import Terminal, claim, finish

LIMIT = 0.05 * float(os.environ.get("TARN_SLOWNESS", "1"))  # seconds; more under valgrind


@claim
def shows_values():
    """expressions are shown with their exact number of values, and kept in _"""
    with Terminal() as t:
        t.enter("1, nil, 'a\\nb'", '1\tnil\t"a\\nb"')
        t.enter("nil", "nil")
        t.enter("(function() end)()")
        assert t.screen.rstrip().endswith(">"), t.screen
        t.enter("40 + 2", "42")
        t.enter("_ + 1", "43")
        t.enter("_ + 1;")
        t.enter("_ + 1 -- not silenced;", "45")


@claim
def runs_once():
    """what fails is run once, not tried again as a statement"""
    with Terminal() as t:
        t.enter("n = 0")
        t.enter("(function() n = n + 1 error('boom') end)()", "boom")
        t.enter("n", "1")


@claim
def io_write_prints_once():
    """REP-08: statements show nothing, io.write only what it writes"""
    with Terminal() as t:
        t.enter('io.write("once\\n")', "once")
        t.enter("x = 1")
        assert "file (" not in t.screen


@claim
def continues_lines():
    """REP-11: incomplete input goes on, an error speaks at once"""
    with Terminal() as t:
        t.enter("for i = 1, 2 do")
        t.enter("print('line', i)")
        t.enter("end", "line\t2")
        assert t.screen.count("line\t1") == 1
        t.enter("1 +")
        t.enter("2", "3")
        t.enter("x", "undefined variable 'x'")
        t.enter("x = = 2", "unexpected symbol near '='")
        t.enter('"abc', "unfinished string")


@claim
def notes_lost_locals():
    """REP-11: a local at top level ends with its line, which is noted once"""
    with Terminal() as t:
        t.enter("local a = 1", "note: local a ends with this input")
        t.enter("local b = 1")
        t.enter("a", "undefined variable 'a'")
        assert t.screen.count("note: local") == 1
    with Terminal() as t:
        t.enter("do local c = 1 end")
        t.enter("f = function() local d = 2 return d end")
        assert "note: local" not in t.screen


@claim
def interrupt_drops_the_line():
    """^C drops the line, or the block, being typed; keys typed after it are kept"""
    with Terminal() as t:
        t.type("half of a li")
        t.wait("half of a li")
        t.interrupt()
        t.wait("> ")
        t.enter("1 + 1", "2")
        t.enter("for i = 1, 3 do")
        t.type("print(")
        t.wait("print(")
        t.drop_line()
        t.enter("2 + 2", "4")


def stop(t, code):
    """Runs code that does not end, stops it by ^C, and checks that this took 50 ms: the
    best of five tries, for the machine may have other things to do."""
    best = 1e9
    for _ in range(5):
        t.type(code + "\r")
        t.wait(code[-20:])
        time.sleep(0.3)
        start = time.monotonic()
        t.interrupt()
        t.wait("interrupted")
        best = min(best, time.monotonic() - start)
        t.wait("> ")
        if best < LIMIT:
            return
    raise AssertionError(f"{code}: stopped after {best:.3f} s")


@claim
def interrupt_stops_lua():
    """^C stops a Lua loop, also one that catches errors, within 50 ms"""
    with Terminal() as t:
        t.enter("kept = 7")
        stop(t, "while true do end")
        stop(t, "while true do pcall(function() while true do end end) end")
        stop(t, "while true do pcall(coroutine.wrap(function() while true do end end)) end")
        t.enter("kept", "7")
        t.type("io.read()\r")
        t.wait("io.read()")
        time.sleep(0.2)
        t.interrupt()
        t.wait("> ")
        t.enter("kept", "7")


@claim
def interrupt_stops_c():
    """^C stops a C function of tarn's within 50 ms and leaves the state usable"""
    with Terminal() as t:
        t.enter("a = randn(1500, 1500)")
        stop(t, "while true do a:mm(a) end")
        stop(t, "while true do pcall(a.mm, a, a) end")
        t.enter("#a", "1500")
        t.enter("zeros(2):exp()", "1  1")


@claim
def interrupt_ends_profile():
    """after ^C nothing is watched any more, and the next profile runs"""
    with Terminal() as t:
        t.enter("there = pcall(zeros, 1, {device='emu'})")
        t.enter("there and 'usa'..'ble' or 'mis'..'sing'")
        if "usable" not in t.screen:
            return
        stop(t, "profile(function() while true do end end)")
        t.enter("profile(function() return 1 end)", "profile: no kernel of the emulated")


@claim
def interrupt_many_times():
    """many ^C in a row do no more than one"""
    with Terminal() as t:
        for _ in range(5):
            t.interrupt()
            time.sleep(0.02)
        t.type("while true do end\r")
        t.wait("while true do end")
        time.sleep(0.2)
        for _ in range(5):
            t.interrupt()
        t.wait("interrupted")
        t.wait("> ")
        time.sleep(0.2)
        t.seen = len(t.screen)
        t.enter("6 * 7", "42")
        assert t.leave() == 0


STUCK = "('a'):rep(100000):find('.-.-b')"  # C code of Lua's that never looks at ^C


def press_three_times(t, code):
    t.type("print('st' .. 'uck'); " + code + "\r")
    t.wait("\nstuck")
    for _ in range(3):
        time.sleep(0.1)
        t.interrupt()
    t.wait("Quit tarn?")


@claim
def third_interrupt_asks():
    """the third ^C that nothing answers asks whether to quit, and quits only on a yes"""
    file = os.path.join(os.environ["SCRATCH"], "third")
    with Terminal(TARN_HISTORY=file) as t:
        press_three_times(t, STUCK)
        t.type("n\r")
        time.sleep(0.1)
        assert not t.gone()
        for _ in range(3):
            time.sleep(0.1)
            t.interrupt()
        t.wait("Quit tarn?")
        t.type("y\r")
        assert t.status() == 130
    with Terminal() as t:
        press_three_times(t, "('a'):rep(40000):find('.-b')")
        t.type("no\r")
        t.wait("interrupted")
        t.wait("> ")
        t.enter("6 * 7", "42")


@claim
def presses_at_the_prompt():
    """any number of ^C at the prompt asks nothing and ends nothing"""
    with Terminal() as t:
        for _ in range(5):
            time.sleep(0.1)
            t.drop_line()
        t.enter("6 * 7", "42")
        assert "Quit" not in t.screen


@claim
def errors_keep_the_session():
    """an error is shown on one line, and the session goes on"""
    with Terminal() as t:
        t.enter("kept = 5")
        t.enter("zeros(2, 3):reshape(7)", "reshape: ")
        t.enter("error('boom', 0)", "boom")
        t.enter("error({})", "(error object is a table value)")
        t.enter("setmetatable({}, {__tostring = function() error('mine', 0) end})", "mine")
        t.enter("kept", "5")
        assert t.leave() == 0


@claim
def help_at_the_prompt():
    """?name is help("name"); an unknown one gets a suggestion"""
    with Terminal() as t:
        t.enter("?prefix", "Stage 3")
        t.enter("? t:sum", "t:sum(dim")
        t.enter("?prefx", "did you mean 'prefix'?")
        t.enter("?", "The four stages")


@claim
def narrow_window():
    """in 40 columns no line of a tensor is longer"""
    with Terminal(columns=40) as t:
        t.enter("columns = 40")
        t.enter("zeros(20, 300) + 0.5", "…")
        rows = [line for line in t.screen.split("\n") if line.startswith("  0.5")]
        assert len(rows) == 20 and all(len(row) <= 40 for row in rows), rows


@claim
def plain_locale():
    """without UTF-8 all that is shown is ASCII"""
    with Terminal(LC_ALL="C") as t:
        t.enter("zeros(50, 300)", "...")
        t.enter('"\\xc3\\xa4"', '"\\195\\164"')
        assert t.screen.isascii()


@claim
def dumb_terminal():
    """a dumb terminal gets no escape sequences"""
    with Terminal(TERM="dumb") as t:
        t.enter("error('boom', 0)", "boom")
        t.enter("zeros(2) / 0", "nan")
        assert "\x1b" not in t.raw, repr(t.raw)


@claim
def colours():
    """errors are red on a terminal, not with NO_COLOR"""
    with Terminal() as t:
        t.enter("error('boom', 0)", "boom")
        assert "\x1b[31mboom" in t.raw
    with Terminal(NO_COLOR="1") as t:
        t.enter("error('boom', 0)", "boom")
        assert "\x1b[31mboom" not in t.raw


finish(__file__)
