"""bench/gpu's steps with small commands in place of programs: verdicts, limits, logs, lines, and what is left running.

steps.py SOURCE_ROOT"""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))
import gpu_device  # noqa: E402
import gpu_steps  # noqa: E402

gpu_steps.TERM_S = 0.2
LONG_S = 60  # no step here takes so long, unless it is broken


class NoWatch:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def figures(self):
        return {}


def step(name, script, limit_s=LONG_S, **more):
    return gpu_steps.Step(name, ["sh", "-c", script], limit_s, more.pop("log", "log"), **more)


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.run_ = gpu_steps.Run(self.folder, LONG_S, NoWatch)
        self.addCleanup(self.run_.figures.close)
        for name in ("PAPERTAPE_BENCH_BREAK", "PAPERTAPE_GPU_STEP_S"):
            os.environ.pop(name, None)

    def steps(self, *steps):
        """The values, and the lines that were printed: the same as in figures.jsonl."""
        out = io.StringIO()
        before = (self.folder / "figures.jsonl").read_text()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            values = self.run_.steps(*steps)
        self.assertEqual((self.folder / "figures.jsonl").read_text(), before + out.getvalue())
        return values, [json.loads(line) for line in out.getvalue().splitlines()]

    def one(self, *arguments, **more):
        (value,), lines = self.steps(step(*arguments, **more))
        return value, lines

    def test_verdicts(self):
        for script, value, reason in (("exit 0", "ok", None), ("echo why; exit 3", "failed", "exit status 3: why"), ("exit 3", "failed", "exit status 3"),
                                      ("echo none here >&2; exit 77", "skipped", "none here"), ("kill -SEGV $$", "failed", "signal 11"),
                                      ("exit 124", "no verdict", "a case was not done in its time")):
            got, (line,) = self.one("s", script)
            self.assertEqual((got, line["value"], line.get("reason"), line["case"]), (value, value, reason, "s"))
            self.assertGreaterEqual(line["seconds"], 0)

    def test_absent_program(self):
        (value,), (line,) = self.steps(gpu_steps.Step("s", ["/nowhere/program"], LONG_S, "log"))
        self.assertEqual((value, line["reason"]), ("failed", "/nowhere/program: No such file or directory"))

    def test_unsupported_tool(self):
        value, (line,) = self.one("s", "echo Device not supported; exit 1", unsupported="Device not supported")
        self.assertEqual((value, line["reason"]), ("skipped", "Device not supported: sh"))

    def test_culprits_are_named(self):
        value, (line,) = self.one("s", "echo 'FAILED: a.o '; echo why; echo 'FAILED: b'; echo end; exit 1", culprits="FAILED: ")
        self.assertEqual((value, line["reason"]), ("failed", "exit status 1: a.o, b"))

    def test_hang_is_ended_with_its_children(self):
        mark = self.folder / "child"
        value, (line,) = self.one("s", f"sleep 1000 & echo $! >{mark}; trap '' TERM; wait; wait", limit_s=0.5)
        self.assertEqual(value, "no verdict")
        self.assertIn("not done in", line["reason"])
        child = int(mark.read_text())
        deadline = time.monotonic() + LONG_S
        while self.is_running(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(self.is_running(child))

    @staticmethod
    def is_running(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_figures_come_at_once_and_stay(self):
        script = """echo '{"bench":"b","case":"c","value":1}'; echo note >&2; sleep 1000"""
        value, lines = self.one("s", script, limit_s=0.5, figures=True)
        self.assertEqual((value, [line["case"] for line in lines]), ("no verdict", ["c", "s"]))
        self.assertIn("note", (self.folder / "log").read_text())

    def test_line_that_is_no_json(self):
        for text in ("figure 7", '{"value":NaN}', '{"value":inf}', '{"value":'):
            value, lines = self.one("s", f"echo '{text}'", figures=True)
            self.assertEqual((value, len(lines)), ("failed", 1))
            self.assertIn("no JSON", lines[0]["reason"])

    def test_failed_case_in_the_lines_fails_the_step_by_its_status(self):
        value, lines = self.one("s", """echo '{"bench":"b","case":"c","value":"failed"}'; exit 1""", figures=True)
        self.assertEqual((value, [line["value"] for line in lines]), ("failed", ["failed", "failed"]))

    def test_beside_each_other(self):
        """Each waits for the other's file: one after the other they would not end."""
        a, b = self.folder / "a", self.folder / "b"
        script = "touch {}; until [ -e {} ]; do sleep 0.01; done"
        values, lines = self.steps(step("one", script.format(a, b), log="x"), step("two", script.format(b, a) + "; exit 1", log="x"))
        self.assertEqual((values, [line["case"] for line in lines]), (["ok", "failed"], ["one", "two"]))
        self.assertEqual((self.folder / "x").read_text().count("== "), 2)

    def test_deadline(self):
        self.run_.deadline_s = 0
        value, (line,) = self.one("s", f"touch {self.folder / 'ran'}")
        self.assertEqual((value, line["reason"]), ("no verdict", "no time was left"))
        self.assertFalse((self.folder / "ran").exists())

    def test_rehearsed_faults(self):
        os.environ["PAPERTAPE_BENCH_BREAK"] = "fail:one,hang:two,fail:bench/case"
        os.environ["PAPERTAPE_GPU_STEP_S"] = "0.5"
        values, _ = self.steps(step("one", "exit 0"), step("two", "exit 0"), step("bench", "exit 0"))
        self.assertEqual(values, ["failed", "no verdict", "ok"])

    def test_logs_are_of_this_run(self):
        (self.folder / "log").write_text("an older run")
        self.one("one", "echo first")
        self.one("two", "echo second")
        text = (self.folder / "log").read_text()
        self.assertEqual(("an older run" in text, "first" in text, "second" in text), (False, True, True))

    def test_long_output_is_cut(self):
        gpu_steps.LOG_MAX = 1000
        self.addCleanup(setattr, gpu_steps, "LOG_MAX", 2 << 20)
        self.one("s", "echo first; for i in $(seq 1000); do echo middle; done; echo last")
        text = (self.folder / "log").read_text()
        self.assertIn("first", text)
        self.assertIn("last", text)
        self.assertIn("bytes are left out", text)
        self.assertLess(len(text), 1300)

    def test_status(self):
        for values, no_device, status in (({"a": "ok", "b": "skipped"}, False, 0), ({"a": "ok", "b": "skipped"}, True, 77),
                                          ({"a": "no verdict"}, True, 2), ({"a": "no verdict", "b": "failed"}, False, 1)):
            self.run_.outcomes = values
            self.assertEqual(self.run_.status(no_device), status)

    def test_no_driver(self):
        self.addCleanup(os.environ.pop, "PAPERTAPE_NVML")
        for named in ("libnvidia-ml-absent.so.1", ""):
            os.environ["PAPERTAPE_NVML"] = named
            device = gpu_device.Device()
            self.assertFalse(device.known())
            self.assertEqual(set(device.facts().values()), {None})
            with gpu_device.Watch(device) as watched:
                pass
            self.assertEqual(watched.figures(), {})

    def test_no_library_is_loaded_for_an_empty_name(self):
        os.environ["PAPERTAPE_NVML"] = ""
        self.addCleanup(os.environ.pop, "PAPERTAPE_NVML")
        with self.assertRaisesRegex(OSError, "empty"):
            gpu_device.load()

    def test_utilisation_meanwhile(self):
        """The mean of what was sampled, and no figure of what was not known."""
        watched = gpu_device.Watch(None)
        known = {"sm_mhz": None, "celsius": None, "watts": None, "throttled": None}
        watched.samples = [{**known, "utilisation": share} for share in (0.5, None, 1.0)]
        self.assertEqual(watched.figures(), {"utilisation_most": 1.0, "utilisation_mean": 0.75})


if __name__ == "__main__":
    unittest.main()
