"""What the tests of papertape_spark on Spark share: Java, a session, bars, what one machine computes of them. A test that imports
this exits 77 (skipped) without Java 17, and as checks.py says. PAPERTAPE_SPARK_LIBRARY, PAPERTAPE_INDICATORS_LIBRARY and
PAPERTAPE name what is tested and compared with."""

import csv
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import SOURCE, oracle_venv

import numpy as np

with oracle_venv.imports("PySpark", "PAPERTAPE_SPARK_VENV"):
    import pandas as pd
    from pyspark.sql import SparkSession

if not shutil.which("java"):
    oracle_venv.skip("java is missing, which Spark runs on: openjdk-17-jre-headless")

os.environ["TZ"] = "UTC"
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCE / "spark"), str(SOURCE / "tests/spark"), os.environ.get("PYTHONPATH", "")])
os.environ["SPARK_LOCAL_HOSTNAME"] = "localhost"

scratch = tempfile.TemporaryDirectory(prefix="papertape-spark-")


def session(master="local[2]", **settings):
    """A session that keeps its files in the scratch folder and listens on loopback only."""
    builder = SparkSession.builder.master(master).appName("papertape")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": scratch.name,
        "spark.sql.warehouse.dir": f"{scratch.name}/warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        # Jobs of a second are not worth a compiler's time.
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={scratch.name} -Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
    }
    for key, value in {**fixed, **settings}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def walk(rng, symbol, rows, minutes=15):
    """Bars of one symbol that walk at random, two digits of price and three of volume."""
    path = np.round(rng.uniform(20, 500) * np.exp(np.cumsum(rng.normal(0, 0.004, rows + 1))), 2)
    opens, closes = path[:-1], path[1:]
    return pd.DataFrame({
        "symbol": symbol,
        "timestamp": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(rows) * minutes, unit="min"),
        "open": opens,
        "high": np.round(np.maximum(opens, closes) + rng.exponential(0.1, rows), 2),
        "low": np.round(np.minimum(opens, closes) - rng.exponential(0.1, rows), 2),
        "close": closes,
        "volume": np.round(rng.exponential(10, rows), 3),
    })


def computed(bars, specs):
    """One symbol's columns as `papertape indicators` prints them: {name: float64 array}, NaN where it is empty."""
    path = Path(scratch.name, f"{bars.symbol.iloc[0]}_15m.csv")
    bars.drop(columns="symbol").to_csv(path, index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
    printed = subprocess.run([os.environ["PAPERTAPE"], "indicators", path, *specs], capture_output=True, text=True, check=True).stdout
    header, *rows = csv.reader(printed.splitlines())
    cells = np.array([[float(cell or "nan") for cell in row] for row in rows])
    return {name: cells[:, k] for k, name in enumerate(header) if k > 0}


def same_bits(left, right, kind=np.float64):
    """Are two columns equal to the bit, and empty in the same places?"""
    left, right = (np.ascontiguousarray(column, dtype=kind) for column in (left, right))
    empty = np.isnan(left)
    return left.shape == right.shape and np.array_equal(empty, np.isnan(right)) and left[~empty].tobytes() == right[~empty].tobytes()


def in_order(found):
    return found.sort_values(["symbol", "timestamp"], kind="stable").reset_index(drop=True)


class _Bars(ctypes.Structure):
    """struct feature_bars."""

    _fields_ = [("columns", ctypes.c_void_p * 6), ("n", ctypes.c_size_t), ("interval_s", ctypes.c_int64)]


class _Options(ctypes.Structure):
    """struct feature_options."""

    _fields_ = [("backend", ctypes.c_int), ("threads", ctypes.c_uint)]


class _Set(ctypes.Structure):
    """The head of struct feature_set."""

    _fields_ = [("name", ctypes.c_char * 32), ("fitted", ctypes.c_bool), ("from_s", ctypes.c_double), ("to_s", ctypes.c_double), ("n", ctypes.c_size_t)]


def feature_matrix(bars, name, interval_s, rows):
    """(the set's text, its matrix) of libpapertape-indicators, exact, fitted on the first `rows` bars of one symbol."""
    library = ctypes.CDLL(os.environ["PAPERTAPE_INDICATORS_LIBRARY"])
    library.feature_set_text.restype = ctypes.c_char_p
    error = ctypes.create_string_buffer(400)
    times = bars.timestamp.to_numpy("datetime64[s]").astype(np.float64)
    columns = [np.ascontiguousarray(bars[key], dtype=np.float64) for key in ("open", "high", "low", "close", "volume")] + [times]
    given = _Bars((ctypes.c_void_p * 6)(*(column.ctypes.data for column in columns)), len(bars), interval_s)
    found = ctypes.POINTER(_Set)()

    def call(function, *arguments):
        if getattr(library, function)(*arguments) < 0:
            raise RuntimeError(f"{function}: {error.value.decode()}")

    call("feature_set_builtin", name.encode(), ctypes.byref(found))
    call("feature_set_fit", found, ctypes.byref(given), ctypes.c_size_t(0), ctypes.c_size_t(rows), error, ctypes.c_size_t(400))
    matrix = np.full((len(bars), found.contents.n), -7.0, dtype=np.float32)
    exact = _Options(1, 1)
    call("feature_matrix", found, ctypes.byref(given), ctypes.byref(exact), ctypes.c_void_p(matrix.ctypes.data), None, error, ctypes.c_size_t(400))
    return library.feature_set_text(found).decode(), matrix
