#!/usr/bin/env python3
"""terminal.py: the picture of the prompt that README shows.

    doc/figures/terminal.py path/to/tarn >doc/figures/terminal.svg

Types INPUTS into a tarn on a terminal of 80 columns and draws what the terminal shows, with
its colours, as SVG. The same program gives the same bytes; a test draws the picture again.
Needs Python's standard library alone."""

import html
import os
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cli"))
from terminal import Terminal  # noqa: E402

INPUTS = """\
x = randn(12, 8, {seed = 4})
out, w = sim(x, x, x, {causal = true, weights = true})
heat(w)                    -- softmax, causal: what row i looks at
linear = prefix(x, x, x)   -- features instead: no weights, a prefix sum
maxdiff(linear, sim(x, x, x, {by = "elu1", causal = true})) < 1e-6
st = rnn{D = 8, M = 8}     -- the sums, read as the state of a network
for i = 1, 12 do y = st:step(x[i], x[i], x[i]) end
maxdiff(y, linear[12]) < 1e-6
st
prefix(x, randn(3, 8), x)
prefxi(x, x, x)"""

COLUMNS, CELL, LINE, MARGIN = 80, 8.4, 18, 16
COLOURS = {"1": "#ffffff", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff",
           "35": "#d2a8ff", "36": "#76e3ea"}
PLAIN, PAPER = "#d0d7de", "#0d1117"


def session(tarn):
    """What the terminal has shown: lines with the escapes of colours only."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(TARN=tarn, SCRATCH=scratch)
        terminal = Terminal("--no-init", "--no-history", "--threads=2", columns=COLUMNS)
        for line in INPUTS.splitlines():
            terminal.enter(line)
    text = re.sub(r"\x1b\[[0-9;?]*[a-ln-zA-Z]|[\r\a]", "", terminal.raw)
    return text.rstrip("\n> ").split("\n")


def spans(line):
    """Splits a line at its colours: pairs of a colour and a text."""
    colour = PLAIN
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        escape = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if escape:
            colour = COLOURS.get(escape[1], PLAIN)
        elif part:
            yield colour, part


def draw(lines):
    """Every stretch of text is as wide as its cells, whatever the font makes of it."""
    width, height = COLUMNS * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
           f'viewBox="0 0 {width:g} {height:g}">')
    yield f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>'
    yield ('<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
           'xml:space="preserve">')
    for row, line in enumerate(lines):
        column = 0
        for colour, text in spans(line):
            x, y = MARGIN + column * CELL, MARGIN + (row + 0.75) * LINE
            yield (f'<text x="{x:g}" y="{y:g}" fill="{colour}" lengthAdjust="spacingAndGlyphs" '
                   f'textLength="{len(text) * CELL:g}">{html.escape(text)}</text>')
            column += len(text)
    yield "</g></svg>"


print("\n".join(draw(session(os.path.abspath(sys.argv[1])))))
