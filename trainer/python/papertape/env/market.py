"""What an environment trades on: bars of n assets on one grid, and their features."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from papertape.env.files import load
from papertape.env.library import LIBRARY, AssetSource, MarketSource, SymbolFilters, SymbolStruct, address, column, owned
from papertape.env.params import Params

COLUMNS = ("open", "high", "low", "close", "volume")
Number = int | float | str | Decimal


@dataclass(frozen=True)
class Symbol:
    """How a venue lists an asset, for execution="market". Prices in the quote, quantities in the asset; 0: no such
    filter. The scales are the digits after the point of the venue's integers."""

    tick: Number = 0  #: prices are multiples of it
    step: Number = 0  #: quantities are multiples of it
    min_qty: Number = 0
    max_qty: Number = 0
    min_notional: Number = 0  #: price * quantity, of market orders too
    price_scale: int = 8
    qty_scale: int = 8
    quote_scale: int = 8
    base: str = ""
    quote: str = ""

    def _struct(self, name: str) -> SymbolStruct:
        def whole(what: str, scale: int) -> int:
            value = getattr(self, what)
            try:
                scaled = Decimal(str(value)).scaleb(scale)
            except InvalidOperation:
                raise ValueError(f"{name}: {what}: {value!r}: a number is needed") from None
            if not scaled.is_finite() or scaled < 0 or scaled != scaled.to_integral_value() or scaled >= 2**62:
                raise ValueError(f"{name}: {what}: {value}: at least 0, and no finer than {scale} digits after the point")
            return int(scaled)

        for what in ("price_scale", "qty_scale", "quote_scale"):
            if not 0 <= getattr(self, what) <= 18:
                raise ValueError(f"{name}: {what}: {getattr(self, what)}: 0 to 18")
        filters = SymbolFilters(
            tick=whole("tick", self.price_scale),
            step=whole("step", self.qty_scale),
            qty_min=whole("min_qty", self.qty_scale),
            qty_max=whole("max_qty", self.qty_scale),
            notional_min=whole("min_notional", self.quote_scale),
            notional_min_market=True,
        )
        texts = [text.encode() for text in (name, self.base or name, self.quote or "USD")]
        for text, field in zip(texts, ("name", "base", "quote"), strict=True):
            size = getattr(SymbolStruct, field).size
            if len(text) >= size:
                raise ValueError(f"{text.decode()}: {field}: at most {size - 1} bytes")
        return SymbolStruct(
            *texts, self.price_scale, self.qty_scale, self.quote_scale, trading=True, filters=filters
        )


