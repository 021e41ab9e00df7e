"""A symbol's history is carried from batch to batch, and its length takes no memory: five million bars through the library in batches
of Spark's size, for indicators and a feature set; no Spark is needed: python3 memory_test.py"""

import ctypes
import resource

from checks import check, done

import numpy as np
import pyarrow
from papertape_spark.asked import Features, Indicators
from papertape_spark.build import EPOCH_NS
from papertape_spark.library import Run

ROWS, WARM, BATCHES = 10_000, 20, 500
ALLOWED_KB = 8_000  # the bars alone have 280,000 KB


def batch(number):
    closes = 100 + np.sin(np.arange(number * ROWS, (number + 1) * ROWS) * 0.01)
    times = (np.arange(number * ROWS, (number + 1) * ROWS) * 60_000_000).astype("datetime64[us]")
    columns = {"symbol": pyarrow.array(["A"] * ROWS), "timestamp": pyarrow.array(times), "volume": pyarrow.array(np.full(ROWS, 3.0))}
    columns |= {"open": closes, "high": closes + 1, "low": closes - 1, "close": closes}
    return pyarrow.RecordBatch.from_pydict(columns)


def fitted():
    with Run("fit", b"market14", ctypes.c_int64(60)) as run:
        run.skip(batch(0))
        return run.fitted(*EPOCH_NS)


def peak_kb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


asked_for = {"indicators": (Indicators(("sma:20", "ema:50", "rsi:14")), BATCHES), "features": (Features(fitted(), 60), BATCHES // 5)}
for name, (asked, batches) in asked_for.items():
    with asked.open() as run:
        before, size = None, None
        for number in range(batches):
            columns = run.update(batch(number))
            if number == WARM:
                before, size = peak_kb(), len(run.save())
        grown, grew = peak_kb() - before, len(run.save()) - size
    print(f"counts: {name}: {batches * ROWS} bars, {columns.num_columns} columns, {grown} KB more after the first {WARM * ROWS}, a state of {size} bytes")
    check(grown < ALLOWED_KB, f"{name}: {grown} KB more")
    check(abs(grew) < 64, f"{name}: the state is {grew} bytes longer")
done("spark/memory")
