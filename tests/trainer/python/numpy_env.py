"""The reference environment in NumPy, written from docs/environment.md without a look at the C: what the tests compare
papertape.env with, and the peer of bench/env.

    env = NumpyVectorEnv(close, volume, min_order_qty, num_envs=64, lookback=3, trailing_stop_pct=0.02)

Copies are the first axis of every array. Money is float64, what counts units is float32, and a share of it float64. NEXT_STEP of
Gymnasium."""

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

ACTION_MAX = 1000
DEFAULTS = {
    "lookback": 3,
    "start": 0,
    "episode_bars": 0,  # to the end
    "random_start": False,
    "norm_cash": 2.0**-11,
    "norm_stocks": 2.0**-8,
    "norm_tech": 2.0**-14,
    "norm_reward": 2.0**-9,
    "norm_action": 100.0,
    "initial_capital": 1000.0,
    "buy_cost_pct": 0.0025,
    "sell_cost_pct": 0.0025,
    "trailing_stop_pct": 0.0,
    "max_position_pct": 0.0,
    "min_cash_reserve": 0.0,
    "concentration_penalty": 0.0,
    "drawdown_penalty": 0.0,
    "volatility_penalty": 0.0,
    "slippage_pct": 0.0,
    "cooldown_bars": 0,
    "forced_exit_bars": 48,
    "forced_exit_pct": 0.05,
    "time_decay_floor": 0.0,
    "gamma": 0.99,
    "final_return": True,
    "weight_alpha": 0.5,
    "weight_absolute": 0.3,
    "weight_cash": 0.2,
}


