"""PapertapeVectorEnv for Stable-Baselines3, whose algorithms take a VecEnv of their own kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from papertape.env.vector import PapertapeVectorEnv


class PapertapeVecEnv(VecEnv):
    """A PapertapeVectorEnv of SAME_STEP for SB3: PPO("MlpPolicy", PapertapeVecEnv(market, 64, ...)). Takes
    PapertapeVectorEnv's arguments. The infos of a copy whose episode ended have SB3's "terminal_observation",
    "TimeLimit.truncated" and "episode" (r, l, t), and the figures of PapertapeVectorEnv.episode(); those of the others
    are empty, since thousands of dictionaries a step would take longer than the step."""

    def __init__(self, market: Any, num_envs: int = 1, **arguments: Any) -> None:
        if "autoreset_mode" in arguments:
            raise TypeError("autoreset_mode: Stable-Baselines3 needs SAME_STEP, which is set")
        self.envs = PapertapeVectorEnv(
            market, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **{"infos": (), **arguments}
        )
        self.render_mode = None
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)
        self._actions: NDArray | None = None

    def reset(self) -> NDArray[np.float32]:
        seed = next((seed for seed in self._seeds if seed is not None), None)
        observations, _ = self.envs.reset(seed=seed)
        self._reset_seeds()
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: NDArray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict]]:
        observations, rewards, terminations, truncations, infos = self.envs.step(np.asarray(self._actions))
        reported: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if "final_obs" in infos:
            final = infos["final_info"]
            for at in np.flatnonzero(infos["_final_obs"]):
                info = reported[at]
                info.update({name: array[at].item() for name, array in final.items()})
                info["terminal_observation"] = infos["final_obs"][at]
                info["TimeLimit.truncated"] = bool(truncations[at] and not terminations[at])
                info["episode"] = {"r": info["reward"], "l": info["steps"], "t": 0.0}
        return observations, rewards, terminations | truncations, reported

    def action_masks(self) -> NDArray:
        return self.envs.action_masks()

    def close(self) -> None:
        self.envs.close()

    # The copies are not separate objects: a request for one applies to all.

    def _count(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return list(self._get_indices(indices))

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self.envs, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        if attr_name == "render_mode":
            return [None for _ in self._count(indices)]
        return [getattr(self.envs, attr_name) for _ in self._count(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        raise AttributeError(f"{attr_name}: the copies have no attributes of their own")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        copies = self._count(indices)
        if method_name == "action_masks":
            masks = self.envs.action_masks()
            return [masks[copy] for copy in copies]
        if method_name == "positions":
            return [self.envs.positions(copy) for copy in copies]
        raise AttributeError(f"{method_name}: one of action_masks, positions")

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        # Episodes are reported as SB3's Monitor does.
        return [wrapper_class.__name__ == "Monitor" for _ in self._count(indices)]
