"""papertape.env against the environment in NumPy (numpy_env.py, written from the page alone), over random parameters,
markets, windows and actions, NEXT_STEP resets included: rewards, accounts, observations within docs/environment.md's
tolerance, counts and ends exactly.

Float32 decides whether a quantity is as large as the least one, or a price below a stop: where the two round
differently there, a trade happens in one of them alone. Such a copy is put aside for the rest of its run; more than
one in a hundred is a failure."""

import ready
from ready import LONG, check, done, names, seeded, walk

import numpy as np
from numpy_env import NumpyVectorEnv
from papertape.env import Market, PapertapeVectorEnv, backends
from recordings import outside

RUNS, COPIES = (200, 32) if LONG else (12, 17)
ACCOUNTS = ("equity", "benchmark", "fees")


def parameters(rng, lookback):
    def sometimes(low, high):
        return float(rng.uniform(low, high)) if rng.random() < 0.6 else 0.0

    return {
        "lookback": lookback,
        "norm_action": float(rng.choice([5.0, 20.0, 100.0])),
        "initial_capital": float(rng.choice([500.0, 1000.0, 25000.0])),
        "buy_cost_pct": sometimes(0, 0.004),
        "sell_cost_pct": sometimes(0, 0.004),
        "slippage_pct": sometimes(0, 0.003),
        "cooldown_bars": int(rng.integers(0, 6)),
        "trailing_stop_pct": sometimes(0.005, 0.05),
        "max_position_pct": sometimes(0.15, 0.6),
        "min_cash_reserve": sometimes(0.05, 0.4),
        "concentration_penalty": sometimes(0.01, 0.2),
        "drawdown_penalty": sometimes(0.1, 10),
        "volatility_penalty": sometimes(1, 100),
        "forced_exit_bars": int(rng.integers(0, 30)),
        "forced_exit_pct": float(rng.uniform(0.01, 0.5)),
        "time_decay_floor": sometimes(0.1, 0.9),
        "gamma": float(rng.uniform(0.9, 1)),
        "final_return": bool(rng.random() < 0.5),
        "weight_alpha": float(rng.uniform(0, 1)),
        "weight_cash": float(rng.uniform(0, 1)),
    }


def run(rng, at):
    rows, assets, lookback = int(rng.integers(120, 300)), int(rng.integers(1, 9)), int(rng.integers(1, 6))
    bars = int(rng.integers(60, 110))
    values, columns = parameters(rng, lookback), walk(rng, rows, assets, move=0.01)
    least = rng.choice([1e-5, 0.001, 0.05], assets)  # not 0: a copy without cash would buy dust
    starts = rng.integers(0, rows - bars, COPIES)
    backend = backends()[at % len(backends())]
    market = Market(columns, names(assets), min_order_qty=least)
    envs = PapertapeVectorEnv(market, COPIES, preset="reference", backend=backend, episode_bars=bars, **values)
    envs.windows(starts=starts)
    peer = NumpyVectorEnv(columns["close"], columns["volume"], least, COPIES, starts=starts, episode_bars=bars, **values)
    observations, _ = envs.reset(seed=1)
    expected, _ = peer.reset()
    what = f"run {at} ({backend}, {assets} assets)"
    check(outside(observations, expected) <= 1, f"{what}: first observations")

    same, ends, scale = np.ones(COPIES, bool), 0, max(1.0, values["norm_action"] / 10)
    for step in range(2 * bars):
        actions = rng.normal(0, scale, (COPIES, assets)).astype(np.float32)
        actions[rng.random(actions.shape) < 0.4] = 0
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        expected, peer_rewards, _, peer_truncations, peer_infos = peer.step(actions)
        same &= (infos["buys"] == peer_infos["buys"]) & (infos["sells"] == peer_infos["sells"])
        off = max(outside(infos[name][same], peer_infos[name][same]) for name in ACCOUNTS)
        check(off <= 1, f"{what}: accounts of step {step} are off by {off:.3g} tolerances")
        off = outside(observations[same], expected[same])
        check(off <= 1, f"{what}: observations of step {step} are off by {off:.3g} tolerances")
        # Rewards are differences of equities: an error of those in float32 is what they may be off by. Drawdowns are
        # such differences, too, and so are returns, whose squares are off by twice a return (below 0.1) times that.
        weights = 2 + 2 * values["drawdown_penalty"] + 0.2 * values["volatility_penalty"]
        allowed = 1e-4 * np.abs(peer_rewards) + 4e-7 * infos["equity"] * 2.0**-9 * weights + 1e-9
        wrong = same & ~(np.abs(rewards - peer_rewards) <= allowed) & ~peer_truncations
        check(not wrong.any(), f"{what}: rewards of step {step}: {rewards[wrong][:3]}, not {peer_rewards[wrong][:3]}")
        check(np.array_equal(truncations, peer_truncations), f"{what}: ends of step {step}")
        check(not terminations.any(), f"{what}: no copy is ruined in step {step}")
        ends += int(truncations.sum())
    envs.close()
    check(ends == 2 * COPIES, f"{what}: {ends} ends")
    return int((~same).sum()), int(infos["buys"].sum() + infos["sells"].sum())


rng = seeded("trainer/python/numpy_env", 71)
aside, trades = (sum(column) for column in zip(*(run(rng, at) for at in range(RUNS)), strict=True))
print(f"{RUNS} runs of {COPIES} copies, {trades} trades in their last episodes; {aside} copies put aside")
check(aside * 100 <= RUNS * COPIES, f"{aside} of {RUNS * COPIES} copies traded otherwise")
check(trades > RUNS * COPIES, "hardly a trade")
assert ready.checked() > 0
done("trainer/python/numpy_env")
