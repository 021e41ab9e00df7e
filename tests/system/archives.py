"""Files as the venue's archive has them: a ZIP with one CSV, and its sum beside it."""

import hashlib
import os
import zipfile

KLINES = "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy,taker_buy_quote,ignore"


def kline(at, end, values, unit):
    """The cells of a bar from `at` to before `end`, both in milliseconds; unit: of them in the file."""
    return [at * unit, *[format(v, ".8f") for v in values], end * unit - 1, "1.5", 3, "0.5", "0.7", 0]


def write(folder, name, rows, heading=None, inner=None, wrong=None):
    """FOLDER/NAME.zip of rows of cells, with its sum; inner: the CSV's name is another one. wrong: "truncated", "sum", "no sum". Its path."""
    path = os.path.join(folder, f"{name}.zip")
    lines = [heading] if heading else []
    lines += [",".join(map(str, row)) for row in rows]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{inner or name}.csv", "\n".join(lines) + "\n")
    with open(path, "rb") as file:
        whole = file.read()
    if wrong == "truncated":
        whole = whole[:len(whole) // 2]
        with open(path, "wb") as file:
            file.write(whole)
    if wrong != "no sum":
        with open(path + ".CHECKSUM", "w", encoding="utf-8") as file:
            file.write(f"{hashlib.sha256(whole + (b'x' if wrong == 'sum' else b'')).hexdigest()}  {name}.zip\n")
    return path
