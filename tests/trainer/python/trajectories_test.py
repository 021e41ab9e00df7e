"""The recorded trajectories, step by step through PapertapeVectorEnv and PapertapeEnv, on every backend: each column
within docs/environment.md's tolerance, counts exactly, first and last observation."""

import sys

import ready
from ready import check, done

import numpy as np
import recordings
from papertape.env import Market, PapertapeEnv, PapertapeVectorEnv, backends

if not recordings.names():
    print("skipped: no recordings in $PAPERTAPE_SHARED/data/env")
    sys.exit(77)

COPIES = 3  # the middle one does what was recorded; the others do something else
INFOS = ("equity", "cash", "benchmark", "fees", "row", "buys", "sells")
COLUMNS = {"equity": "equity", "cash": "cash", "equity_benchmark": "benchmark", "fees": "fees"}
EXACT = {"t": "row", "buys": "buys", "sells": "sells"}


def compare(what, record, got, first, last):
    worst = ("", 0.0)
    for column, expected in record.columns.items():
        if column.startswith("action_"):
            continue
        if column in EXACT or column == "done":
            check(np.array_equal(got[column], expected), f"{what}: {column}")
            continue
        off = recordings.outside(got[column], expected)
        check(off <= 1, f"{what}: {column} is off by {off:.3g} tolerances")
        if not off <= worst[1]:
            worst = (column, off)
    for when, observation in (("first", first), ("last", last)):
        off = recordings.outside(observation, record.setup[f"{when}_observation"])
        check(off <= 1, f"{what}: {when} observation is off by {off:.3g} tolerances")
    print(f"{what}: {len(record.actions)} steps, {worst[0]} is the farthest off: {worst[1]:.3g} of its tolerance")


def reported(record, got, infos, reward, over, positions):
    for column, name in (COLUMNS | EXACT).items():
        got[column].append(infos[name])
    got["reward"].append(reward)
    got["done"].append(float(over))
    for column in ("qty", "held", "peak"):
        for symbol, value in zip(record.symbols, positions[column], strict=True):
            got[f"{column}_{symbol}"].append(value)


def through_vector(record, market, backend):
    envs = PapertapeVectorEnv(
        market, COPIES, preset="reference", autoreset_mode="Disabled", backend=backend, infos=INFOS, **record.params
    )
    observations, infos = envs.reset(seed=1)
    first, got = observations[1], {column: [] for column in record.columns}
    for action in record.actions.astype(np.float32):
        actions = np.stack([-action, action, action[::-1]])
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        values = {name: array[1] for name, array in infos.items()}
        reported(record, got, values, rewards[1], terminations[1] | truncations[1], envs.positions(1))
    envs.close()
    return got, first, observations[1]


def through_single(record, market):
    env = PapertapeEnv(market, preset="reference", infos=INFOS, **record.params)
    first, info = env.reset(seed=1)
    got = {column: [] for column in record.columns}
    for action in record.actions:
        observation, reward, terminated, truncated, info = env.step(action)
        reported(record, got, info, reward, terminated or truncated, env.positions())
    env.close()
    return got, first, observation


for name in recordings.names():
    record = recordings.Recording(name)
    columns = {"close": record.close, "volume": record.volume}
    market = Market(columns, record.symbols, min_order_qty=record.setup["min_order_qty"])
    for backend in backends():
        compare(f"{name}, {backend}", record, *through_vector(record, market, backend))
    compare(f"{name}, single", record, *through_single(record, market))

assert ready.checked() > 0
done("trainer/python/trajectories")
