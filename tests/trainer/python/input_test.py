"""What the Python module refuses: each a ValueError (TypeError for an unknown keyword) that says what, where, and what
would be right; nothing was stepped, nothing is left behind."""

import copy
import pickle

import ready
from ready import MINUTE_NS, check, done, names, refused, seeded, walk

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from papertape.env import Market, PapertapeEnv, PapertapeVectorEnv, Symbol, parameters

rng = seeded("trainer/python/input", 3)
ROWS, ASSETS = 60, 2
BARS = walk(rng, ROWS, ASSETS)
NAMES = names(ASSETS)
TIMES = np.arange(ROWS) * MINUTE_NS + 1_700_000_000_000_000_000
REFERENCE = {"preset": "reference"}


def market(columns=None, **changes):
    return Market({**BARS, **(columns or {})}, **{"names": NAMES, "times": TIMES, **changes})


def changed(column, row, asset, value):
    columns = {column: BARS[column].copy()}
    columns[column][row, asset] = value
    return columns


def made(source, **values):
    envs = PapertapeVectorEnv(source, 2, **{**REFERENCE, **values})
    envs.close()
    return envs


def shapes_of_markets():
    refused(ValueError, "names", market, names="AB")
    refused(ValueError, "each only once", market, names=["A", "A"])
    refused(ValueError, "volume: 60 rows of 1 assets", market, {"volume": BARS["volume"][:, :1]})
    refused(ValueError, "closes: known are open, high, low, close, volume", market, {"closes": BARS["close"]})
    refused(ValueError, "close: missing", Market, {"volume": BARS["volume"]}, NAMES)
    refused(ValueError, "all three or none", Market, {key: BARS[key] for key in ("open", "close", "volume")}, NAMES)
    refused(ValueError, "(rows, assets) is needed", market, {"close": np.zeros((2, 2, 2))})
    refused(ValueError, "numbers are needed", market, {"close": np.full((ROWS, ASSETS), "x")})
    refused(ValueError, "present: shape", market, present=np.ones((ROWS, 3), bool))
    refused(ValueError, "features: shape", market, features=np.zeros((ROWS - 1, 4)))
    refused(ValueError, "times: shape", market, times=TIMES[1:])
    refused(ValueError, "times: datetime64", market, times=TIMES.astype(float))
    refused(ValueError, "interval", market, interval="5m")
    refused(ValueError, "min_order_qty: 3", market, min_order_qty=[1, 2, 3])
    refused(ValueError, "min_order_qty: X", market, min_order_qty={NAMES[0]: 1, NAMES[1]: 1, "X": 1})
    refused(ValueError, "first_row: 60", market, first_row=ROWS)
    refused(ValueError, f"{NAMES[0]}: tick", market, symbols=Symbol(tick="0.000000001"))
    refused(ValueError, f"{NAMES[0]}: step", market, symbols=Symbol(step=-1))
    refused(ValueError, f"{NAMES[0]}: price_scale: 40", market, symbols=Symbol(price_scale=40))
    refused(ValueError, "at most 23 bytes", market, names=["A" * 24, "B"])
    refused(TypeError, "a papertape.env.Market is needed", PapertapeVectorEnv, BARS)


def contents_of_markets():
    for value in (0.0, -1.0, np.nan, np.inf):
        refused(ValueError, f"{NAMES[1]}", made, market(changed("close", 17, 1, value)))
        refused(ValueError, "17", made, market(changed("close", 17, 1, value)))
    refused(ValueError, NAMES[0], made, market(changed("high", 5, 0, 0.001)), preset="market")
    refused(ValueError, NAMES[0], made, market(changed("volume", 5, 0, np.nan)))
    unsorted, twice = TIMES.copy(), TIMES.copy()
    unsorted[[8, 9]] = unsorted[[9, 8]]
    twice[9] = twice[8]
    for times in (unsorted, twice):
        refused(ValueError, "9", made, market(times=times))
    features = np.zeros((ROWS, 3), np.float32)
    features[20, 1] = np.nan
    refused(ValueError, "20", made, market(features=features))
    refused(ValueError, "min_order_qty", made, market(min_order_qty=-1.0))
    refused(ValueError, "lookback", made, market(), lookback=40)
    without = {key: BARS[key] for key in ("close", "volume")}
    refused(ValueError, NAMES[0], made, Market(without, NAMES, times=TIMES), preset="market")
    check(made(Market(without, NAMES, times=TIMES)).num_envs == 2, "the reference needs closes and volumes alone")
    refused(ValueError, "rows: 0", made, market({key: values[:0] for key, values in BARS.items()}, times=TIMES[:0]))