class Market:
    """Columns of bars, made once and shared by all environments on them.

    columns       "close" and "volume", and for execution="market" also "open", "high", "low": arrays
                  [rows, assets] (or [rows] of one asset), in the quote and in units of the asset
    names         of the assets, in the order of the columns
    times         [rows]: when each bar opens: datetime64, or integers of nanoseconds since 1970 UTC. One interval
                  from each to the next. None: `interval` from 1970 on
    interval      of the bars: timedelta64, or nanoseconds. None: the difference of the first two times, or one
                  minute where there are not two; the day-trade task, whose sessions end by the clock, needs times or
                  an interval
    min_order_qty in units of each asset; one for all, one an asset, or by name
    symbols       how the venue lists each asset; without, execution="market" takes scales of 8 and no filters
    present       [rows, assets] bool: is the bar there? Without it all are
    sessions      [rows] of a market with a calendar: 1: the last bar of its session, behind which `times` may jump; 2: the
                  next one is; else 0. None: sessions end by the clock
    features      [rows, n_features] float32, for observations, unscaled (norm_tech scales); None: the closes,
                  then the volumes. Not copied where it is contiguous float32
    first_row     the first row whose features all have values

    Contradictions raise ValueError when an environment is made, since they depend on the parameters."""

    def __init__(
        self,
        columns: Mapping[str, ArrayLike],
        names: Sequence[str],
        *,
        times: ArrayLike | None = None,
        interval: int | np.timedelta64 | None = None,
        min_order_qty: float | Sequence[float] | Mapping[str, float] = 0.0,
        symbols: Symbol | Sequence[Symbol] | Mapping[str, Symbol] | None = None,
        present: ArrayLike | None = None,
        sessions: ArrayLike | None = None,
        features: ArrayLike | None = None,
        first_row: int = 0,
    ) -> None:
        if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
            raise ValueError("names: a list of one name an asset")
        self.names = tuple(names)
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"names: {', '.join(self.names)}: each only once")
        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise ValueError(f"columns: {', '.join(sorted(unknown))}: known are {', '.join(COLUMNS)}")
        for needed in ("close", "volume"):
            if needed not in columns:
                raise ValueError(f"columns: {needed}: missing")
        if len({"open", "high", "low"} & set(columns)) not in (0, 3):
            raise ValueError("columns: open, high, low: all three or none")

        n = len(self.names)
        self._columns = {name: self._by_asset(values, np.float64, name) for name, values in columns.items()}
        self.rows = self._columns["close"].shape[1]
        for name, values in self._columns.items():
            if values.shape != (n, self.rows):
                raise ValueError(
                    f"columns: {name}: {values.shape[1]} rows of {values.shape[0]} assets: {self.rows} rows of {n}, as the "
                    "closes and the names"
                )
        self._sessions = None
        if sessions is not None:
            self._sessions = np.ascontiguousarray(sessions, np.uint8)
            if self._sessions.shape != (self.rows,):
                raise ValueError(f"sessions: {self._sessions.shape}: one number a row, {self.rows}")
        self._present = None
        if present is not None:
            bits = self._by_asset(present, np.bool_, "present")
            if bits.shape != (n, self.rows):
                raise ValueError(f"present: shape {bits.shape[::-1]}: ({self.rows}, {n}) is needed")
            padded = np.zeros((n, -(-self.rows // 64) * 64), np.bool_)
            padded[:, : self.rows] = bits
            self._present = np.packbits(padded, axis=1, bitorder="little")

        self._assumed = times is None and interval is None
        self.times, self.interval_ns = self._grid(times, interval)
        self._min_order_qty = self._each(min_order_qty, "min_order_qty")
        self._symbols = [
            symbol if isinstance(symbol, SymbolStruct) else (symbol or Symbol())._struct(name)
            for name, symbol in zip(self.names, self._each(symbols, "symbols"), strict=True)
        ]
        self.features = None
        if features is not None:
            self.features = column(features, np.float32, "features")
            if self.features.ndim != 2 or self.features.shape[0] != self.rows or self.features.shape[1] == 0:
                raise ValueError(f"features: shape {self.features.shape}: ({self.rows}, number of features) is needed")
        if not 0 <= first_row < max(1, self.rows):
            raise ValueError(f"first_row: {first_row}: 0 to {self.rows - 1}")
        self.first_row = first_row
        self._built: weakref.WeakValueDictionary[tuple[str, ...], BuiltMarket] = weakref.WeakValueDictionary()

    @classmethod
    def from_files(
        cls,
        paths: Sequence[str | PathLike[str]],
        *,
        features: str | None = None,
        fit: tuple[int, int] | None = None,
        common: bool = False,
        first_row: int = 0,
        rows: int = 0,
        exchange_info: str | PathLike[str] | None = None,
        min_order_qty: float | Sequence[float] | Mapping[str, float] = 0.0,
    ) -> Market:
        """A market of bars files (CSV, .gz too; one symbol each), by Papertape's market store.

        features       "market14", "wide110" or the path of a feature set; None: the closes, then the volumes
        fit            rows that a set which is not fitted yet is fitted on; later rows are not read
        common         only rows in which all symbols have a bar, as execution="reference" needs them; else a
                       missing bar is a row in which its symbol does not trade
        first_row,rows of the market, 0 rows: to its end
        exchange_info  a venue's exchangeInfo with the symbols' filters; None: as fine as the data

        ValueError if the library was built without the store, or for errors of the files."""
        arguments = load(paths, features, fit, common, first_row, rows, exchange_info)
        return cls(**arguments, min_order_qty=min_order_qty)

    def _by_asset(self, values: ArrayLike, dtype: type, what: str) -> NDArray:
        """[assets, rows], contiguous: an asset's column in one piece."""
        array = np.asarray(values)
        if array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2:
            raise ValueError(f"{what}: shape {array.shape}: (rows, assets) is needed")
        return column(array.T, dtype, what)

    def _each(self, values: object, what: str) -> list:
        """One value an asset, from a single value, a sequence, or by name."""
        if isinstance(values, Mapping):
            wrong = set(values) ^ set(self.names)
            if wrong:
                raise ValueError(f"{what}: {', '.join(sorted(map(str, wrong)))}: one of each name is needed")
            return [values[name] for name in self.names]
        if isinstance(values, (Sequence, np.ndarray)):
            if len(values) != len(self.names):
                raise ValueError(f"{what}: {len(values)}: {len(self.names)}, one an asset, are needed")
            return list(values)
        return [values] * len(self.names)

    def _grid(self, times: ArrayLike | None, interval: object) -> tuple[NDArray[np.int64] | None, int]:
        if isinstance(interval, np.timedelta64):
            interval = int(interval.astype("timedelta64[ns]").astype(np.int64))
        if times is not None:
            times = np.asarray(times)
            if times.dtype.kind == "M":
                times = times.astype("datetime64[ns]").view(np.int64)
            if times.dtype.kind not in "iu":
                raise ValueError("times: datetime64, or integers of nanoseconds, are needed")
            times = column(times, np.int64, "times")
            if times.shape != (self.rows,):
                raise ValueError(f"times: shape {times.shape}: ({self.rows},) is needed")
            if interval is None and self.rows >= 2:
                interval = int(times[1] - times[0])
        if interval is None:
            interval = 60_000_000_000
        if not isinstance(interval, (int, np.integer)):
            raise ValueError(f"interval: {interval!r}: timedelta64, or a whole number of nanoseconds")
        return times, int(interval)

    def __copy__(self) -> Market:
        return self

    def __deepcopy__(self, memo: dict) -> Market:
        return self  # nothing changes it

    def __getstate__(self) -> dict:
        return {key: value for key, value in self.__dict__.items() if key != "_built"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _built=weakref.WeakValueDictionary())

    def build(self, params: Params) -> BuiltMarket:
        """The library's market for these parameters; environments of equal parameters share one."""
        if self._assumed and params.text("task") == "day-trade":
            raise ValueError(
                "times: none, and no interval: task day-trade ends its sessions by the clock: when each bar opens, or "
                "how long the bars are, from 1970 on"
            )
        key = tuple(params.all().values())
        built = self._built.get(key)
        if built is None:
            self._built[key] = built = BuiltMarket(self, params)
        return built

    def _source(self) -> tuple[MarketSource, ctypes.Array]:
        assets = (AssetSource * len(self.names))()
        for at, (asset, name) in enumerate(zip(assets, self.names, strict=True)):
            asset.name = name.encode()
            asset.min_order_qty = float(self._min_order_qty[at])
            if "open" in self._columns:
                asset.symbol = ctypes.pointer(self._symbols[at])
            for key, values in self._columns.items():
                setattr(asset, key, address(values[at]))
            if self._present is not None:
                asset.present = address(self._present[at])
        source = MarketSource(
            rows=self.rows,
            n_assets=len(self.names),
            assets=assets,
            open_ns=address(self.times),
            sessions=address(self._sessions),
            interval_ns=self.interval_ns,
            features=address(self.features),
            n_features=0 if self.features is None else self.features.shape[1],
            first_row=self.first_row,
        )
        return source, assets

    def __repr__(self) -> str:
        return f"Market({', '.join(self.names)}; {self.rows} rows)"


class BuiltMarket:
    """A struct env_market; destroyed with its last environment."""

    def __init__(self, market: Market, params: Params) -> None:
        source, _assets = market._source()
        self.handle = owned("env_market_create", ctypes.byref(source), params.buffer)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            LIBRARY.env_market_destroy(self.handle)
