"""Ten updates on one fixed batch, by the trainer's programs, against another library's losses, gradient norms and
parameters at the end."""
import os
import subprocess

import compare
import numpy as np
import tensors

UPDATES, LEARNING_RATE, EPSILON = 10, 3e-3, 1e-5
TERMS = ("policy_loss", "value_loss", "entropy_loss", "loss", "norm")
# Of each column's largest magnitude. In float32 Adam's steps follow the sign of gradients near 0, which float32 rounds.
TOLERANCES = {"float64": 1e-9, "float32": 1e-5}
# Gradients that are clipped in all updates, and in none.
CASES = {
    "clipped": ("--widths 24,13 --obs 10 --actions 3 --batch 77 --seed 21 --clip-range-vf 0.2", 0.1),
    "not clipped": ("--widths 16,9 --obs 7 --actions 2 --batch 50 --seed 22 --activation silu --bounded", 1e3),
}


def ours(program, path, out, max_norm):
    numbers = [str(number) for number in (UPDATES, LEARNING_RATE, EPSILON, max_norm)]
    found = subprocess.run([program, path, *numbers, out], check=True, capture_output=True, text=True)
    return np.array([line.split() for line in found.stdout.splitlines()], dtype=np.float64)


def check(trainer, programs, folder, run):
    """run(params, batch, metadata, max_norm) gives (terms [UPDATES][5], parameters). Counts failures."""
    failures = 0
    for name, (options, max_norm) in CASES.items():
        path, out = os.path.join(folder, "batch.safetensors"), os.path.join(folder, "after.safetensors")
        subprocess.run([trainer, "grad-check", *options.split(), "--out", path], check=True)
        found, metadata = tensors.read(path)
        terms, params = run(found, metadata, max_norm)
        clipped = terms[:, -1] > max_norm
        if not (np.all(clipped) if name == "clipped" else not np.any(clipped)):
            print(f"{name}: gradient norms {terms[:, -1]}, clipped at {max_norm}")
            failures += 1
        if not terms[-1, 3] < terms[0, 3]:
            print(f"{name}: the loss went from {terms[0, 3]} to {terms[-1, 3]}")
            failures += 1
        for (kind, tolerance), program in zip(TOLERANCES.items(), programs, strict=True):
            mine = ours(program, path, out, max_norm)
            after, _ = tensors.read(out)
            parts = {term: compare.difference(mine[:, i], terms[:, i]) for i, term in enumerate(TERMS)}
            if kind == "float64":
                parts |= {key: compare.difference(after[key], params[key]) for key in params}
            worst = max(parts, key=parts.get)
            print(f"{name}: {kind}: {len(mine)} updates, largest difference {parts[worst]:.1e} ({worst})")
            for key, apart in parts.items():
                if not apart <= tolerance:
                    print(f"{name}: {kind}: {key} differs by {apart:.3g}, not at most {tolerance:g}")
                    failures += 1
        print(f"{name}: losses " + " ".join(f"{loss:.6f}" for loss in terms[:, 3]))
    return failures
