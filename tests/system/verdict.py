#!/usr/bin/env python3
"""A training's verdict, from its worker to the policy's file, the co-process, the daemon, the database and back: of planted bars one
that cannot trade, one without a test range, one whose moves depend on the last one (AR(1)). A policy with a bad one is promoted with
--yes alone. With PAPERTAPE_LONG the levels: of 100 walks at most 5 are better than holding, of 20 AR(1) of 0.2 at least 18."""
import glob
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time

import harness

TRAINER = os.path.join(harness.BUILD, "trainer/papertape-trainer")
BARS = 20000 if harness.LONG else 6000
START = 1704067200
CONFIG = "[market]\nsymbols = BTCUSDT\ninterval = 1m\nhistory = 50\n[parity]\nat = off\n"
TRAINING = """[training]
name = {name}
total_steps = {steps}
[ppo]
seed = {seed}
threads = 1
[environment]
norm_action = {norm_action}
buy_cost_pct = {fee}
sell_cost_pct = {fee}
[data]
bars = {bars}
features = market14
"""


def write_bars(folder, name, depends, seed):
    chance, close, move, lines = random.Random(f"{name} {seed}"), 30000.0, 0.0, ["timestamp,open,high,low,close,volume"]
    for row in range(BARS):
        before, move = close, depends * move + chance.gauss(0, 0.002)
        if name == "sine":
            move = 0.05 * (math.sin(2 * math.pi * (row + 1) / 100) - math.sin(2 * math.pi * row / 100)) + chance.gauss(0, 0.0002)
        close = round(before * math.exp(move), 2)
        lines.append(f"{START + 60 * row},{before:.2f},{max(before, close):.2f},{min(before, close):.2f},{close:.2f},{chance.uniform(5, 50):.5f}")
    os.makedirs(os.path.join(folder, f"{name}{seed}"), exist_ok=True)
    path = os.path.join(folder, f"{name}{seed}", "BTCUSDT_1m.csv")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def configuration(folder, name, depends, seed=1, steps=None, norm_action=1, fee=0, tested=True):
    bars = write_bars(folder, name, depends, seed)
    text = TRAINING.format(name=name, seed=seed, steps=steps or (1000000 if harness.LONG else 200000), bars=bars, norm_action=norm_action, fee=fee)
    if not tested:
        text += "test_share = 0\n"
    path = os.path.join(folder, f"{name}.ini")
    with open(path, "w") as file:
        file.write(text)
    return path


def metadata(path):
    with open(path, "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]


def listed(daemon, name, status=0):
    found = json.loads(daemon.papertape("train", "list", "--json", status=status).splitlines()[0])["trainings"]
    return next(t for t in found if t["name"] == name)


def trained(daemon, folder, name, *arguments, **options):
    daemon.papertape("train", "start", name, "--config", configuration(folder, name, *arguments, **options))
    harness.wait_for(lambda: listed(daemon, name)["state"] in ("done", "failed"), f"{name}'s end")
    seen = listed(daemon, name)
    assert seen["state"] == "done", seen
    meta = metadata(seen["policy"])
    assert (seen["verdict"], seen["verdict_text"]) == (meta.get("verdict"), meta.get("verdict_text")), (seen, meta)
    table = [line for line in daemon.papertape("train", "list").splitlines() if line.startswith(name)]
    assert len(table) == 1 and (seen["verdict"] or name) in table[0], table
    return seen


def promoted(daemon, name, *more):
    return subprocess.run([harness.PAPERTAPE, "policy", "promote", name, *more, "--state", daemon.state], capture_output=True, text=True)


def by_daemon(folder):
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["bars"] > 10, "bars")
    idle = trained(daemon, folder.path, "idle", 0, steps=2048, norm_action=1e9)
    assert idle["verdict"] == "no_trades" and idle["verdict_text"].startswith("Never trades: no fill in "), idle
    untested = trained(daemon, folder.path, "untested", 0, steps=2048, tested=False)
    assert untested["verdict"] is None and untested["verdict_text"] is None, untested
    good = trained(daemon, folder.path, "good", 0.6)
    assert good["verdict"] == "better" and good["verdict_text"].startswith("Better than holding by "), good

    refused = promoted(daemon, "idle")
    assert refused.returncode == 1 and refused.stdout == "" and refused.stderr.count("\n") == 1, refused
    assert f"--yes: idle: no_trades: {idle['verdict_text']}" in refused.stderr, refused
    assert promoted(daemon, "idle", "--yes").returncode == 0
    shown = json.loads(daemon.papertape("policy", "show", "idle", "--json"))["policy"]
    assert (shown["verdict"], shown["verdict_text"]) == ("no_trades", idle["verdict_text"]), shown
    for name in ("good", "untested"):
        ran = promoted(daemon, name)
        assert ran.returncode == 0, ran
    screen = daemon.papertape("--dump-screen", "200x60", "--tab", "2")
    rows = [line for line in screen.splitlines() if " challenger " in line]
    assert any("no_trades" in line for line in rows) and any("better" in line for line in rows), screen
    co_process = daemon.status_object()["trainer"]["pid"]
    assert daemon.stop() == 0
    os.kill(co_process, signal.SIGTERM)
    for before in (idle, untested, good):
        after = listed(daemon, before["name"], status=3)
        assert (after["verdict"], after["verdict_text"]) == (before["verdict"], before["verdict_text"]), after
    print("three trainings by the daemon: their verdicts are listed, stored, in the policy's file, and asked for --yes")


