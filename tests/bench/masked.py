"""bench/gpu where the toolkit has no cublasLt.h: masked.py SOURCE_ROOT. Everything is built, and only the learner's steps are skipped.

The header is hidden in a mount namespace of the test's own, which needs root or user namespaces; skipped (77) without them or nvcc."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
SKIP = 77
LEARNERS = {"device-ppo", "gpu_train", "gpu_study", "gpu_study-mps"}
HIDDEN = 'mount --bind /dev/null "$1" && shift && exec "$@"'


def namespace():
    """The command that runs another with the header hidden, or None."""
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    found = subprocess.run(["sh", "-c", "command -v nvcc"], capture_output=True, text=True, check=False).stdout.strip()
    header = found and pathlib.Path(found).resolve().parent.parent / "include/cublasLt.h"
    if not header or not header.exists():
        return None
    for unshare in (["unshare", "-m"], ["unshare", "-m", "-r"]):
        command = [*unshare, "sh", "-c", HIDDEN, "sh", str(header.resolve())]
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return command
    return None


def run(command, *arguments, out):
    environment = {**os.environ, "OUT": str(out), "PAPERTAPE_GPU_DEADLINE_S": "2000", "PAPERTAPE_GPU_STEP_S": "1900", "PYTHONPATH": ""}
    environment = {name: value for name, value in environment.items() if name not in ("PAPERTAPE_BENCH_BREAK", "PAPERTAPE_BENCH_SMALL")}
    done = subprocess.run([*command, f"{ROOT}/bench/gpu", "--small", *arguments], stdout=subprocess.PIPE, text=True, check=False, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {line["case"]: line for line in lines if line["bench"] == "gpu" and "started" in line or line.get("value") == "skipped"}


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"masked.py: {what}: {got}: {wanted} would be right")


def main():
    command = namespace()
    if not command:
        print("skipped: no nvcc with cuBLAS, or no mount namespace")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder) / "build"
        status, steps = run(command, "--only", "device-indicators,gpu_train", str(build), out=f"{folder}/out")
        check("the build", steps["build"]["value"], "ok")
        check("the learner's bench", steps["gpu_train"]["value"], "skipped")
        check("the module", (build / "papertape-gpu.so").exists(), True)
        check("exit status", status in (0, SKIP), True)
        module = build / "tests/indicators_gpu/libgpu-on-cpu.so"
        status, steps = run(command, "--no-build", "--module", str(module), str(build), out=f"{folder}/out")
        for name, line in steps.items():
            absent = any(word in line.get("reason", "") for word in ("compute-sanitizer", "mps-control"))
            wanted = "skipped" if name in LEARNERS or name.endswith("-ppo") or absent else "ok"
            check(name, line["value"], wanted)
            if name in ("gpu_train", "device-ppo"):
                check(f"{name}'s reason", "cublasLt.h was not found" in line["reason"], True)
        check("exit status on the CPU", status, 0)
    return 0


sys.exit(main())
