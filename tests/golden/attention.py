#!/usr/bin/python3
"""attention.py: reference values of attention, written as tests/golden/attention.h.

Every number is worked out from eq 3 with 240 decimal digits and nothing else: no NumPy, no
formula of a gradient. Gradients are central differences (f(x + h) - f(x - h)) / 2h with
h = 1e-75, so their error is near 1e-150. Inputs are multiples of 1/16 and thus exact in
float32. Run it by hand after a change; the header is kept in the repository:

    python3 attention.py > attention.h
"""
from decimal import Decimal, getcontext

getcontext().prec = 240
STEP = Decimal("1e-75")
ONE = Decimal(1)


def elu1(x):
    return x + 1 if x > 0 else x.exp()


def softplus(x):
    """log(1 + e^x), by its series where 1 + e^x would lose digits."""
    e = x.exp()
    if e > Decimal("1e-9"):
        return (1 + e).ln()
    return sum((-1) ** (n + 1) * e ** n / n for n in range(1, 27))


def poly2(row):
    root = Decimal(2).sqrt()
    features = []
    for i, x in enumerate(row):
        features.append(x * x)
        features += [root * x * y for y in row[i + 1:]]
    return features


def each(function):
    return lambda row: [function(x) for x in row]


PHI = {
    "elu1": each(elu1),
    "relu": each(lambda x: max(x, Decimal(0))),
    "relu2": each(lambda x: max(x, Decimal(0)) ** 2),
    "exp_features": each(lambda x: x.exp()),
    "identity": each(lambda x: x),
    "softplus": each(softplus),
    "poly2": poly2,
}


def dot(x, y):
    return sum((a * b for a, b in zip(x, y)), Decimal(0))


def similarity(case, q, k):
    by, scale = case["by"], case["scale"]
    if by == "TARN_SOFTMAX":
        return ((scale or 1 / Decimal(len(q)).sqrt()) * dot(q, k)).exp()
    if by == "TARN_RBF":
        return (-(scale or ONE) * sum((a - b) ** 2 for a, b in zip(q, k)) / 2).exp()
    phi = PHI[case["phi"]]
    return (scale or ONE) * dot(phi(q), phi(k))


def attention(case, x):
    """Eq 3, row by row; x holds q, k, v and, if there is a state, S0 and z0."""
    out = []
    for i, q in enumerate(x["q"]):
        seen = min(case["length"], i + 1 if case["causal"] else case["length"])
        weights = [similarity(case, q, k) for k in x["k"][:seen]]
        den = sum(weights, Decimal(0))
        num = [dot(weights, [v[m] for v in x["v"]]) for m in range(case["M"])]
        if "S0" in x:
            f = PHI[case["phi"]](q)
            den += dot(f, x["z0"][0])
            num = [n + dot(f, [s[m] for s in x["S0"]]) for m, n in enumerate(num)]
        den += 0 if case["by"] == "TARN_SOFTMAX" else case["eps"]
        out.append([n / den if den else Decimal(0) for n in num])
    return out


def loss(case, x, dout):
    return sum((dot(o, d) for o, d in zip(attention(case, x), dout)), Decimal(0))


def gradient(case, x, dout, name):
    grad = []
    for i, row in enumerate(x[name]):
        grad.append([])
        for c, value in enumerate(row):
            sides = []
            for h in (STEP, -STEP):
                x[name][i][c] = value + h
                sides.append(loss(case, x, dout))
            x[name][i][c] = value
            grad[i].append((sides[0] - sides[1]) / (2 * STEP))
    return grad


class Numbers:
    """Multiples of 1/16 between -2 and 2, without 0: there some maps have a kink."""

    def __init__(self):
        self.state = 12345

    def next(self):
        self.state = (1103515245 * self.state + 12345) % 2 ** 31
        n = (self.state >> 12) % 64 - 32
        return Decimal(n if n < 0 else n + 1) / 16

    def rows(self, n, width, positive=False):
        pick = (lambda: abs(self.next())) if positive else self.next
        return [[pick() for _ in range(width)] for _ in range(n)]


def decimals(rows):
    return [[Decimal(str(x)) for x in row] for row in rows]


def make(name, x, dout=None, by="TARN_PHI", phi="elu1", causal=True, eps="0", scale=None,
         length=None):
    case = {
        "name": name, "by": by, "phi": phi, "causal": causal, "eps": Decimal(eps),
        "scale": scale and Decimal(scale), "length": len(x["k"]) if length is None else length,
        "N_q": len(x["q"]), "N": len(x["k"]), "D": len(x["q"][0]), "M": len(x["v"][0]),
    }
    case["C"] = len(PHI[phi](x["q"][0])) if by == "TARN_PHI" else case["D"]
    tables = dict(x, out=attention(case, x))
    if dout:
        tables["dout"] = dout
        for n in [n for n in ("q", "k", "v", "S0", "z0") if n in x]:
            tables["d" + n] = gradient(case, x, dout, n)
    return case, tables