def clocks():
    """Sessions need a clock; elsewhere bars without one are of a minute."""
    one = {key: values[:, 0] for key, values in BARS.items()}
    refused(ValueError, "times: none, and no interval", made, Market(one, NAMES[:1]), preset="day-trade")
    refused(ValueError, "times: none, and no interval", made, Market(one, NAMES[:1]), task="day-trade")
    for clock in ({"times": TIMES}, {"interval": MINUTE_NS}):
        check(made(Market(one, NAMES[:1], **clock), preset="day-trade").num_envs == 1 + 1, f"day-trade with {[*clock]}")
    check(Market(one, NAMES[:1]).interval_ns == MINUTE_NS, "a minute by default")
    check(made(Market(one, NAMES[:1])).num_envs == 2, "no clock is needed where there are no sessions")


def duplicates():
    """Copies of environments are their own; a market is shared, and can be pickled; an environment cannot."""
    source = market()
    check(copy.copy(source) is source and copy.deepcopy(source) is source, "a market never changes")
    again = pickle.loads(pickle.dumps(source))
    draws = {"random_start": True, "episode_bars": 20, "initial_capital": (1000, 2000), **REFERENCE}
    for kind, size in ((PapertapeVectorEnv, (3,)), (PapertapeEnv, ())):
        for copied in (copy.copy, copy.deepcopy):
            for values in ({}, {"copy": False, "autoreset_mode": "SameStep"} if size else {}):
                arguments = {"num_envs": 3, **draws, **values} if size else draws
                env = kind(source, seed=5, **arguments)
                env.reset(seed=9)
                actions = rng.uniform(-10, 10, (30, *size, ASSETS)).astype(np.float32)
                env.step(actions[0])
                twin, third = copied(env), copied(env)
                check(twin._core.env != env._core.env and twin.market is source, "an environment of its own")
                del third
                check(twin.save() == env.save(), "the same state")
                for action in actions[1:15]:
                    one, other = env.step(action), twin.step(action)
                    check(all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True)), "a twin's step")
                refused(TypeError, "cannot be pickled: save()", pickle.dumps, env)
                env.close()
                refused(ClosedEnvironmentError, "has been closed", copied, env)
                twin.step(actions[15])
                twin.close()
    windows = PapertapeVectorEnv(again, 2, **REFERENCE)
    refused(ResetNeeded, "reset() comes before", copy.copy(windows).step, np.zeros((2, ASSETS)))
    windows.reset(seed=1, options={"starts": [3, 9], "bars": [20, 30]})
    twin = copy.copy(windows)
    windows.reset(), twin.reset()
    check(np.array_equal(twin.reset()[1]["equity"], windows.reset()[1]["equity"]) and twin.save() == windows.save(), "windows")
    check(again.rows == ROWS and again.names == source.names, "a pickled market")


def keywords():
    source = market()
    refused(TypeError, "did you mean lookback?", made, source, lookbak=3)
    refused(TypeError, "features: a Market has it", made, source, features=np.zeros((ROWS, 3)))
    refused(ValueError, 'lookback: "an array of shape (3,)"', made, source, lookback=np.zeros(3))
    check(made(source, buy_cost_pct=np.array([0.0, 0.01])).parameters()["buy_cost_pct"] == "0..0.01", "a range's array")
    for value in ("yes", 2, -1, 0.5):
        refused(ValueError, f'random_start: "{value}": one of false, true is needed', made, source, random_start=value)
    check(made(source, shorts=np.False_, float32=1.0).parameters()["float32"] == "true", "1.0 of a switch")
    refused(TypeError, "autoreset_mode", made, source, autoreset="off")
    refused(TypeError, "its caller", PapertapeEnv, source, autoreset="off")
    refused(ValueError, "did you mean reference?", made, source, preset="referense")
    refused(ValueError, "autoreset_mode: 'x'", made, source, autoreset_mode="x")
    refused(ValueError, "backend: 'sse'", made, source, backend="sse")
    refused(ValueError, "infos: money", made, source, infos=("money",))
    refused(ValueError, "seed", made, source, seed=-1)
    refused(ValueError, "threads", made, source, threads=-1)
    for copies in (0, -1, 1.5):
        refused(ValueError, "num_envs", PapertapeVectorEnv, source, copies, **REFERENCE)
    # Every number of the table, below and above what it may be.
    for parameter in parameters().values():
        if parameter.name == "autoreset":
            continue
        if parameter.words or parameter.name == "session_zone":
            value = "x" if parameter.words else ""
            refused(ValueError, f"{parameter.name}: ", made, source, **{parameter.name: value})
            continue
        for value in (parameter.min - 1, parameter.max * 2 + 1, "x", float("nan"), None):
            refused(ValueError, f"{parameter.name}: ", made, source, **{parameter.name: value})
    refused(ValueError, "buy_cost_pct: ", made, source, buy_cost_pct=(0.02, 0.01))