class NumpyVectorEnv(VectorEnv):
    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, close, volume, min_order_qty, num_envs=1, seed=0, starts=None, **values):
        unknown = set(values) - set(DEFAULTS)
        if unknown:
            raise TypeError(f"unknown: {sorted(unknown)}")
        self.p = {**DEFAULTS, **values}
        self.num_envs = num_envs
        self.close = np.ascontiguousarray(close, np.float32)  # [rows, n]
        self.rows, self.n = self.close.shape
        self.least = np.broadcast_to(np.asarray(min_order_qty, np.float32), self.n)
        features = np.concatenate([self.close, np.asarray(volume, np.float32)], axis=1)
        self.features = features * np.float32(self.p["norm_tech"])
        self.bars = self.p["episode_bars"] or self.rows - self.p["start"]
        self.starts = starts  # [num_envs] or None
        self.rng = np.random.default_rng(seed)

        size = 1 + self.n + self.p["lookback"] * self.features.shape[1]
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = spaces.Box(-ACTION_MAX, ACTION_MAX, (self.n,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        e, n = num_envs, self.n
        self.qty, self.held, self.peak, self.cool, self.scale = (np.zeros((e, n), np.float32) for _ in range(5))
        self.bench_qty = np.zeros((e, n))
        self.cash, self.equity, self.benchmark, self.fees, self.gamma_return = (np.zeros(e) for _ in range(5))
        self.top, self.drawdown = np.zeros(e), np.zeros(e)  # the highest equity, the deepest share below it
        self.first, self.t, self.buys, self.sells = (np.zeros(e, np.int64) for _ in range(4))
        self.ended = np.ones(e, bool)

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self._begin(np.ones(self.num_envs, bool))
        return self._observation(), {}

    def _begin(self, which):
        capital, count = self.p["initial_capital"], int(which.sum())
        if self.p["random_start"]:
            first = self.rng.integers(self.p["start"], self.rows - self.bars + 1, count)
        else:
            first = self.p["start"] if self.starts is None else self.starts[which]
        self.first[which] = first
        self.t[which] = self.first[which] + self.p["lookback"] - 1
        self.cash[which] = self.equity[which] = self.top[which] = capital
        for array in (self.qty, self.held, self.peak, self.cool, self.fees, self.buys, self.sells, self.gamma_return):
            array[which] = 0
        self.drawdown[which] = 0
        price = self.close[self.first[which]].astype(np.float64)
        self.scale[which] = np.float32(capital) / (price.astype(np.float32) * np.float32(self.p["norm_action"]))
        self.bench_qty[which] = capital / self.n / (price * (1 + self.p["buy_cost_pct"]))
        self.benchmark[which] = (self.bench_qty[which] * self.close[self.t[which]]).sum(axis=1)
        self.ended[which] = False

    def step(self, actions):
        again = self.ended.copy()
        on = ~again  # the copies that take a step
        rewards = np.zeros(self.num_envs, np.float32)
        if on.any():
            actions = np.where(on[:, np.newaxis], np.clip(actions, -ACTION_MAX, ACTION_MAX), 0).astype(np.float32)
            rewards = np.where(on, self._trade(actions, on), 0).astype(np.float32)
        if again.any():
            self._begin(again)
        self.ended = on & (self.t - self.first >= self.bars - self.p["lookback"] - 1)
        never = np.zeros(self.num_envs, bool)
        infos = {
            "equity": self.equity.copy(),
            "benchmark": self.benchmark.copy(),
            "fees": self.fees.copy(),
            "buys": self.buys.copy(),
            "sells": self.sells.copy(),
        }
        return self._observation(), rewards, never, self.ended.copy(), infos

    def _sell(self, i, where, qty, price):
        """Sells `qty` of asset i in the copies `where`, for money of its own type; a copy that then holds nothing waits
        before he buys again."""
        worse = price * np.float32(1 - self.p["slippage_pct"])
        money = np.where(where, qty * worse, 0).astype(np.float64)
        self.qty[:, i] -= np.where(where, qty, 0)
        self.cool[where & (self.qty[:, i] <= 0), i] = self.p["cooldown_bars"]
        self.cash += money * (1 - self.p["sell_cost_pct"])
        self.fees += money * self.p["sell_cost_pct"]
        self.sells += where

    def _trade(self, actions, on):
        p = self.p
        self.t += on
        price = self.close[self.t]  # [copies, n]
        capital, cost = p["initial_capital"], 1 + p["buy_cost_pct"]
        self.held += on[:, np.newaxis] & (self.qty > 0)
        self.cool = np.where(on[:, np.newaxis], np.maximum(self.cool - 1, 0), self.cool)

        if p["trailing_stop_pct"] > 0:
            for i in range(self.n):
                holding = on & (self.qty[:, i] > 0)
                self.peak[:, i] = np.where(holding, np.maximum(self.peak[:, i], price[:, i]), self.peak[:, i])
                stop = self.peak[:, i].astype(np.float64) * (1 - p["trailing_stop_pct"])
                hit = holding & (price[:, i] > 0) & (price[:, i] < stop)
                self._sell(i, hit, self.qty[:, i], price[:, i])
                self.held[hit, i] = self.peak[hit, i] = 0

        wanted = actions * self.scale
        if p["max_position_pct"] > 0:
            equity = self._equity(price)[:, np.newaxis]
            room = np.maximum(0, p["max_position_pct"] * equity - self.qty * price)
            wanted = np.minimum(wanted, (room / price).astype(np.float32))

        for i in range(self.n):
            a, least = wanted[:, i], self.least[i]
            selling = on & (a < -least) & (self.qty[:, i] > 0) & (price[:, i] > 0)
            self._sell(i, selling, np.minimum(self.qty[:, i], -a), price[:, i])
            self.held[selling, i] = 0
            self.peak[selling & (self.qty[:, i] <= 0), i] = 0
        if p["forced_exit_bars"] > 0:
            for i in range(self.n):
                late = on & (self.held[:, i] >= p["forced_exit_bars"]) & (self.qty[:, i] > 0)
                self._sell(i, late, self.qty[:, i].astype(np.float64) * p["forced_exit_pct"], price[:, i])
                self.held[late, i] = 0
        for i in range(self.n):
            a, least, at = wanted[:, i], self.least[i], price[:, i] * np.float32(1 + p["slippage_pct"])
            free = np.maximum(0, self.cash - capital * p["min_cash_reserve"])
            most = free / cost / at * 0.99
            whole = a <= most  # what is wanted; else what the cash allows, with more digits
            buying = on & (a > least) & (at > 0) & ~(np.minimum(most, a) < least) & (self.cool[:, i] <= 0)
            self.peak[:, i] = np.where(buying & (self.qty[:, i] == 0), price[:, i], self.peak[:, i])
            money = np.where(buying, np.where(whole, a * at, most * at), 0)
            self.qty[:, i] += np.where(buying, np.where(whole, a, most), 0)
            self.cash -= money * cost
            self.fees += money * p["buy_cost_pct"]
            self.buys += buying

        before, benchmark_before = self.equity, self.benchmark
        self.equity = np.where(on, self._equity(price), before)
        self.benchmark = np.where(on, (self.bench_qty * price).sum(axis=1), benchmark_before)
        reward = self._reward(price, self.equity - before, self.benchmark - benchmark_before, benchmark_before)
        reward = reward - self._risk(before)
        self.gamma_return = np.where(on, self.gamma_return * p["gamma"] + reward, self.gamma_return)
        last = self.t - self.first >= self.bars - p["lookback"] - 1
        return np.where(last & bool(p["final_return"]), self.gamma_return, reward)

    def _equity(self, price):
        value = np.zeros(self.num_envs, np.float32)  # as the recordings have it: one asset after the other
        for i in range(self.n):
            value += self.qty[:, i] * price[:, i]
        return self.cash + value

    def _reward(self, price, gain, benchmark_gain, benchmark_before):
        p = self.p
        capital, norm, lookback = p["initial_capital"], p["norm_reward"], p["lookback"]
        span = max(1, self.bars - lookback - 1 - (lookback - 1))
        gone = np.clip((self.t - self.first - (lookback - 1)) / span, 0, 1)
        decay = np.maximum(1 - gone, p["time_decay_floor"])
        alpha = (gain - benchmark_gain) * norm * decay
        absolute = gain / capital * norm * decay
        fall, share = benchmark_gain / benchmark_before, self.cash / self.equity
        bonus = np.where((fall < 0) & (share > 0.1), np.abs(fall) * share * norm * 0.1, 0)
        reward = p["weight_alpha"] * alpha + p["weight_absolute"] * absolute + p["weight_cash"] * bonus
        if p["min_cash_reserve"] > 0:
            reward = reward - np.maximum(0, capital * p["min_cash_reserve"] - self.cash) / capital * norm * 0.5
        if p["concentration_penalty"] > 0:
            reward = reward + p["concentration_penalty"] * self._spread(price)
        return reward

    def _risk(self, before):
        """What the drawdown grows by and the squared return cost, in the money of the capital."""
        p, known = self.p, self.drawdown
        self.top = np.maximum(self.top, self.equity)
        self.drawdown = np.maximum(known, 1 - self.equity / self.top)
        square = np.minimum((self.equity / before - 1) ** 2, 1)
        cost = p["drawdown_penalty"] * (self.drawdown - known) + p["volatility_penalty"] * square
        return p["norm_reward"] * p["initial_capital"] * cost

    def _spread(self, price):
        """The concentration terms for k = 1."""
        ratios = self.qty.astype(np.float64) * price / self.equity[:, np.newaxis]
        counted = ratios > 0.01
        count = counted.sum(axis=1)
        largest = ratios.max(axis=1)
        score = np.where(largest > 0.4, -(largest - 0.4), 0)
        score = score - np.where(count < 3, 0.5 * (3 - count), 0)
        ordered = np.sort(np.where(counted, ratios, 0), axis=1)
        ranks = np.maximum(np.arange(1, self.n + 1) - (self.n - count)[:, np.newaxis], 0)
        total, most = np.maximum(ordered.sum(axis=1), 1e-300), np.maximum(count, 1)
        gini = 2 * (ranks * ordered).sum(axis=1) / (most * total) - (most + 1) / most
        return score + np.where((count >= 3) & (gini < 0.4), 0.1 * (0.4 - gini), 0)

    def _observation(self):
        rows = self.t[:, np.newaxis] - np.arange(self.p["lookback"])
        return np.concatenate(
            [
                (self.cash * self.p["norm_cash"])[:, np.newaxis],
                self.qty * np.float32(self.p["norm_stocks"]),
                self.features[rows].reshape(self.num_envs, -1),
            ],
            axis=1,
            dtype=np.float32,
        )
