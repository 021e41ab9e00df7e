"""PapertapeEnv and PapertapeVectorEnv as Gymnasium has them: its env checker; its own SyncVectorEnv over single
environments as the oracle of shapes, types, infos and autoreset modes; seeds, masks, wrappers, states, threads."""

import contextlib
import io
import re
import warnings

import ready
from ready import check, done, names, refused, seeded, walk

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from papertape.env import Market, PapertapeEnv, PapertapeVectorEnv, backends

rng = seeded("trainer/python/gymnasium", 5)
ROWS, ASSETS = 160, 3
BARS = walk(rng, ROWS, ASSETS, move=0.02)
MARKET = Market(BARS, names(ASSETS), min_order_qty=0.001, times=np.arange(ROWS) * ready.MINUTE_NS)
ONE = Market({key: values[:, 0] for key, values in BARS.items()}, ["A0USDT"], interval=ready.MINUTE_NS)
PRESETS = {"reference": MARKET, "market": MARKET, "day-trade": ONE}


def same(a, b):
    """Equal to the bit, in nested dictionaries too; NaN is never equal."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype.kind == "O":
        return all(x is y is None or same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b)


def the_checker():
    """Gymnasium's own, which raises."""
    for preset, market in PRESETS.items():
        for values in ({}, {"actions": "discrete", "levels": 5}, {"random_start": True, "episode_bars": 40}):
            with warnings.catch_warnings(record=True) as reported:
                warnings.simplefilter("always")
                env = PapertapeEnv(market, preset=preset, **values)
                check_env(env, skip_render_check=True, skip_close_check=True)
                env.close()
                env.close()
            reported = [str(warning.message) for warning in reported]
            known = ("is -infinity", "is infinity", "symmetric and normalized", "without a spec", "`gymnasium.make`")
            other = [text for text in reported if not any(part in text for part in known)]
            check(not other, f"check_env of {preset} {values} warns: {other}")
    check(isinstance(env.observation_space, gym.spaces.Box), "observation space")


def levels_of_a_direction():
    """Of the day-trade preset: one beyond the threshold trades, the nearer ones to the middle do nothing."""
    for level in range(21):
        env = PapertapeEnv(ONE, preset="day-trade", actions="discrete")
        env.reset()
        info = env.step([level, 10])[4]
        trades = info["buys"] - info["sells"]
        direction = (level - 10) / 10
        check(trades == int(abs(direction) > 0.31) * np.sign(direction), f"level {level}: {trades} trades")


def types():
    """Shapes, types and spaces of the vector environment."""
    for preset, market in PRESETS.items():
        for actions in ("continuous", "discrete"):
            envs = PapertapeVectorEnv(market, 5, preset=preset, actions=actions, lookback=2)
            what = f"{preset}, {actions}"
            n = len(market.names)
            size = 1 + n + 2 * 2 * n
            check(envs.single_observation_space.shape == (size,), f"{what}: observations of {size}")
            check(envs.observation_space.shape == (5, size), f"{what}: batch of observations")
            width = 2 if preset == "day-trade" else n
            check(envs.single_action_space.shape == (width,), f"{what}: actions of {width}")
            check(envs.action_space.shape == (5, width), f"{what}: batch of actions")
            kind = gym.spaces.Box if actions == "continuous" else gym.spaces.MultiDiscrete
            check(isinstance(envs.single_action_space, kind), f"{what}: {envs.single_action_space}")
            observations, infos = envs.reset(seed=3)
            envs.action_space.seed(3)
            for _ in range(30):
                check(observations in envs.observation_space, f"{what}: observations in their space")
                observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
                check(rewards.shape == (5,) and rewards.dtype == np.float32, f"{what}: rewards")
                for flags in (terminations, truncations):
                    check(flags.shape == (5,) and flags.dtype == np.bool_, f"{what}: flags")
                for name in ("equity", "benchmark", "fees", "buys", "sells", "drawdown", "exposure"):
                    check(infos[name].shape == (5,) and np.isfinite(infos[name]).all(), f"{what}: infos[{name!r}]")
            check(infos["buys"].sum() > 0, f"{what}: nothing was bought")
            envs.close()


def singles(preset, starts, mode, **values):
    """Gymnasium's vector environment over single ones, each with its own start."""
    makers = [lambda start=start: PapertapeEnv(MARKET, preset=preset, start=int(start), **values) for start in starts]
    return SyncVectorEnv(makers, autoreset_mode=mode)


def without_masks(infos):
    """Infos of every copy: Gymnasium marks which copies have them, here all do."""
    kept = {}
    for key, value in infos.items():
        if key in ("final_obs", "_final_obs"):
            kept[key] = value
        elif not key.startswith("_") and key != "final_info":
            kept[key] = value
    return kept


