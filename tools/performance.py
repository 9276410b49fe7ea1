#!/usr/bin/env python3
"""performance.py: writes doc/performance.md from what the programs measure; no figure in it is
typed by hand.

    tools/performance.py [--build=build] [--quick] [--shipped=FOLDER] [--native=FOLDER]

Run it on a quiet machine. --quick takes fewer sizes; the folders are those of
exercises/labs/peers/peers.py.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LABS = os.path.join(HOME, "exercises", "labs")

# Seconds of a step behind 784 tokens, with a cache and with a state: the paper's images have
# as many pixels, its model has 8 heads of 32.
CACHE = """
local N = 784
local x = randn(8, N, 32, {seed = 1})
local token = randn(8, 32, {seed = 2})
local function step(cell)
  cell:run(x, x, x)
  local best = math.huge
  for i = 1, 20 do
    local run = cell:clone()
    local start = os.clock()
    for j = 1, 10 do run:step(token, token, token) end
    best = math.min(best, (os.clock() - start) / 10)
  end
  return best
end
print(step(kv {D = 32, M = 32, H = 8}), step(rnn {D = 32, M = 32, H = 8}))
"""


def output(command, isa=None):
    environment = {**os.environ, **({"TARN_ISA": isa} if isa else {})}
    print("running", " ".join(command[:6]).split("\n")[0], file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"performance: {command[0]} failed:\n{done.stderr}")
    return done.stdout


def duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def percent(row):
    return "-" if row["percent_peak"] is None else f"{row['percent_peak']:.0f} %"


def name_of(row):
    return row["name"] + (", fast" if row["precision"] == "fast" else "")


def rows_of(run):
    rows = []
    for row in run["rows"]:
        spread = f"{duration(row['min_s'])} - {duration(row['max_s'])}"
        rows.append([name_of(row), row["dtype"], str(row["H"]), str(row["N"]), str(row["D"]),
                     duration(row["median_s"]), spread, f"{row['gflops']:.3g}", percent(row),
                     f"{row['rms_error']:.1e}"])
    return table(["operation", "type", "H", "N", "D = M", "median", "from - to", "GFLOP/s",
                  "of the peak", "rms error"], rows)


def ceilings(run):
    sgemm = run["sgemm_gflops"]
    return table(["ceiling", "measured"], [
        ["multiply-adds, float32", f"{run['peak_gflops']:.0f} GFLOP/s"],
        ["sgemm of 2048 x 2048", f"{sgemm:.0f} GFLOP/s" if sgemm else "no CBLAS"],
        ["copy", f"{run['copy_gbs']:.1f} GB/s"]])


def speedups(one, two):
    """Rows of both runs, by how much faster two threads are."""
    def key(row):
        return tuple(row[x] for x in ("name", "dtype", "precision", "H", "N", "D"))
    alone = {key(row): row for row in one["rows"]}
    return table(["operation", "type", "H", "N", "D = M", "speed of two threads by that of one"], [
        [name_of(row), row["dtype"], str(row["H"]), str(row["N"]), str(row["D"]),
         f"{alone[key(row)]['min_s'] / row['min_s']:.2f}"]
        for row in two["rows"] if key(row) in alone])


def crossing_tables(tarn):
    """The first table of the lab's report, of a run of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output([tarn, "--threads=1", os.path.join(LABS, "crossing.lua"), "--out=" + folder])
        with open(os.path.join(folder, "report.md"), encoding="utf-8") as report:
            text = report.read()
    return text[text.index("Float32, eps"):text.index("## All lengths")]


def against_the_paper(cached, state):
    return table(["one more token, linear by softmax", "theirs (paper)", "ours"], [
        ["whole model on a GPU, MNIST, all tokens computed again for each", "317 x", "no model yet"],
        ["whole model on a GPU, MNIST, keys and values kept", "18.9 x", "no model yet"],
        ["attention alone on a CPU, 784 tokens kept, 8 heads of 32", "not given",
         f"{cached / state:.1f} x ({duration(cached)}, {duration(state)})"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(HOME, "build"))
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--shipped", help="see exercises/labs/peers/peers.py")
    parser.add_argument("--native", help="see exercises/labs/peers/peers.py")
    options = parser.parse_args()
    tarn = os.path.join(options.build, "tarn")
    bench = [os.path.join(options.build, "tarn-bench"), "--json"]
    bench += ["--quick"] if options.quick else []
    peers = [sys.executable, os.path.join(LABS, "peers", "peers.py"), "--markdown", "--tarn", tarn]
    for flag in ("shipped", "native"):
        if getattr(options, flag):
            peers.append(f"--{flag}={getattr(options, flag)}")

    one = json.loads(output(bench))
    avx2 = json.loads(output(bench + ["prefix", "prefix_grad"], isa="x86-64-v3"))
    two = json.loads(output(bench + ["--threads=2", "prefix", "prefix_grad", "sim_softmax_causal"]))
    crossing = crossing_tables(tarn)
    cached, state = map(float, output([tarn, "--threads=1", "-e", CACHE]).split())
    try:
        import torch
        versions = f"PyTorch {torch.__version__}"
        beside = output(peers)
    except ImportError:
        versions, beside = "PyTorch is not installed here", ""

    busy = os.getloadavg()[0]
    text = f"""# How fast tarn is

Written by `tools/performance.py` on {datetime.date.today()}; no figure of ours is typed by hand.
Machine: {one['machine']}. Instruction set: {one['rows'][0]['isa']}. At the end {busy:.1f} programs
wanted to run at once; where that is more than 1 or 2, other work disturbed what the wall timed.

{ceilings(one)}

## How it is measured

Everything in one table comes from one run of one program. One thread is timed by its CPU time,
several by the wall. A speed is the arithmetic that the sums need (`src/stages/flops.h`) by the
time of the fastest round: features, denominators and divisions take time but do not count. The
share of the peak is of the fastest multiply-adds seen in the same run, in the same instruction
set and element type. Errors are relative to the plain stages in float64.

The columns "from - to" are the noise: on a shared machine caches and memory belong to others
as well. Absolute figures change from machine to machine; shares of the peak change less, but a
processor whose AVX-512 begins two multiply-adds of 64 bytes a cycle has twice the peak of one
that does so in halves, with the same caches behind it.

## One thread

    tarn-bench --json

{rows_of(one)}

## The same on AVX2

    TARN_ISA=x86-64-v3 tarn-bench --json prefix prefix_grad

The float32 peak is {avx2['peak_gflops']:.0f} GFLOP/s here.

{rows_of(avx2)}

## Two threads

    tarn-bench --json --threads=2 prefix prefix_grad sim_softmax_causal

{speedups(one, two)}

## Where linear attention begins to win

    tarn --threads=1 exercises/labs/crossing.lua

{crossing.rstrip()}

## Beside others

    exercises/labs/peers/peers.py

One thread, CPU time, the same numbers; results agree to the last column, relative to the
largest output. {versions}. "ft" is fast-transformers, with the compiler's flags as it is
shipped and with those of this processor. "torch" is written by hand: chunks of 64, matrix
products alone.

{beside.rstrip()}

## Beside the paper

{against_the_paper(cached, state)}
"""
    with open(os.path.join(HOME, "doc", "performance.md"), "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
