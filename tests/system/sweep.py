#!/usr/bin/env python3
"""`papertape sweep` as a user meets it: killed and started again it gives the same CSV; what is stopped is shown and
continues; what takes long is asked about; equal points are one run; the figures beside the best are those of runs made
for them here and of `papertape-trainer validate`; and on bars without an edge the best is hardly ever more than luck.

PAPERTAPE_LONG: 100 seeds of noise and 20 of an edge, of 260 sets each; else 10 and 5 of 80."""

import collections
import csv
import json
import math
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile

import harness

START_MS = 1577836800000  # 2020-01-01
TRAINER = os.path.join(harness.BUILD, "trainer/papertape-trainer")
CROSS = ["--strategy", "sma-cross"]
FREE = ["--fee-maker", "0", "--fee-taker", "0"]


def made(path, seed, n, hours=4, drift=0.0, regime=100):
    """A walk of 1 % a bar; with a drift of so many deviations, whose sign changes every so many bars on average."""
    rng, price, sign = random.Random(seed), 10000.0, 1
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            sign = -sign if rng.random() < 1 / regime else sign
            close = round(price * math.exp(rng.gauss(0, 0.01) + 0.01 * drift * sign), 2)
            file.write(f"{START_MS + i * hours * 3600000},{price},{max(price, close)},{min(price, close)},{close},1.00001\n")
            price = close
    return path


def line(*words):
    return [harness.PAPERTAPE, "sweep", *map(str, words)]


def sweep(*words, status=0, **more):
    return harness.run(line(*words), status, **({"stdin": subprocess.DEVNULL} | more))


def figures(*words):
    return json.loads(sweep(*words, "--json").stdout)


def refused(*words, says):
    done = sweep(*words, status=2)
    lines = [text for text in done.stderr.splitlines() if ": note: " not in text]
    assert done.stdout == "" and len(lines) == 1 and says in lines[0], done


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def kept(cache):
    """Bytes of the file that the results are kept in."""
    place = os.path.join(cache, "sweeps")
    return max((os.path.getsize(os.path.join(place, name)) for name in os.listdir(place)), default=0) if os.path.isdir(place) else 0


def start(words, **more):
    return subprocess.Popen(line(*words), stdin=subprocess.DEVNULL, text=True, **more)


def until(process, cache, more_than):
    """Returns when the results that are kept are more, or it has ended."""
    harness.wait_for(lambda: kept(cache) > more_than or process.poll() is not None, "results that are kept")


def nameless(folder):
    """Has the file system files without a name?"""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def killed(folder, bars):
    """Killed three times, once more stopped by SIGINT, and continued: the CSV of one that was left alone."""
    # 1,200 sets by the engine, which is slow enough to be killed.
    grid = [*CROSS, "--grid", "fast=2:21:1", "--grid", "slow=30:89:1", "--bars", bars, "--way", "engine", "--threads", 1, "--min-trades", 2]
    whole, parts, cache = (os.path.join(folder, name) for name in ("whole.csv", "parts.csv", "kept"))
    sweep(*grid, "--csv", whole, "--no-cache")
    words = [*grid, "--csv", parts, "--cache", cache]
    killings = 0
    for _ in range(3):
        process = start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(process, cache, kept(cache))
        process.kill()
        killings += process.wait() == -signal.SIGKILL
        assert not os.path.exists(parts) or killings < 3
    assert killings == 3, killings
    assert not nameless(folder) or not [name for name in os.listdir(folder) if name.startswith("parts.csv")], os.listdir(folder)
    process = start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(process, cache, kept(cache))
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=harness.PATIENCE)
    assert process.returncode == 1 and "; they are kept, and the same command continues\n" in said, (process.returncode, said)
    assert "stopped: " in said and " of 1200 sets are done" in said and "rank" in out, (out, said)
    some = rows(parts)
    assert 0 < len(some) < 1200 and {row["stopped"] for row in some} == {"true"}, len(some)
    assert f"No verdict: stopped: {len(some)} of 1200 sets are done, and the figures here" in out and "than luck" not in out, out
    result = figures(*words)
    assert 0 < result["kept"] < 1200 and result["runs"] == 1200 and not result["stopped"], result
    assert read(parts) == read(whole)
    assert figures(*words)["kept"] == 1200 and read(parts) == read(whole)
    assert " a second" not in sweep(*words).stdout and {row["stopped"] for row in rows(parts)} == {"false"}
    print(f"killed: three times, and stopped: {len(some)} of 1200 sets then; {result['kept']} kept for the last run")
    return words, whole, parts, cache


