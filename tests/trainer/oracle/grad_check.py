"""papertape-trainer grad-check as a program: what it refuses, and what its file has.

    grad_check.py PAPERTAPE_TRAINER
"""
import json
import os
import subprocess
import sys
import tempfile

GOOD = {"--widths": "4,3", "--obs": "5", "--actions": "2", "--batch": "6", "--seed": "9"}
# What is changed; the exit status; what the one line on stderr must have.
REFUSED = [
    ({"--widths": "4,,3"}, 2, '--widths: "4,,3": 1 to 8 whole numbers from 1 to 8192'),
    ({"--widths": "4,3,"}, 2, '--widths: "4,3,": 1 to 8 whole numbers from 1 to 8192'),
    ({"--widths": "0"}, 2, '--widths: "0": 1 to 8 whole numbers from 1 to 8192'),
    ({"--widths": "8193"}, 2, '--widths: "8193": 1 to 8 whole numbers from 1 to 8192'),
    ({"--widths": "1,1,1,1,1,1,1,1,1"}, 2, '--widths: "1,1,1,1,1,1,1,1,1": 1 to 8 whole numbers from 1 to 8192'),
    ({"--widths": "-4"}, 2, '--widths: "-4": 1 to 8 whole numbers from 1 to 8192'),
    ({"--obs": "0"}, 2, '--obs: "0": a whole number from 1 to 65536'),
    ({"--obs": "65537"}, 2, '--obs: "65537": a whole number from 1 to 65536'),
    ({"--actions": "4097"}, 2, '--actions: "4097": a whole number from 1 to 4096'),
    ({"--batch": "1"}, 2, '--batch: "1": a whole number from 2 to 1048576'),
    ({"--batch": "12x"}, 2, '--batch: "12x": a whole number from 2 to 1048576'),
    ({"--seed": "18446744073709551616"}, 2, '--seed: "18446744073709551616": a whole number from 0 to 18446744073709551615'),
    ({"--seed": "-1"}, 2, '--seed: "-1": a whole number from 0 to 18446744073709551615'),
    ({"--activation": "gelu"}, 2, '--activation: "gelu": one of tanh|relu|silu'),
    ({"--clip-range-vf": "0"}, 2, '--clip-range-vf: "0": a number above 0'),
    ({"--clip-range-vf": "nan"}, 2, '--clip-range-vf: "nan"'),
    ({"--widht": "4"}, 2, "--widht: unknown option"),
    ({"--out": None}, 2, "--out FILE is needed"),
    ({"--out": "/nowhere/f.safetensors"}, 1, "/nowhere/f.safetensors"),
    ({"--out": "/dev/full/f"}, 1, "/dev/full/f"),
] + [({option: None}, 2, f"grad-check: {option} ") for option in GOOD]


def run(trainer, options):
    words = [word for key, value in options.items() if value is not None for word in (key, value)]
    return subprocess.run([trainer, "grad-check", *words], capture_output=True, text=True, check=False)


def expect(right, what):
    if not right:
        print(what)
    return 0 if right else 1


def test_refused(trainer, out):
    failures = 0
    for change, status, said in REFUSED:
        ran = run(trainer, GOOD | {"--out": out} | change)
        right = ran.returncode == status and said in ran.stderr and ran.stderr.count("\n") == 1
        failures += expect(right and not ran.stdout and not os.path.exists(out),
                           f"{change}: status {ran.returncode}: {ran.stderr}")
    for words in (["one"], ["--", "one"], ["--out"]):
        ran = subprocess.run([trainer, "grad-check", *words], capture_output=True, text=True, check=False)
        failures += expect(ran.returncode == 2 and ran.stderr.count("\n") == 1, f"{words}: {ran.stderr}")
    return failures


def header_of(path):
    with open(path, "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))


def test_file(trainer, out):
    """Names, shapes, types and metadata to the letter; twice the same bytes; a whole file or what was there."""
    ran = run(trainer, GOOD | {"--out": out})
    failures = expect(ran.returncode == 0 and not ran.stdout and not ran.stderr, f"{ran}")
    header = header_of(out)
    wanted = {"obs": [6, 5], "actions": [6, 2], "mean": [6, 2], "log_std": [2]}
    wanted |= dict.fromkeys(("old_logp", "old_values", "advantages", "returns", "values", "logp"), [6])
    wanted |= dict.fromkeys(("policy_loss", "value_loss", "entropy_loss", "loss"), [1])
    for net, outputs in (("pi", 2), ("vf", 1)):
        for at, (rows, cols) in enumerate([(4, 5), (3, 4), (outputs, 3)]):
            wanted |= {f"{net}.{at}.weight": [rows, cols], f"{net}.{at}.bias": [rows]}
    params = [name for name in wanted if name.startswith(("pi.", "vf.", "log_std"))]
    wanted |= {"grad." + name: wanted[name] for name in params}
    reported = {"activation": "tanh", "clip_range_vf": "none", "entropy_bound": "none", "value_bound": "none"}
    metadata = header.pop("__metadata__")
    failures += expect({name: of["shape"] for name, of in header.items()} == wanted, f"tensors: {header}")
    failures += expect(all(of["dtype"] == "F64" for of in header.values()), "not all are F64")
    failures += expect(metadata.items() >= reported.items() and {k: float(v) for k, v in metadata.items() if k not in reported}
                       == {"clip_range": 0.2, "vf_coef": 0.5, "ent_coef": 0.01}, f"metadata: {metadata}")
    with open(out, "rb") as file:
        before = file.read()
    run(trainer, GOOD | {"--out": out})
    with open(out, "rb") as file:
        failures += expect(file.read() == before, "the same seed gave other bytes")
    ran = subprocess.run([trainer, "grad-check", *[w for pair in GOOD.items() for w in pair], "--bounded",
                          "--clip-range-vf", "0.5", "--activation", "silu", "--seed", "10", "--out", out], check=False)
    metadata = header_of(out)["__metadata__"]
    failures += expect(ran.returncode == 0 and metadata["activation"] == "silu" and
                       [float(metadata[key]) for key in ("clip_range_vf", "entropy_bound", "value_bound")]
                       == [0.5, 1, 10], f"metadata: {metadata}")
    with open(out, "rb") as file:
        failures += expect(file.read() != before, "another seed gave the same bytes")
    return failures + expect(os.listdir(os.path.dirname(out)) == [os.path.basename(out)], "left a file")


def main():
    with tempfile.TemporaryDirectory(prefix="papertape-grad-check-") as folder:
        out = os.path.join(folder, "batch.safetensors")
        failures = test_refused(sys.argv[1], out) + test_file(sys.argv[1], out)
    print(f"grad_check: {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
