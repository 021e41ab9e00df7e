"""docs/scale.md: its plan follows from its table of costs, and bench/scale measures each of them. bench/scale_model.py: the same
costs times the same sizes, computed here apart. scale.py SOURCE_ROOT"""

import contextlib
import io
import math
import os
import sys
import unittest

ROOT = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(ROOT, "bench"))
STAGE = ("job_s", "us", "written_b", "computing_us")  # costs of each stage
PAGE = os.path.join(ROOT, "docs/scale.md")
sys.argv = ["figures", "build"]  # bench/figures.py reads it
import scale_figures  # noqa: E402
import scale_model  # noqa: E402
import scale_trials_costs  # noqa: E402


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


class Scale(unittest.TestCase):
    def setUp(self):
        self.costs = scale_model.costs_of(page())

    def test_the_pages_plan_follows_from_its_costs(self):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(scale_model.main("check", PAGE), 0, said.getvalue())

    def test_each_cost_is_described_and_survives_the_table(self):
        text = page()
        head, _, tail = scale_model.section(text, "costs")
        self.assertEqual(scale_model.costs_of(head + scale_figures.table(self.costs) + tail), self.costs)
        stages = {f"{stage}_{what}" for stage in scale_model.STAGES for what in STAGE}
        self.assertEqual(set(self.costs), stages | set(scale_figures.WORDS) - set(STAGE))

    def test_a_stage(self):
        bars = 5000 * 10 * 525_600
        one = scale_model.stage(self.costs, "indicators", 5000, 10 * 525_600)
        self.assertTrue(math.isclose(one["cpu_s"], self.costs["indicators_job_s"] + bars * self.costs["indicators_us"] / 1e6))
        hours = scale_model.limits(one, 20, 16)
        self.assertTrue(math.isclose(hours["processors"], one["cpu_s"] / 320 / 3600))
        self.assertTrue(math.isclose(hours["disks"], bars * (self.costs["lake_b"] + self.costs["indicators_written_b"]) / 20 / 1e9 / 3600))

    def test_a_search(self):
        costs = {**self.costs, "running_client_us": 30, "running_server_us": 50, "finished_us": 1, "trial_round_trips": 60,
                 "trial_server_s": 0.01, "planned_s": 2, "running_b": 8000}
        one = scale_model.search(costs, trials=100_000, machines=100, cores=4, splits=10)
        # 2 looks at 400 trials of 80 us, a draw over 50,000 of 1 us, 60 round trips of 0.2 ms, the server's 10 ms.
        self.assertAlmostEqual(one["lock_ms"], 64 + 50 + 12 + 10)
        self.assertAlmostEqual(one["lock_hours"], 100_000 * 0.136 / 3600)
        self.assertAlmostEqual(one["hours"], one["lock_hours"])  # 400 workers train a trial of 2.07 s in less
        self.assertAlmostEqual(one["look_b_s"], 400 * 400 * 8000)
        long = scale_model.search({**costs, "planned_s": 1000}, trials=100_000, machines=100, cores=4, splits=10)
        self.assertAlmostEqual(long["hours"], 100_000 * (1000 + 0.024 + 0.05) / 400 / 3600)
        self.assertAlmostEqual(long["commits_s"], 12 / (1000.074 / 400) + 40)

    def test_a_line(self):
        self.assertEqual(scale_trials_costs.line(5, 9, 1, 3), (3, 2))


if __name__ == "__main__":
    unittest.main(argv=["scale"])