def autoreset_modes():
    starts = np.array([0, 7, 20, 33, 50])
    n = len(starts)
    for preset in ("reference", "market"):
        for mode in AutoresetMode:
            # A ruined copy ends before the bars are over, and at a time of its own.
            values = {"episode_bars": 50, "ruin": 0.97, "norm_action": 10.0, "random_start": False}
            what = f"{preset}, {mode.name}"
            oracle = singles(preset, starts, mode, **values)
            envs = PapertapeVectorEnv(MARKET, n, preset=preset, autoreset_mode=mode, **values)
            check(envs.metadata["autoreset_mode"] is mode, f"{what}: metadata")
            expected, expected_infos = oracle.reset(seed=1)
            observations, infos = envs.reset(seed=1, options={"starts": starts})
            check(same(observations, expected), f"{what}: first observations")
            check(same(infos, without_masks(expected_infos)), f"{what}: first infos")
            ends = {"terminations": 0, "truncations": 0}
            for step in range(170):
                actions = rng.normal(0, 3, (n, ASSETS)).astype(np.float32)
                expected = oracle.step(actions)
                got = envs.step(actions)
                for name, a, b in zip(("observations", "rewards", "terminations", "truncations"), got, expected):
                    check(same(a, b), f"{what}: {name} of step {step}")
                check(same(without_masks(got[4]), without_masks(expected[4])), f"{what}: infos of step {step}")
                over = got[2] | got[3]
                ends["terminations"] += int(got[2].sum())
                ends["truncations"] += int(got[3].sum())
                if mode is AutoresetMode.SAME_STEP:
                    check(("final_info" in got[4]) == over.any(), f"{what}: final_info of step {step}")
                    if over.any():
                        check(same(got[4]["_final_info"], over), f"{what}: whose final_info, step {step}")
                        for name in ("equity", "benchmark", "fees", "buys", "sells", "drawdown", "exposure"):
                            mine = got[4]["final_info"][name][over]
                            check(same(mine, expected[4]["final_info"][name][over]), f"{what}: final {name}")
                if mode is AutoresetMode.DISABLED and over.any():
                    again, infos = envs.reset(options={"reset_mask": over})
                    other, other_infos = oracle.reset(options={"reset_mask": over.copy()})
                    check(same(again, other), f"{what}: observations of the reset copies in step {step}")
            check(min(ends.values()) > 0, f"{what}: ends were {ends}")
            envs.close()
            oracle.close()


def resting():
    """DISABLED: a copy that has ended stays as it is."""
    envs = PapertapeVectorEnv(ONE, 2, preset="reference", autoreset_mode="Disabled", episode_bars=20)
    envs.reset(seed=1)
    ended = None
    for step in range(40):
        observations, rewards, _, truncations, infos = envs.step(np.ones((2, 1), np.float32))
        if ended is None and truncations.all():
            ended = observations, infos
        elif ended is not None:
            check(same(observations, ended[0]) and same(infos, ended[1]), f"step {step} of the resting copies")
            check(not rewards.any(), f"rewards of step {step} of the resting copies")
    check(ended is not None, "no copy ended")


def seeds():
    """One seed, one course of episodes; the next reset continues; a single environment is copy 0."""
    values = {
        "random_start": True,
        "episode_bars": 40,
        "buy_cost_pct": (0.0, 0.01),
        "initial_capital": (500, 5000),
    }

    def course(envs, seed, steps=100):
        actions = np.random.default_rng(9).normal(0, 5, (steps, envs.num_envs, ASSETS)).astype(np.float32)
        return [envs.reset(seed=seed)] + [envs.step(action) for action in actions]

    def equal(a, b):
        return all(all(same(x, y) for x, y in zip(one, other)) for one, other in zip(a, b, strict=True))

    for preset in ("reference", "market"):
        envs = PapertapeVectorEnv(MARKET, 4, preset=preset, seed=11, **values)
        first = course(envs, 11)
        check(equal(first, course(envs, 11)), f"{preset}: the same seed again")
        check(not equal(first, course(envs, 12)), f"{preset}: another seed")
        check(not equal(first, course(envs, None)), f"{preset}: episodes continue without a seed")
        other = PapertapeVectorEnv(MARKET, 4, preset=preset, seed=11, **values)
        check(equal(first, course(other, None)), f"{preset}: the seed of the constructor")
        capitals = first[0][1]["equity"]
        check(len(set(capitals)) == 4 and (capitals >= 500).all() and (capitals <= 5000).all(), f"{preset}: capitals")
        env = PapertapeEnv(MARKET, preset=preset, **values)
        observation, info = env.reset(seed=11)
        check(same(observation, first[0][0][0]) and info["equity"] == capitals[0], f"{preset}: a single one is copy 0")
        unseeded = [PapertapeVectorEnv(MARKET, 4, preset=preset, **values).reset()[0] for _ in range(2)]
        check(not same(*unseeded), f"{preset}: without a seed each is another")


