#!/usr/bin/env python3
"""What `papertape-trainer eval` says of a policy is what its training's evaluation said, what `papertape backtest` says of the
same bars, and what the bars say of the benchmark. Its command line; bars that are missing; symbols without a common bar.
usage: evaluate.py PAPERTAPE-TRAINER PAPERTAPE"""
import csv
import json
import os
import struct
import subprocess
import sys
import tempfile

from program import Trainer, check, config, done, events, lines, write_market

START, HOUR = 1704067200, 3600
LOOKBACK, CAPITAL, FEE = 3, 5000.0, 0.001
MARKET = {"training": {"world": "market", "total_steps": 1024, "checkpoint_every": 0},
          "ppo": {"ent_coef": 0.01},
          "environment": {"lookback": LOOKBACK, "initial_capital": CAPITAL, "buy_cost_pct": FEE, "sell_cost_pct": FEE,
                          "trailing_stop_pct": 0.02, "norm_action": 2, "random_start": "true", "episode_bars": 100}}
GAPS = {1: (300, 301, 650, 651, 652, 700)}  # rows of the second symbol


def without(path, rows):
    with open(path) as file:
        text = file.readlines()
    left = [line for i, line in enumerate(text) if i == 0 or i - 1 not in rows]
    check(len(left) == len(text) - len(rows), f"{path}: bars taken out")
    with open(path, "w") as file:
        file.writelines(left)


