"""Stable-Baselines3's PPO on the environment that bench/train_updates.c trains on, through papertape.env.sb3:

    PYTHON bench/train_sb3.py vectorised|single COPIES STEPS WIDTHS ITERATIONS

prints the training steps a second of the fastest iteration after the first: 36 observations, minibatches of 1024, 4 epochs, as
many threads as PyTorch takes by itself. vectorised: all copies are stepped in one call (papertape.env.sb3); single: each copy is
a gymnasium.Env of its own in SB3's DummyVecEnv, as its users have them."""

import sys
import time

import numpy as np
from papertape.env import Market, PapertapeEnv
from papertape.env.sb3 import PapertapeVecEnv
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

ASSETS, ROWS = 5, 100_000


def market():
    random = np.random.default_rng(1)
    close = (100 * np.cumprod(1 + 0.004 * (random.random((ROWS, ASSETS)) - 0.5), 0)).astype(np.float32)
    return Market({"close": close, "volume": 1 + 9 * random.random((ROWS, ASSETS)).astype(np.float32)}, names=list("ABCDE"),
                  interval=300_000_000_000, min_order_qty=1e-4)


class Clock(BaseCallback):
    """When each rollout began."""

    def __init__(self):
        super().__init__()
        self.begins = []

    def _on_rollout_start(self):
        self.begins.append(time.perf_counter())

    def _on_step(self):
        return True


def main():
    kind, copies, steps, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[5])
    widths = [int(width) for width in sys.argv[4].split(",")]
    bars, options = market(), {"preset": "reference", "episode_bars": 700, "random_start": True}
    if kind == "single":
        env = DummyVecEnv([lambda: PapertapeEnv(bars, **options)] * copies)
    else:
        env = PapertapeVecEnv(bars, copies, seed=1, **options)
    model = PPO("MlpPolicy", env, n_steps=steps, batch_size=1024, n_epochs=4, device="cpu",
                policy_kwargs={"net_arch": {"pi": widths, "vf": widths}})
    clock = Clock()
    model.learn(copies * steps * (iterations + 1), callback=clock)
    took = np.diff([*clock.begins, time.perf_counter()])[1:]
    print(copies * steps / took.min())


if __name__ == "__main__":
    main()
