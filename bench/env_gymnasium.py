"""Steps a second through Gymnasium's VectorEnv: what bench/env compares with, and what Papertape's own module does there.

    PYTHON bench/env_gymnasium.py numpy|papertape COPIES FEATURES LOOKBACK SECONDS

numpy is the same environment as its users would write it, vectorised over copies, by the rules of docs/environment.md (execution
reference, every option on); it prints the steps a second without observations and with them. It loops over assets, because
purchases of one see the cash that those before have left; all else is columns. papertape is trainer/python over the library in
$PAPERTAPE_ENV_LIBRARY; it prints the steps a second with observations."""

import sys
import time

import gymnasium as gym
import numpy as np

ASSETS, ROWS, EPISODE = 5, 100_000, 700
CAPITAL, FEE, NORM_REWARD, NORM_ACTION = 1000.0, 0.0025, 2.0**-9, 100.0
STOP, CAP, RESERVE, PENALTY, DECAY_FLOOR = 0.02, 0.3, 0.1, 0.05, 0.2
EXIT_BARS, EXIT_SHARE, COOLDOWN = 48, 0.05, 5
GAMMA = 0.99


class Portfolio(gym.vector.VectorEnv):
    def __init__(self, copies, close, features, lookback, observe):
        self.num_envs, self.prices, self.features, self.lookback, self.observe = copies, close, features, lookback, observe
        assets = close.shape[1]
        size = 1 + assets + lookback * features.shape[1]
        self.single_action_space = gym.spaces.Box(-1000.0, 1000.0, (assets,), np.float32)
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, copies)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, copies)
        self.metadata = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
        self.least = np.full(assets, 1e-4, np.float32)
        self.obs = np.zeros((copies, size), np.float32)
        self.row, self.first = np.zeros(copies, np.int64), np.zeros(copies, np.int64)
        self.cash, self.equity, self.benchmark, self.gain = (np.zeros(copies) for _ in range(4))
        self.qty, self.held, self.peak, self.cool, self.scale, self.bench = (np.zeros((copies, assets), np.float32) for _ in range(6))
        self.fees = np.zeros(copies)
        self.buys, self.sells = np.zeros(copies, np.int32), np.zeros(copies, np.int32)

    def reset(self, *, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.begin(np.arange(self.num_envs))
        return self.observation(), {}

    def begin(self, who):
        self.first[who] = self.random.integers(0, len(self.prices) - EPISODE + 1, len(who))
        self.row[who] = self.first[who] + self.lookback - 1
        self.cash[who] = self.equity[who] = CAPITAL
        self.fees[who] = self.gain[who] = self.buys[who] = self.sells[who] = 0
        for column in (self.qty, self.held, self.peak, self.cool):
            column[who] = 0
        price = self.prices[self.first[who]]
        self.scale[who] = CAPITAL / (price * NORM_ACTION)
        self.bench[who] = CAPITAL / price.shape[1] / (price * (1 + FEE))
        self.benchmark[who] = (self.bench[who].astype(float) * self.prices[self.row[who]]).sum(1)

    def observation(self):
        if self.observe:
            assets = self.prices.shape[1]
            self.obs[:, 0] = self.cash * 2.0**-11
            self.obs[:, 1:1 + assets] = self.qty * np.float32(2.0**-8)
            rows = self.row[:, None] - np.arange(self.lookback)
            self.obs[:, 1 + assets:] = self.features[rows].reshape(self.num_envs, -1)
        return self.obs

    def sell(self, i, where, quantity, price):
        money = np.where(where, quantity * price.astype(float), 0.0)
        self.cash += money * (1 - FEE)
        self.fees += money * FEE
        self.sells += where

    def step(self, actions):
        if not np.isfinite(actions).all():
            raise ValueError("an action is not finite")
        self.row += 1
        price = self.prices[self.row]
        qty = self.qty
        np.maximum(self.cool - 1, 0, out=self.cool)
        self.held += qty > 0
        np.copyto(self.peak, np.maximum(self.peak, price), where=qty > 0)
        stopped = (qty > 0) & (price < self.peak * np.float32(1 - STOP))
        for i in np.flatnonzero(stopped.any(0)):
            self.sell(i, stopped[:, i], qty[:, i], price[:, i])
        for column in (qty, self.held, self.peak):
            column[stopped] = 0
        self.cool[stopped] = COOLDOWN
        a = np.clip(actions, -1000, 1000) * self.scale
        equity = self.cash + (qty * price.astype(float)).sum(1)
        np.minimum(a, np.maximum(0, CAP * equity[:, None] - qty * price) / price, out=a)
        for i in range(price.shape[1]):
            where = (a[:, i] < -self.least[i]) & (qty[:, i] > 0)
            quantity = np.minimum(qty[:, i], -a[:, i])
            self.sell(i, where, quantity, price[:, i])
            qty[:, i] -= np.where(where, quantity, 0)
            self.held[where, i] = 0
            over = where & (qty[:, i] <= 0)
            self.peak[over, i] = 0
            self.cool[over, i] = COOLDOWN
        for i in range(price.shape[1]):
            where = self.held[:, i] >= EXIT_BARS
            if where.any():
                quantity = qty[:, i] * np.float32(EXIT_SHARE)
                self.sell(i, where, quantity, price[:, i])
                qty[:, i] -= np.where(where, quantity, 0)
                self.held[where, i] = 0
        for i in range(price.shape[1]):
            free = np.maximum(0, self.cash - CAPITAL * RESERVE)
            quantity = np.minimum(free / (1 + FEE) / price[:, i] * 0.99, a[:, i]).astype(np.float32)
            where = (a[:, i] > self.least[i]) & (quantity >= self.least[i]) & (self.cool[:, i] <= 0)
            quantity = np.where(where, quantity, 0)
            money = quantity * price[:, i].astype(float)
            np.copyto(self.peak[:, i], price[:, i], where=where & (qty[:, i] == 0))
            qty[:, i] += quantity
            self.cash -= money * (1 + FEE)
            self.fees += money * FEE
            self.buys += where
        rewards, ended = self.reward(price)
        obs, more = self.observation(), {}
        if ended.any():
            more["final_obs"] = obs[ended].copy()
            self.begin(np.flatnonzero(ended))
            obs = self.observation()
        return obs, rewards, np.zeros(self.num_envs, bool), ended, more

    def reward(self, price):
        values = self.qty * price.astype(float)
        equity = self.cash + values.sum(1)
        benchmark = (self.bench * price.astype(float)).sum(1)
        gained, moved = equity - self.equity, benchmark - self.benchmark
        steps = EPISODE - 2 * self.lookback
        decay = np.maximum(1 - np.clip((self.row - self.first - self.lookback + 1) / max(1, steps), 0, 1), DECAY_FLOOR)
        share, free = moved / self.benchmark, self.cash / equity
        bonus = np.where((share < 0) & (free > 0.1), np.abs(share) * free * NORM_REWARD * 0.1, 0)
        rewards = 0.5 * (gained - moved) * NORM_REWARD * decay + 0.3 * gained / CAPITAL * NORM_REWARD * decay + 0.2 * bonus
        rewards -= np.maximum(0, CAPITAL * RESERVE - self.cash) / CAPITAL * NORM_REWARD * 0.5
        ratios = values / equity[:, None]
        most = ratios.max(1)
        rewards -= PENALTY * np.where(most > 0.4, most - 0.4, 0)
        counts = (ratios > 0.01).sum(1)
        rewards -= PENALTY * 0.5 * np.maximum(3 - counts, 0)
        ordered = np.sort(np.where(ratios > 0.01, ratios, 0), 1)
        ranks = np.arange(1, ratios.shape[1] + 1) - (ratios.shape[1] - counts)[:, None]
        several = np.maximum(counts, 1)
        gini = 2 * (ranks * ordered).sum(1) / np.maximum(several * ordered.sum(1), 1e-12) - (several + 1) / several
        rewards += PENALTY * 0.1 * np.where((counts >= 3) & (gini < 0.4), 0.4 - gini, 0)
        self.equity[:], self.benchmark[:] = equity, benchmark
        self.gain = self.gain * GAMMA + rewards
        ended = self.row - self.first == EPISODE - self.lookback - 1
        return np.where(ended, self.gain, rewards).astype(np.float32), ended


def data(n_features):
    random = np.random.default_rng(1)
    moves = 1 + 0.004 * (random.random((ROWS, ASSETS)) - 0.5)
    close = (100 * np.cumprod(moves, 0)).astype(np.float32)
    return close, random.random((ROWS, n_features), np.float32)


def papertape(copies, n_features, lookback):
    from papertape.env import Market, PapertapeVectorEnv

    close, features = data(n_features)
    market = Market({"close": close, "volume": np.ones_like(close)}, names=list("ABCDE"), interval=300_000_000_000,
                    min_order_qty=1e-4, features=features)
    return PapertapeVectorEnv(
        market, copies, preset="reference", autoreset_mode="NextStep", infos=(), copy=False, lookback=lookback,
        episode_bars=EPISODE, random_start=True, trailing_stop_pct=STOP, max_position_pct=CAP, min_cash_reserve=RESERVE,
        concentration_penalty=PENALTY, forced_exit_bars=EXIT_BARS, forced_exit_pct=EXIT_SHARE, cooldown_bars=COOLDOWN,
        time_decay_floor=DECAY_FLOOR)


def rate(env, copies, seconds):
    """Processor time, of the fastest of eight parts: others may share the machine."""
    random = np.random.default_rng(2)
    env.reset(seed=1)
    actions = [random.uniform(-20, 20, (copies, ASSETS)).astype(np.float32) for _ in range(4)]
    best = 0.0
    for _ in range(8):
        begin, steps = time.process_time(), 0
        while time.process_time() - begin < seconds / 8:
            env.step(actions[steps % 4])
            steps += 1
        best = max(best, steps * copies / (time.process_time() - begin))
    return best


def main():
    copies, n_features, lookback = map(int, sys.argv[2:5])
    seconds = float(sys.argv[5])
    if sys.argv[1] == "papertape":
        print(rate(papertape(copies, n_features, lookback), copies, seconds))
        return
    for observe in (False, True):
        print(rate(Portfolio(copies, *data(n_features), lookback, observe), copies, seconds))


if __name__ == "__main__":
    main()
