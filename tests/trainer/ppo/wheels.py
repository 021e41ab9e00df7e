"""Where trainer/ppo/cuda/wheels.py finds cuBLASLt, in folders laid out as pip does: wheels.py SOURCE_ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(sys.argv[1]) / "trainer/ppo/cuda/wheels.py"
LAYOUTS = {"new": "nvidia/cu13", "newer": "nvidia/cu14", "old": "nvidia/cublas"}


def place(root, header=True, library=True):
    for wanted, path in ((header, root / "include/cublasLt.h"), (library, root / "lib/libcublasLt.so.13")):
        path.parent.mkdir(parents=True, exist_ok=True)
        if wanted:
            path.touch()


def found(folder):
    """Of the places that are printed, those in the folder."""
    printed = subprocess.run([sys.executable, SCRIPT], env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in printed.splitlines() if line.startswith(f"{folder}/")]


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"wheels.py: {what}: {got}: {wanted} would be right")


with tempfile.TemporaryDirectory(prefix="papertape [wheels] ") as name:
    folder = pathlib.Path(name).resolve()
    check("nothing there", found(folder), [])
    place(folder / "nvidia/cudnn")
    place(folder / "nvidia/cu12", library=False)
    place(folder / LAYOUTS["old"], header=False)
    check("halves, and another package", found(folder), [])
    for layout in LAYOUTS.values():
        place(folder / layout)
    places = [[f"{folder}/{LAYOUTS[one]}/include", f"{folder}/{LAYOUTS[one]}/lib"] for one in ("newer", "new", "old")]
    check("newest first", found(folder)[:2] + found(folder)[-1:], places)
