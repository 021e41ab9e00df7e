#!/usr/bin/env python3
"""Do the gates work? Whole searches (papertape-trainer study: trials over purged splits, the best one trained anew, tested on bars that
the search never saw) on pure noise and on a market with a planted signal. Of noise at most 2 of 40 proposals may be admitted, of the
signal at least 9 of 10. The short run does one of each, and looks only at what must hold of each: that the figures are there and the verdict
is what they say."""

import json
import math
import os
import random
import subprocess
import sys

import harness

NOISES, SIGNALS = (40, 10) if harness.LONG else (1, 1)
NOISES_ADMITTED, SIGNALS_REFUSED = 2, 1
SEED = int(os.environ.get("PAPERTAPE_SEED", "1"))
ROWS, FIVE_MINUTES, START_S = 6000, 300, 1_672_531_200
STAY, SHOWN, DRIFT, NOISE, FEE = 0.9, 0.3, 0.004, 0.004, 0.001
TRAINER = os.path.join(harness.BUILD, "trainer/papertape-trainer")

CONFIG = """\
[training]
device = cpu
threads = 1
total_steps = {steps}
seed = {seed}
[network]
policy_layers = 32,32
value_layers = 32,32
[ppo]
copies = 16
steps = 128
minibatch = 512
gamma = 0.95
gae_lambda = 0.9
learning_rate = 1e-3
lr_schedule = linear
[environment]
lookback = 1
norm_action = 0.25
initial_capital = 1000
buy_cost_pct = {fee}
sell_cost_pct = {fee}
forced_exit_bars = 0
random_start = true
episode_bars = 130
norm_cash = 1e-3
norm_stocks = 0.1
norm_tech = 1
norm_reward = 1
weight_alpha = 0
weight_cash = 0
weight_absolute = 1
time_decay_floor = 1
[data]
bars = {bars}
features = {features}
train_from =
train_to =
test_from =
[study]
trials = {trials}
validation = cpcv:5,2
pruner = median
[search]
learning_rate = 3e-4..3e-3 log
gamma = 0.8..0.99
epochs = 2..6
ent_coef = 1e-5..1e-2 log
"""


def bars(path, chance, signal):
    """A walk whose drift has two regimes, which the volume shows; without a signal neither."""
    close, regime = 100.0, chance.choice((-1, 1))
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(ROWS):
            drift = DRIFT * regime if signal else 0
            before, close = close, round(close * math.exp(drift + NOISE * (2 * chance.random() - 1)), 4)
            if chance.random() > STAY:
                regime = -regime
            volume = 1e5 * math.exp((regime if signal else 0) + SHOWN * chance.gauss(0, 1))
            file.write(f"{(START_S + FIVE_MINUTES * i) * 1000},{before:.4f},{max(before, close):.4f},{min(before, close):.4f},"
                       f"{close:.4f},{volume:.4f}\n")


def search(place, name, signal, number):
    folder = os.path.join(place, name)
    os.mkdir(folder)
    chance = random.Random(f"{SEED} {name}")
    files = {"bars": os.path.join(folder, "AUSDT_5m.csv"), "features": os.path.join(place, "two.set")}
    bars(files["bars"], chance, signal)
    config = os.path.join(folder, "study.ini")
    steps, trials = (60 * 2048, 16) if harness.LONG else (4 * 2048, 4)
    with open(config, "w") as file:
        file.write(CONFIG.format(steps=steps, trials=trials, seed=number, fee=FEE, **files))
    run = subprocess.run([TRAINER, "study", name, "--config", config, "--state", folder, "--seed", str(number), "--json"],
                         capture_output=True, text=True)
    assert run.returncode == 0, (name, run.stderr)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    told = [event["proposal"] for event in events if event["event"] == "proposal"]
    assert len(told) == 1, (name, [event["event"] for event in events])
    with open(os.path.join(folder, "studies", name, "proposal.json")) as file:
        assert json.load(file) == told[0], name
    return told[0]


def look(name, proposal):
    """The verdict is what the figures say."""
    gates = {gate["gate"]: gate for gate in proposal["gates"]}
    assert set(gates) >= {"excess", "pbo", "deflated", "drawdown", "trades"}, gates
    assert proposal["admitted"] == all(gate["passed"] for gate in gates.values()), (name, proposal)
    assert proposal["complete"] >= 1 and proposal["holdout"]["rows"] > ROWS // 10, (name, proposal)
    print(f"| {name} | {proposal['complete']}/{proposal['trials']} | {proposal['holdout']['sharpe']:+.2f} | "
          f"{proposal['holdout']['sharpe_holding']:+.2f} | {proposal['pbo']:.3f} | {proposal['deflated_sharpe']:.3f} | "
          f"{proposal['holdout']['trades']} | {'admitted' if proposal['admitted'] else 'refused'} |", flush=True)
    return proposal["admitted"]


def main():
    with harness.Folder() as folder:
        with open(os.path.join(folder.path, "two.set"), "w") as file:
            file.write("set two\nclose\nvolume log1p\n")
        print("| search | complete | Sharpe | holding | PBO | deflated | trades | |\n|---|---|---|---|---|---|---|---|")
        admitted = {}
        for kind, n in (("noise", NOISES), ("signal", SIGNALS)):
            admitted[kind] = sum(look(f"{kind}{i}", search(folder.path, f"{kind}{i}", kind == "signal", i)) for i in range(1, n + 1))
            print(f"{kind}: {admitted[kind]} of {n} admitted", flush=True)
        if harness.LONG:
            assert admitted["noise"] <= NOISES_ADMITTED, admitted
            assert admitted["signal"] >= SIGNALS - SIGNALS_REFUSED, admitted
    return 0


sys.exit(main())
