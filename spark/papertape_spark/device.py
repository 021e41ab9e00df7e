"""backend="gpu": indicators by the GPU module, a symbol's bars at once, in executors with a device."""

import ctypes

import pyarrow

from .batches import joined, stretches, without_own
from .library import BadBars, Given, Taken, called, load

BATCH_ROWS = 10000


class Device:
    """The module on an executor's device (native/device.h); close() it, or use it in a `with`."""

    def __init__(self, specs):
        library = load()
        library.papertape_spark_device_close.argtypes = [ctypes.c_void_p]
        library.papertape_spark_device_close.restype = None
        library.papertape_spark_device_name.argtypes = [ctypes.c_void_p]
        library.papertape_spark_device_name.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        called("device_open", None, "\n".join(specs).encode(), ctypes.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        handle, self.handle = self.handle, ctypes.c_void_p()
        load().papertape_spark_device_close(handle)

    def name(self):
        return load().papertape_spark_device_name(self.handle).decode()

    def compute(self, batch):
        """The columns of all bars of one symbol."""
        taken = Taken()
        called("device_compute", self.handle, *Given(batch).arguments(), *taken.arguments())
        return taken.batch()


def computing(specs):
    """What mapInArrow() calls: a partition's symbols, one after the other, each gathered first."""

    def of_symbol(device, pieces):
        whole = pyarrow.Table.from_batches(pieces).combine_chunks().to_batches(max_chunksize=None)
        if len(whole) != 1:
            raise BadBars("a symbol's bars do not fit one Arrow batch: backend cpu computes them batch by batch")
        columns = joined(whole[0], device.compute(without_own(whole[0])))
        for at in range(0, columns.num_rows, BATCH_ROWS):
            yield columns.slice(at, BATCH_ROWS)

    def compute(batches):
        pieces, symbol = [], None
        with Device(specs) as device:
            for batch in batches:
                for (key,), rows in stretches(batch, ("symbol",)):
                    if pieces and key != symbol:
                        yield from of_symbol(device, pieces)
                        pieces = []
                    symbol = key
                    pieces.append(rows)
            if pieces:
                yield from of_symbol(device, pieces)

    return compute


def check(spark, specs):
    """A device's name of an executor; raises the reason where it has none."""

    def probe(_):
        with Device(specs) as device:
            return device.name()

    return spark.sparkContext.parallelize([0], 1).map(probe).collect()[0]
