"""lab_terminal.py: tarn-lab on a terminal: colours, questions, watch and ^C."""

import os
import signal

from terminal import Terminal, claim, finish

DESK = os.path.join(os.environ["SCRATCH"], "desk")
FILE = os.path.join(DESK, "00-warm-up.lua")


class Lab(Terminal):
    """A tarn-lab that works in DESK."""

    def __init__(self, *arguments, columns=80, **variables):
        program = os.path.join(os.environ["builddir"], "tarn-lab")
        self.begin(program, (*arguments, "--dir", DESK), columns, variables)

    def end(self):
        """Gives the exit status, with everything read."""
        status = self.status()
        while self.read(0.1):
            pass
        return status


def ran(*arguments, **variables):
    """The status and what a whole run wrote, escapes included."""
    with Lab(*arguments, **variables) as lab:
        return lab.end(), lab.raw


def begin():
    os.makedirs(DESK, exist_ok=True)
    if not os.path.exists(FILE):
        assert ran("start", "warm-up")[0] == 0


def solve():
    solution = os.path.join(os.environ["srcdir"], "exercises", "00-warm-up", "solution.lua")
    with open(solution) as file, open(FILE + ".new", "w") as new:
        new.write(file.read())
    os.replace(FILE + ".new", FILE)


@claim
def colours_on_a_terminal():
    """a check is in colour on a terminal, and says the same in words"""
    begin()
    status, raw = ran("check")
    assert status == 1 and "\x1b[31mFAILED" in raw and "of 6 points" in raw, raw


@claim
def none_on_a_dumb_terminal():
    """there is no colour on a dumb terminal, nor with NO_COLOR"""
    begin()
    assert "\x1b" not in ran("check", TERM="dumb")[1]
    assert "\x1b" not in ran("check", NO_COLOR="1")[1]


@claim
def reset_asks():
    """reset --all asks, and changes nothing unless the answer is yes"""
    begin()
    with open(FILE, "w") as file:
        file.write("mine")
    with Lab("reset", "--all") as lab:
        lab.wait("start 1 file over?")
        lab.type("\n")
        lab.wait("nothing was changed")
        assert lab.end() == 1 and open(FILE).read() == "mine"
    with Lab("reset", "--all") as lab:
        lab.wait("[y/N]")
        lab.type("y\n")
        lab.wait("00-warm-up.lua.1~")
        assert lab.end() == 0 and open(FILE).read() != "mine"


@claim
def watch_is_left():
    """watch checks what is saved, and ^C ends it"""
    begin()
    with Lab("watch") as lab:
        lab.wait("^C ends")
        with open(FILE, "w") as file:
            file.write("return 1 +")
        lab.wait("0 of 6 points")
        lab.wait("hint warm-up")
        lab.interrupt()
        assert lab.end() in (-signal.SIGINT, 130)


@claim
def watch_moves_on():
    """watch of one exercise ends when it passes, on a dumb terminal too"""
    begin()
    with Lab("watch", "warm-up", TERM="dumb") as lab:
        lab.wait("^C ends")
        solve()
        lab.wait("6 of 6 points")
        assert lab.end() == 0


finish(__file__)
