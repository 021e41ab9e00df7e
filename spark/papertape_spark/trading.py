"""backtest() and sweep(): strategies on each symbol's bars, by the engine that trades live."""

import ctypes
import datetime
import re

import pyarrow

from .bars import KEYS, PRICES, checked
from .library import BadBars, Given, Taken, _Schema, called, load
from .tasks import over_symbols

ROWS_MOST = 10000  # in a batch that is given back

CUT_BY_TIME = (
    "cut='time' is not for a backtest: a position, its stops and the cash at the end of one stretch are where the next begins, and "
    "no warm-up stands for them; cut='symbol' runs each symbol whole, many at once"
)


def text(value):
    """An option's value as the library reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple, range)):
        return ",".join(text(one) for one in value)
    return str(value)


def options_of(strategy, params, grid, options):
    """Pairs of key and text, the strategy first, as native/trading.h lists them."""
    twice = sorted(set(params or {}) & set(grid or {}))
    if twice:
        raise BadBars(f"{twice[0]} is in params and in grid: one of them")
    pairs = [("strategy", strategy)]
    pairs += [(f"set.{key}", text(value)) for key, value in (params or {}).items()]
    pairs += [(f"grid.{key}", text(value)) for key, value in (grid or {}).items()]
    for key, value in options.items():
        if isinstance(value, dict):
            pairs += [(f"{key}.{name}", text(limit)) for name, limit in value.items()]
        elif value is not None:
            pairs.append((key.rstrip("_"), text(value)))
    return pairs


def as_arguments(sentence):
    """The library names options as the command line does: --from is from_ here."""
    return re.sub(r"--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_") + ("_" if found[1] == "from" else "") + "=", sentence)


def asked(name, *arguments):
    try:
        return called("backtest_" + name, *arguments)
    except BadBars as refused:
        raise BadBars(as_arguments(str(refused))) from None


class Trading:
    """One run over batches in order (native/backtest.h); close() it, or use it in a `with`."""

    def __init__(self, what, pairs):
        library = load()
        library.papertape_spark_backtest_close.argtypes = [ctypes.c_void_p]
        library.papertape_spark_backtest_close.restype = None
        library.papertape_spark_backtest_end.argtypes = [ctypes.c_void_p]
        library.papertape_spark_backtest_end.restype = None
        keys = (ctypes.c_char_p * len(pairs))(*(key.encode() for key, _ in pairs))
        values = (ctypes.c_char_p * len(pairs))(*(value.encode() for _, value in pairs))
        self.handle = ctypes.c_void_p()
        asked("open", what.encode(), keys, values, ctypes.c_size_t(len(pairs)), ctypes.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        handle, self.handle = self.handle, ctypes.c_void_p()
        load().papertape_spark_backtest_close(handle)

    def schema(self):
        taken = _Schema()
        asked("schema", self.handle, ctypes.byref(taken))
        return pyarrow.Schema._import_from_c(ctypes.addressof(taken))

    def give(self, batch):
        asked("give", self.handle, *Given(batch).arguments())

    def end(self):
        load().papertape_spark_backtest_end(self.handle)

    def rows(self):
        """The batches that there are so far."""
        while True:
            taken = Taken()
            if asked("take", self.handle, ctypes.c_size_t(ROWS_MOST), *taken.arguments()) == 0:
                return
            yield taken.batch()


def _in_arguments(batch):
    """The batch with the names of arguments in its column `error`."""
    at = batch.schema.get_field_index("error")
    if at < 0 or batch.column(at).null_count == batch.num_rows:
        return batch
    texts = [text and as_arguments(text) for text in batch.column(at).to_pylist()]
    return batch.set_column(at, batch.schema.field(at), pyarrow.array(texts, batch.schema.field(at).type))


def trading(what, pairs):
    """What mapInArrow() calls: the bars of a partition's symbols, one after the other."""

    def run(batches):
        with Trading(what, pairs) as running:
            for batch in batches:
                running.give(batch)
                yield from map(_in_arguments, running.rows())
            running.end()
            yield from map(_in_arguments, running.rows())

    return run


def traded(df, what, pairs, cut, partitions):
    from pyspark.sql.pandas.types import from_arrow_schema

    if cut == "time":
        raise BadBars(CUT_BY_TIME)
    if cut != "symbol":
        raise BadBars(f"cut={cut!r} is unknown: 'symbol' is there")
    with Trading(what, pairs) as tried:  # raises for what cannot be run, before any task does
        schema = from_arrow_schema(tried.schema())
    bars = checked(df).select(*KEYS, *PRICES)
    return over_symbols(df, bars, trading(what, pairs), schema, partitions)


def backtest(df, strategy, params=None, trades=False, rounds=False, equity=False, cut="symbol", partitions=None, **options):
    """A strategy on each symbol's bars, an account each: the figures that `papertape backtest --json` has of a file with
    the same numbers, to the bit, a row a symbol.

    df          symbol, timestamp, open, high, low, close, volume
    strategy    a name, or "NAME:key=value,key=value"
    params      {"fast": 5, "slow": 40}
    trades      the fills instead, as --trades has them; rounds: trades from flat to flat; equity: at every bar
    partitions  of the result; Spark's spark.sql.shuffle.partitions where it is left out
    options     cash, fee_maker, fee_taker, slippage, latency_ms, shorts, collateral, maintenance, borrow_rate, margin,
                pattern_day_trader, settlement, risk={"drawdown": 0.2}, venue, calendar, session, lot, tick, quote,
                exchange_info, interval, from_, to, way, repair, benchmark="none", errors="rows": as papertape backtest's
    """
    whats = [what for what, wanted in (("trades", trades), ("rounds", rounds), ("equity", equity)) if wanted]
    if len(whats) > 1:
        raise BadBars(f"{whats[0]} and {whats[1]} are two DataFrames: call it once for each")
    return traded(df, (whats or ["figures"])[0], options_of(strategy, params, None, options), cut, partitions)


def sweep(df, strategy, grid, params=None, metric=None, top=None, cut="symbol", partitions=None, **options):
    """A strategy with every combination of the grid on each symbol's bars: a row a symbol and combination, with the
    columns of `papertape sweep --csv`, and its rank by the metric among the symbol's.

    grid      {"fast": "5:30:5", "slow": [40, 80, 120]}
    metric    "sharpe" (also where it is left out), "sortino", "calmar", …
    top       only so many of each symbol
    Others are as backtest() has them."""
    return traded(df, "sweep", options_of(strategy, params, grid, {"metric": metric, "top": top, **options}), cut, partitions)