def steps():
    envs = PapertapeVectorEnv(market(), 3, **REFERENCE)
    good = np.zeros((3, ASSETS), np.float32)
    refused(ResetNeeded, "reset() comes before", envs.step, good)
    refused(ResetNeeded, "the first reset", envs.reset, options={"reset_mask": np.array([True, False, True])})
    envs.reset(seed=1)
    envs.step(good + 1)
    kept = envs.save()
    for shape in ((3,), (2, ASSETS), (3, ASSETS + 1), (3, ASSETS, 1)):
        refused(ValueError, f"actions: shape {shape}: (3, {ASSETS}) is needed", envs.step, np.zeros(shape))
    for value in (np.nan, np.inf, -np.inf):
        bad = good.astype(float)
        bad[2, 1] = value
        refused(ValueError, "2", envs.step, bad)
        refused(ValueError, NAMES[1], envs.step, bad)
    refused(ValueError, "actions: dtype bool", envs.step, good.astype(bool))
    refused(ValueError, "actions: dtype <U1", envs.step, np.full((3, ASSETS), "x"))
    refused(ValueError, "options: x: known are", envs.reset, options={"x": 1})
    refused(ValueError, "reset_mask: bool (2,)", envs.reset, options={"reset_mask": np.ones(2, bool)})
    refused(ValueError, "reset_mask: int64", envs.reset, options={"reset_mask": np.ones(3, np.int64)})
    refused(ValueError, "no copy", envs.reset, options={"reset_mask": np.zeros(3, bool)})
    refused(ValueError, "seed", envs.reset, seed="x")
    refused(ValueError, "seed", envs.reset, seed=-1)
    refused(ValueError, "seed", envs.reset, seed=1, options={"reset_mask": np.ones(3, bool)})
    refused(ValueError, "starts: shape", envs.windows, starts=[1, 2])
    refused(ValueError, "starts: dtype float64: whole numbers are needed", envs.windows, starts=[0.5] * 3)
    refused(ValueError, "bars: dtype float64: whole numbers are needed", envs.windows, bars=[30.0] * 3)
    refused(ValueError, "copy 1", envs.windows, starts=[0, ROWS, 0])
    refused(ValueError, "copy 2", envs.reset, options={"bars": [30, 30, 3]})
    refused(IndexError, "copy: 3", envs.positions, 3)
    check(envs.save() == kept, "what was refused has changed something")
    envs.step(good)

    for large, limit in ((1e300, 1000.0), (-1e39, -1000.0), (2.0**63, 1000.0)):  # finite, and beyond float32
        reported = []
        for value in (large, limit):
            envs.load(kept)
            reported.append(envs.step(np.full((3, ASSETS), value))[1])
        check(np.array_equal(*reported), f"{large} is clipped to {limit}")

    discrete = PapertapeVectorEnv(market(), 2, actions="discrete", levels=5, **REFERENCE)
    discrete.reset(seed=1)
    refused(ValueError, "whole numbers are needed", discrete.step, np.zeros((2, ASSETS), np.float32))
    for level in (-1, 5):
        refused(ValueError, NAMES[1], discrete.step, np.array([[0, 0], [0, level]]))
    discrete.step(np.array([[0, 4], [2, 2]]))

    env = PapertapeEnv(market(), **REFERENCE)
    refused(ResetNeeded, "reset() comes before", env.step, good[0])
    env.reset()
    refused(ValueError, f"action: shape (3, {ASSETS})", env.step, good)
    refused(ValueError, NAMES[0], env.step, [np.nan, 0])
    refused(ValueError, "options: starts: known are start, bars", env.reset, options={"starts": [0]})

    for closed, step in ((envs, good), (env, good[0])):
        closed.close()
        closed.close()
        refused(ClosedEnvironmentError, "has been closed", closed.step, step)
        refused(ClosedEnvironmentError, "has been closed", closed.reset, seed=1)
        refused(ClosedEnvironmentError, "has been closed", closed.save)
        refused(ClosedEnvironmentError, "has been closed", closed.action_masks)


def shared():
    """Environments of equal parameters share a market; it goes with the last of them."""
    source = market()
    first, second = (PapertapeVectorEnv(source, 1, **REFERENCE) for _ in range(2))
    other = PapertapeVectorEnv(source, 1, lookback=5, **REFERENCE)
    check(first._core._built is second._core._built, "a market of equal parameters is made once")
    check(first._core._built is not other._core._built, "a market of other parameters is another")
    del first, second
    check(len(source._built) == 1, "a market outlives its environments")
    features = rng.normal(0, 1, (ROWS, 5)).astype(np.float32)
    source = market(features=features)
    check(source.features is features, "float32 features are taken where they are")
    envs = PapertapeVectorEnv(source, 1, lookback=2, norm_tech=0.5, **REFERENCE)
    observations, _ = envs.reset()
    check(np.array_equal(observations[0, 1 + ASSETS :], features[1::-1].ravel() * np.float32(0.5)), "features as given")


for part in (shapes_of_markets, contents_of_markets, clocks, duplicates, keywords, steps, shared):
    before = ready.checked()
    part()
    check(ready.checked() > before, f"{part.__name__} checked nothing")
done("trainer/python/input")
