"""The C library through ctypes: its structures, its functions, its errors as exceptions. Only this module handles
pointers. trainer/env/*.h is the contract."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64
from ctypes import c_void_p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ERROR_MAX = 512  # ENV_ERROR_MAX
ENOENT, ENOMEM = 2, 12
BACKENDS = ("best", "scalar", "baseline", "avx2", "avx512")  # enum env_backend


class SymbolFilters(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("price_min", "price_max", "tick", "qty_min", "qty_max", "step")),
        *((name, c_int64) for name in ("market_qty_min", "market_qty_max", "market_step")),
        *((name, c_int64) for name in ("notional_min", "notional_max")),
        *((name, c_bool) for name in ("notional_min_market", "notional_max_market")),
        *((name, c_int64) for name in ("bid_up_e4", "bid_down_e4", "ask_up_e4", "ask_down_e4")),
        ("orders_max", c_int32),
    ]


class SymbolStruct(ctypes.Structure):
    _fields_ = [
        ("name", c_char * 24),
        ("base", c_char * 16),
        ("quote", c_char * 16),
        *((name, c_int) for name in ("price_scale", "qty_scale", "quote_scale")),
        *((name, c_bool) for name in ("trading", "gone", "loose_ids")),
        ("venue", c_char * 16),
        ("calendar", c_char * 16),
        *((name, c_int) for name in ("asset", "shortable", "easy_to_borrow")),
        ("feed", c_char * 16),
        ("primary", c_char),
        ("filters", SymbolFilters),
    ]


class AssetSource(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("min_order_qty", c_double),
        ("symbol", POINTER(SymbolStruct)),
        *((name, c_void_p) for name in ("open", "high", "low", "close", "volume", "present")),
    ]


class MarketSource(ctypes.Structure):
    _fields_ = [
        ("rows", c_size_t),
        ("n_assets", c_int),
        ("assets", POINTER(AssetSource)),
        ("open_ns", c_void_p),
        ("sessions", c_void_p),
        ("start_ns", c_int64),
        ("interval_ns", c_int64),
        ("features", c_void_p),
        ("n_features", c_int),
        ("first_row", c_size_t),
    ]


class Options(ctypes.Structure):
    _fields_ = [("copies", c_size_t), ("seed", c_uint64), ("threads", c_int), ("backend", c_int)]


class Io(ctypes.Structure):
    _fields_ = [
        ("actions", c_void_p),
        ("actions_by_column", c_bool),
        *((name, c_void_p) for name in ("rewards", "terminated", "truncated", "final_obs")),
    ]


class Info(ctypes.Structure):
    _fields_ = [
        (name, c_void_p) for name in ("equity", "cash", "benchmark", "fees", "drawdown", "exposure", "row", "buys", "sells")
    ]


class Episode(ctypes.Structure):
    _fields_ = [
        (name, c_void_p)
        for name in ("equity", "benchmark", "fees", "reward", "drawdown", "exposure", "steps", "buys", "sells")
    ]


class Key(ctypes.Structure):
    """A row of a table of keys: record/config_key.h."""

    WHOLE, NUMBER, SPAN, SWITCH, WORD = range(5)
    _fields_ = [
        ("section", c_char_p),
        ("name", c_char_p),
        ("about", c_char_p),
        ("fallback", c_char_p),
        ("kind", c_int),
        ("min", c_double),
        ("max", c_double),
        ("scale", c_int),
        ("share", c_bool),
        ("none", c_char_p),
        ("words", c_char_p),
        ("offset", c_size_t),
        ("size", c_size_t),
        ("marks", ctypes.c_uint),
        ("more", c_char_p),
        ("read", c_void_p),
        ("print", c_void_p),
    ]


class FilesOptions(ctypes.Structure):
    _fields_ = [
        ("paths", c_void_p),
        ("n", c_size_t),
        ("exchange_info", c_char_p),
        ("common", c_bool),
        ("first", c_size_t),
        ("rows", c_size_t),
        ("features", c_char_p),
        ("fit_from", c_size_t),
        ("fit_to", c_size_t),
    ]


STRUCTURES: dict[str, type[ctypes.Structure]] = {
    "symbol": SymbolStruct,
    "env_asset_source": AssetSource,
    "env_market_source": MarketSource,
    "env_options": Options,
    "env_io": Io,
    "env_info": Info,
    "env_episode": Episode,
    "config_key": Key,
}

# Results and arguments; every `err` and every array is a c_void_p.
FUNCTIONS = {
    "env_version": (c_char_p, ()),
    "env_struct_size": (c_size_t, (c_char_p,)),
    "env_params_list": (POINTER(Key), (POINTER(c_size_t),)),
    "env_params_preset": (c_int, (c_char_p, c_void_p, c_void_p)),
    "env_params_set": (c_int, (c_void_p, c_char_p, c_char_p, c_void_p)),
    "env_params_get": (c_bool, (c_void_p, c_char_p, c_void_p, c_size_t)),
    "env_params_check": (c_int, (c_void_p, c_int, c_void_p)),
    "env_market_create": (c_int, (POINTER(MarketSource), c_void_p, POINTER(c_void_p), c_void_p)),
    "env_market_destroy": (None, (c_void_p,)),
    "env_backend_works": (c_bool, (c_int,)),
    "env_create": (c_int, (c_void_p, c_void_p, POINTER(Options), POINTER(c_void_p), c_void_p)),
    "env_destroy": (None, (c_void_p,)),
    "env_action_size": (c_int, (c_void_p,)),
    "env_observation_size": (c_int, (c_void_p,)),
    "env_windows": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    "env_reset": (None, (c_void_p, c_void_p)),
    "env_step": (c_int, (c_void_p, POINTER(Io), c_void_p)),
    "env_observe": (None, (c_void_p, c_void_p)),
    "env_masks": (None, (c_void_p, c_void_p)),
    "env_info": (None, (c_void_p, POINTER(Info))),
    "env_episode": (None, (c_void_p, POINTER(Episode))),
    "env_positions": (None, (c_void_p, c_size_t, c_void_p, c_void_p, c_void_p)),
    "env_state_bytes": (c_size_t, (c_void_p,)),
    "env_save": (None, (c_void_p, c_void_p)),
    "env_load": (c_int, (c_void_p, c_void_p, c_void_p)),
}

# Of a library that was built with the market store.
STORE_FUNCTIONS = {
    "env_files_load": (c_int, (POINTER(FilesOptions), POINTER(c_void_p), c_void_p)),
    "env_files_source": (POINTER(MarketSource), (c_void_p,)),
    "env_files_close": (None, (c_void_p,)),
}


def _path() -> Path:
    """$PAPERTAPE_ENV_LIBRARY, or the library that was built with the package."""
    named = os.environ.get("PAPERTAPE_ENV_LIBRARY")
    path = Path(named) if named else Path(__file__).with_name("libpapertape-env.so")
    if not path.exists():
        raise ImportError(
            f"{path}: no such file; `pip install .` in Papertape's source tree builds it, "
            "or name a built libpapertape-env.so in PAPERTAPE_ENV_LIBRARY"
        )
    return path


def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    wanted = FUNCTIONS | (STORE_FUNCTIONS if hasattr(library, "env_files_load") else {})
    for name, (result, arguments) in wanted.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path}: has no {name}(): not the library of this version") from None
        function.restype, function.argtypes = result, arguments
    for name, structure in STRUCTURES.items():
        size = library.env_struct_size(name.encode())
        if size != ctypes.sizeof(structure):
            raise ImportError(
                f"{path}: struct {name} has {size} bytes, {ctypes.sizeof(structure)} expected: "
                "not the library of this version"
            )
    return library


LIBRARY_PATH = _path()
LIBRARY = _load(LIBRARY_PATH)
VERSION: str = LIBRARY.env_version().decode()


def backends() -> tuple[str, ...]:
    """The backends that this processor can run, "best" (the widest of them) first. All give the same bits."""
    return tuple(name for at, name in enumerate(BACKENDS) if LIBRARY.env_backend_works(at))


def backend_number(name: str) -> int:
    if name not in BACKENDS:
        raise ValueError(f"backend: {name!r}: one of {', '.join(BACKENDS)}")
    return BACKENDS.index(name)


def call(name: str, *arguments: object) -> None:
    """Calls a function whose last argument is `err`, left out here. Raises ValueError with its sentence, KeyError
    for -ENOENT, MemoryError."""
    err = ctypes.create_string_buffer(ERROR_MAX)
    result = getattr(LIBRARY, name)(*arguments, err)
    if result >= 0:
        return
    sentence = err.value.decode(errors="replace")
    if result == -ENOMEM:
        raise MemoryError(sentence or "no memory for the environment")
    if result == -ENOENT:
        raise KeyError(sentence)
    raise ValueError(sentence)


def address(array: NDArray | None) -> int | None:
    """The address of an array's numbers; NULL for None. The array must outlive the use."""
    return None if array is None else array.__array_interface__["data"][0]


def owned(name: str, *arguments: object) -> int:
    """Calls a function that creates an object: its out-parameter precedes `err`."""
    ret = c_void_p()
    call(name, *arguments, byref(ret))
    assert ret.value is not None
    return ret.value


def column(values: object, dtype: type, what: str) -> NDArray:
    """As a contiguous array of this type; the same array if it is one already."""
    try:
        return np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}: numbers are needed") from None
