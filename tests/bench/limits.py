"""bench/tui with synthetic figures: within all limits its status is 0, and with any one of them missed, that case alone
has "met": false and the status is 1; without htop and btop what is compared with them is null. bench/run keeps such figures, and fails.
bench/workflow's ranking has "met" likewise.

limits.py SOURCE_ROOT"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.abspath(sys.argv[1])
# All at once within the limits: own figures, and the peers'.
GOOD = {"paint": 7.0, "cpu": 0.3, "frame 80": 1900, "frame 200": 3900, "resident": 15.9, "pan": 7.9, "end": 50.0, "filter": 50.0,
        "htop paint": 8.0, "btop paint": 9.0, "htop cpu": 0.1, "btop cpu": 0.4, "htop key": 5.0}
# One figure worse each, and how the cases begin that miss their limit by it.
MISSED = [({"paint": 8.5}, {"first paint"}), ({"paint": 9.5}, {"first paint"}), ({"btop paint": 6.0}, {"first paint"}),
          ({"cpu": 0.41}, {"cpu at 1 Hz"}), ({"btop cpu": 0.2}, {"cpu at 1 Hz"}), ({"frame 80": 2001}, {"frame 80x24"}),
          ({"frame 200": 4001}, {"frame 200x60"}), ({"resident": 16.01}, {"resident"}), ({"pan": 8.01}, {"cpu of a key"}),
          ({"end": 55.01}, {"of 100000 orders, G"}), ({"filter": 55.01}, {"of 100000 orders, a filter"}),
          ({"htop key": -0.5}, {"of 100000 orders, G", "of 100000 orders, a filter"})]


def load(name):
    loader = importlib.machinery.SourceFileLoader("bench_" + name, os.path.join(ROOT, "bench", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(figures, peers):
    """The lines, and the exit status, of a dashboard and peers that have these figures."""
    bench = load("tui")
    small = [True]

    class Terminal(mock.MagicMock):
        def __init__(self, _command=None, width=200, _height=60, **more):
            super().__init__(**more)
            small[0] = width == 80

        def _get_child_mock(self, **more):
            return mock.MagicMock(**more)

        def key_ms(self, _):
            return 1.0

        def key_cpu_ms(self, _):
            return figures["pan"]

        def resident_mb(self):
            return figures["resident"]

    class Pane:
        def __init__(self, _folder, command, *_):
            self.own = command == ["papertape"]

        def shows_ms(self, pattern, *keys):
            if not self.own:
                return figures["htop key"]
            return figures["filter" if "BUY" in pattern else "end"]

        def end(self):
            pass

    def paints(commands, *_):
        return {name: (figures[key], figures[key]) for name in commands
                for key in ("paint" if name == "papertape" else f"{name} paint",)}

    patches = {"Terminal": Terminal, "Pane": Pane, "paints": paints, "os": mock.Mock(wraps=os, write=mock.Mock()),
               "idle": lambda *_: (figures["cpu"], figures["frame 80" if small[0] else "frame 200"]),
               "measure_peer": lambda command, *_: (figures[f"{command[0]} cpu"], 5.0)}
    others = {name: ([name], b"") if peers else None for name in ("htop", "btop")}
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        for name, value in patches.items():
            stack.enter_context(mock.patch.object(bench, name, value))
        stack.enter_context(mock.patch.object(bench.shutil, "which", lambda name: name))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        for width, height in ((80, 24), (200, 60)):
            bench.measure(["papertape"], others, width, height)
        bench.measure_orders(["papertape"], others["htop"] and others["htop"][0], "")
        bench.measure_panning(["papertape"])
        status = bench.verdict()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return lines, status, err.getvalue()


class Limits(unittest.TestCase):
    def test_met(self):
        lines, status, err = run(GOOD, True)
        self.assertEqual((status, err), (0, ""))
        kinds = [line["case"] for line in lines if line.get("met") is True]
        self.assertTrue(all("met" not in line or line["met"] is True for line in lines))
        for size in ("80x24", "200x60"):
            for begin in (f"first paint {size}, median", f"cpu at 1 Hz {size}", f"frame {size}, median", f"frame {size}, the market page",
                          f"resident {size}, peak"):
                self.assertTrue(any(case.startswith(begin) for case in kinds), begin)
        for begin in ("of 100000 orders, G", "of 100000 orders, a filter", "cpu of a key", "resident 200x60 over 500000"):
            self.assertTrue(any(case.startswith(begin) for case in kinds), begin)

    def test_missed(self):
        for worse, begins in MISSED:
            with self.subTest(worse=worse):
                lines, status, err = run(GOOD | worse, True)
                missed = [line["case"] for line in lines if line.get("met") is False]
                self.assertEqual(status, 1)
                self.assertTrue(missed and all(any(case.startswith(begin) for begin in begins) for case in missed), missed)
                self.assertTrue(all(any(case.startswith(begin) for case in missed) for begin in begins), missed)
                self.assertTrue(all(case in err for case in missed), err)

    def test_without_peers(self):
        lines, status, err = run(GOOD, False)
        null = {line["case"] for line in lines if "met" in line and line["met"] is None}
        self.assertEqual(status, 0)
        self.assertEqual({case.split(" ")[0] for case in null}, {"first", "cpu", "of"})
        self.assertTrue(all(case in err for case in null), err)
        self.assertEqual(run(GOOD | {"resident": 16.3}, False)[1], 1)


class Workflow(unittest.TestCase):
    def test_limit(self):
        """A ranking within its limit and one beyond it; one without a limit says nothing."""
        path = os.path.join(ROOT, "bench")
        with mock.patch.object(sys, "argv", ["workflow", "none"]), mock.patch.object(sys, "path", [path, *sys.path]):
            bench = load("workflow_figures.py")
        result = {"cached": 8, "strategies": [{}] * 8, "seconds_by_stage": {}}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for seconds, limit in ((bench.LIMIT_S, bench.LIMIT_S), (0.51, bench.LIMIT_S), (2.5, None)):
                bench.show("rank", (seconds, result), limit)
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        self.assertEqual([(line.get("met"), line["limit"]) for line in lines], [(True, 0.5), (False, 0.5), (None, None)])
        self.assertNotIn("met", lines[2])


class Kept(unittest.TestCase):
    def kept(self, met, status):
        """What bench/run ends with, and the figures that it keeps, of a benchmark that ends with `status`."""
        bench, line = load("run"), {"bench": "made", "case": "a", "value": 17, "unit": "MB", "limit": 16, "of_limit": 1.063, "met": met}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "bench").mkdir()
            (root / "bench" / "made").write_text(f"#!/bin/sh\necho '{json.dumps(line)}'\nexit {status}\n", encoding="ascii")
            (root / "bench" / "made").chmod(0o755)
            with mock.patch.object(bench, "ROOT", root), mock.patch.object(sys, "argv", ["run", "made"]), \
                    contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                ended = bench.main()
            found = "".join(file.read_text(encoding="utf-8") for file in (root / "bench" / "results").iterdir())
            return ended, [json.loads(text)["met"] for text in found.splitlines()]

    def test_kept(self):
        self.assertEqual(self.kept(True, 0), (0, [True]))
        self.assertEqual(self.kept(False, 1), (1, [False]))
        self.assertEqual(self.kept(True, 1), (1, []))  # it failed for another reason
        self.assertEqual(self.kept(False, 2), (1, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
