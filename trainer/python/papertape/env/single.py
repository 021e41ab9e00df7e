"""One account as a gymnasium.Env."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from papertape.env.core import INFOS, Core, WithCore, seed_of
from papertape.env.market import Market
from papertape.env.params import Params
from papertape.env.vector import autoreset_word


class PapertapeEnv(WithCore, Env[NDArray[np.float32], ArrayLike]):
    """One copy of PapertapeVectorEnv's account; the same arguments, and the same numbers in every step. Shapes are
    without num_envs: observations [size] float32, actions [assets] float32 (or levels); infos are plain numbers.
    For more than one copy PapertapeVectorEnv is many times as fast as several of these."""

    metadata = {"render_modes": []}

    def __init__(
        self,
        market: Market,
        *,
        preset: str = "market",
        seed: int | None = None,
        backend: str = "best",
        infos: Sequence[str] = INFOS,
        **values: Any,
    ) -> None:
        if "autoreset" in values:
            raise TypeError("autoreset: a single environment is reset by its caller")
        params = Params(preset, {"autoreset": autoreset_word(AutoresetMode.DISABLED), **values})
        self._core = Core(market, 1, params, seed=seed, threads=1, backend=backend, infos=infos)
        self.market = market
        self.observation_space = self._core.single_observation_space()
        self.action_space = self._core.single_action_space()
        self._reward = np.empty(1, np.float32)
        self._terminated, self._truncated = np.empty(1, np.bool_), np.empty(1, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode. A seed restarts the random numbers: equal seeds give equal episodes.

        options: "start" and "bars": the market's row at which episodes begin, and their length, from now on."""
        options = options or {}
        unknown = set(options) - {"start", "bars"}
        if unknown:
            raise ValueError(f"options: {', '.join(sorted(unknown))}: known are start, bars")
        _ = self._core.env  # open
        if options:
            self._core.set_windows(*(None if options.get(key) is None else [options[key]] for key in ("start", "bars")))
        if seed is not None:
            self._core.create(seed_of(seed))
            super().reset(seed=int(seed))
        self._core.reset()
        return self._observation(), self._info()

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """action [action size] → observation, reward, terminated (ruined), truncated (the bars are over), info."""
        action = np.asarray(action)
        if action.shape != (self._core.action_size,):
            raise ValueError(f"action: shape {action.shape}: ({self._core.action_size},) is needed")
        self._core.step(action[np.newaxis], self._reward, self._terminated, self._truncated)
        return (
            self._observation(),
            float(self._reward[0]),
            bool(self._terminated[0]),
            bool(self._truncated[0]),
            self._info(),
        )

    def _observation(self) -> NDArray[np.float32]:
        ret = np.empty((1, self._core.observation_size), np.float32)
        self._core.observe(ret)
        return ret[0]

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {name: array[0].item() for name, array in self._core.info(self._core.infos).items()}
        if self._core.wants_mask:
            info["action_mask"] = self._core.masks()[0]
        return info

    def episode(self) -> dict[str, float]:
        """Of the last episode that ended: equity, benchmark, fees, reward (the sum), drawdown, exposure, steps,
        buys, sells."""
        return {name: array[0].item() for name, array in self._core.episode().items()}

    def positions(self) -> dict[str, NDArray[np.float64]]:
        """[assets] each: qty (units), held (bars), peak (prices)."""
        return self._core.positions(0)

    def action_masks(self) -> NDArray:
        """What may be done now. Discrete actions: bool [actions * levels], as sb3-contrib takes it; continuous ones:
        uint8 [actions], bit 0: may be bought, bit 1: may be sold."""
        return self._core.masks().reshape(-1)

    def close(self) -> None:
        self._core.close()