def random_case(numbers, name, N_q=5, N=5, D=3, M=2, state=False, **options):
    x = {"q": numbers.rows(N_q, D), "k": numbers.rows(N, D), "v": numbers.rows(N, M)}
    if state:
        width = len(PHI[options.get("phi", "elu1")](x["q"][0]))
        x["S0"] = numbers.rows(width, M)
        x["z0"] = numbers.rows(1, width, positive=True)
    return make(name, x, numbers.rows(N_q, M), **options)


def cases():
    ref_a = {"q": [[0, 1], [-1, .5], [2, -2]], "k": [[1, 0], [0, -1], [-.5, 2]],
             "v": [[1, 2], [3, -1], [0, 4]]}
    for causal in (True, False):
        x = {n: decimals(rows) for n, rows in ref_a.items()}
        yield make("REF-A " + ("causal" if causal else "full"), x, causal=causal)

    numbers = Numbers()
    for phi in PHI:
        yield random_case(numbers, phi + " causal", phi=phi, eps="1e-6")
        yield random_case(numbers, phi + " full", phi=phi, causal=False, N_q=4, N=6)
        yield random_case(numbers, phi + " with a state", phi=phi, state=True, eps="0.125")
    yield random_case(numbers, "elu1 scaled", eps="0.5", scale="0.25")
    yield random_case(numbers, "elu1 with 3 of 5 keys", causal=False, length=3)
    yield random_case(numbers, "softmax causal", by="TARN_SOFTMAX")
    yield random_case(numbers, "softmax full", by="TARN_SOFTMAX", causal=False, N_q=3, scale="1.5")
    yield random_case(numbers, "softmax with 2 of 5 keys", by="TARN_SOFTMAX", length=2)
    yield random_case(numbers, "rbf causal", by="TARN_RBF", eps="1e-6")
    yield random_case(numbers, "rbf full", by="TARN_RBF", causal=False, N=7, scale="0.5")

    far = lambda rows, by: [[x + by for x in row] for row in rows]
    def far_case(name, to_q, to_k, **options):
        x = {"q": far(numbers.rows(4, 3), to_q), "k": far(numbers.rows(4, 3), to_k),
             "v": numbers.rows(4, 2)}
        return make(name, x, numbers.rows(4, 2), **options)
    yield far_case("q near -2000", -2000, 0)
    yield far_case("q near -20 with eps", -20, -20, eps="1e-6")
    yield far_case("q near -700 with eps", -700, -80, eps="1e-300")
    yield far_case("q and k near -5000", -5000, -5000)
    yield far_case("exp of q near 900", 900, 0, phi="exp_features", eps="1e-6")
    yield far_case("exp of q and k near 900", 900, 900, phi="exp_features")
    yield far_case("softplus of q near -3000", -3000, 1, phi="softplus")
    yield far_case("softmax of q near 800", 800, 3, by="TARN_SOFTMAX")


def c_array(name, rows):
    numbers = [repr(float(x)) for row in rows for x in row]
    lines, line = [], "   "
    for n in numbers:
        if len(line) + len(n) + 2 > 86:
            lines.append(line)
            line = "   "
        line += f" {n},"
    lines.append(line)
    return f"static const double {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


HEAD = """/* attention.h: reference values of attention. Made by attention.py; do not edit.
 * Longer than a file of ours may be, for all of it is numbers. */
#ifndef TARN_GOLDEN_ATTENTION_H
#define TARN_GOLDEN_ATTENTION_H

#include "tarn.h"
#include <math.h>

/* Tables are row-major; NULL where the case has none. */
struct golden {
    const char *name, *phi;
    tarn_similarity by;
    bool causal;
    double eps, scale;
    size_t length, N_q, N, D, M, C;
    const double *q, *k, *v, *S0, *z0, *dout;
    const double *out, *dq, *dk, *dv, *dS0, *dz0;
};
"""
TABLES = ["q", "k", "v", "S0", "z0", "dout", "out", "dq", "dk", "dv", "dS0", "dz0"]


def main():
    entries = []
    print(HEAD)
    for number, (case, tables) in enumerate(cases()):
        fields = [f'.name = "{case["name"]}"', f'.phi = "{case["phi"]}"', f'.by = {case["by"]}',
                  f'.causal = {str(case["causal"]).lower()}', f'.eps = {float(case["eps"])!r}',
                  f'.scale = {float(case["scale"]) if case["scale"] else "NAN"}']
        fields += [f'.{n} = {case[n]}' for n in ("length", "N_q", "N", "D", "M", "C")]
        for table in TABLES:
            if table in tables:
                name = f"golden_{number}_{table}"
                print(c_array(name, tables[table]))
                fields.append(f".{table} = {name}")
        entries.append("    {" + ",\n     ".join(fields) + "},")
    print("static const struct golden golden[] = {\n" + "\n".join(entries) + "\n};\n")
    print("#endif")


main()
