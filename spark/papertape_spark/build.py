"""bars(): bars of a longer interval, and fit(): feature sets fitted symbol by symbol."""

import ctypes

import pyarrow
import pyarrow.compute

from .asked import Series
from .bars import KEYS, PRICES, checked, checked_trades
from .batches import stretches
from .files import over_symbols
from .library import BadBars, Run, interval_ns

EPOCH_NS = (-(2**63), 2**63 - 1)


def _timed(batch, kind):
    """The library's bars with timestamps of the kind that came."""
    names = batch.schema.names
    at = names.index("timestamp")
    times = batch.column(at)
    if kind != "bigint":
        times = pyarrow.compute.divide(times, 1000).cast(pyarrow.timestamp("us", tz="UTC" if kind == "timestamp" else None))
    return pyarrow.RecordBatch.from_arrays([times if k == at else column for k, column in enumerate(batch.columns)], names=names)


def building(interval, trades, digits, kind):
    def build(batches):
        with Run("bars", interval.encode(), ctypes.c_bool(trades), digits) as run:
            for batch in batches:
                yield _timed(run.built(batch), kind)
            yield _timed(run.built(), kind)

    return build


def bars(df, interval, *, digits=8, partitions=None):
    """Bars of `interval` ("5m", "1h", "1d", "1mo"), each with `count`, the rows it is of: from shorter bars (symbol,
    timestamp, open, high, low, close, volume), which count where they open, or from trades (symbol, timestamp, price,
    qty, and id where two trades of a symbol may have one time). An interval without rows has no bar; the first and the
    last of a symbol may lack what came before and after its rows.

    Volumes are summed as exact decimals of `digits` digits after the point; more than those are refused. A bigint
    timestamp is given back in nanoseconds.
    """
    trades = "price" in df.columns and "open" not in df.columns
    rows = checked_trades(df) if trades else checked(df)
    with Run("bars", interval.encode(), ctypes.c_bool(trades), digits):
        pass
    kind = dict(rows.dtypes)["timestamp"]
    ids = ["id"] if trades and "id" in rows.columns else []
    rows = rows.select(*KEYS, *ids, *(("price", "qty") if trades else PRICES))
    schema = f"symbol string, timestamp {kind}, " + ", ".join(f"{name} double" for name in PRICES) + ", count bigint"
    return over_symbols(df, rows, building(interval, trades, digits, kind), schema, partitions, last=ids)


def _ns(moment, otherwise):
    """Nanoseconds of a datetime (without a zone: UTC), an ISO text, or a whole number of them."""
    from datetime import datetime, timezone

    if moment is None or isinstance(moment, int):
        return otherwise if moment is None else moment
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1e6) * 1000


def fitting(set, seconds, between):
    """What mapInArrow() calls: bars of a partition in order in, each symbol's fitted set out."""

    def fit_each(batches):
        run, symbol = None, None
        try:
            for batch in batches:
                for (key,), rows in stretches(batch, ("symbol",)):
                    if run and key != symbol:
                        yield _fitted(symbol, run.fitted(*between))
                        run.close()
                        run = None
                    if run is None:
                        run, symbol = Run("fit", set.encode(), ctypes.c_int64(seconds)), key
                    run.skip(rows)
            if run:
                yield _fitted(symbol, run.fitted(*between))
        finally:
            if run:
                run.close()

    return fit_each


def _fitted(symbol, text):
    return pyarrow.RecordBatch.from_arrays([pyarrow.array([symbol]), pyarrow.array([text])], names=["symbol", "set"])


def fit(df, set, interval=None, *, since=None, until=None):
    """A fitted set for each symbol, {symbol: text}, for features(): scalings fitted on the symbol's bars that open in
    [since, until), and on no other. A symbol's bars are in its task's memory meanwhile, 48 bytes each.

    set         a built-in's name ("market14", "wide110"), or a set's text
    since, until  datetimes (without a zone: UTC) or ISO texts; left out: all bars
    """
    rows = checked(df).select(*KEYS, *PRICES)
    seconds = interval_ns(interval) // 1_000_000_000 if interval else 0
    between = (_ns(since, EPOCH_NS[0]), _ns(until, EPOCH_NS[1]))
    with Run("fit", set.encode(), ctypes.c_int64(seconds)):
        pass
    fitted = over_symbols(df, rows, fitting(set, seconds, between), "symbol string, set string", None)
    found = {row.symbol: row.set for row in fitted.collect()}
    if not found:
        raise BadBars("there are no bars to fit on")
    return found