def closes(path):
    """By row; a missing bar's is the last one's."""
    with open(path) as file:
        there = {(int(row["timestamp"]) - START) // HOUR: float(row["close"]) for row in csv.DictReader(file)}
    found = []
    for row in range(max(there) + 1):
        found.append(there.get(row, found[-1] if found else None))
    return found


def evaluated(trainer, *arguments):
    ran = trainer.run("eval", *arguments)
    check(ran.returncode == 0, f"eval {arguments}: {ran.stderr}")
    return json.loads(ran.stdout), ran.stderr


def near(what, got, right, digits=6e-12):  # training prints twelve digits
    check(abs(got - right) <= digits * max(1.0, abs(right)), f"{what}: {got}, not {right}")


def test_training(name, last, out):
    """Every figure that both report, in percent or not."""
    whole = out["whole"]
    check(whole["steps"] == last["evaluated_steps"] > 100, f"{name}: steps")
    check((whole["buys"], whole["sells"]) == (last["buys"], last["sells"]), f"{name}: trades")
    for ours, theirs in (("equity", "equity"), ("fees", "fees"), ("capital", "initial_equity")):
        near(f"{name}: {ours}", whole[ours], last[theirs])
    check(last["buys"] > 3 and last["sells"] > 3 and 0 < last["exposure"] <= 1 and 0 < last["invested"] < 1, f"{name}: it trades: {last}")
    for ours, theirs in (("return_pct", "return"), ("exposure_pct", "exposure"), ("invested_pct", "invested"),
                         ("benchmark_return_pct", "benchmark_return")):
        near(f"{name}: {ours}", whole[ours], 100 * last[theirs])


KINDS = {"no_trades": "Never trades", "only_holds": "Only holds", "fees_exceed_gain": "Fees exceed the gain",
         "below_holding": "Below holding", "within_luck": "Within luck", "better": "Better than holding"}


def test_verdict(name, last, out):
    """Of the same steps; the sentence has the figures."""
    ours, theirs = out["verdict_figures"], last["verdict_figures"]
    check(out["verdict"] == last["verdict"] in KINDS and out["verdict_text"] == last["verdict_text"], f"{name}: {out['verdict']}, {last['verdict']}")
    check(ours.keys() == theirs.keys(), f"{name}: {ours}, {theirs}")
    for key in ours.keys() & theirs.keys():
        if theirs[key] is None or ours[key] is None:
            check(ours[key] == theirs[key], f"{name}: {key}: {ours[key]}, not {theirs[key]}")
        else:
            near(f"{name}: {key}", ours[key], theirs[key])
    check(ours["steps"] == out["whole"]["steps"] and out["verdict_text"].startswith(KINDS[out["verdict"]]), f"{name}: {out['verdict_text']}")
    near(f"{name}: excess", ours["excess_points"], out["whole"]["return_pct"] - out["whole"]["benchmark_return_pct"])


def test_seen(trainer, name, policy, bars, out, ranges):
    """Rows that it was trained on are counted, and there is no verdict on them; the ranges are those of the configuration."""
    check(ranges == {"train": {"from": "2024-01-01T00:00:00Z", "to": "2024-01-20T00:00:00Z"}, "validation": None,
                     "test": {"from": "2024-01-22T00:00:00Z", "to": ranges["test"]["to"]}}, f"{name}: {ranges}")
    check(out["trained_rows"] == 0 and out["verdict"] is not None, f"{name}: {out['verdict_text']}")
    for since, rows in (("2024-01-19T23:00", 1), ("2024-01-20", 0)):
        seen, note = evaluated(trainer, policy, "--bars", *bars, "--from", since)
        check(seen["trained_rows"] == rows and (seen["verdict"] is None) == (rows > 0), f"{name}: from {since}: {seen['verdict_text']}")
        check(("trained on" in note) == (rows > 0) == ("Not judged: 1 of" in str(seen["verdict_text"])), f"{name}: from {since}: {note}")


def test_benchmark(name, out, bars):
    """Equal weights at row 0's close, the fee paid, to the last row that is played; quantities and prices are float32."""
    first = (out["first_ns"] // 10**9 - START) // HOUR
    last = first + LOOKBACK - 1 + out["whole"]["steps"]
    worth = sum(CAPITAL / len(bars) / (close[first] * (1 + FEE)) * close[last] for close in map(closes, bars))
    near(f"{name}: benchmark", out["whole"]["benchmark_return_pct"] / 100, worth / CAPITAL - 1, 1e-5)


def test_backtest(trainer, papertape, folder, policy, bars):
    """The same rows held: those before the first decision hold nothing."""
    out, _ = evaluated(trainer, policy, "--bars", *bars)
    last = out["first_ns"] // 10**9 + (LOOKBACK - 1 + out["whole"]["steps"]) * HOUR
    ran = subprocess.run([papertape, "backtest", "--policy", policy, "--bars", ",".join(bars), "--no-cache", "--to", str(last + HOUR), "--json"],
                         capture_output=True, text=True, cwd=folder, env=trainer.environment)
    if not check(ran.returncode == 0, f"backtest: {ran.stderr}"):
        return
    report = json.loads(ran.stdout)
    report = report["accounts"][0] if "accounts" in report else report
    rows = (last - START) // HOUR + 1
    held, ours = report["exposure_pct"] / 100 * rows, out["whole"]["exposure_pct"] / 100 * out["whole"]["steps"]
    check(0 < ours < rows and abs(held - ours) < 1e-6 * rows, f"exposure: a backtest holds {held} rows, eval {ours}")


def test_words(trainer, policy, bars):
    right, _ = evaluated(trainer, policy, "--bars", ",".join(bars))
    for words in ((policy, "--bars", *bars), (policy, "--bars", bars[1], "--bars", bars[0]), ("--bars", *bars, policy),
                  ("--bars", ",".join(bars), policy), (policy, "--bars", *bars, "--json")):
        got, _ = evaluated(trainer, *words)
        check(got == right, f"eval {words}")
    for words, said in (((policy,), "no bars"), (("--bars", ",".join(bars)), "POLICY [FILE...] are needed"), ((policy, "--bars", "a,,b"), "a,,b"),
                        ((policy, "--bars", *bars, "nothing_1h.csv"), "nothing_1h.csv"), ((policy, "--bars", bars[0]), "BBBUSDT")):
        ran = trainer.run("eval", *words)
        check(ran.returncode in (1, 2) and said in ran.stderr and ran.stderr.count("\n") == 1, f"eval {words}: {ran.stderr}")


def test_costs(trainer, folder, policy, bars):
    """--set: fees are the share of what was traded; the policy's own fee again is no change; what is no cost is refused."""
    whole = evaluated(trainer, policy, "--bars", *bars)[0]["whole"]
    check(evaluated(trainer, policy, "--bars", *bars, "--set", f"fee_taker={FEE}")[0]["whole"] == whole, "its own fee: no change")
    for fee in (0, 0.0005, 0.004):
        path = os.path.join(folder, "costs.csv")
        out = evaluated(trainer, policy, "--bars", *bars, "--set", f"fee_taker={fee}", "--trades", path)[0]["whole"]
        with open(path) as file:
            traded = sum(float(row["notional"]) for row in csv.DictReader(file))
        near(f"--set fee_taker={fee}: fees", out["fees"], fee * traded, 1e-6)
    slipped = evaluated(trainer, policy, "--bars", *bars, "--set", "slippage=0.002", "--set", "fee_taker=0")[0]["whole"]
    check(slipped["fees"] == 0 and slipped["equity"] != whole["equity"], "--set twice")
    for text, *words in (("fee_takr=0", "did you mean fee_taker?"), ("fee_taker=-1", "fee_taker", "from 0 to 0.5"),
                         ("x", "KEY=VALUE"), ("lookback=5", "lookback", "trained with it"), ("initial_capital=1", "trained with it"), ("weight_alpha=1", "trained with it"), ("=1", "KEY=VALUE")):
        ran = trainer.run("eval", policy, "--bars", *bars, "--set", text)
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and all(word in ran.stderr for word in words), f"--set {text}: {ran.stderr}")


def test_gaps(trainer, folder, policy, bars):
    """Counted among the rows that are played; and no two symbols that have nothing in common."""
    for start, right in ((0, 6), (400, 4), (652, 2), (701, 0)):
        out, said = evaluated(trainer, policy, "--bars", *bars, "--from", str(START + start * HOUR))
        check(out["missing_bars"] == {"AAAUSDT": 0, "BBBUSDT": right}, f"missing from {start}: {out['missing_bars']}, not {right}")
        check((f"BBBUSDT: {right} of its bars are missing" in said) == (right > 0) and "AAAUSDT" not in said, f"missing: {said}")
    for words in (("--from", str(START + 5000 * HOUR)), ("--to", str(START - 1)), ("--from", str(START + 9 * HOUR), "--to", str(START + 9 * HOUR))):
        ran = trainer.run("eval", policy, "--bars", *bars, *words)
        check(ran.returncode == 1 and "--from, --to: no bar is between them: the bars are of 20" in ran.stderr, f"eval {words}: {ran.stderr}")
    os.mkdir(os.path.join(folder, "later"))
    later = write_market(os.path.join(folder, "later"), n=300, start=START + 2000 * HOUR)[1]
    ran = trainer.run("eval", policy, "--bars", bars[0], later)
    check(ran.returncode == 1 and "AAAUSDT and BBBUSDT: none of the same time" in ran.stderr, f"nothing in common: {ran.stderr}")


def test_steps(trainer, folder, policy, bars):
    """t counts from row 0, wherever that is."""
    path = os.path.join(folder, "steps.csv")
    for arguments in ((), ("--from", str(START + 500 * HOUR))):
        out, _ = evaluated(trainer, policy, "--bars", *bars, "--steps", path, *arguments)
        with open(path) as file:
            t = [int(row["t"]) for row in csv.DictReader(file)]
        check(t == list(range(LOOKBACK, LOOKBACK + out["whole"]["steps"])), f"steps {arguments}: from {t[0]} to {t[-1]}")


def test_file(trainer, papertape, folder, policy, bars, last):
    """The training hashed the features that it built; a build from an altered file is refused with both hashes, whole. It wrote its
    verdict; older files have none."""
    with open(policy, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    hashed = header["__metadata__"]["observation_hash"]
    check(len(hashed) == 64 and set(hashed) <= set("0123456789abcdef"), f"observation_hash: {hashed}")

    def altered(name, **changes):
        meta = {key: value for key, value in {**header["__metadata__"], **changes}.items() if value is not None}
        text = json.dumps({**header, "__metadata__": meta}).encode()
        text += b" " * (-len(text) % 8)
        path = os.path.join(folder, f"{name}.safetensors")
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data[8 + length:])
        backtest = subprocess.run([papertape, "backtest", "--policy", path, "--bars", ",".join(bars), "--no-cache", "--json"],
                                  capture_output=True, text=True, cwd=folder, env=trainer.environment)
        return trainer.run("eval", path, "--bars", *bars), backtest

    key, = (key for key in header["__metadata__"] if key.startswith("features.AAA"))
    rows = header["__metadata__"][key].splitlines()
    order = "\n".join(rows[:-2] + [rows[-1], rows[-2]]) + "\n"
    wrong = ("0" if hashed[0] != "0" else "1") + hashed[1:]
    for ran in altered("older", observation_hash=None):
        check(ran.returncode == 0, f"a file without a hash: {ran.stderr}")
    meta = header["__metadata__"]
    check((meta["verdict"], meta["verdict_text"]) == (last["verdict"], last["verdict_text"]), f"the file's verdict: {meta['verdict']}")
    for ran in altered("unjudged", verdict=None, verdict_text=None):
        check(ran.returncode == 0, f"a file without a verdict: {ran.stderr}")
    for ran in altered("later", verdict="much_better"):
        check(ran.returncode == 0, f"a verdict of a later program: {ran.stderr}")
    for ran in altered("half", verdict_text=None):
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "verdict_text" in ran.stderr, f"half a verdict: {ran.stderr}")
    for ran in altered("hash", observation_hash=wrong):
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and wrong[:12] in ran.stderr and hashed[:12] in ran.stderr, f"another hash: {ran.stderr}")
    for ran in altered("order", **{key: order}):
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and hashed[:12] in ran.stderr and " give " in ran.stderr, f"another order: {ran.stderr}")


