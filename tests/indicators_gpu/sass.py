"""Counts the instructions (SASS) of the module's kernels for sm_90, and compares them with the goals in
docs/gpu-results.md. An instruction has 16 bytes. A kernel's count is all of its code; functions out of line are
counted in it, and also separately.

    sass.py MODULE [SOURCE]     the GPU module, or a cubin made by nvcc -cubin -arch=sm_90; SOURCE: this repository

Wants cuobjdump, from the toolkit or from nvidia-cuda-cuobjdump in the venv in $PAPERTAPE_VENV; exits 77 without it,
and where the code is another compiler's than the goals are for, after it has printed the counts."""

import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
INSTRUCTION_BYTES = 16
ARCHITECTURE = "sm_90"

COMPILER = "release 13.0"  # nvcc's, whose code the goals are for
STEP_GOAL, BAR_GOAL = 5000, 450
STEPS = "reference-f64 reference-f32 day-reference market market-limited day-market".split()  # enum env_kernel
MISSED = {"market-limited": 5600}  # above the goal, and counted so that it grows no further


def tool():
    """cuobjdump: the toolkit's, or the venv's."""
    beside_nvcc = os.path.join(os.path.dirname(os.path.realpath(shutil.which("nvcc") or "/nowhere/nvcc")), "cuobjdump")
    venv = os.path.join(os.environ.get("PAPERTAPE_VENV", "/nowhere"), "lib/python3*/site-packages/nvidia/*/bin/cuobjdump")
    for path in [shutil.which("cuobjdump"), beside_nvcc, *glob.glob(venv)]:
        if path and os.access(path, os.X_OK):
            return path
    print("skipped: no cuobjdump, neither the toolkit's nor PyPI's nvidia-cuda-cuobjdump")
    sys.exit(SKIPPED)


def sections(elf):
    """[(name, type, offset, bytes, link)] of a 64-bit ELF file."""
    at = struct.unpack_from("<Q", elf, 40)[0]
    each, n, names = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQI", elf, at + i * each) for i in range(n)]

    def name(offset):
        begin = rows[names][4] + offset
        return elf[begin : elf.index(b"\0", begin)].decode()

    return [(name(row[0]), row[1], row[4], row[5], row[6]) for row in rows]


def functions(elf):
    """Kernels of a cubin: {mangled name: (instructions, those of functions out of line)}."""
    found = sections(elf)
    names = [section[0].removeprefix(".text.") if section[0].startswith(".text.") else None for section in found]
    kernels = {name: [section[3] // INSTRUCTION_BYTES, 0] for name, section in zip(names, found) if name}
    for _, kind, offset, size, link in found:
        for at in range(offset, offset + size, 24) if kind == 2 else ():  # the symbol table
            text, info, _, section, _, length = struct.unpack_from("<IBBHQQ", elf, at)
            begin = found[link][2] + text
            name = elf[begin : elf.index(b"\0", begin)].decode()
            if info & 15 == 2 and section < len(names) and names[section] and names[section] != name:
                kernels[names[section]][1] += length // INSTRUCTION_BYTES
    return {name: tuple(counts) for name, counts in kernels.items()}


def resources(cuobjdump, cubin):
    """{mangled name: "72 registers, 56 bytes of stack"}."""
    text = subprocess.run([cuobjdump, "-res-usage", cubin], check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", text)
    return {name: f"{registers} registers, {stack} bytes of stack" for name, registers, stack in rows}


def cubins(cuobjdump, module, folder):
    """The module's code for the architecture, a file for each source."""
    if module.endswith(".cubin"):
        return [os.path.abspath(module)]
    subprocess.run(
        [cuobjdump, "-xelf", ARCHITECTURE, os.path.abspath(module)], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )
    return sorted(glob.glob(os.path.join(folder, f"*{ARCHITECTURE}*.cubin")))


def kernels(module):
    """All kernels of the module: {mangled name: (instructions, out of line, resources)}."""
    cuobjdump, found = tool(), {}
    with tempfile.TemporaryDirectory() as folder:
        for cubin in cubins(cuobjdump, module, folder):
            with open(cubin, "rb") as file:
                counts = functions(file.read())
            used = resources(cuobjdump, cubin)
            found.update({name: (*counts[name], used.get(name, "")) for name in counts})
    return found


def bars_of_a_run(source):
    with open(os.path.join(source, "indicators_gpu/cuda/fused_rule.h"), encoding="utf-8") as file:
        return int(re.search(r"FUSED_ITEMS = (\d+)", file.read()).group(1))


def counted(source):
    """[(name, pattern of the mangled name, by how much its count is divided, goal)]. The fused kernel has the code of
    each row once, for all bars that a thread runs through: so many bars."""
    rows = []
    for i, name in enumerate(STEPS):
        goal = MISSED.get(name, STEP_GOAL)
        rows.append((f"step {name}", rf"\d+step_kernelIL\d+env_kernel{i}E", 1, goal))
        rows.append((f"step and observe {name}", rf"step_observe_kernelIL\d+env_kernel{i}E", 1, goal))
    bars = bars_of_a_run(source)
    for name, flag in (("float64", 0), ("float32", 1)):
        rows.append((f"fused {name}, a bar", rf"fused_kernelILb{flag}E", bars, BAR_GOAL))
    return rows


def goals_are_for_this_compiler():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(nvcc):
        return False
    return COMPILER in subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout


def main():
    module = sys.argv[1]
    source = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "../..")
    found, failed, seen = kernels(module), 0, 0
    for name, pattern, per, goal in counted(source):
        matches = [counts for mangled, counts in found.items() if re.search(pattern, mangled)]
        for total, apart, used in matches:
            good = total <= goal * per
            print(
                f"{name}: {total / per:.0f} instructions, {apart / per:.0f} of them out of line; {used}"
                + ("" if good else f": at most {goal} would be right")
            )
            seen, failed = seen + 1, failed + (not good)
        if not matches and not module.endswith(".cubin"):
            print(f"{name}: no such kernel in {module}")
            failed += 1
    if failed and not goals_are_for_this_compiler():
        print(f"skipped: the goals are for nvcc's {COMPILER}")
        sys.exit(SKIPPED)
    sys.exit(failed > 0 or seen == 0)


if __name__ == "__main__":
    main()
