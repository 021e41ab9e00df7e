"""The tables of docs/gpu-results.md against the benches: each case and figure that one names is one that the bench lists or, on the tests'
device, prints, and the reverse.

cases.py BUILD SOURCE_ROOT CPU_MODULE NVML"""
import json
import os
import re
import subprocess
import sys
import unittest

BUILD, ROOT, MODULE, NVML = map(os.path.abspath, sys.argv[1:5])
SECTIONS = {"Batches": "gpu_indicators", "A closed bar through the streams": "gpu_streams", "Environment": "gpu_env", "Training": "gpu_train",
            "A study": "gpu_study", "Inference": "gpu_policy"}
# Of these, all cases are run, in sizes for a CPU.
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


def figures(bench, *arguments):
    return {json.loads(line)["case"] for line in run(bench, MODULE, *arguments, PAPERTAPE_BENCH_SMALL="1", PAPERTAPE_NVML=NVML)}


class Cases(unittest.TestCase):
    def test_tables_name_what_there_is(self):
        for bench, names in tables().items():
            listed = set(run(bench, "--list"))
            printed = {case for how in RUN.get(bench, []) for case in figures(bench, *how)}
            if bench in RUN:
                self.assertLessEqual(listed, printed)
            patterns = {name: pattern(name) for name in names}
            self.assertTrue(names, bench)
            absent = {name for name, one in patterns.items() if not any(map(one.fullmatch, listed | printed))}
            unnamed = {name for name in listed | printed if not any(one.fullmatch(name) for one in patterns.values())}
            self.assertEqual((absent, unnamed), (set(), set()), bench)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
