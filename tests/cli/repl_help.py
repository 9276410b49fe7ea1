"""repl_help.py: help at the prompt: when it goes through a pager, and back from there."""

import os

from terminal import Terminal, claim, finish


def fake_pager():
    """A pager that says when it begins, keeps what it gets, and waits for a line.

    It waits in short turns: a shell looks at a ^C that came just before it began to wait
    only when it has done waiting.
    """
    path = os.path.join(os.environ["SCRATCH"], "pager")
    with open(path, "w") as file:
        file.write('#!/bin/sh\ntrap "echo PAGER STOPS; exit 1" INT\ncat >"$HOME/paged"\n'
                   'echo PAGER BEGINS\n'
                   'until timeout --foreground 0.2 head -n 1 </dev/tty; do :; done\n')
    os.chmod(path, 0o755)
    return path


def paged():
    with open(os.path.join(os.environ["SCRATCH"], "paged")) as file:
        return file.read()


@claim
def long_help_is_paged():
    """help that is longer than the window goes through $PAGER, and the prompt comes back"""
    with Terminal(PAGER=fake_pager()) as t:
        t.type("?\r")
        t.wait("PAGER BEGINS")
        assert "The four stages" in paged() and "tarn.version" not in t.screen
        t.type("\r")
        t.enter("1 + 1", "2")
        assert t.leave() == 0


@claim
def short_help_is_not_paged():
    """help that fits the window does not go through a pager"""
    with Terminal(PAGER=fake_pager()) as t:
        t.enter("?t:rank", "Gives the number of dimensions")
        assert "PAGER" not in t.screen


@claim
def interrupt_leaves_the_pager():
    """^C in the pager is the pager's; the session lives and nothing is interrupted"""
    with Terminal(PAGER=fake_pager()) as t:
        t.enter("kept = 5")
        t.type("?\r")
        t.wait("PAGER BEGINS")
        t.type("\x03")
        t.wait("PAGER STOPS")
        t.wait("> ")
        t.enter("kept", "5")
        assert "interrupted" not in t.screen
        assert t.leave() == 0


@claim
def pager_that_is_not_there():
    """where $PAGER can't be run, the text is shown all the same"""
    with Terminal(PAGER="/no/such/pager") as t:
        t.enter("?", "The four stages")
        t.enter("1 + 1", "2")


@claim
def no_pager():
    """none with an empty $PAGER, and none on a dumb terminal"""
    with Terminal(PAGER="") as t:
        t.enter("?", "The four stages")
    with Terminal(PAGER=fake_pager(), TERM="dumb") as t:
        t.enter("?", "The four stages")
        assert "PAGER" not in t.screen


@claim
def results_are_not_paged():
    """results are never paged, however long"""
    with Terminal(PAGER=fake_pager()) as t:
        t.enter("zeros(38, 2)", "tensor [38, 2]")
        assert "PAGER" not in t.screen


finish(__file__)
