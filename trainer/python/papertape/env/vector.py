"""Thousands of copies of an account as one gymnasium.vector.VectorEnv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from papertape.env.core import INFOS, Core, WithCore, seed_of
from papertape.env.market import Market
from papertape.env.params import Params, parameters

AUTORESET = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)  # as enum env_autoreset

Observations = NDArray[np.float32]
Step = tuple[Observations, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


def autoreset_word(mode: AutoresetMode | str) -> str:
    """The library's word for a mode of Gymnasium."""
    try:
        at = AUTORESET.index(AutoresetMode(mode))
    except ValueError:
        known = ", ".join(known.value for known in AUTORESET)
        raise ValueError(f"autoreset_mode: {mode!r}: an AutoresetMode, or one of {known}") from None
    return parameters()["autoreset"].words[at]


class PapertapeVectorEnv(WithCore, VectorEnv[Observations, ArrayLike, NDArray]):
    """num_envs accounts that trade on one market, stepped together.

    market          shared, and not changed
    num_envs        copies of the account
    preset          the initial parameters: "market" (the paper exchange's fills: the default for training),
                    "reference", "cappuccino" (those fills with the reference's numbers), "day-trade"
    autoreset_mode  of gymnasium.vector, also in metadata["autoreset_mode"]. NEXT_STEP: the step after an episode's
                    last begins the next one, ignores its action and rewards 0. SAME_STEP: the last step itself does;
                    infos["final_obs"] and infos["final_info"] have the end. DISABLED: ended copies do nothing until
                    reset(options={"reset_mask": ...})
    seed            of the first episodes, if reset() gets none; None: a random one
    threads         that share a step, including the caller's
    backend         one of backends(); all give the same bits
    infos           the keys of infos, arrays [num_envs] of the accounts' current state: equity, cash, benchmark, fees
                    (the quote); drawdown (the largest so far), exposure (shares); row, buys, sells (counts);
                    action_mask
    copy            False: observations, rewards and flags are the same arrays after each step, overwritten
    **values        parameters() by name: numbers, bools, words, (low, high) of ranges that episodes draw from

    observation_space is Box [num_envs, size] float32: cash * norm_cash, quantities * norm_stocks, `lookback` rows of
    features * norm_tech, newest first. action_space is Box [num_envs, assets] float32 within action_span (positive
    buys; steps also take values beyond it, up to 1000), or with actions="discrete" MultiDiscrete of `levels`, the
    middle one for nothing; the day-trade preset has direction and size instead.

    ValueError for an invalid value, TypeError for an unknown parameter, each with a sentence; nothing was stepped.
    Actions that are contiguous float32, in C or Fortran order, are read in place."""

    def __init__(
        self,
        market: Market,
        num_envs: int = 1,
        *,
        preset: str = "market",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        seed: int | None = None,
        threads: int = 1,
        backend: str = "best",
        infos: Sequence[str] = INFOS,
        copy: bool = True,
        **values: Any,
    ) -> None:
        if "autoreset" in values:
            raise TypeError("autoreset: set autoreset_mode, as Gymnasium names it")
        params = Params(preset, {"autoreset": autoreset_word(autoreset_mode), **values})
        self._core = Core(market, num_envs, params, seed=seed, threads=threads, backend=backend, infos=infos)
        self.num_envs = self._core.copies
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.market = market
        self.single_observation_space = self._core.single_observation_space()
        self.single_action_space = self._core.single_action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._kept = None if copy else self._arrays()

    def _arrays(self) -> tuple[Observations, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
        n = self.num_envs
        return (
            np.empty((n, self._core.observation_size), np.float32),
            np.empty(n, np.float32),
            np.empty(n, np.bool_),
            np.empty(n, np.bool_),
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in every copy. A seed restarts the random numbers: equal seeds give equal episodes.

        options: "reset_mask", bool [num_envs]: only these copies; "starts" and "bars", [num_envs]: the market's rows
        at which each copy's episodes begin, and their lengths, from now on (None: the parameters')."""
        options = options or {}
        unknown = set(options) - {"reset_mask", "starts", "bars"}
        if unknown:
            raise ValueError(f"options: {', '.join(sorted(unknown))}: known are reset_mask, starts, bars")
        mask = options.get("reset_mask")
        if mask is not None:
            mask = np.asarray(mask)
            if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
                raise ValueError(f"reset_mask: {mask.dtype} {mask.shape}: bool ({self.num_envs},) is needed")
            if not mask.any():
                raise ValueError("reset_mask: no copy is to be reset")
            if seed is not None:
                raise ValueError("seed: of all copies together: none with a reset_mask")
            mask = np.ascontiguousarray(mask)
        _ = self._core.env  # open
        if "starts" in options or "bars" in options:
            self._core.set_windows(options.get("starts"), options.get("bars"))
        if seed is not None:
            self._core.create(seed_of(seed))
            super().reset(seed=int(seed))
        self._core.reset(mask)
        observations = self._kept[0] if self._kept else self._arrays()[0]
        self._core.observe(observations)
        return observations, self._infos()

    def step(self, actions: ArrayLike) -> Step:
        """actions [num_envs, action size] → observations [num_envs, size] float32, rewards [num_envs] float32,
        terminations (ruined) and truncations (the episode's bars are over) [num_envs] bool, infos."""
        observations, rewards, terminations, truncations = self._kept or self._arrays()
        final_obs = None
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final_obs = np.empty_like(observations)
        self._core.step(actions, rewards, terminations, truncations, final_obs)
        self._core.observe(observations)
        infos = self._infos()
        if final_obs is not None:
            self._add_final(infos, final_obs, terminations | truncations)
        return observations, rewards, terminations, truncations, infos

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = self._core.info(self._core.infos)
        if self._core.wants_mask:
            infos["action_mask"] = self._core.masks()
        return infos

    def _add_final(self, infos: dict[str, Any], final_obs: Observations, ended: NDArray[np.bool_]) -> None:
        if not ended.any():
            return
        rows = np.full(self.num_envs, None, object)
        for at in np.flatnonzero(ended):
            rows[at] = final_obs[at]
        infos["final_obs"], infos["_final_obs"] = rows, ended
        infos["final_info"], infos["_final_info"] = self.episode(), ended.copy()

    def episode(self) -> dict[str, NDArray]:
        """Of the last episode that each copy ended, [num_envs] each: equity, benchmark, fees, reward (the sum),
        drawdown, exposure, steps, buys, sells; zeros before the first."""
        return self._core.episode()

    def positions(self, copy: int) -> dict[str, NDArray[np.float64]]:
        """One copy's, [assets] each: qty (units), held (bars), peak (prices)."""
        return self._core.positions(copy)

    def action_masks(self) -> NDArray:
        """What may be done now. Discrete actions: bool [num_envs, actions * levels], as sb3-contrib takes it;
        continuous ones: uint8 [num_envs, actions], bit 0: may be bought, bit 1: may be sold."""
        masks = self._core.masks()
        return masks.reshape(self.num_envs, -1)

    def windows(self, starts: ArrayLike | None = None, bars: ArrayLike | None = None) -> None:
        """Where each copy's episodes begin (with random_start: the first row that is drawn), and how many rows they
        have, [num_envs] each, from its next episode on; None: the parameters'."""
        self._core.set_windows(starts, bars)

    def close_extras(self, **kwargs: Any) -> None:
        self._core.close()
