"""Stable-Baselines3 learns on the environment: PPO on a market with a planted signal, three seeds; each policy beats a
random one on a market that it has not seen. Of ./check --long: PyTorch is large.

The market is in one of two moods that last forty bars on the average, prices rise in one and fall in the other; the
mood is a feature, beside one that means nothing. A policy that holds while they rise and nothing while they fall does what can be
done: the optimum that is printed."""

import sys
import time

import ready
from ready import check, done, seeded

import numpy as np

try:
    import torch
    from papertape.env import Market, PapertapeEnv
    from papertape.env.sb3 import PapertapeVecEnv
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_checker import check_env
    from stable_baselines3.common.evaluation import evaluate_policy
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

STEPS, COPIES, ROWS, EPISODE, EVALUATED = 80_000, 64, 20_000, 300, 200
VALUES = {
    "preset": "reference",
    "random_start": True,
    "episode_bars": EPISODE,
    "lookback": 1,
    "norm_tech": 1.0,
    "norm_action": 1.0,  # an action of 1 is worth the whole capital
    "action_span": 1.0,
    "norm_reward": 0.05,
    "buy_cost_pct": 0.0005,
    "sell_cost_pct": 0.0005,
    "time_decay_floor": 1.0,
    "final_return": False,
    "forced_exit_bars": 0,
}


def planted(rng):
    changes = rng.random(ROWS) < 1 / 40
    mood = np.where(np.cumsum(changes) % 2 == 0, 1.0, -1.0)
    returns = 0.0015 * np.concatenate([[0], mood[:-1]]) + rng.normal(0, 0.002, ROWS)
    close = 100 * np.exp(np.cumsum(returns) - np.linspace(0, returns.sum(), ROWS))
    features = np.stack([mood, rng.normal(0, 1, ROWS)], axis=1)
    return Market({"close": close[:, np.newaxis], "volume": np.ones((ROWS, 1))}, ["A"], features=features)


def returns(market, act):
    """Each copy's gain in one episode, a share of the capital, with the same episodes for all."""
    envs = PapertapeVecEnv(market, EVALUATED, **VALUES)
    envs.seed(4711)
    observations, gains, benchmarks = envs.reset(), np.full(EVALUATED, np.nan), np.full(EVALUATED, np.nan)
    while np.isnan(gains).any():
        observations, _, _, infos = envs.step(act(observations))
        for copy, info in enumerate(infos):
            if "episode" in info and np.isnan(gains[copy]):
                gains[copy], benchmarks[copy] = info["equity"] / 1000 - 1, info["benchmark"] / 1000 - 1
    envs.close()
    return gains, benchmarks


rng = seeded("trainer/python/sb3", 17)
torch.set_num_threads(1)  # such small networks gain nothing from more
training, unseen = planted(rng), planted(rng)
random_gains, holding = returns(unseen, lambda seen: rng.uniform(-1, 1, (len(seen), 1)).astype(np.float32))
optimum, _ = returns(unseen, lambda seen: seen[:, 2:3])
print(
    f"gain in {EVALUATED} episodes of {EPISODE} bars of an unseen market: random {random_gains.mean():+.4f}, "
    f"holding {holding.mean():+.4f}, optimum {optimum.mean():+.4f}"
)
for seed in (1, 2, 3):
    began = time.monotonic()
    envs = PapertapeVecEnv(training, COPIES, **VALUES)
    model = PPO(
        "MlpPolicy", envs, n_steps=128, batch_size=1024, n_epochs=8, gamma=0.95, learning_rate=1e-3, seed=seed, device="cpu"
    )
    model.learn(STEPS)
    gains, _ = returns(unseen, lambda seen, model=model: model.predict(seen, deterministic=True)[0])
    better = gains - random_gains
    error = better.std(ddof=1) / np.sqrt(EVALUATED)
    print(
        f"seed {seed}: {gains.mean():+.4f}, {better.mean():+.4f} more than random (standard error {error:.4f}), "
        f"{gains.mean() / optimum.mean():.0%} of the optimum; {STEPS} steps in {time.monotonic() - began:.0f} s"
    )
    check(better.mean() > 5 * error, f"seed {seed} is no better than random")
    check(gains.mean() > holding.mean(), f"seed {seed} is no better than holding")
    mean, _ = evaluate_policy(model, envs, n_eval_episodes=COPIES)
    check(np.isfinite(mean), "SB3's own evaluation")
    envs.close()

# SB3's own checker of a single environment, which raises; and masks, as sb3-contrib asks for them.
check_env(PapertapeEnv(training, **VALUES))
discrete = {**VALUES, "actions": "discrete", "levels": 3}
check_env(PapertapeEnv(training, **discrete))
envs = PapertapeVecEnv(training, 8, **discrete)
model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=64, seed=1, device="cpu").learn(1024)
observations = envs.reset()
for _ in range(50):
    masks = np.stack(envs.env_method("action_masks"))
    actions, _ = model.predict(observations, action_masks=masks)
    check(masks.reshape(8, 3)[np.arange(8), actions[:, 0]].all(), "an action that is masked")
    observations, *_ = envs.step(actions)
envs.close()

assert ready.checked() > 0
done("trainer/python/sb3")
