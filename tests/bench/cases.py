"""The tables of docs/gpu-results.md against the benches: each case and figure that one names is one that the bench lists or, on the tests'
device, prints, and the reverse.

cases.py BUILD SOURCE_ROOT CPU_MODULE NVML"""
import functools
import json
import os
import re
import subprocess
import sys
import unittest

BUILD, ROOT, MODULE, NVML = map(os.path.abspath, sys.argv[1:5])
SECTIONS = {"Batches": "gpu_indicators", "A closed bar through the streams": "gpu_streams", "Environment": "gpu_env", "Training": "gpu_train",
            "A study": "gpu_study", "Inference": "gpu_policy", "Sweeps": "gpu_sweep"}
PLAIN_RATE = 798  # TFLOP/s
DRIVER = 544 << 20  # that `plan --device-memory` assumes
# Of these, all cases are run.
RUN = {"gpu_train": [[]], "gpu_study": [["", "2"], ["study-mps", "2", "-mps"]]}


def tables():
    """{bench: names in the first column of its tables of cases}."""
    found, bench, cases = {bench: set() for bench in SECTIONS.values()}, None, False
    with open(f"{ROOT}/docs/gpu-results.md", encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                bench = SECTIONS.get(line[3:].strip())
            if not line.startswith("|"):
                cases = False
            elif line.startswith("| case |"):
                cases = True
            elif cases and bench:
                first = re.sub(r"\([^)]*\)", "", line.split("|")[1])
                found[bench] |= set(re.findall(r"`([^`]+)`", first.split(": ")[0]))
    return found


def pattern(name):
    """`…` is a case's name, a word in capitals one of several."""
    return re.compile(re.sub(r"\b[A-Z]+\b", "[a-z0-9_]+", re.escape(name).replace("…", ".+")))


def run(bench, *arguments, **environment):
    done = subprocess.run([f"{BUILD}/bench/{bench}", *arguments], capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return done.stdout.splitlines()


@functools.cache
def figures(bench):
    """{case: line} of all ways to run it, in sizes for a CPU."""
    texts = [text for how in RUN.get(bench, []) for text in run(bench, MODULE, *how, PAPERTAPE_BENCH_SMALL="1", PAPERTAPE_NVML=NVML)]
    return {line["case"]: line for line in map(json.loads, texts)}


class Cases(unittest.TestCase):
    def test_tables_name_what_there_is(self):
        for bench, names in tables().items():
            listed = set(run(bench, "--list"))
            printed = set(figures(bench))
            if bench in RUN:
                self.assertLessEqual(listed, printed)
            patterns = {name: pattern(name) for name in names}
            self.assertTrue(names, bench)
            absent = {name for name, one in patterns.items() if not any(map(one.fullmatch, listed | printed))}
            unnamed = {name for name in listed | printed if not any(one.fullmatch(name) for one in patterns.values())}
            self.assertEqual((absent, unnamed), (set(), set()), bench)

    def test_figures_of_a_training(self):
        """Updates as a share of a constant and of the measured rate, memory by the plan, NVML's share of the busy time."""
        lines = figures("gpu_train")
        for name in run("gpu_train", "--list"):
            whole, update, memory = (lines[name + suffix] for suffix in ("", "-update", "-memory"))
            self.assertAlmostEqual(update["of_limit"] * PLAIN_RATE / update["tflop_s"], 1, places=4)
            self.assertAlmostEqual(update["of_matrix"] * lines[f"{name}-matrix"]["value"] * 1e-12 / update["tflop_s"], 1, places=4)
            self.assertAlmostEqual(update["value"] * whole["update_s"] / (8 * 8), 1, places=4)  # copies, steps
            self.assertEqual(memory["planned"], memory["allocated"] + DRIVER)
            self.assertAlmostEqual(memory["value"], memory["held"] / memory["planned"])
            self.assertEqual(lines[f"{name}-busy"]["value"], 0.97)
        goals = {name: line.get("goal") for name, line in lines.items() if name in ("2048x1024x512", "2048x1024x512-tanh")}
        self.assertEqual(goals, {"2048x1024x512": 2.9e6, "2048x1024x512-tanh": 2.3e6})
        self.assertEqual(lines["reference-4080-relu-update"]["goal_of_limit"], 0.6)

    def test_three_studies_at_once(self):
        line = figures("gpu_study")["studies-3"]
        self.assertAlmostEqual(line["value"] * line["serial"] / line["at_once"], 1, places=4)
        self.assertEqual(line["goal"], 1.5)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
