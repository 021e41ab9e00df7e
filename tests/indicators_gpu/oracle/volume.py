"""Volume: see rows.py for what a family gives."""

import numpy as np
import talib


def vwap(options, c):
    """Per session, which begins options[0] hours after midnight UTC: sums of typical price times volume over sums of
    volume; the typical price while the session has no volume."""
    price = (c["high"] + c["low"] + c["close"]) / 3
    session = np.floor_divide(c["time"] - round(options[0] * 3600), 86400)
    out = np.empty(len(price))
    for begin, end in sessions(session):
        volume = np.cumsum(c["volume"][begin:end])
        flow = np.cumsum(price[begin:end] * c["volume"][begin:end])
        with np.errstate(invalid="ignore"):
            out[begin:end] = np.where(volume > 0, flow / volume, price[begin:end])
    return [out]


def sessions(session):
    edges = np.flatnonzero(np.diff(session)) + 1
    return zip([0, *edges], [*edges, len(session)])


ROWS = {
    "ad": lambda o, c: [talib.AD(c["high"], c["low"], c["close"], c["volume"])],
    "adosc": lambda o, c: [
        talib.ADOSC(c["high"], c["low"], c["close"], c["volume"], fastperiod=int(o[0]), slowperiod=int(o[1]))
    ],
    "mfi": lambda o, c: [talib.MFI(c["high"], c["low"], c["close"], c["volume"], timeperiod=int(o[0]))],
    "obv": lambda o, c: [talib.OBV(c["close"], c["volume"])],
    "vwap": vwap,
}
SPECS = ["ad", "adosc:3,10", "adosc:10,3", "adosc:2,30", "mfi:2", "mfi:14", "mfi:100", "obv", "vwap:0", "vwap:13.5"]
FIXTURES = ["ad", "adosc:3,10", "adosc:7,3", "mfi:14", "mfi:3", "obv", "vwap:0", "vwap:9.5"]
# ADOSC is a difference of two averages of the line, each of which keeps the roundings of as many values as its period.
# MFI's sums are running ones in TA-Lib, which keep the rounding of flows that left the window: it gives 1e-10 of 100
# where no flow went in.
ABSOLUTE = {
    "adosc": lambda c: 30 * 2.0**-53 * np.abs(talib.AD(c["high"], c["low"], c["close"], c["volume"])).max(),
    "mfi": lambda c: 1e-9 * max(1.0, len(c["close"]) / 50000),
}


def vwma(o, c):
    """The close where the window has no volume: TA-Lib gives 0/0 there."""
    average = talib.VWMA(c["close"], c["volume"], timeperiod=int(o[0]))
    none = np.isnan(average)
    none[: int(o[0]) - 1] = False
    return [np.where(none, c["close"], average)]


# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "vwma": vwma,
}
SPECS += ["vwma:1", "vwma:30"]
FIXTURES += ["vwma:30", "vwma:5"]


def rvol(o, c):
    """0 where the bars before have no volume: TA-Lib gives 0/0 there."""
    share = talib.RVOL(c["volume"], int(o[0]))
    return [np.concatenate([share[: int(o[0])], np.nan_to_num(share[int(o[0]) :])])]


ROWS |= {
    "cmf": lambda o, c: [talib.CMF(c["high"], c["low"], c["close"], c["volume"], int(o[0]))],
    "marketfi": lambda o, c: [talib.MARKETFI(c["high"], c["low"], c["volume"])],
    "rvol": rvol,
}
SPECS += ["cmf:2", "cmf:20", "marketfi", "rvol:1", "rvol:20"]
FIXTURES += ["cmf:20", "marketfi", "rvol:20"]
# A sum that passes through 0.
ABSOLUTE |= {"cmf": lambda c: 1e-9}

ROWS |= {
    "efi": lambda o, c: [talib.EFI(c["close"], c["volume"], int(o[0]))],
    "nvi": lambda o, c: [talib.NVI(c["close"], c["volume"])],
    "pvi": lambda o, c: [talib.PVI(c["close"], c["volume"])],
    "pvo": lambda o, c: [talib.PVO(c["volume"], int(o[0]), int(o[1]), int(o[2]))],
    "pvt": lambda o, c: [talib.PVT(c["close"], c["volume"])],
}
SPECS += ["efi:1", "efi:2", "efi:13", "nvi", "pvi", "pvo:12,26,1", "pvo:12,26,0", "pvo:30,5,1", "pvt"]
FIXTURES += ["efi:13", "efi:2", "nvi", "pvi", "pvo:12,26,1", "pvo:10,4,0", "pvt"]


def force(c):
    """The largest change times volume, of which EFI is an average: its digits are lost where the average passes through 0."""
    return 1e-14 * np.abs(np.diff(c["close"], prepend=c["close"][0]) * c["volume"]).max()


# PVO is a difference of averages, simple ones running in TA-Lib, as a share of one.
ABSOLUTE |= {"efi": force, "pvo": lambda c: 1e-9}
