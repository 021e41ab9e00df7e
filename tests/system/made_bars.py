"""Bars of a minute that are made for a test, and files of bars."""
import csv
import decimal
import gzip
import os

MINUTE = 60_000


def make(chance, begin, first, last, gaps):
    """{open time, ms: (open, high, low, close, volume)} of minutes [first, last) after `begin`, without those of the gaps."""
    bars, price = {}, decimal.Decimal(chance.randrange(1000, 99999)) / 100
    for i in range(first, last):
        if any(a <= i < b for a, b in gaps):
            continue
        values = [price + decimal.Decimal(chance.randrange(-50, 51)) / 100 for _ in range(4)]
        values = [max(v, decimal.Decimal("0.01")) for v in values]
        bars[begin + i * MINUTE] = (values[0], max(values), min(values), values[3], decimal.Decimal(chance.randrange(0, 10**7)) / 10**5)
        price = values[3]
    return bars


def write(folder, name, bars, interval="1m"):
    """Its path."""
    path = os.path.join(folder, f"{name}_{interval}.csv.gz")
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("open_time_ms,open,high,low,close,volume\n")
        for at, values in bars.items():
            file.write(f"{at},{','.join(format(v, 'f') for v in values)}\n")
    return path


def read(path):
    """What write() was given."""
    with gzip.open(path, "rt") as file:
        return {int(row[0]): tuple(decimal.Decimal(v) for v in row[1:6]) for row in list(csv.reader(file))[1:]}