def damaged(words, whole, parts, cache):
    """A file with another byte in it is started again, with a note; --fresh starts it again; other inputs have another file."""
    place = os.path.join(cache, "sweeps")
    (name,) = os.listdir(place)
    path = os.path.join(place, name)
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        file.seek(size // 2)
        byte = file.read(1)
        file.seek(size // 2)
        file.write(bytes([byte[0] ^ 4]))
    done = sweep(*words)
    assert "was damaged: it is started again" in done.stderr and "were kept" not in done.stdout, done
    assert read(parts) == read(whole) and os.path.getsize(path) == size
    assert figures(*words, "--fresh")["kept"] == 0 and read(parts) == read(whole)
    assert figures(*words, "--fee-taker", "0.002")["kept"] == 0 and len(os.listdir(place)) == 2
    assert figures(*words, "--fee-taker", "0.002", "--top", 3)["kept"] == 1200  # how it is shown makes no difference


def asked(folder, tiny, bars):
    """More than a minute: size and time, a question on a terminal, exit 2 without one; more than can be run: never."""
    large = [*CROSS, "--grid", "fast=2:1000:1", "--grid", "slow=2:900:1", "--bars", tiny, "--no-cache", "--way", "engine", "--threads", 1]
    done = sweep(*large, status=2)
    assert "--grid: 898101 combinations, about " in done.stderr and "more than 60 s: --yes runs them" in done.stderr and done.stdout == "", done
    huge = ["--strategy", "sma-cross-rsi-risk", "--grid", "fast=2:1000:1", "--grid", "slow=2:5000:1", "--grid", "rsi=2:1000:1",
            "--grid", "rsi_max=1:100:0.01", "--bars", bars]
    for words in (huge, [*huge, "--yes"]):
        done = sweep(*words, status=2)
        assert "4.9e+13 combinations, about " in done.stderr and "years: at most 1000000 are run: wider steps, or --samples N" in done.stderr, done
    if harness.LONG:  # a screen that takes long by itself
        path = made(os.path.join(folder, "LTCUSDT_4h.csv"), 9, 300000)
        done = sweep(*CROSS, "--grid", "fast=2:1000", "--grid", "slow=1001:2000", "--screen", "--bars", path, "--no-cache", "--threads", 1, status=2)
        assert "--grid: a screen of 999000 combinations, about " in done.stderr and "more than 60 s: --yes runs them" in done.stderr, done
    result = figures(*huge, "--samples", 20, "--no-cache")
    assert result["asked"] == 20 and result["runs"] + result["contradictory"] + result["too_few_bars"] == 20, result
    for reply, status, says in ((b"n\n", 2, "nothing was run"), (b"y\n", 1, "stopped: ")):
        leader, follower = pty.openpty()
        process = subprocess.Popen(line(*large), stdin=follower, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        said = b""
        while b"Run them? [y/N] " not in said:
            said += os.read(leader, 1 << 12)
        assert b"898101 combinations, about " in said, said
        os.write(leader, reply)
        if status == 1:
            while b"sweep [" not in said:  # it runs
                said += os.read(leader, 1 << 12)
            process.send_signal(signal.SIGINT)
        while process.poll() is None or says.encode() not in said:
            try:
                said += os.read(leader, 1 << 12)
            except OSError:  # its end was closed
                break
        assert process.wait(timeout=harness.PATIENCE) == status and says.encode() in said, (process.returncode, said)
        os.close(leader)


def points(folder, bars):
    """Equal points are one run; samples are of their ranges, the same of a seed; too few trades are not ranked."""
    words = [*CROSS, "--bars", bars, "--no-cache"]
    result = figures(*words, "--grid", "fast=5,10,5", "--grid", "slow=20,30,20,20")
    assert (result["asked"], result["combinations"], result["runs"]) == (12, 4, 4) and result["luck"]["trials"] == 4, result
    assert "4 of 4 combinations, 8 are equal to others" in sweep(*words, "--grid", "fast=5,10,5", "--grid", "slow=20,30,20,20").stdout
    drawn = {}
    for sampling in ("random", "sobol"):
        for seed in (1, 1, 2):
            path = os.path.join(folder, "drawn.csv")
            result = figures(*words, "--grid", "fast=2:20", "--grid", "slow=30:90", "--grid", "fraction=0.5:1", "--samples", 40, "--sampling", sampling,
                             "--seed", seed, "--csv", path)
            assert result["runs"] == result["combinations"] == 40, result
            for row in rows(path):
                assert 2 <= int(row["fast"]) <= 20 and 30 <= int(row["slow"]) <= 90 and 0.5 <= float(row["fraction"]) <= 1 and row["exact"] == "true", row
            drawn.setdefault((sampling, seed), set()).add(read(path))
    assert [len(each) for each in drawn.values()] == [1] * 4 and len(set().union(*drawn.values())) == 4
    page = os.path.join(folder, "drawn.html")
    best = figures(*words, "--grid", "fast=2:20", "--grid", "slow=30:90", "--samples", 40, "--report", page)["top"][0]["params"]
    assert b"<td>1</td><td>%d</td><td>%d</td>" % (best["fast"], best["slow"]) in read(page), best
    one = figures(*words, "--grid", "fast=2:3", "--grid", "slow=30:31", "--samples", 500)
    assert one["asked"] == 500 and one["runs"] == 4, one
    many = figures(*words, "--grid", "fast=2:20:2", "--grid", "slow=30:90:10", "--min-trades", 25, "--top", 100)
    assert 0 < many["few_trades"] < many["runs"] and len(many["top"]) == many["runs"] - many["few_trades"], many
    assert all(row["trades"] >= 25 for row in many["top"])
    none = figures(*words, "--grid", "fast=2:3:1", "--grid", "slow=30,40", "--min-trades", 100000)
    assert none["top"] == [] and none["luck"]["verdict"] == "unknown" and none["few_trades"] == 4, none
    assert "No verdict: no run has 100000 trades" in sweep(*words, "--grid", "fast=2,3", "--min-trades", 100000).stdout


def beside(folder, bars):
    """Neighbours of the grid, and Sharpe ratios at other costs, as runs made for them have them."""
    path = os.path.join(folder, "grid.csv")
    fast, slow = (4, 6, 8, 10), (20, 30, 40)
    words = [*CROSS, "--bars", bars, "--no-cache"]
    result = figures(*words, "--grid", "fast=8,4,10,6", "--grid", "slow=20:40:10", "--top", 4, "--csv", path)
    sharpe = {(int(row["fast"]), int(row["slow"])): float(row["sharpe"]) for row in rows(path)}
    for row in result["top"]:
        at = (row["params"]["fast"], row["params"]["slow"])
        near = [sharpe[f, s] for f, s in sharpe
                if (f, s) != at and abs(fast.index(f) - fast.index(at[0])) <= 1 and abs(slow.index(s) - slow.index(at[1])) <= 1]
        hold = sum(value > 0 and value >= row["sharpe"] / 2 for value in near)
        assert (row["beside"], row["beside_hold"]) == (len(near), hold), (at, near, row)
        for key, costs in (("sharpe_fees_twice", ["--fees", "0.002:0.002"]), ("sharpe_more_slippage", ["--slippage", "0.0005"])):
            done = harness.run([harness.PAPERTAPE, "backtest", *words, "--set", f"fast={at[0]:.0f},slow={at[1]:.0f}", *costs, "--json"])
            assert math.isclose(json.loads(done.stdout)["accounts"][0]["sharpe"], row[key], rel_tol=1e-9), (key, row)


def validated(folder, bars):
    """PBO of 500 sets is that of `validate` on their returns, to the bit; so is the deflated Sharpe ratio of the best."""
    path, table = os.path.join(folder, "returns.csv"), os.path.join(folder, "500.csv")
    result = figures(*CROSS, *FREE, "--grid", "fast=2:26:1", "--grid", "slow=30:125:5", "--bars", bars, "--no-cache", "--min-trades", 0, "--top", 500,
                     "--metric", "sharpe", "--returns", path, "--csv", table)
    assert result["runs"] == 500 == len(result["top"]), result["runs"]
    done = harness.run([TRAINER, "validate", "--returns", path, "--blocks", "16"])
    said, luck = json.loads(done.stdout), result["luck"]
    assert said["trials"] == 500 and said["splits"] == luck["splits"] == 12870 and said["rows"] == result["rows"], (said["trials"], luck)
    assert (said["pbo"], said["probability_of_loss"]) == (luck["pbo"], luck["probability_of_loss"]), (said["pbo"], luck)
    best, of = result["top"][0], said["deflated_best"]
    assert of["name"] == f"fast={best['params']['fast']:.0f} slow={best['params']['slow']:.0f}", (of, best)
    for ours, theirs in ((best["dsr"], of["deflated_capped"]), (luck["expected_sharpe"], of["expected_capped"]), (best["sharpe"], of["sharpe"]),
                         (luck["sharpe_deviation"], of["sharpe_deviation"])):
        assert math.isclose(ours, theirs, rel_tol=1e-9), (best, luck, of)
    ratios = [float(row["dsr"]) for row in rows(table)]
    assert len(ratios) == 500 and all(0 <= ratio <= 1 for ratio in ratios)
    print(f"validate: 500 sets, PBO {luck['pbo']:.4f}, deflated Sharpe of the best {best['dsr']:.4f}")


def losing(folder):
    """Fees that make every set lose: PBO is low, since the cheaper ones stay ahead, and a sentence says that they lose."""
    path = made(os.path.join(folder, "XRPUSDT_4h.csv"), 6, 3000)
    words = [*CROSS, "--fee-taker", "0.01", "--grid", "fast=2:12:2", "--grid", "slow=20:100:20", "--bars", path, "--no-cache"]
    luck, text = figures(*words)["luck"], " ".join(sweep(*words).stdout.split())
    assert luck["pbo"] < 0.5 < luck["probability_of_loss"], luck
    assert f"It lost there in {100 * luck['probability_of_loss']:.1f} % of all halves: the order may last, but the best loses." in text, text
    words = [*CROSS, *FREE, *words[4:]]
    made(path, 6, 3000, drift=0.4)
    luck, text = figures(*words)["luck"], " ".join(sweep(*words).stdout.split())
    assert f"It lost there in {100 * luck['probability_of_loss']:.1f} % of all halves." in text and luck["probability_of_loss"] < 0.5, (luck, text)


def walked(folder, bars):
    """A window's choice is that of a sweep over its rows; what it earns out of sample is that of a backtest."""
    grid, path = ["--grid", "fast=3:9:3", "--grid", "slow=20:60:20"], os.path.join(folder, "windows.csv")
    words = [*CROSS, "--bars", bars, "--no-cache", "--min-trades", 3]
    result = figures(*words, *grid, "--walk-forward", "200d:100d", "--csv", path)
    windows, total = result["windows"], 1
    assert result["schema"] == "papertape.walk-forward/1" and len(windows) == len(rows(path)) >= 2, result
    hours = 3600 * 10**9
    for i, window in enumerate(windows):
        assert (window["from_ns"], window["chosen_ns"], window["to_ns"]) == tuple(START_MS * 10**6 + days * 24 * hours for days in
                                                                                  (100 * i, 100 * i + 200, 100 * i + 300)), window
        within = ["--from", window["from_ns"], "--to", window["chosen_ns"]]
        best = figures(*words, *grid, *within)["top"][0]
        assert window["params"] == f"fast={best['params']['fast']:.0f} slow={best['params']['slow']:.0f}", (window, best)
        assert window["dsr_in"] == best["dsr"]
        done = harness.run([harness.PAPERTAPE, "backtest", *CROSS, "--bars", bars, "--no-cache", "--set", window["params"].replace(" ", ","), "--from",
                            str(window["chosen_ns"]), "--to", str(window["to_ns"]), "--json"])
        account = json.loads(done.stdout)["accounts"][0]
        assert math.isclose(account["return_pct"], window["return_pct"], rel_tol=1e-9, abs_tol=1e-9), (account["return_pct"], window)
        assert (account["trades"], account["sharpe"]) == (window["trades"], window["sharpe"]) or math.isclose(account["sharpe"], window["sharpe"], rel_tol=1e-9)
        total *= 1 + window["return_pct"] / 100
    assert math.isclose(100 * (total - 1), result["return_pct"], rel_tol=1e-9, abs_tol=1e-9), (total, result)
    assert "out of sample" in sweep(*words, *grid, "--walk-forward", "200d:100d:150d").stdout


def screened(folder, bars):
    """--screen: the same best, with the same digits; the rest is marked; and what was kept, of whatever, changes no CSV."""
    grid = [*CROSS, "--grid", "fast=2:40:1", "--grid", "slow=50:200:5", "--bars", bars, "--min-trades", 12, "--top", 30]
    exact, once, parts, cache = (os.path.join(folder, name) for name in ("exact.csv", "once.csv", "parts.csv", "screened"))
    for metric in ("dsr", "sharpe", "max_drawdown"):
        sweep(*grid, "--metric", metric, "--csv", exact, "--no-cache")
        result = figures(*grid, "--metric", metric, "--csv", once, "--no-cache", "--screen")
        left, right = rows(exact), rows(once)
        # What luck would show is of all Sharpe ratios, and so of screened ones, unless they vary more than luck's.
        for one, other in zip(left[:30], right[:30], strict=True):
            assert math.isclose(float(one.pop("dsr")), float(other.pop("dsr")), abs_tol=1e-5) and one == other, (metric, one, other)
        assert result["screened"] and 30 <= result["runs_exact"] < result["runs"] == len(left) == len(right), result
        assert sum(row["exact"] == "true" for row in right) == result["runs_exact"], result
        key = ("fast", "slow", "trades", "fills")
        assert {tuple(row[k] for k in key) for row in left} == {tuple(row[k] for k in key) for row in right}
    words = [*grid, "--screen", "--csv", parts, "--cache", cache]
    sweep(*grid, "--screen", "--csv", once, "--no-cache")
    process = start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(process, cache, 0)
    process.kill()
    process.wait()
    sweep(*words)
    assert read(parts) == read(once)
    # What a kill leaves: some of the records.
    (name,) = os.listdir(os.path.join(cache, "sweeps"))
    path = os.path.join(cache, "sweeps", name)
    os.truncate(path, os.path.getsize(path) * 2 // 3)
    result = figures(*words)
    assert 0 < result["kept"] < result["runs_exact"] and read(parts) == read(once), result
    # All of them, of a sweep without the option: those alone that a screen asks for are taken.
    assert 0 < figures(*grid, "--cache", cache)["kept"] < len(left) and len(os.listdir(os.path.join(cache, "sweeps"))) == 1
    result = figures(*words)
    assert result["kept"] == result["runs_exact"] < len(left) and read(parts) == read(once), result
    done = sweep(*grid, "--screen", "--no-cache")
    assert f"; screened, {result['runs_exact']} run exactly\n" in done.stdout, done
    assert f"note: {result['runs_exact']} of 1209 combinations, about " in done.stderr, done
    assert not figures(*grid, "--grid", "direction=long,both", "--screen", "--no-cache")["screened"]
    walk = [*CROSS, "--bars", bars, "--no-cache", "--min-trades", 3, "--grid", "fast=3:9:3", "--grid", "slow=20:60:10", "--walk-forward", "200d:100d"]
    one, other = figures(*walk, "--top", 1), figures(*walk, "--top", 1, "--screen")
    assert [(window["params"], window["sharpe"]) for window in one["windows"]] == [(window["params"], window["sharpe"]) for window in other["windows"]]
    assert not figures(*grid, "--way", "engine", "--screen", "--no-cache", "--samples", 40)["screened"]
    page = os.path.join(folder, "screened.html")
    sweep(*grid, "--screen", "--no-cache", "--report", page)
    assert b"</html>" in read(page)
    print(f"screened: {result['runs_exact']} of {result['runs']} run exactly")


def on_device(folder, bars):
    """--backend gpu: the list and the exact rows of --screen, by the kernels on a CPU; what has no device or is not covered is refused."""
    grid = [*CROSS, "--grid", "fast=2:40:1", "--grid", "slow=50:200:5", "--bars", bars, "--no-cache", "--top", 30]
    with_device = {"env": {**os.environ, "PAPERTAPE_GPU_MODULE": harness.GPU_ON_CPU}}
    here, there = os.path.join(folder, "here.csv"), os.path.join(folder, "there.csv")
    for more in ([], ["--metric", "sortino"], ["--strategy", "triple-confirmation", "--set", "macd_fast=5"]):
        words = [*more[:2], *grid[2:], *more[2:]] if "--strategy" in more else [*grid, *more]
        one = json.loads(sweep(*words, "--screen", "--csv", here, "--json").stdout)
        other = json.loads(sweep(*words, "--backend", "gpu", "--csv", there, "--json", **with_device).stdout)
        for row, same in zip(one["top"], other["top"], strict=True):
            assert math.isclose(row.pop("dsr"), same.pop("dsr"), abs_tol=1e-5) and row == same, (row, same)
        assert other["screened"] and other["runs_exact"] >= 30, other["runs_exact"]
        left, right = rows(here), rows(there)
        assert len(left) == len(right) and all(row["exact"] == "true" for row in right[:30])
        assert all(math.isclose(float(a["sharpe"]), float(b["sharpe"]), rel_tol=1e-4, abs_tol=1e-5) for a, b in
                   zip(*(sorted(table, key=lambda row: (int(row["fast"]), int(row["slow"]))) for table in (left, right)), strict=True))
    done = sweep(*grid, "--backend", "gpu", "--csv", here, **with_device)
    assert "; screened on the CPU, " in done.stdout, done
    walk = [*CROSS, "--bars", bars, "--no-cache", "--min-trades", 3, "--grid", "fast=3:9:3", "--grid", "slow=20:60:10", "--walk-forward", "200d:100d"]
    one = json.loads(sweep(*walk, "--top", 1, "--screen", "--json").stdout)
    other = json.loads(sweep(*walk, "--top", 1, "--backend", "gpu", "--json", **with_device).stdout)
    assert [(window["params"], window["sharpe"]) for window in one["windows"]] == [(window["params"], window["sharpe"]) for window in other["windows"]]
    for words, status, says, module in (
            ([], 1, "--backend gpu: no GPU module: /nowhere.so: No such file or directory: --screen screens on the CPU", "/nowhere.so"),
            (["--grid", "direction=long,both"], 2, "--backend gpu: a screen does not know a parameter of these sets", None),
            (["--way", "engine"], 2, "--backend gpu: this account must be run exactly: ", None)):
        environment = {**os.environ, "PAPERTAPE_GPU_MODULE": module or harness.GPU_ON_CPU}
        done = sweep(*grid, *words, "--backend", "gpu", status=status, env=environment)
        assert done.stdout == "" and f"papertape: sweep: {says}" in done.stderr, done.stderr
    # No memory for columns of all sets: for fewer; none for the bars; a device that is lost.
    for words, status in (("fail_allocation=10", 0), ("fail_allocation=9", 1), ("fail_launch=2", 1), ("lose=3", 1)):
        done = sweep(*grid, "--backend", "gpu", "--csv", there, status=status,
                     env={**with_device["env"], "CPU_DEVICE": words})
        assert status == 0 or "papertape: sweep: GPU: " in done.stderr, done
        assert status != 0 or read(there) == read(here), words
    print("on a device: the best of a screen on the CPU, and what is refused")


def watched(folder, bars):
    """--progress: its lines rise to all sets, and the last best is the best by Sharpe of those with enough trades; the result is the same
    without them, and has the sentences that are printed. --dry-run: how many sets, and that what it ran is kept."""
    grid = [*CROSS, "--grid", "fast=3:9:1", "--grid", "slow=20:60:10", "--bars", bars, "--min-trades", 3]
    csv_path, cache = os.path.join(folder, "watched.csv"), os.path.join(folder, "watched")
    plan = figures(*grid, "--cache", cache, "--dry-run")
    assert (plan["schema"], plan["asked"], plan["combinations"]) == ("papertape.sweep_plan/1", 35, 35), plan
    assert 0 < plan["tried"] and plan["tried"] + plan["left"] == 35 and plan["seconds"] > 0 and plan["asks_above_s"] == 60, plan
    wide = figures(*CROSS, "--grid", "fast=3:30:3", "--grid", "slow=10:60:10", "--bars", bars, "--cache", cache, "--dry-run")
    contradictory = sum(fast >= slow for fast in range(3, 31, 3) for slow in range(10, 61, 10))
    assert wide["contradictory"] == contradictory > 0 == plan["contradictory"], (wide, plan)
    text = sweep(*grid, "--cache", cache, "--dry-run").stdout
    assert text.startswith("35 combinations, ") and text.count("\n") == 1, text
    done = sweep(*grid, "--cache", cache, "--progress", "--json", "--csv", csv_path)
    result, lines = json.loads(done.stdout), [json.loads(text) for text in done.stderr.splitlines() if text.startswith("{")]
    first = result["top"][0]
    params = ",".join(f"{name}={value}" for name, value in first["params"].items())
    report = json.loads(harness.run([harness.PAPERTAPE, "backtest", "--strategy", f"sma-cross:{params}", *CROSS[2:], "--bars", bars, "--no-cache",
                                     "--json"]).stdout)["accounts"][0]
    assert all(math.isclose(first[key], report[key], rel_tol=1e-9) for key in ("kurtosis", "skew", "sharpe")), (first, report)
    assert result["kept"] >= plan["tried"] and result["runs"] == 35, result
    assert {one["schema"] for one in lines} == {"papertape.sweep_progress/1"} and {one["of"] for one in lines} == {35}, lines
    counts = [one["done"] for one in lines]
    assert counts == sorted(counts) and counts[-1] == 35 and lines[-1]["left_s"] == 0, lines
    best = max((row for row in rows(csv_path) if int(row["trades"]) >= 3), key=lambda row: float(row["sharpe"]))
    said = lines[-1]["best"]
    assert said["text"] == f"fast={best['fast']} slow={best['slow']}" and said["trades"] == int(best["trades"]), (said, best)
    assert said["metric"] == "sharpe" and math.isclose(said["value"], float(best["sharpe"]), rel_tol=1e-5), (said, best)
    printed = " ".join(sweep(*grid, "--cache", cache).stdout.split("\n"))
    assert all(sentence in printed for sentence in result["luck"]["words"]) and len(result["luck"]["words"]) in (2, 3), (result["luck"], printed)
    plan = figures(*grid, "--cache", cache, "--dry-run")
    assert (plan["left"], plan["seconds"]) == (0, 0), plan
    # What contradicts itself is not to come; a second batch, of half of the rest, is timed where the first was quick.
    most = [*CROSS, "--grid", "fast=3:20:1", "--grid", "slow=4:21:1", "--bars", bars, "--no-cache"]
    plan, whole = figures(*most, "--dry-run"), figures(*most)
    assert whole["contradictory"] > 100 and plan["tried"] + plan["left"] == whole["runs"] and plan["left"] > 0 < plan["seconds"], (plan, whole)
    refused(*grid, "--dry-run", "--csv", csv_path, says="--csv")
    refused(*grid, "--progress", "--walk-forward", "200d:100d", says="--walk-forward")
    (own,) = json.loads(harness.run([harness.PAPERTAPE, "backtest", "--list-strategies", "--strategy", "sma-cross", "--json"], 0).stdout)["strategies"]
    every = json.loads(harness.run([harness.PAPERTAPE, "backtest", "--list-strategies", "--json"], 0).stdout)["strategies"]
    assert own["name"] == "sma-cross" and own in every, own
    print(f"watched: {len(lines)} lines of progress")


def progress(process, past):
    """The lines of --progress up to the first with so many sets done, and on, until two more have come."""
    lines = []
    while len(lines) < 3 or lines[-3]["done"] < past:
        text = process.stderr.readline()
        assert text, (lines, process.wait())
        if text.startswith("{"):
            lines.append(json.loads(text))
    return [line["done"] for line in lines]


def kept_each(folder):
    """Sets of a process, which take long: SIGINT keeps what the last line of progress said, within the set in flight; a kill
    what the line before it said, which is half a second older; and progress begins at what is kept."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../trainer/python")
    cache, bars = os.path.join(folder, "each"), made(os.path.join(folder, "DOTUSDT_4h.csv"), 7, 300)
    words = ["--strategy", f"exec:{sys.executable} -S {source}/examples/sma_cross_rsi_risk.py", "--grid", "fast=2:21:1", "--grid", "slow=30:87:3",
             "--bars", bars, "--min-trades", 1, "--threads", 1, "--cache", cache]
    more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": source}}
    process = start([*words, "--yes", "--progress"], **more)
    counts = progress(process, 9)  # beyond the eight sets that show how long the others take
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=harness.PATIENCE)[1]
    counts += [json.loads(text)["done"] for text in said.splitlines() if text.startswith("{")]
    (some,) = (int(text.split()[3]) for text in said.splitlines() if text.startswith("papertape: sweep: stopped: "))
    assert process.returncode == 1 and counts[-1] - 1 <= some < 400, (some, counts, said)
    process = start([*words, "--yes", "--progress"], **more)
    again = progress(process, some)
    process.kill()
    process.communicate()
    plan = json.loads(sweep(*words, "--dry-run", "--json", env=more["env"]).stdout)
    held = 400 - plan["left"] - plan["tried"]
    assert again[0] >= some and again == sorted(again) and again[-2] - 1 <= held < 400, (some, again, held)
    print(f"of 400 sets of a process: stopped at {counts[-1]}, {some} kept; killed at {again[-1]}, {held} kept")


def bad(bars):
    words = [*CROSS, "--bars", bars, "--no-cache"]
    refused(*words, "--grid", "fraction=0.1:0.5", says="--grid: fraction: a step is needed, as LO:HI:STEP, or --samples N")
    refused(*words, "--grid", "fraction=0.1:5", "--samples", 9, says='fraction: "5": a number from 0.001 to 1')
    refused(*words, "--grid", "fast=", says="fast")
    refused(*words, "--grid", "fast=9:5:1", says="lo <= hi")
    refused(*words, "--grid", "fast=2:5", "--samples", 0, says="--samples")
    refused(*words, "--grid", "fast=2:5", "--samples", 1000001, says="--samples")
    refused(*words, "--grid", "fast=2:5", "--sampling", "sobol", says="--samples")
    refused(*words, "--grid", "fast=2:5", "--samples", 9, "--sampling", "halton", says="--sampling")
    refused(*words, "--grid", "fast=2:5", "--seed", 3, says="--samples")
    refused(*words, "--grid", "fast=2:5", "--min-trades", -1, says="--min-trades")
    refused(*words, "--grid", "fast=2:5", "--fresh", says="--no-cache")
    for text in ("30d", "30d:", "30d:0d", "x:3d", "30d:10d:5d", "30d:10d:10d:1d", ":"):
        refused(*words, "--grid", "fast=2:5", "--walk-forward", text, says="IN:OUT or IN:OUT:STEP is needed")
    done = sweep(*words, "--grid", "fast=2:5", "--walk-forward", "9000d:1d", status=1)
    assert "the rows are too few for one window" in done.stderr, done
    one = os.path.join(os.path.dirname(bars), "one.csv")
    refused(*words, "--grid", "fast=2:5", "--csv", one, "--returns", one, says="one.csv: --csv and --returns are both to be written there")
    refused(*words, "--grid", "fast=2:5", "--walk-forward", "30d:10d", "--report", one, says="--report")
    assert not os.path.exists(one)
    done = sweep(*words, "--grid", "fast=2:5", "--returns", "/nonexistent/returns.csv", status=1)
    assert "/nonexistent/returns.csv" in done.stderr, done


def luck(folder):
    """Through the program: noise, and an edge of a Sharpe ratio of some 4 over four years."""
    sets = ["--grid", "fast=2:41:2", "--grid", "slow=45:165:10"] if harness.LONG else ["--grid", "fast=2:20:2", "--grid", "slow=22:120:14"]
    path, found = os.path.join(folder, "BTCUSDT_4h.csv"), collections.Counter()
    counts = {"noise": 100 if harness.LONG else 10, "edge": 20 if harness.LONG else 5}
    for kind, drift in (("noise", 0.0), ("edge", 0.25)):
        for seed in range(1, counts[kind] + 1):
            result = figures(*CROSS, *FREE, *sets, "--bars", made(path, seed, 8760, drift=drift), "--no-cache", "--top", 1, "--yes")
            found[kind] += result["luck"]["verdict"] == "more_than_luck"
    print(f"luck: more than luck in {found['noise']} of {counts['noise']} walks, {found['edge']} of {counts['edge']} with an edge")
    assert found["noise"] <= max(1, counts["noise"] * 5 // 100) and found["edge"] * 20 >= counts["edge"] * 18, found


def main():
    with tempfile.TemporaryDirectory() as folder:
        tiny = made(os.path.join(folder, "SOLUSDT_4h.csv"), 5, 500)
        small, bars = made(os.path.join(folder, "ETHUSDT_4h.csv"), 3, 1500), made(os.path.join(folder, "BTCUSDT_4h.csv"), 4, 3000)
        damaged(*killed(folder, tiny))
        asked(folder, tiny, bars)
        points(folder, small)
        beside(folder, bars)
        validated(folder, bars)
        losing(folder)
        walked(folder, bars)
        watched(folder, bars)
        kept_each(folder)
        screened(folder, bars)
        on_device(folder, bars)
        bad(small)
        luck(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