def main(program, papertape):
    with tempfile.TemporaryDirectory() as folder:
        trainer, papertape = Trainer(program, folder), os.path.abspath(papertape)
        bars = write_market(folder)
        for symbol, rows in GAPS.items():
            without(bars[symbol], rows)
        data = {"bars": ",".join(bars), "train_to": "2024-01-20", "test_from": "2024-01-22"}
        cases = {"closes": ({}, {"features": ""}), "market14": ({}, {"features": "market14"}),
                 "reference": ({"execution": "reference"}, {"features": "market14"}),
                 "ranges": ({"slippage_pct": "0.0001..0.0005", "initial_capital": "4000..6000"}, {})}
        ends = {}
        for name, (environment, more) in cases.items():
            config(os.path.join(folder, f"{name}.ini"), MARKET,
                   {"training": {"name": name}, "environment": environment, "data": {**data, **more}})
            ran = trainer.run("train", "--config", f"{name}.ini")
            if not check(ran.returncode == 0, f"{name}: {ran.stderr}"):
                continue
            policy = os.path.join(folder, "out", f"{name}.safetensors")
            ends[name] = events(lines(ran.stdout), "end")[0]
            out, _ = evaluated(trainer, policy, "--bars", *bars, "--from", data["test_from"])
            test_training(name, events(lines(ran.stdout), "evaluation")[-1], out)
            test_seen(trainer, name, policy, bars, out, events(lines(ran.stdout), "start")[0]["ranges"])
            test_verdict(name, events(lines(ran.stdout), "evaluation")[-1], out)
            if name != "reference":
                test_benchmark(name, out, bars)
        policy = os.path.join(folder, "out", "market14.safetensors")
        test_backtest(trainer, papertape, folder, policy, bars)
        test_costs(trainer, folder, policy, bars)
        test_words(trainer, policy, bars)
        test_file(trainer, papertape, folder, policy, bars, ends["market14"])
        test_gaps(trainer, folder, os.path.join(folder, "out", "closes.safetensors"), bars)
        test_steps(trainer, folder, policy, bars)
    done("trainer/program/evaluate")


if __name__ == "__main__":
    main(*sys.argv[1:3])
