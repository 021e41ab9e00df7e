"""Shared by the vector environment and the single one: one struct env and the arrays of a step."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from numpy.typing import NDArray

from papertape.env.library import LIBRARY, Episode, Info, Io, Options, address, backend_number, call, column, owned
from papertape.env.market import Market
from papertape.env.params import Params

INFO_DTYPES = {
    "equity": np.float64,
    "cash": np.float64,
    "benchmark": np.float64,
    "fees": np.float64,
    "drawdown": np.float64,
    "exposure": np.float64,
    "row": np.int32,
    "buys": np.int32,
    "sells": np.int32,
}
EPISODE_DTYPES = {
    "equity": np.float64,
    "benchmark": np.float64,
    "fees": np.float64,
    "reward": np.float64,
    "drawdown": np.float64,
    "exposure": np.float64,
    "steps": np.int32,
    "buys": np.int32,
    "sells": np.int32,
}
ACTION_MAX = 1000  # POLICY_ACTION_MAX
INFOS = ("equity", "benchmark", "fees", "buys", "sells", "drawdown", "exposure")  # the default infos


def seed_of(seed: int | None) -> int:
    """A seed for the library; a random one for None."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"seed: {seed!r}: a whole number of 0 to 2^64 - 1")
    return int(seed)


class Core:
    """`copies` copies of an account. Arrays are [copies] or [copies, size]; all input is checked here or by the
    library before anything changes."""

    def __init__(
        self,
        market: Market,
        copies: int,
        params: Params,
        *,
        seed: int | None,
        threads: int,
        backend: str,
        infos: Sequence[str],
    ) -> None:
        if not isinstance(market, Market):
            raise TypeError(f"market: {type(market).__name__}: a papertape.env.Market is needed")
        if not isinstance(copies, (int, np.integer)) or copies < 1:
            raise ValueError(f"num_envs: {copies!r}: a whole number of at least 1")
        if not isinstance(threads, (int, np.integer)) or not 0 <= threads <= 1024:
            raise ValueError(f"threads: {threads!r}: a whole number of 0 (one thread) to 1024")
        unknown = set(infos) - {*INFO_DTYPES, "action_mask"}
        if unknown:
            raise ValueError(f"infos: {', '.join(sorted(unknown))}: known are {', '.join(INFO_DTYPES)}, action_mask")
        self.market, self.copies, self.params = market, int(copies), params
        self.wants_mask = "action_mask" in infos
        self.infos = tuple(name for name in INFO_DTYPES if name in infos)
        self.discrete = params.text("actions") != "continuous"
        self.levels = int(params.text("levels"))
        self._threads, self._backend = int(threads), backend_number(backend)
        self._windows: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None] = (None, None)
        self._built = market.build(params)
        self._env: int | None = None
        self.running = False
        self.create(seed_of(seed))
        self.action_size: int = LIBRARY.env_action_size(self._env)
        self.observation_size: int = LIBRARY.env_observation_size(self._env)

    def create(self, seed: int) -> None:
        """A new environment of this seed in place of the old one."""
        options = Options(self.copies, seed, self._threads, self._backend)
        env = owned("env_create", self.params.buffer, self._built.handle, ctypes.byref(options))
        try:
            if any(array is not None for array in self._windows):
                call("env_windows", env, *map(address, self._windows))
        except BaseException:
            LIBRARY.env_destroy(env)
            raise
        old, self._env, self.seed, self.running = self._env, env, seed, False
        if old is not None:
            LIBRARY.env_destroy(old)

    def __deepcopy__(self, memo: dict) -> Core:
        """An independent copy in the same state; the market is shared."""
        state = self.save()
        ret = object.__new__(Core)
        ret.__dict__ = {**self.__dict__, "_env": None}
        ret.create(self.seed)
        call("env_load", ret.env, state)
        ret.running = self.running
        return ret

    def __copy__(self) -> Core:
        return self.__deepcopy__({})

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an environment cannot be pickled: save() gives its state, and load() continues from it in an environment "
            "that is made with the same arguments"
        )

    def close(self) -> None:
        if getattr(self, "_env", None) is not None:
            LIBRARY.env_destroy(self._env)
            self._env = None

    def __del__(self) -> None:
        self.close()

    @property
    def env(self) -> int:
        """The struct env."""
        if self._env is None:
            raise ClosedEnvironmentError("the environment has been closed")
        return self._env

    # Spaces.

    def single_action_space(self) -> spaces.Space:
        if self.discrete:
            return spaces.MultiDiscrete(np.full(self.action_size, self.levels))
        span = np.float32(self.params.text("action_span"))
        low, high = np.full(self.action_size, -span), np.full(self.action_size, span)
        if self.params.text("task") == "day-trade":
            low, high = np.array([-1, 0], np.float32), np.array([1, 1], np.float32)
        return spaces.Box(low, high, dtype=np.float32)

    def single_observation_space(self) -> spaces.Space[Any]:
        return spaces.Box(-np.inf, np.inf, (self.observation_size,), np.float32)

    # Changes.

    def set_windows(self, starts: object, bars: object) -> None:
        arrays = []
        for what, values in (("starts", starts), ("bars", bars)):
            if values is not None:
                if np.asarray(values).dtype.kind not in "iu":
                    raise ValueError(f"{what}: dtype {np.asarray(values).dtype}: whole numbers are needed")
                values = column(values, np.int64, what)
                if values.shape != (self.copies,):
                    raise ValueError(f"{what}: shape {values.shape}: ({self.copies},) is needed")
            arrays.append(values)
        call("env_windows", self.env, *map(address, arrays))
        self._windows = (arrays[0], arrays[1])

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:
        if mask is not None and not self.running and not mask.all():
            raise ResetNeeded("the first reset is of all copies: no reset_mask")
        LIBRARY.env_reset(self.env, address(mask))
        self.running = True

    def step(
        self,
        actions: object,
        rewards: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        final_obs: NDArray[np.float32] | None = None,
    ) -> None:
        env = self.env
        if not self.running:
            raise ResetNeeded("reset() comes before the first step()")
        array = self._actions(actions)
        by_column = not array.flags.c_contiguous
        io = Io(address(array), by_column, address(rewards), address(terminated), address(truncated), address(final_obs))
        call("env_step", env, ctypes.byref(io))

    def _actions(self, actions: object) -> NDArray[np.float32]:
        """[copies, size] float32, C- or Fortran-contiguous; the same array if it is that already."""
        array = np.asarray(actions)
        if array.shape != (self.copies, self.action_size):
            raise ValueError(f"actions: shape {array.shape}: ({self.copies}, {self.action_size}) is needed")
        if array.dtype.kind not in ("iu" if self.discrete else "fiu"):
            kind = "whole numbers" if self.discrete else "numbers"
            raise ValueError(f"actions: dtype {array.dtype}: {kind} are needed")
        if array.dtype.kind == "f" and array.dtype.itemsize > 4:  # finite numbers must stay finite as float32
            array = np.where(np.isfinite(array), np.clip(array, -ACTION_MAX, ACTION_MAX), array)
        if array.dtype != np.float32 or not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = np.ascontiguousarray(array, dtype=np.float32)
        return array

    # Reads.

    def observe(self, ret: NDArray[np.float32]) -> None:
        LIBRARY.env_observe(self.env, address(ret))

    def masks(self) -> NDArray:
        """bool [copies, action_size, levels]; of continuous actions uint8 [copies, action_size], bit 0: may be
        bought, bit 1: may be sold."""
        shape = (self.copies, self.action_size)
        ret = np.empty((*shape, self.levels), np.bool_) if self.discrete else np.empty(shape, np.uint8)
        LIBRARY.env_masks(self.env, address(ret))
        return ret

    def info(self, names: Sequence[str]) -> dict[str, NDArray]:
        ret = {name: np.empty(self.copies, INFO_DTYPES[name]) for name in names}
        if ret:
            LIBRARY.env_info(self.env, ctypes.byref(Info(**{name: address(array) for name, array in ret.items()})))
        return ret

    def episode(self) -> dict[str, NDArray]:
        ret = {name: np.empty(self.copies, dtype) for name, dtype in EPISODE_DTYPES.items()}
        LIBRARY.env_episode(self.env, ctypes.byref(Episode(**{name: address(array) for name, array in ret.items()})))
        return ret

    def positions(self, copy: int) -> dict[str, NDArray[np.float64]]:
        if not 0 <= copy < self.copies:
            raise IndexError(f"copy: {copy}: 0 to {self.copies - 1}")
        ret = {name: np.empty(len(self.market.names)) for name in ("qty", "held", "peak")}
        LIBRARY.env_positions(self.env, copy, *map(address, ret.values()))
        return ret

    def save(self) -> bytes:
        state = ctypes.create_string_buffer(LIBRARY.env_state_bytes(self.env))
        LIBRARY.env_save(self.env, state)
        return state.raw

    def load(self, state: bytes) -> None:
        size = LIBRARY.env_state_bytes(self.env)
        if len(state) != size:
            raise ValueError(f"state: {len(state)} bytes: {size}, of an environment of this shape, are needed")
        call("env_load", self.env, state)
        self.running = True


class WithCore:
    """Methods of both the vector environment and the single one."""

    _core: Core

    def parameters(self) -> dict[str, str]:
        """Every parameter's value, as text."""
        return self._core.params.all()

    def save(self) -> bytes:
        """All that changes in a step or reset, to continue from in an environment like this one."""
        return self._core.save()

    def __copy__(self) -> WithCore:
        """As copy.deepcopy(): an independent environment on the same market, which continues from here."""
        return copy.deepcopy(self)

    def load(self, state: bytes) -> None:
        """Continues from a state of save(); ValueError if it has another shape."""
        self._core.load(state)
