"""Reads and writes safetensors files against the public package, both ways: python3 safetensors_oracle.py TEST_PROGRAM

Files of the package are read by ours and written again, and the package must find every tensor and text in them. Files that
were damaged by chance are refused by ours wherever the package refuses them.
Wants safetensors from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seed.
"""

import os
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("safetensors"):
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("PAPERTAPE_SEED", "8"), 0)
LONG = "PAPERTAPE_LONG" in os.environ
TYPES = [np.float32, np.float64, np.int64, np.uint8]
TEXTS = {"": "empty key", "plain": "", "unicode": "é € 𝄞", "lines": "a\nb\t\"c\"\\", "numbers": "1e-300"}


def random_tensors(rng):
    tensors = {}
    for i in range(rng.integers(0, 12)):
        shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 9, rng.integers(0, 5)))
        dtype = TYPES[rng.integers(0, len(TYPES))]
        name = ["pi.%d.weight", "é%d", "a b %d", '"%d"'][rng.integers(0, 4)] % i
        tensors[name] = np.frombuffer(rng.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)
    return tensors


def metadata_of(path):
    with safe_open(path, "numpy") as file:
        return file.metadata() or {}


def same(a, b):
    return a.keys() == b.keys() and all(
        a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and a[k].tobytes() == b[k].tobytes() for k in a)


def test_both_ways(folder, rng, n):
    ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
    for _ in range(n):
        tensors = random_tensors(rng)
        metadata = {k: v for k, v in TEXTS.items() if rng.random() < 0.6}
        save_file(tensors, theirs, metadata)
        subprocess.run([PROGRAM, "copy", theirs, ours], check=True)
        assert same(load_file(ours), tensors), tensors
        assert metadata_of(ours) == metadata, metadata
        with open(ours, "rb") as file:
            assert struct.unpack("<Q", file.read(8))[0] % 8 == 0
    print(f"{n} files of the package read and written again: it finds the same")


def accepted(path):
    try:
        with safe_open(path, "numpy") as file:
            for name in file.keys():
                file.get_tensor(name)
        return True
    except Exception:
        return False


def test_damage(folder, rng, n):
    save_file({"a": np.arange(6, dtype=np.float32), "b": np.zeros((2, 3)), "c": np.arange(3, dtype=np.uint8)},
              os.path.join(folder, "good"), {"k": "v"})
    with open(os.path.join(folder, "good"), "rb") as file:
        good = file.read()
    length = struct.unpack("<Q", good[:8])[0]
    paths, digits = [], [i for i in range(8, 8 + length) if chr(good[i]).isdigit()]
    for i in range(n):
        bad = bytearray(good)
        kind = rng.integers(0, 4)
        if kind == 0:
            bad = bad[:rng.integers(0, len(bad))]
        elif kind == 1:
            bad += rng.bytes(int(rng.integers(1, 9)))
        elif kind == 2:
            bad[rng.integers(0, 8 + length)] = rng.integers(0, 256)
        else:
            bad[rng.choice(digits)] = ord("0") + int(rng.integers(0, 10))
        paths.append(os.path.join(folder, f"bad-{i}"))
        with open(paths[-1], "wb") as file:
            file.write(bad)
    lines = subprocess.run([PROGRAM, "read", *paths], check=True, capture_output=True, text=True,
                           errors="replace").stdout.rstrip("\n").split("\n")
    assert len(lines) == n, (len(lines), n)
    ok = sum(line == "ok" for line in lines)
    for path, line in zip(paths, lines):
        assert line != "ok" or accepted(path), (path, open(path, "rb").read())
    assert 0 < ok < n
    print(f"{n} damaged files: {ok} read by both, the others refused")


with tempfile.TemporaryDirectory() as scratch:
    print(f"PAPERTAPE_SEED={SEED}")
    generator = np.random.default_rng(SEED)
    test_both_ways(scratch, generator, 400 if LONG else 40)
    test_damage(scratch, generator, 2000 if LONG else 300)