def every_way():
    """Backends, threads, the layout of actions, kept arrays: the same bits."""
    values = {"preset": "reference", "trailing_stop_pct": 0.02, "max_position_pct": 0.5, "concentration_penalty": 0.1,
              "drawdown_penalty": 0.5, "volatility_penalty": 5}
    ways = [{"backend": backend, "threads": threads} for backend in backends() for threads in (1, 3)]
    all_actions = rng.normal(0, 3, (60, 65, ASSETS)).astype(np.float32)
    expected = None
    for way in [*ways, {"copy": False}, {"by_column": True}, {"float64": True}]:
        way = dict(way)
        by_column, float64 = way.pop("by_column", False), way.pop("float64", False)
        envs = PapertapeVectorEnv(MARKET, 65, **values, **way)
        observations, _ = envs.reset(seed=2)
        got = []
        for actions in all_actions:
            actions = np.asfortranarray(actions) if by_column else actions.astype(float) if float64 else actions
            arrays = envs.step(actions)
            check((arrays[0] is observations) == (way.get("copy") is False), f"{way}: are arrays new")
            got.append([array.copy() for array in arrays[:4]] + [arrays[4]])
            observations = arrays[0]
        expected = expected or got
        for step, (a, b) in enumerate(zip(got, expected)):
            check(all(same(x, y) for x, y in zip(a, b)), f"{way} {by_column} {float64}: step {step}")
        envs.close()


def masks():
    """A forbidden action does nothing, and a copy that holds nothing may not sell."""
    envs = PapertapeVectorEnv(
        MARKET, 6, preset="market", actions="discrete", levels=5, infos=("action_mask", "buys", "sells"), lookback=4
    )
    observations, infos = envs.reset(seed=1)
    flat, forbidden = envs.action_masks(), 0
    check(flat.shape == (6, ASSETS * 5) and flat.dtype == np.bool_, f"masks {flat.dtype} {flat.shape}")
    check(same(flat.reshape(6, ASSETS, 5), infos["action_mask"]), "masks of infos")
    check(not infos["action_mask"][:, :, :2].any(), "nothing is held, and yet it may be sold")
    for _ in range(120):
        mask = infos["action_mask"]
        check(mask[:, :, 2].all(), "doing nothing is always allowed")
        choice = rng.random(mask.shape) * mask
        observations, _, _, _, infos = envs.step(choice.argmax(axis=2))
        forbidden += int((~mask).sum())
    check(infos["buys"].sum() > 0 and infos["sells"].sum() > 0 and forbidden > 0, "trades within the masks")
    envs.close()
    envs = PapertapeVectorEnv(MARKET, 2, preset="reference")
    envs.reset()
    bits = envs.action_masks()
    check(bits.shape == (2, ASSETS) and (bits == 1).all(), f"masks of continuous actions {bits}")


def wrapped():
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = PapertapeVectorEnv(MARKET, 4, preset="reference", autoreset_mode=mode, episode_bars=30, start=5)
        wrapped = RecordEpisodeStatistics(envs)
        wrapped.reset(seed=1)
        ended = 0
        for _ in range(100):
            *_, terminations, truncations, infos = wrapped.step(rng.normal(0, 2, (4, ASSETS)).astype(np.float32))
            over = terminations | truncations
            if over.any():
                ended += int(over.sum())
                mine = envs.episode()
                # The wrapper counts with float32 rewards in float64.
                close = np.abs(infos["episode"]["r"] - mine["reward"]) <= 1e-6 + 1e-5 * np.abs(mine["reward"])
                check(close[over].all(), f"{mode.name}: {infos['episode']['r']} and {mine['reward']}")
                check(same(infos["episode"]["l"][over], mine["steps"][over]), f"{mode.name}: lengths")
        check(ended >= 12, f"{mode.name}: {ended} episodes")


def states():
    """save() and load(): the same future."""
    for preset in ("reference", "market"):
        envs = PapertapeVectorEnv(MARKET, 3, preset=preset, random_start=True, episode_bars=40)
        envs.reset(seed=4)
        actions = rng.normal(0, 4, (60, 3, ASSETS)).astype(np.float32)
        for action in actions[:20]:
            envs.step(action)
        kept = envs.save()
        first = [envs.step(action) for action in actions[20:]]
        other = PapertapeVectorEnv(MARKET, 3, preset=preset, random_start=True, episode_bars=40, seed=9)
        for target in (envs, other):
            target.load(kept)
            again = [target.step(action) for action in actions[20:]]
            check(all(all(same(x, y) for x, y in zip(a, b)) for a, b in zip(first, again)), f"{preset}: after load()")
        refused(ValueError, "state: 3 bytes", envs.load, b"abc")


def the_page():
    """The program of docs/environment.md runs as it stands there."""
    page = (ready.SOURCE / "docs/environment.md").read_text()
    ((program),) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    with contextlib.redirect_stdout(io.StringIO()) as reported:
        exec(compile(program, "docs/environment.md", "exec"), {})  # noqa: S102
    check(0 < float(reported.getvalue()) < 10_000, f"it printed {reported.getvalue()!r}")


for part in (the_checker, levels_of_a_direction, types, autoreset_modes, resting, seeds, every_way, masks, wrapped, states, the_page):
    before = ready.checked()
    part()
    check(ready.checked() > before, f"{part.__name__} checked nothing")
done("trainer/python/gymnasium")
