"""The plan of a study, made just before it, beside the processor time that the study takes: no pruner, fixed widths, real bars;
the median of three runs within 25 %, of one worker and of two. Processor seconds are compared, since other work on the machine
stretches the clock.

    plan_cost.py PAPERTAPE_TRAINER
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

BARS = os.path.join(os.environ.get("PAPERTAPE_SHARED", os.path.join(os.path.dirname(__file__), "../../../../shared")), "data/bars")
FILES = [os.path.join(BARS, f"{symbol}_5m_2023.csv.gz") for symbol in ("BTCUSDT", "ETHUSDT")]
RUNS, WITHIN = 3, 0.25
# A few keys that cost nothing; and the whole default space, of which steps, copies' rows and epochs do, on whose middles plan counts.
FEW = {
    "training": {"total_steps": 32768},
    "ppo": {"copies": 32, "steps": 128, "minibatch": 1024, "epochs": 4},
    "search": {"learning_rate": "1e-5..1e-3 log", "clip_range": "0.1..0.4", "gamma": "0.9..0.99"},
}
ALL = {
    "ppo": {"copies": 32},
    "environment": {"initial_capital": 1000000, "trailing_stop_pct": 0},
    "study": {"space": "default"},
    "search": {"net_dimension": "64..64", "total_steps": "16384..49152", "steps": "64..256", "minibatch": "512 | 1024 | 2048", "epochs": "2..6"},
}
# A year of bars and little to learn: markets and tests are more of it.
ROWS = {**FEW, "training": {"total_steps": 8192}, "data": {"train_to": "2024-01-01"}}
COMMON = {
    "training": {"device": "cpu", "threads": 1, "seed": 1},
    "environment": {"random_start": "true", "episode_bars": 2016},
    "data": {"bars": ", ".join(map(os.path.abspath, FILES)), "interval": "5m", "features": "market14", "train_from": "2023-01-01", "train_to": "2023-05-01"},
    "study": {"trials": 20, "validation": "cpcv:5,2", "pruner": "none"},
}


def write(path, what, workers):
    with open(path, "w") as file:
        for name in {**COMMON, **what}:
            keys = {**COMMON.get(name, {}), **what.get(name, {}), **({"workers": workers} if name == "study" else {})}
            file.write(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))


def run(program, folder, *arguments):
    """Its output, and the processor seconds of it and of the processes that it waited for."""
    with open(os.path.join(folder, "out"), "w+") as out:
        process = subprocess.Popen([program, *arguments], cwd=folder, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0, (arguments, status)
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime


def quotient(program, what, workers):
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(folder, "F.ini"), what, workers)
        plan = json.loads(run(program, folder, "plan", "--config", "F.ini", "--json")[0])
        out, seconds = run(program, folder, "study", "s", "--config", "F.ini", "--state", "st", "--json")
        last = json.loads(out.splitlines()[-1])
        assert last["result"] == "done" and last["complete"] == 20 and plan["workers"] == workers, (last, plan["workers"])
        return plan["cpu_seconds"], seconds


def main(program):
    if not all(map(os.path.exists, FILES)):
        print(f"skipped: no {FILES[0]}")
        return 77
    failed = 0
    for name, what in (("a few keys", FEW), ("the default space", ALL), ("a year, little to learn", ROWS)):
        for workers in (1, 2):
            runs = [quotient(program, what, workers) for _ in range(RUNS)]
            middle = statistics.median(planned / took for planned, took in runs)
            good = abs(middle - 1) <= WITHIN
            failed += not good
            print(f"{name}, {workers} worker{'s' * (workers > 1)}: " + ", ".join(f"{planned:.1f} of {took:.1f} s" for planned, took in runs) +
                  f": the median is {middle:.2f} of the study's{'' if good else ' FAILED'}", flush=True)
    return 1 if failed else 0


sys.exit(main(os.path.abspath(sys.argv[1])))
