"""What the gradients are compared on: files that the trainer writes, of shapes that are odd, small and large."""
import os
import subprocess

# Of `papertape-trainer grad-check`.
PROMISED = {
    "one of each": "--widths 1 --obs 1 --actions 1 --batch 2 --seed 1",
    "odd": "--widths 7,5 --obs 3 --actions 2 --batch 13 --seed 2",
    "relu": "--widths 33,17 --obs 11 --actions 5 --batch 31 --seed 3 --activation relu",
    "silu": "--widths 19,1,23 --obs 37 --actions 3 --batch 65 --seed 4 --activation silu",
    "classic": "--widths 64,64 --obs 36 --actions 6 --batch 257 --seed 5",
    "wide": "--widths 300,129 --obs 350 --actions 17 --batch 96 --seed 6 --activation relu",
    "values clipped": "--widths 16,16 --obs 8 --actions 4 --batch 127 --seed 7 --clip-range-vf 0.2",
    # With bounds: the entropy and the value loss within theirs and beyond, as the seeds have it.
    "bounded 8": "--widths 9,9 --obs 5 --actions 1 --batch 33 --seed 8 --bounded",
    "bounded 9": "--widths 9,9 --obs 5 --actions 1 --batch 33 --seed 9 --bounded --activation silu",
    "bounded 10": "--widths 9,9 --obs 5 --actions 1 --batch 33 --seed 10 --bounded --activation relu",
    "bounded 11": "--widths 9,9 --obs 5 --actions 2 --batch 33 --seed 11 --bounded --clip-range-vf 0.3",
    "bounded 12": "--widths 9,9 --obs 5 --actions 1 --batch 33 --seed 12 --bounded",
    "bounded 13": "--widths 9,9 --obs 5 --actions 1 --batch 33 --seed 13 --bounded",
}
# Of the test program that knows every kind of network, by its own names.
KINDS = ("norm", "discrete", "shared", "minGRU", "minGRU-shared", "everything", "no-hidden")
# A library that compiles takes a second for each: without PAPERTAPE_LONG those that have all that Coverage wants, and each layer.
SHORT = {"one of each", "odd", "relu", "values clipped", "bounded 8", "bounded 9", "bounded 11", "norm", "discrete", "everything", "no-hidden"}


def files(trainer, kinds, folder):
    """Yields (name, path) of each case's file."""
    chosen = {*PROMISED, *KINDS} if "PAPERTAPE_LONG" in os.environ else SHORT
    print(f"counts: {len(chosen)} batches (PAPERTAPE_LONG: {len(PROMISED) + len(KINDS)})")
    for name, options in PROMISED.items():
        if name not in chosen:
            continue
        path = os.path.join(folder, name.replace(" ", "-") + ".safetensors")
        subprocess.run([trainer, "grad-check", *options.split(), "--out", path], check=True)
        yield name, path
    for name in filter(chosen.__contains__, KINDS):
        path = os.path.join(folder, name + ".safetensors")
        subprocess.run([kinds, name, path], check=True)
        yield name, path
