#!/usr/bin/python3
"""npy.py: .npy files as NumPy itself writes them, for tests/test_npy.c.

    python3 npy.py golden FOLDER    the files kept in tests/golden/npy; the values stand in
                                    the test as well, typed by hand
    python3 npy.py random FOLDER    N.npy of a random type, order and shape, and beside each
                                    N.expected.npy, the same numbers as '<f8' in rows
    python3 npy.py compare FOLDER   N.tarn.npy, which tarn has written after reading N.npy,
                                    must hold what N.expected.npy holds, and have rows
"""
import os
import sys

import numpy as np
from numpy.lib import format as npy

FLOATS = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan]
TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]


def numbers(kind):
    """Values at the edges of a type."""
    if kind == "b1":
        return [False, True, True, False]
    if kind[0] == "f":
        info = np.finfo(kind)
        return FLOATS + [info.smallest_subnormal, info.tiny, info.max, info.min]
    info = np.iinfo(kind)
    if kind == "i8":
        return [info.min, -(2**53), -1, 0, 1, 2**53, 2**62]
    if kind == "u8":
        return [0, 1, 2**53, 2**63]
    return [info.min, info.min + 1, 0, 1, info.max - 1, info.max]


def golden(folder):
    def save(name, array, **options):
        with open(os.path.join(folder, name + ".npy"), "wb") as file:
            npy.write_array(file, np.asanyarray(array), **options)

    for kind in TYPES:
        for order, word in (("<", "little"), (">", "big")):
            save(f"{kind}_{word}", np.array(numbers(kind), order + kind))
    save("fortran_2x3", np.array([[1, 3, 5], [2, 4, 6]], "<f4", order="F"))
    save("fortran_2x3x4", np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)))
    for major in (1, 2, 3):
        save(f"version_{major}", np.array([1, 2, 3, 4], "<f4"), version=(major, 0))
    save("rank_0", np.float64(42.5))
    save("rank_8", np.arange(6, dtype="<f4").reshape(1, 2, 1, 1, 3, 1, 1, 1))
    save("rank_9", np.zeros((1,) * 9, "<f4"))
    save("empty", np.zeros((0,), "<f4"))
    save("empty_3x0x2", np.zeros((3, 0, 2), "<f8"))
    save("rows_184", np.arange(184, dtype="<f4"))
    save("rows_3x4", np.arange(12, dtype="<f8").reshape(3, 4))
    save("too_large", np.array([[1, 2], [3, -(2**53) - 1]], "<i8"))
    save("bad_complex", np.zeros(2, "<c8"))
    save("bad_text", np.array(["hello"]))
    save("bad_bytes", np.array([b"abc"]))
    save("bad_date", np.zeros(2, "<M8[s]"))
    save("bad_object", np.array([{"a": 1}, None], dtype=object))
    save("bad_struct", np.zeros(2, [("a", "<f4"), ("b", "<i4")]))


def random(folder):
    draw = np.random.default_rng(7)
    for n in range(200):
        kind = str(draw.choice(TYPES))
        shape = tuple(int(x) for x in draw.integers(0, 6, draw.integers(0, 6)))
        if kind[0] == "f":
            array = np.asarray(draw.standard_normal(shape))
        else:
            low, high = {"b1": (0, 2), "i8": (-(2**53), 2**53), "u8": (0, 2**53)}.get(
                kind) or (np.iinfo(kind).min, np.iinfo(kind).max)
            array = np.asarray(draw.integers(low, high, shape, np.int64))
        array = array.astype(str(draw.choice(["<", ">"])) + kind)
        if draw.integers(2):
            array = np.asfortranarray(array)
        np.save(os.path.join(folder, f"{n}.npy"), array)
        np.save(os.path.join(folder, f"{n}.expected.npy"),
                array.astype("<f8", order="C"))


def compare(folder):
    for n in range(200):
        wrote = np.load(os.path.join(folder, f"{n}.tarn.npy"))
        expected = np.load(os.path.join(folder, f"{n}.expected.npy"))
        assert wrote.flags.c_contiguous and wrote.dtype.str in ("<f4", "<f8"), n
        np.testing.assert_array_equal(wrote, expected, err_msg=str(n))
        assert wrote.shape == expected.shape, (n, wrote.shape, expected.shape)


if __name__ == "__main__":
    {"golden": golden, "random": random, "compare": compare}[sys.argv[1]](sys.argv[2])
