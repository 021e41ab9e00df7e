"""Bars files through Papertape's market store, where the library was built with it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papertape.env.library import LIBRARY, LIBRARY_PATH, AssetSource, FilesOptions, SymbolStruct, owned


def _copy(pointer: int | None, kind: type, shape: tuple[int, ...]) -> NDArray:
    """The memory there, copied to an array."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    assert pointer is not None
    return np.frombuffer(ctypes.string_at(pointer, size), kind).reshape(shape)


def load(
    paths: Sequence[str | os.PathLike[str]],
    features: str | None,
    fit: tuple[int, int] | None,
    common: bool,
    first_row: int,
    rows: int,
    exchange_info: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """Market's arguments: columns, names, times, interval, symbols, present, features, first_row."""
    if not hasattr(LIBRARY, "env_files_load"):
        raise ValueError(
            f"{LIBRARY_PATH}: built without the market store: pip install . --config-settings=setup-args=-Dpython=store "
            "(what it needs as well as gcc: packages.debian), or give Market() arrays"
        )
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    texts = (ctypes.c_char_p * len(paths))(*(os.fsencode(path) for path in paths))
    fit_from, fit_to = fit or (0, 0)
    for what, value in (("first_row", first_row), ("rows", rows), ("fit", fit_from), ("fit", fit_to)):
        if not isinstance(value, (int, np.integer)) or value < 0:
            raise ValueError(f"{what}: {value!r}: rows of the market, 0 or more")
    options = FilesOptions(
        paths=ctypes.cast(texts, ctypes.c_void_p),
        n=len(paths),
        exchange_info=None if exchange_info is None else os.fsencode(exchange_info),
        common=common,
        first=first_row,
        rows=rows,
        features=None if features is None else os.fsencode(features),
        fit_from=fit_from,
        fit_to=fit_to,
    )
    try:
        handle = owned("env_files_load", ctypes.byref(options))
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    try:
        return _arguments(LIBRARY.env_files_source(handle).contents)
    finally:
        LIBRARY.env_files_close(handle)


def _arguments(source: Any) -> dict[str, Any]:
    rows, n = source.rows, source.n_assets
    assets: list[AssetSource] = [source.assets[at] for at in range(n)]

    def columns(name: str) -> NDArray:
        return np.stack([_copy(getattr(asset, name), np.float64, (rows,)) for asset in assets], axis=1)

    words = -(-rows // 64)
    bits = [_copy(asset.present, np.uint8, (words * 8,)) for asset in assets]
    present = np.stack([np.unpackbits(each, count=rows, bitorder="little") for each in bits], axis=1)
    times = source.start_ns + np.arange(rows) * source.interval_ns
    if source.open_ns is not None:
        times = _copy(source.open_ns, np.int64, (rows,))
    features = None
    if source.features is not None:
        features = _copy(source.features, np.float32, (rows, source.n_features))
    return {
        "columns": {name: columns(name) for name in ("open", "high", "low", "close", "volume")},
        "names": [asset.name.decode() for asset in assets],
        "times": times,
        "interval": source.interval_ns,
        "symbols": [SymbolStruct.from_buffer_copy(asset.symbol.contents) for asset in assets],
        "present": present.astype(np.bool_),
        "features": features,
        "first_row": source.first_row,
    }
