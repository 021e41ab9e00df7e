"""Papertape's indicators and features on Spark's DataFrames: docs/spark.md."""

from .columns import features, indicators
from .library import BadBars

__all__ = ["BadBars", "features", "indicators"]
