"""Scaled integers against Python's decimal: parsing and formatting, at random."""
import os
import random
import re
import subprocess
import sys
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR

seed = int(os.environ.get("PAPERTAPE_SEED", "20261121"), 0)
print(f"PAPERTAPE_SEED={seed}")
rng = random.Random(seed)
exact = Context(prec=200)
CASES = 60000


def digits(most):
    return "".join(rng.choice("0123456789") for _ in range(rng.randint(0, most)))


def some_text():
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(["", "", "-", "+"]) + digits(22) + rng.choice(["", ".", "."]) + digits(20)
    if kind < 0.8:
        return str(rng.randint(-(2**66), 2**66) * 10 ** rng.randint(0, 20)) + rng.choice(["", ".0", ".000"])
    if kind < 0.9:
        near = rng.choice([2**63, -(2**63), 2**127, -(2**127)]) + rng.randint(-2, 2)
        text = str(abs(near))
        point = rng.randint(1, len(text) - 1)
        return ("-" if near < 0 else "") + text[:point] + rng.choice(["", "."]) + text[point:]
    return "".join(rng.choice("0123456789.-+eE _xN") for _ in range(rng.randint(1, 8)))


def parse(text, scale):
    if not re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", text):
        return "EINVAL"
    units = exact.scaleb(Decimal(text), scale)
    whole = units.to_integral_value(ROUND_FLOOR if units >= 0 else ROUND_CEILING, exact)
    if not -(2**127) <= whole < 2**127:
        return "ERANGE"
    return "EDOM" if whole != units else str(int(whole))


def formats(units, scale):
    text = format(exact.scaleb(Decimal(units), -scale), "f")
    short = text.rstrip("0").rstrip(".") if scale else text
    return f"{text} {short}"


asked, expected = [], []
for _ in range(CASES):
    text, scale = some_text(), rng.randint(0, 18)
    asked.append(f"parse {scale} {text.strip() or '.'}")
    expected.append(parse(text.strip() or ".", scale))
    units, scale = rng.choice([-1, 1]) * rng.getrandbits(rng.randint(1, 127)), rng.randint(0, 18)
    asked.append(f"format {scale} {units}")
    expected.append(formats(units, scale))

run = subprocess.run([sys.argv[1], "decimal"], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True)
got = run.stdout.splitlines()
wrong = [(q, e, g) for q, e, g in zip(asked, expected, got) if e != g]
for question, want, answer in wrong[:20]:
    print(f"{question}: {answer}, Python says {want}")
kinds = {kind: sum(e == kind for e in expected) for kind in ("EINVAL", "ERANGE", "EDOM")}
print(f"{len(asked)} questions, {len(wrong)} answered otherwise; {kinds}")
sys.exit(bool(wrong) or len(got) != len(asked) or min(kinds.values()) < 100)
