"""The native library, and batches through it by the Arrow C data interface: no loop over bars in Python."""

import ctypes
import os

import pyarrow

VERSION = 1  # PAPERTAPE_SPARK_VERSION of native/papertape_spark.h
ERROR_MAX = 512
SYMBOL_MAX = 64
NAME = "libpapertape-spark.so"


class BadBars(ValueError):
    """Bars, or what was asked of them, that are not as they should be: what, where, what would be right."""


class _Array(ctypes.Structure):
    """Room for Arrow's struct ArrowArray."""

    _fields_ = [("words", ctypes.c_int64 * 10)]


class _Schema(ctypes.Structure):
    """Room for Arrow's struct ArrowSchema."""

    _fields_ = [("words", ctypes.c_int64 * 9)]


def path():
    """The library's file: beside this one, or where PAPERTAPE_SPARK_LIBRARY says."""
    return os.environ.get("PAPERTAPE_SPARK_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)


_loaded = None


def load():
    """The library, loaded once a process."""
    global _loaded
    if _loaded is None:
        library = ctypes.CDLL(path())
        if library.papertape_spark_version() != VERSION:
            raise ImportError(f"{path()} is of another version of papertape_spark: install both together, on every executor")
        library.papertape_spark_close.argtypes = [ctypes.c_void_p]
        library.papertape_spark_close.restype = None
        library.papertape_spark_column.restype = ctypes.c_char_p
        library.papertape_spark_column.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        library.papertape_spark_width.restype = ctypes.c_size_t
        library.papertape_spark_width.argtypes = [ctypes.c_void_p]
        library.papertape_spark_save.restype = ctypes.c_size_t
        library.papertape_spark_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.papertape_spark_refuse_gaps.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        library.papertape_spark_refuse_gaps.restype = None
        library.papertape_spark_free.argtypes = [ctypes.c_void_p]
        library.papertape_spark_free.restype = None
        _loaded = library
    return _loaded


def called(name, *arguments):
    """Calls papertape_spark_NAME(arguments, err, err_cap), and returns what it does; a failure's sentence is raised."""
    error = ctypes.create_string_buffer(ERROR_MAX)
    result = getattr(load(), f"papertape_spark_{name}")(*arguments, error, ctypes.c_size_t(ERROR_MAX))
    if result < 0:
        raise BadBars(error.value.decode(errors="replace"))
    return result


class Given:
    """A batch in the hands of the library: it is released there."""

    def __init__(self, batch):
        self.array, self.schema = _Array(), _Schema()
        batch._export_to_c(ctypes.addressof(self.array), ctypes.addressof(self.schema))

    def arguments(self):
        return ctypes.byref(self.array), ctypes.byref(self.schema)


class Taken:
    """Room for a batch that the library gives."""

    def __init__(self):
        self.array, self.schema = _Array(), _Schema()

    def arguments(self):
        return ctypes.byref(self.array), ctypes.byref(self.schema)

    def batch(self):
        return pyarrow.RecordBatch._import_from_c(ctypes.addressof(self.array), ctypes.addressof(self.schema))


class Run:
    """One computation over batches in order (native/papertape_spark.h); close() it, or use it in a `with`."""

    def __init__(self, kind, *arguments):
        self.handle = ctypes.c_void_p()
        called(kind, *arguments, ctypes.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        handle, self.handle = self.handle, ctypes.c_void_p()
        load().papertape_spark_close(handle)

    def names(self):
        library = load()
        return [library.papertape_spark_column(self.handle, k).decode() for k in range(library.papertape_spark_width(self.handle))]

    def warmup(self):
        bars = ctypes.c_int64()
        called("warmup", self.handle, ctypes.byref(bars))
        return bars.value

    def update(self, batch):
        """The columns of a batch, as one of as many rows."""
        taken = Taken()
        called("update", self.handle, *Given(batch).arguments(), *taken.arguments())
        return taken.batch()

    def skip(self, batch):
        """Takes a batch without its columns."""
        called("update", self.handle, *Given(batch).arguments(), None, None)

    def as_vector(self, name):
        called("as_vector", self.handle, name.encode())

    def refuse_gaps(self, interval):
        load().papertape_spark_refuse_gaps(self.handle, interval_ns(interval))

    def built(self, batch=None):
        """The bars that closed with a batch, or, without one, the last one."""
        taken = Taken()
        if batch is None:
            called("bars_finish", self.handle, *taken.arguments())
        else:
            called("bars_update", self.handle, *Given(batch).arguments(), *taken.arguments())
        return taken.batch()

    def fitted(self, from_ns, to_ns):
        text = ctypes.c_void_p()
        called("fitted", self.handle, ctypes.c_int64(from_ns), ctypes.c_int64(to_ns), ctypes.byref(text))
        try:
            return ctypes.string_at(text).decode()
        finally:
            load().papertape_spark_free(text)

    def save(self):
        library = load()
        size = library.papertape_spark_save(self.handle, None, 0)
        buffer = ctypes.create_string_buffer(size)
        library.papertape_spark_save(self.handle, buffer, size)
        return buffer.raw[:size]

    def load(self, symbol, state):
        """What save() gave, in front of this symbol's next bars."""
        called("load", self.handle, symbol.encode(), state, ctypes.c_size_t(len(state)))


def symbol_in(path):
    """The symbol in a file's name, as the program finds it."""
    symbol = ctypes.create_string_buffer(SYMBOL_MAX)
    called("symbol", path.removesuffix(".parquet").encode(), symbol)
    return symbol.value.decode(errors="replace")


def interval_ns(interval):
    """The nanoseconds of "5m"."""
    ns = ctypes.c_int64()
    called("interval", str(interval).encode(), ctypes.byref(ns))
    return ns.value
