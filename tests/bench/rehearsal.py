"""bench/gpu on the tests' device, which is the CPU: what is left of a run when some of it fails, crashes or hangs.

rehearsal.py short|whole BUILD SOURCE_ROOT CPU_MODULE NVML   (NVML: the tests' stand-in for the driver's library)"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MODE, (BUILD, ROOT, MODULE, NVML) = sys.argv[1], map(os.path.abspath, sys.argv[2:6])
FILES = {"figures.jsonl", "build.log", "tests.log", "benches.log", "sanitizers.log"}
BENCHES = ["--only", "gpu_env,gpu_indicators,memcheck-env"] if MODE == "short" else []  # what is broken
ALL = ["--only", f"{BENCHES[1]},gpu_study-mps"] if MODE == "short" else []
CASE_S, STEP_S = ("6", "60") if MODE == "short" else ("15", "40")
BROKEN = {"fail:gpu_env/market-equal": ("failed", "PAPERTAPE_BENCH_BREAK asked for it"), "crash:gpu_env/market-65536": ("failed", "signal 6"),
          "hang:gpu_indicators/copy": ("no verdict", f"not done in {CASE_S} s")}
BROKEN_WHOLE = {"hang:device-env": ("no verdict", f"not done in {STEP_S} s"), "fail:device-ppo": ("failed", "exit status 1: PAPERTAPE_BENCH_BREAK asked for it"),
                "fail:gpu_train/64x64": ("failed", "PAPERTAPE_BENCH_BREAK asked for it"), "hang:gpu_study/study-alone": ("no verdict", f"not done in {CASE_S} s")}
# In place of NVIDIA's tools: one runs what it checks, the other notes when it is started and ended.
TOOLS = {"compute-sanitizer": '#!/bin/sh\nshift 4\nexec "$@"\n',
         "nvidia-cuda-mps-control": '#!/bin/sh\n[ "$1" = -d ] && word=start || read -r word _\necho "$word $CUDA_MPS_PIPE_DIRECTORY" >>"$MPS_NOTES"\n'}


class Rehearsal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        for name, text in TOOLS.items():
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)

    def run_all(self, *arguments, tools=True, **environment):
        """Exit status, {(bench, case): line}; every file that it left is of a known name."""
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PAPERTAPE_", "CPU_DEVICE", "QUEUE_"))}
        path = f"{self.folder / 'bin'}:{inherited['PATH']}" if tools else inherited["PATH"]
        done = subprocess.run([f"{ROOT}/bench/gpu", "--small", "--module", MODULE, "--no-build", *arguments, BUILD], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={**inherited, "OUT": str(out), "PATH": path, "MPS_NOTES": str(self.folder / "mps"), "PAPERTAPE_NVML": NVML, **environment})
        files = {path.name: path.read_text() for path in out.iterdir()}
        self.assertLessEqual(set(files), FILES)
        self.assertEqual(files["figures.jsonl"], done.stdout, done.stderr)
        lines = {}
        for text in done.stdout.splitlines():
            line = json.loads(text)
            self.assertNotIn((line["bench"], line["case"]), lines)
            lines[line["bench"], line["case"]] = line
        return done.returncode, lines

    def test_whole_and_broken(self):
        status, whole = self.run_all(*ALL)
        steps = {case: line["value"] for (bench, case), line in whole.items() if bench == "gpu" and "started" in line}
        self.assertEqual((status, set(steps.values())), (0, {"ok"}), [whole["gpu", case] for case in steps if steps[case] != "ok"])
        self.assertEqual(whole["gpu", "device"]["driver"], "999.42.01")
        for case in steps:
            self.assertEqual(whole["gpu", case].get("sm_mhz_most", 1980), 1980)
            self.assertEqual(whole["gpu", case].get("utilisation_mean", 0.97), 0.97)
        self.assertIn("utilisation_mean", whole["gpu", "gpu_env"])
        start, end = (line.split() for line in (self.folder / "mps").read_text().splitlines())
        self.assertEqual((start[0], end[0], start[1]), ("start", "quit", end[1]))
        self.assertIn(("gpu_study", "study-mps"), whole)
        if MODE == "whole":
            self.check_products(whole)

        broken = {**BROKEN, **(BROKEN_WHOLE if MODE == "whole" else {})}
        status, lines = self.run_all(*BENCHES, PAPERTAPE_BENCH_BREAK=",".join(broken), PAPERTAPE_BENCH_CASE_S=CASE_S, PAPERTAPE_GPU_STEP_S=STEP_S)
        self.assertEqual(status, 1)
        lost = set()
        for what, (value, reason) in broken.items():
            place = what.split(":")[1]
            key = tuple(place.split("/")) if "/" in place else ("gpu", place)
            self.assertEqual((lines[key]["value"], lines[key]["reason"]), (value, reason), key)
            lost.add(key)
        # Only figures of the broken cases, which have names longer than theirs, are missing.
        benches = {bench for bench, _ in lines}
        for bench, case in whole.keys() - lines.keys():
            known = any(bench == one and case.startswith(f"{name}-") for one, name in lost)
            self.assertTrue(known or MODE == "short" and (bench not in benches or case == "gpu_study-mps"), (bench, case))
        for key in lines.keys() - lost:
            if key[0] != "gpu":
                self.assertNotIn(lines[key].get("value"), ("failed", "no verdict"), key)

    def check_products(self, lines):
        """Each network has them forward and back, with what was asked for."""
        products = [line for (bench, case), line in lines.items() if bench == "gpu_train" and "-product-" in case]
        self.assertEqual({line["kind"] for line in products}, {"forward", "input gradient", "weight gradient"})
        for line in products:
            self.assertEqual(line["asked"], line["got"])
            self.assertGreater(line["m"] * line["n"] * line["k"], 0)
            self.assertGreater(line["us"], 0)
        memory = lines["gpu_train", "64x64-memory"]
        self.assertGreaterEqual(memory["learner"], memory["environment"])
        self.assertGreater(memory["planned"], 0)

    @unittest.skipIf(MODE == "short", "the whole")
    def test_learner_that_is_not_on_the_device(self):
        """No room for a learner, whose products alone need 64 MiB: nothing of the CPU is measured."""
        status, lines = self.run_all("--only", "gpu_study", QUEUE_MEMORY="60000000")
        self.assertEqual(status, 1)
        for case in ("study-alone", "study", "studies-3"):
            self.assertEqual(lines["gpu_study", case]["value"], "failed")
            self.assertIn("a learner is not on the device", lines["gpu_study", case]["reason"])

    def test_no_time_left(self):
        """A step at its end: the cases that did not run are named."""
        status, lines = self.run_all("--only", "gpu_env", PAPERTAPE_BENCH_BREAK="hang:gpu_env/reference-equal", PAPERTAPE_BENCH_CASE_S="60", PAPERTAPE_GPU_STEP_S="1")
        self.assertEqual((status, lines["gpu", "gpu_env"]["value"]), (2, "no verdict"))
        left = [line for (bench, _), line in lines.items() if bench == "gpu_env"]
        self.assertEqual({(line["value"], line["reason"]) for line in left}, {("no verdict", "no time was left")})
        self.assertEqual(len(left), 15)

    def test_absent_tools(self):
        status, lines = self.run_all("--only", "gpu_study-mps,gpu_env", tools=False, PAPERTAPE_NVML="libnvidia-ml-absent.so.1")
        self.assertEqual(status, 0)
        self.assertEqual(lines["gpu", "gpu_study-mps"]["value"], "skipped")
        self.assertIn("nvidia-cuda-mps-control is not here", lines["gpu", "gpu_study-mps"]["reason"])
        self.assertIn("NVML is not here", lines["gpu", "device"]["reason"])
        self.assertIsNone(lines["gpu", "device"]["driver"])


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
