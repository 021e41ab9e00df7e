"""Papertape's indicators, features and bars on Spark's DataFrames: docs/spark.md."""

from .build import bars, fit
from .columns import features, indicators
from .library import BadBars
from .read import read
from .sql import register
from .stream import stream_features, stream_indicators
from .trading import backtest, sweep

__all__ = ["BadBars", "backtest", "bars", "features", "fit", "indicators", "read", "register", "stream_features", "stream_indicators", "sweep"]
