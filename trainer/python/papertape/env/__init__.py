"""Papertape's trading environment for Gymnasium, Stable-Baselines3, CleanRL and the like.

    from papertape.env import Market, PapertapeVectorEnv

    market = Market({"close": closes, "volume": volumes}, names=["BTC", "ETH"], times=times)
    envs = PapertapeVectorEnv(market, num_envs=1024, preset="reference", lookback=3, random_start=True)
    observations, infos = envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

docs/environment.md says what an environment does in a step; parameters() lists what can be set."""

from papertape.env.library import LIBRARY_PATH, VERSION, backends
from papertape.env.market import Market, Symbol
from papertape.env.params import Parameter, parameters
from papertape.env.single import PapertapeEnv
from papertape.env.vector import PapertapeVectorEnv

__all__ = [
    "LIBRARY_PATH",
    "VERSION",
    "Market",
    "PapertapeEnv",
    "PapertapeVectorEnv",
    "Parameter",
    "Symbol",
    "backends",
    "parameters",
]
