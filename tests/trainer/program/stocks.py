"""Stocks in a calendar's sessions: what a study proposes can be evaluated, backtested and promoted; a year has as many rows by the
clock as in a backtest; bars of a state have their symbols' calendar.

    stocks.py PAPERTAPE_TRAINER PAPERTAPE
"""
import csv
import datetime
import json
import math
import os
import re
import sys
import tempfile

from program import Trainer, check, config, done, events, lines

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures"))
import stock_bars  # noqa: E402

SMALL = {"training": {"name": None, "output": None, "total_steps": 4096, "checkpoint_every": None, "checkpoint_keep": None,
                      "evaluate_episodes": None},
         "environment": {"session": "regular", "initial_capital": 100000, "buy_cost_pct": 0, "sell_cost_pct": 0},
         "data": {"bars": "ABC_5m.csv", "calendar": "nyse"}}
STUDY = {"training": {"seed": None}, "study": {"trials": 2, "validation": "kfold:3", "workers": 1, "pruner": "none"},
         "search": {"learning_rate": "1e-3..1e-2 log", "gamma": "0.9..0.99"}}
DAY = {"environment": {"task": "day-trade", "threshold": 0.05}}


class Papertape(Trainer):
    def backtest(self, policy, *arguments):
        ran = self.run("backtest", "--policy", policy, "--bars", "ABC_5m.csv", "--no-cache", "--json", *arguments)
        check(ran.returncode == 0, f"backtest {policy}: {ran.stderr}")
        return json.loads(ran.stdout or "{}")


def evaluated(trainer, policy, *arguments):
    ran = trainer.run("eval", policy, "--bars", "ABC_5m.csv", *arguments)
    check(ran.returncode == 0, f"eval {policy}: {ran.stderr}")
    return json.loads(ran.stdout or "{}")


