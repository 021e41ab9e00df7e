"""Which symbols files are of that say them neither in a column nor in a folder: by their names, which the program reads."""

import json
import sys

from papertape_lake.common import Refused, answer
from papertape_lake.files import listing


def in_name(asked, found):
    """BTC/USD is BTC-USD in a file's name, as of CSV."""
    return asked.upper() == found.upper() or asked.upper().replace("/", "-") == found.upper()


def of_one_file(path, said, asked):
    if len(asked) > 1:
        raise Refused(f"{path}: it has no column symbol: --symbol names the one that it is of")
    symbol = asked[0] if asked else said.get("symbol")
    if symbol is None:
        raise Refused(f"{path}: it has no column symbol, and no symbol is in its name: --symbol names it")
    return {path: {"symbol": symbol}}


def of_files(folder, files, said, asked):
    """{file: {"symbol", "interval"}} of a folder's files by their names, as of a folder of CSV; those of other symbols and of trades are
    not in it."""
    silent = [path for path, words in zip(files, said) if not words.get("specific") and not words.get("trades")]
    if silent and (len(silent) < len(files) or len(asked) != 1):
        raise Refused(f"{silent[0]}: no column, folder or file's name has its symbol: a column symbol, a folder as symbol=BTCUSDT or a name "
                      f"as BTCUSDT_5m.parquet is needed" + ("" if len(silent) < len(files) else "; where all are of one, --symbol names it"))
    if silent:
        return {path: {"symbol": asked[0]} for path in files}
    named = {path: words for path, words in zip(files, said) if not words.get("trades")}
    found = sorted({words["symbol"] for words in named.values()})
    lacking = [name for name in asked if not any(in_name(name, one) for one in found)]
    if lacking:
        raise Refused(f"{folder}: it has no bars of {listing(lacking)}, and has those of {listing(found)}")
    named = {path: words for path, words in named.items() if not asked or any(in_name(name, words["symbol"]) for name in asked)}
    keys = ("symbol", "interval") if all(words.get("interval") for words in named.values()) else ("symbol",)
    return {path: {key: words[key] for key in keys} for path, words in named.items()}


def take_names(source, path, asked):
    """Symbols of files that say them only in their names, and which of them are read."""
    lacking = source.lacking()
    if not lacking:
        return asked
    answer(names=lacking)
    said = json.loads(sys.stdin.buffer.readline() or b"{}").get("names", [{}] * len(lacking))
    if lacking == [path]:
        source.named = of_one_file(path, said[0], asked)
    else:
        source.named = of_files(path, lacking, said, asked)
    source.files = [file for file in source.files if file in source.named or file not in lacking]
    named = {words["symbol"] for words in source.named.values()}
    return [next((of for of in named if in_name(name, of)), name) for name in asked]
