"""bars(): bars of a longer interval, and fit(): feature sets fitted symbol by symbol."""

import ctypes

import pyarrow
import pyarrow.compute

from .asked import check_errors
from .bars import KEYS, PRICES, checked, checked_trades
from .batches import stretches
from .library import BadBars, Run, interval_ns
from .tasks import over_symbols

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


class Sets(dict):
    """What fit() returns, {symbol: a fitted set's text}; `errors` has {symbol: the reason} of those that it left out."""

    def __init__(self, sets=(), errors=()):
        super().__init__(sets)
        self.errors = dict(errors)


class Fitting:
    """A symbol's bars, on their way into a fitted set, or, with `rows`, the reason why there is none."""

    def __init__(self, symbol, set, seconds, rows):
        self.symbol, self.rows, self.error = symbol, rows, None
        self.run = Run("fit", set.encode(), ctypes.c_int64(seconds))

    def _try(self, call, *arguments):
        try:
            return call(*arguments) if self.error is None else None
        except BadBars as refused:
            if not self.rows:
                raise
            self.error = str(refused)

    def add(self, batch):
        self._try(self.run.skip, batch)

    def end(self, between):
        text = self._try(self.run.fitted, *between)
        columns = [pyarrow.array([value], pyarrow.string()) for value in (self.symbol, text, self.error)]
        return pyarrow.RecordBatch.from_arrays(columns, names=["symbol", "set", "error"])


def fitting(set, seconds, between, rows=False):
    """What mapInArrow() calls: bars of a partition in order in, each symbol's fitted set out."""

    def fit_each(batches):
        one = None
        try:
            for batch in batches:
                for (key,), bars in stretches(batch, ("symbol",)):
                    if one and key != one.symbol:
                        yield one.end(between)
                        one.run.close()
                        one = None
                    one = one or Fitting(key, set, seconds, rows)
                    one.add(bars)
            if one:
                yield one.end(between)
        finally:
            if one:
                one.run.close()

    return fit_each


def fit(df, set, interval=None, *, since=None, until=None, errors="raise"):
    """A fitted set for each symbol, {symbol: text}, for features(): scalings fitted on the symbol's bars that open in
    [since, until), and on no other. A symbol's bars are in its task's memory meanwhile, 48 bytes each.

    set         a built-in's name ("market14", "wide110"), or a set's text
    since, until  datetimes (without a zone: UTC) or ISO texts; left out: all bars
    errors      "rows": a symbol that cannot be fitted on, as one of too few bars, is left out, and what is returned has the
                reason in `errors`, {symbol: sentence}; otherwise it ends the job
    """
    check_errors(errors)
    rows = checked(df).select(*KEYS, *PRICES)
    seconds = interval_ns(interval) // 1_000_000_000 if interval else 0
    between = (_ns(since, EPOCH_NS[0]), _ns(until, EPOCH_NS[1]))
    with Run("fit", set.encode(), ctypes.c_int64(seconds)):
        pass
    fitted = over_symbols(df, rows, fitting(set, seconds, between, errors == "rows"), "symbol string, set string, error string", None)
    found = fitted.collect()
    if not found:
        raise BadBars("there are no bars to fit on")
    return Sets({row.symbol: row.set for row in found if row.error is None}, {row.symbol: row.error for row in found if row.error is not None})