def metadata(path):
    with open(path, "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]


def test_study(trainer, papertape, folder):
    """A study's policy says calendar and session, as a training's does; of one trial, and of two together."""
    for name, more in (("day", DAY), ("two", {"study": {"ensemble": 2}})):
        path = config(os.path.join(folder, name + ".ini"), SMALL, STUDY, more)
        ran = trainer.run("study", name, "--config", path, "--state", "st")
        if not check(ran.returncode == 0, f"{name}: {ran.stderr}"):
            continue
        proposal, = events(lines(ran.stdout), "proposal")
        policy = proposal["proposal"]["policy"]
        check(proposal["proposal"]["kind"] == ("ensemble" if name == "two" else "policy"), f"{name}: {proposal}")
        members = [policy] if name == "day" else [os.path.join(os.path.dirname(policy), member)
                                                  for member in json.load(open(policy))["members"]]
        for member in members:
            said = metadata(member)
            check(said.get("calendar") == "nyse" and "session=regular" in said["environment"].split("\n"), f"{member}: {said}")
        evaluated(trainer, policy)
        papertape.backtest(policy)


def near(a, b, share):
    return abs(a - b) <= share * abs(b)


def test_year(trainer, papertape, folder):
    """Rows of sessions go by the clock: eval, the pages of train, validate and the holdout annualise as the backtest does, whose
    grid has the nights."""
    path = config(os.path.join(folder, "year.ini"), SMALL, DAY, {"training": {"name": "year", "output": "out"}})
    ran = trainer.run("train", "--config", path, "--report", "year.html")
    check(ran.returncode == 0, f"year: {ran.stderr}")
    out = evaluated(trainer, "out/year.safetensors")
    whole, theirs = out["whole"], papertape.backtest("out/year.safetensors")["accounts"][0]
    metrics = theirs.get("metrics", theirs)
    check(whole["trades"] > 10 and near(out["periods_per_year"], 19700, 0.15), f"year: {out}")
    for key, share in (("volatility_pct", 0.03), ("sharpe", 0.06), ("cagr_pct", 0.1), ("turnover_year", 0.06)):
        check(near(whole[key], metrics[key], share), f"year: {key}: {whole[key]} of eval, {metrics[key]} of backtest")
    steps = events(lines(ran.stdout), "evaluation")[-1]["evaluated_steps"]  # on the rows of testing
    with open(os.path.join(folder, "year.html")) as file:
        page = file.read()
    gain, yearly = (math.log1p(float(re.search(name + r', %</td><td><data value="([^"]+)"', page).group(1)) / 100)
                    for name in ("Return", "Return a year"))
    check(near(steps * yearly / gain, out["periods_per_year"], 1e-6), f"year: {steps * yearly / gain} rows a year of the page")
    validated = json.loads(trainer.run("validate", "--study", "day", "--state", "st").stdout)
    check(near(validated["periods_per_year"], out["periods_per_year"], 0.2), f"validate: {validated['periods_per_year']}")


def test_state(trainer, papertape, folder):
    """Bars of a state's database have their symbols' calendar: the training is the one on the file, to the bit."""
    saved = papertape.run("backtest", "--strategy", "buy-and-hold", "--bars", "ABC_5m.csv", "--calendar", "nyse", "--quote", "USD", "--save",
                          "saved", "--no-cache")
    check(saved.returncode == 0, f"state: {saved.stderr}")
    stored = {"data": {"bars": None, "calendar": None, "state": "saved", "symbols": "ABC", "interval": "5m"}}
    policies = []
    for name, more in (("file", {}), ("stored", stored)):
        path = config(os.path.join(folder, name + ".ini"), SMALL, more, {"training": {"name": name, "output": "out"}})
        ran = trainer.run("train", "--config", path)
        check(ran.returncode == 0, f"{name}: {ran.stderr}")
        with open(os.path.join(folder, f"out/{name}.safetensors"), "rb") as file:
            policies.append(file.read())
    check(metadata(os.path.join(folder, "out/stored.safetensors")).get("calendar") == "nyse" and policies[0] == policies[1],
          "state: another policy than of the file")


def fills(folder, name):
    with open(os.path.join(folder, name)) as file:
        return [[row[key] for key in ("ts_ns", "side", "price", "qty")] for row in csv.DictReader(file)]


def test_lot(trainer, papertape, folder):
    """The fractions that Alpaca trades: the same fills in eval and backtest."""
    path = config(os.path.join(folder, "lot.ini"), SMALL, DAY, {"environment": {"initial_capital": 500}, "data": {"lots": "0.000000001"},
                                                                "training": {"name": "lot", "output": "out"}})
    ran = trainer.run("train", "--config", path)
    check(ran.returncode == 0, f"lot: {ran.stderr}")
    evaluated(trainer, "out/lot.safetensors", "--lot", "0.000000001", "--trades", "ours.csv")
    papertape.backtest("out/lot.safetensors", "--lot", "0.000000001", "--fills", "theirs.csv")
    ours, theirs = fills(folder, "ours.csv"), fills(folder, "theirs.csv")
    check(len(ours) > 100 and ours == theirs[:len(ours)] and any(qty.rstrip("0")[-9] == "." for *_, qty in ours), f"lot: {ours[:3]} {theirs[:3]}")
    refused = papertape.run("backtest", "--strategy", "day-trade", "--bars", "ABC_5m.csv", "--lot", "0.0000000001")
    check(refused.returncode == 1 and "at most 9 digits" in refused.stderr, f"lot: {refused.stderr}")


def test_words(trainer, folder):
    """What is wrong with bars names the configuration's keys; eval takes the state that backtest takes."""
    with open(os.path.join(folder, "ABC_5m.csv")) as file:
        rows = file.read().splitlines()
    with open(os.path.join(folder, "NIGHT_5m.csv"), "w") as file:
        file.write("\n".join([rows[0], rows[1].replace(rows[1].split(",")[0], "2026-01-05 02:00:00+00:00"), *rows[2:]]))
    for session, key in (("regular", "[environment] session = all"), ("all", "")):
        path = config(os.path.join(folder, "words.ini"), SMALL, {"training": {"name": "words", "output": "out"}, "environment": {"session": session},
                                                                 "data": {"bars": "NIGHT_5m.csv", "zone": None if key else "America/Nowhere"}})
        ran = trainer.run("train", "--config", path)
        check(ran.returncode == 1 and "[data] zone" in ran.stderr and key in ran.stderr and "--" not in ran.stderr, f"words: {ran.stderr}")
    ran = trainer.run("eval", "out/year.safetensors", "--bars", "saved")
    check(ran.returncode == 0 and json.loads(ran.stdout)["whole"] == evaluated(trainer, "out/year.safetensors")["whole"], f"eval: {ran.stderr}")


def test_untradable(trainer, folder):
    """What can only be evaluated says so before it is trained; docs/training.md's configuration of stocks can be traded."""
    for name, environment, words in (("preset", {"preset": "day-trade"}, "task = day-trade with preset = market"),
                                     ("fees", {"sell_cost_pct": 0.001}, "buy_cost_pct, 0, is right"), ("good", {"task": "day-trade"}, "")):
        path = config(os.path.join(folder, name + ".ini"), SMALL, {"environment": environment, "training": {"name": name, "output": "out",
                                                                                                            "total_steps": 256}})
        checked, ran = trainer.run("train", "--check", "--config", path), trainer.run("train", "--config", path)
        listed = json.loads(trainer.run("train", "--check", "--json", "--config", path).stdout)["warnings"]
        warned = [event["message"] for event in events(lines(ran.stdout), "warning")]
        check(checked.returncode == 0 and len(listed) == bool(words) and "".join(listed) in checked.stderr, f"{name}: {checked.stderr} {listed}")
        check([words in message for message in warned if "evaluated, and not" in message] == [True] * bool(words), f"{name}: {warned}")
        check(all(words in message for message in listed), f"{name}: {listed}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        stock_bars.write(os.path.join(folder, "ABC_5m.csv"),
                         stock_bars.bars_of("ABC", datetime.date(2026, 1, 5), datetime.date(2026, 1, 31), "5m"))
        trainer, papertape = Trainer(sys.argv[1], folder), Papertape(sys.argv[2], folder)
        test_study(trainer, papertape, folder)
        test_year(trainer, papertape, folder)
        test_state(trainer, papertape, folder)
        test_lot(trainer, papertape, folder)
        test_words(trainer, folder)
        test_untradable(trainer, folder)
    done("stocks")


if __name__ == "__main__":
    main()
