#!/usr/bin/env python3
"""Texts of float64 against this Python's own json.dumps(). python_float.py TEST-DB-STUDIES-EXCHANGE

All powers of two, both neighbours of each, powers of ten, and random bits: 20,000, and 1,000,000 in the long run."""

import json
import math
import os
import random
import struct
import subprocess
import sys

RANDOM = 1_000_000 if os.environ.get("PAPERTAPE_LONG") else 20_000
SEED = int(os.environ.get("PAPERTAPE_SEED", "0")) or random.randrange(1, 10**6)


def main():
    rng = random.Random(SEED)
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, sys.float_info.max]
    for exponent in range(-1074, 1024):
        power = math.ldexp(1.0, exponent)
        values += [power, -power, math.nextafter(power, 0), math.nextafter(power, math.inf)]
    values += [float(f"1e{exponent}") for exponent in range(-323, 309)]
    values += [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-9, 9) for _ in range(RANDOM // 2)]
    values += [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(RANDOM // 2)]
    sent = "".join(f"{bits:x}\n" for bits in struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values)))
    ran = subprocess.run([sys.argv[1], "floats"], input=sent, capture_output=True, text=True, check=True)
    texts = ran.stdout.splitlines()
    wrong = [(ours, json.dumps(value)) for value, ours in zip(values, texts) if ours != json.dumps(value)]
    print(f"{len(values)} floats, seed {SEED}: {len(wrong)} differ")
    for ours, theirs in wrong[:10]:
        print(f"  {ours}: {theirs} is right", file=sys.stderr)
    sys.exit(bool(wrong) or len(texts) != len(values))


main()
