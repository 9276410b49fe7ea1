#!/usr/bin/env python3
"""peers.py: tarn beside PyTorch and fast-transformers, in one run, on the same numbers.

    peers.py [--tarn=build/tarn] [--quick] [--markdown]
             [--shipped=FOLDER] [--native=FOLDER]

FOLDER has the package fast_transformers, as its own flags build it (--shipped) or with
-O3 -march=native (--native): unpack PyPI's pytorch-fast-transformers, where torch and its
headers are installed (Debian: python3-torch, libtorch-dev, pybind11-dev), and run there

    python3 setup.py build --build-lib FOLDER

the second time with these flags added to base_args in setup.py. What is not installed is left
out, and said.

Inputs go to everybody as .npy files. Each program is started anew in each round, one after
the other; what counts is the fastest run of all rounds, in CPU time of the one thread. The
results, .npy files as well, have to agree before anything is shown.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3
TOLERANCE = 1e-3  # of the largest output

# kind, heads, N, D = M
CASES = [("prefix", 8, 4096, 32), ("prefix", 8, 4096, 64), ("prefix", 8, 4096, 128),
         ("grad", 8, 4096, 64), ("softmax", 2, 1024, 64), ("softmax", 2, 4096, 64),
         ("step", 8, 256, 64)]
QUICK = [("prefix", 8, 1024, 64), ("grad", 8, 1024, 64), ("softmax", 2, 512, 64),
         ("step", 8, 256, 64)]
TITLES = {"prefix": "causal linear, forward", "grad": "causal linear, forward + backward",
          "softmax": "causal softmax", "step": "recurrent step, one token"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tarn", default="build/tarn")
    parser.add_argument("--quick", action="store_true", help="shorter sequences, one round")
    parser.add_argument("--markdown", action="store_true", help="a table in Markdown")
    parser.add_argument("--shipped", help="folder with fast_transformers as it is shipped")
    parser.add_argument("--native", help="the same built with -O3 -march=native")
    return parser.parse_args()


def programs(options):
    """Name -> command line, to which the folder of the case is added."""
    worker = [sys.executable, os.path.join(HERE, "worker.py")]
    found = {"tarn": [options.tarn, "--threads=1", os.path.join(HERE, "peers.lua")],
             "torch": worker + ["torch"]}
    for name, folder in (("ft shipped", options.shipped), ("ft native", options.native)):
        if folder:
            found[name] = worker + [os.path.abspath(folder)]
    return found


def write_inputs(folder, cases):
    random = numpy.random.default_rng(1)
    for kind, heads, n, d in cases:
        case = os.path.join(folder, f"{kind}-{heads}-{n}-{d}")
        os.mkdir(case)
        for name in ("q", "k", "v", "dout"):
            numbers = random.standard_normal((1, heads, n, d)).astype(numpy.float32)
            numpy.save(os.path.join(case, name + ".npy"), numbers)


def run(name, command, case):
    """Seconds, or None if the program does not have such an operation."""
    done = subprocess.run(command + [case, name.replace(" ", "-")], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"peers: {name} failed:\n{done.stderr}")
    return float(done.stdout) if done.stdout.strip() else None


def check(case, name):
    ours = numpy.load(os.path.join(case, "tarn.npy"))
    theirs = numpy.load(os.path.join(case, name.replace(" ", "-") + ".npy"))
    error = numpy.abs(ours - theirs).max() / numpy.abs(ours).max()
    if not error < TOLERANCE:
        sys.exit(f"peers: {name} and tarn disagree in {case}: {error:.1e} of the largest output")
    return error


def measure(found, case, rounds):
    """Name -> seconds, of those that have the operation."""
    best = {}
    for _ in range(rounds):
        for name, command in found.items():
            seconds = run(name, command, case)
            if seconds is not None:
                best[name] = min(seconds, best.get(name, seconds))
    return best


def duration(seconds):
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def main():
    options = arguments()
    cases = QUICK if options.quick else CASES
    found = programs(options)
    line = "| {:33} | {} | {:>4} | {:>3} | {:>10} | {:10} | {:>10} | {:>6} | {:>7} |" \
        if options.markdown else "{:33} {} {:>4} {:>3} {:>10} {:10} {:>10} {:>6} {:>7}"
    print(line.format("operation", "H", "N", "D", "tarn", "peer", "its time", "ratio", "differ"))
    if options.markdown:
        print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder, cases)
        for kind, heads, n, d in cases:
            case = os.path.join(folder, f"{kind}-{heads}-{n}-{d}")
            best = measure(found, case, 1 if options.quick else ROUNDS)
            ours = best.pop("tarn")
            for name, theirs in best.items():
                error = check(case, name)
                print(line.format(TITLES[kind], heads, 1 if kind == "step" else n, d,
                                  duration(ours), name, duration(theirs),
                                  f"{theirs / ours:.1f}", f"{error:.0e}"), flush=True)
    for flag in ("shipped", "native"):
        if not getattr(options, flag):
            print(f"left out: fast-transformers, {flag} (--{flag}=FOLDER)", file=sys.stderr)


if __name__ == "__main__":
    main()