def train(folder, config):
    ran = subprocess.run([TRAINER, "train", "--config", config, "--overwrite", "--output", folder.path, "--json"], capture_output=True, text=True,
                         cwd=folder.path)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def kinds(folder, name, depends, n, fee=0):
    found = []
    for seed in range(1, n + 1):
        config = configuration(folder.path, name, depends, seed=seed, fee=fee)
        found.append(train(folder, config)["verdict"])
    print(f"{name}, fee {fee}: " + ", ".join(f"{found.count(kind)} {kind}" for kind in sorted(set(found))))
    return found.count("better")


def real(folder):
    """Two lines of configuration on each file of 5m: an evaluation and a verdict."""
    for path in sorted(glob.glob(os.path.join(harness.SHARED, "data/bars/*_5m*.csv.gz"))):
        config, started = os.path.join(folder.path, "two.ini"), time.monotonic()
        with open(config, "w") as file:
            file.write(f"[data]\nbars = {path}\n")
        end = train(folder, config)
        assert end["evaluation"] and end["verdict"], end
        print(f"{os.path.basename(path)}, {time.monotonic() - started:.0f} s: {end['verdict_text']}")


def buys_all(folder):
    """A policy of the defaults whose head is set to buy all, always, is holding."""
    bars = os.path.join(harness.SHARED, "data/bars/BTCUSDT_5m_2023.csv.gz")
    if not os.path.exists(bars):
        return
    config = os.path.join(folder.path, "all.ini")
    with open(config, "w") as file:
        file.write(f"[training]\nname = all\ntotal_steps = 8192\noutput = {folder.path}\n[data]\nbars = {bars}\n")
    train(folder, config)
    path = os.path.join(folder.path, "all.safetensors")
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        head = json.loads(file.read(size))
        last = max(name for name in head if name.startswith("pi.") and name.endswith(".bias"))
        file.seek(8 + size + head[last]["data_offsets"][0])
        file.write(struct.pack("<f", 1000.0))
    whole = json.loads(subprocess.run([TRAINER, "eval", path, "--bars", bars], capture_output=True, text=True, check=True).stdout)["whole"]
    points = abs(whole["return_pct"] - whole["benchmark_return_pct"])
    assert points <= 0.5 and whole["sells"] == 0, whole
    print(f"always buys all, BTC 2023: {whole['return_pct']:+.2f} %, holding {whole['benchmark_return_pct']:+.2f} %")


def main():
    with harness.Folder() as folder:
        by_daemon(folder)
        if harness.LONG:
            assert kinds(folder, "walks", 0, 100) <= 5
            assert kinds(folder, "walks", 0, 100, fee=0.001) <= 5
            assert kinds(folder, "waves", 0.2, 20) >= 18
            assert kinds(folder, "sine", 0, 10) == 10
            real(folder)
            buys_all(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
