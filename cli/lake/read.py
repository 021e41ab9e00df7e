"""Reads bars out of Parquet for --bars of papertape, which passes this script to Python: read.py.

A request is a line of JSON: {"path": a file or folder, "symbols": [..] or null, "interval": "5m" or null, "out": a folder}; the answer
lists the files of bars that were written there as CSV, one a symbol: {"files": [...]}. Numbers are the Parquet file's own, as exact
decimals or as the shortest text of their double, so that what is computed of them is to the bit what the same bars as CSV give."""

import json
import os
import signal
import sys


def answer(**fields):
    print(json.dumps(fields), flush=True)


try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
except ImportError as missing:
    answer(error=f"{sys.executable} (Python {sys.version.split()[0]}) lacks the package pyarrow ({missing}): install it, for example by "
                 f"{sys.executable} -m pip install pyarrow in a virtual environment; PAPERTAPE_PYTHON names another Python")
    sys.exit(1)

TIMES = ("open_time", "timestamp", "unix", "datetime", "date", "time")  # as in a bars file of CSV
NUMBERS = ("open", "high", "low", "close", "volume")
OTHERS = ("symbol", "venue", "interval", "source", "session")
SYMBOLS_MAX = 256


class Refused(Exception):
    """A sentence for the user."""


def listing(names, most=8):
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


# ---- which files ----

def visible(name):
    return not name.startswith((".", "_"))


def files_below(folder):
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(filter(visible, folders))
        found += [os.path.join(here, name) for name in sorted(names) if visible(name) and name.endswith(".parquet")]
    return found


def partitions(path, root):
    """What a file's folders below `root` say: {"symbol": "BTCUSDT"} of symbol=BTCUSDT."""
    words = os.path.relpath(path, root).split(os.sep)[:-1]
    return dict(word.split("=", 1) for word in words if "=" in word)


def of_lake(folder, interval):
    """The files of one interval of papertape export's, day by day; None: it is no such folder."""
    days = sorted(name for name in os.listdir(folder) if name.startswith("date=") and os.path.isdir(os.path.join(folder, name)))
    found = {}
    for day in days:
        for name in os.listdir(os.path.join(folder, day)):
            if visible(name) and name.endswith(".parquet"):
                found.setdefault(name.removesuffix(".parquet"), []).append(os.path.join(folder, day, name))
    if not found or not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(folder)), "_manifest.jsonl")):
        return None
    if interval is None and len(found) > 1:
        raise Refused(f"{folder}: it has bars of {listing(sorted(found))}: --interval names one")
    if interval is not None and interval not in found:
        raise Refused(f"{folder}: it has no bars of {interval}, and has those of {listing(sorted(found))}")
    return found[interval or next(iter(found))]


def choose(path, interval):
    """(files, the folder that their partitions are below, whether all of its symbols are taken)"""
    if not os.path.isdir(path):
        return [path], os.path.dirname(path) or ".", False
    path = os.path.normpath(path)
    if os.path.exists(os.path.join(path, "_manifest.jsonl")):
        path = os.path.join(path, "bars")
        if not os.path.isdir(path):
            raise Refused(f"{path}: it is not there: papertape export --table bars writes it")
    found = of_lake(path, interval) or files_below(path)
    if not found:
        raise Refused(f"{path}: it has no file NAME.parquet")
    return found, path, True


# ---- a file's columns ----

def columns_of(schema, path, known):
    """{bars' name: the file's}; a column that is missing is refused. `known`: what the folders say."""
    by_name = {}
    for name in schema.names:
        by_name.setdefault(name.lower(), name)
    time = next((name for name in TIMES if name in by_name), None)
    missing = [name for name in NUMBERS if name not in by_name]
    if time is None or missing:
        what = " and ".join((["a time (" + ", ".join(TIMES) + ")"] if time is None else []) + missing)
        raise Refused(f"{path}: {what} is missing; its columns are {listing(schema.names, 20)}")
    return {"open_time": by_name[time]} | {name: by_name[name] for name in (*NUMBERS, *OTHERS) if name in by_name and name not in known}


def check_types(schema, columns, path):
    for name in NUMBERS:
        kind = schema.field(columns[name]).type
        if not (pa.types.is_decimal(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise Refused(f"{path}: its column {columns[name]} is {kind}: a decimal, a double or an integer is needed")
    kind = schema.field(columns["open_time"]).type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind) or is_text(kind)):
        raise Refused(f"{path}: its column {columns['open_time']} is {kind}: a timestamp, a date or an epoch is needed")


def is_text(kind):
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def groups_of(file, column, symbols):
    """The row groups that may have one of the symbols, by their statistics: a lake's files are sorted by symbol."""
    metadata, groups = file.metadata, []
    names = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    for i in range(metadata.num_row_groups):
        found = metadata.row_group(i).column(names.index(column)).statistics if column in names else None
        if found is None or not found.has_min_max or any(found.min <= name <= found.max for name in symbols):
            groups.append(i)
    return groups


def read_file(path, root, symbols, first):
    """A file's columns under the names of bars, of some symbols where `symbols` names them. `first`: the path and types of the first
    one, which all have."""
    try:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
        known = {name: value for name, value in partitions(path, root).items() if name in OTHERS}
        columns = columns_of(schema, path, known)
        check_types(schema, columns, path)
        groups = groups_of(file, columns["symbol"], symbols) if symbols and "symbol" in columns else range(file.num_row_groups)
        table = file.read_row_groups(list(groups), columns=list(columns.values()))
    except (pa.ArrowException, OSError) as error:
        raise Refused(f"{path}: it cannot be read as Parquet ({str(error).splitlines()[0]})") from None
    arrays = {}
    for name, column in columns.items():
        array = table.column(column)
        if name in OTHERS:
            array = array.cast(pa.string())
        if array.null_count and name not in OTHERS:
            row = pc.index(array.is_null(), True).as_py() + 1
            where = f"row {row}" if len(groups) == file.num_row_groups else "a row"
            raise Refused(f"{path}: {where}: {column} is null: a bar has all of time, open, high, low, close and volume")
        arrays[name] = array
    for name, value in known.items():
        arrays[name] = pa.array([value] * table.num_rows, pa.string())
    types = {name: str(array.type) for name, array in sorted(arrays.items())}
    if first and types != first[1]:
        name = next(name for name in sorted({*types, *first[1]}) if types.get(name) != first[1].get(name))
        raise Refused(f"{path}: its column {name} is {types.get(name, 'missing')}, and in {first[0]} it is {first[1].get(name, 'missing')}: "
                      "files that are read together have one schema")
    table = pa.table(arrays)
    if symbols and "symbol" in arrays:
        table = table.filter(pc.is_in(table.column("symbol"), pa.array(symbols)))
    return table, first or (path, types)


# ---- its bars ----

def words(table, name):
    return sorted(filter(None, pc.unique(table.column(name)).to_pylist())) if name in table.column_names else []


def one_of(table, name, what, where, prefer=None, remedy="a file with one of them is needed"):
    """The rows of the one value of a column: of several the preferred one's."""
    found = words(table, name)
    if len(found) < 2:
        return table
    if prefer not in found:
        raise Refused(f"{where}: it has bars of the {what} {listing(found)}: {remedy}")
    return table.filter(pc.equal(table.column(name), prefer))


def check_times(times, where):
    """Rising, without the same time twice."""
    later = pc.greater(times.slice(1), times.slice(0, len(times) - 1))
    if len(times) < 2 or pc.all(later).as_py():
        return
    row = pc.index(later, False).as_py() + 1
    now, before = times[row], times[row - 1]
    why = "the same time as the bar before it: a bar comes twice" if now == before else f"before {before}, the bar before it: sort them by time"
    raise Refused(f"{where}: bar {row + 1} is of {now}, {why}")


def time_texts(array):
    """As a bars file has them: nanoseconds where the zone is known."""
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return array.cast(pa.timestamp("ns", tz=kind.tz)).cast(pa.int64()).cast(pa.string())
    if pa.types.is_timestamp(kind):
        return pc.strftime(array.cast(pa.timestamp("ns")), "%Y-%m-%dT%H:%M:%S")
    return array.cast(pa.string())


def number_texts(array, name, where):
    if pa.types.is_floating(array.type):
        wrong = pc.invert(pc.is_finite(array))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, True).as_py()
            raise Refused(f"{where}: bar {row + 1}: {name} is {array[row]}: a number is needed")
    return array.cast(pa.string())


def write(table, where, path):
    check_times(table.column("open_time"), where)
    columns = {"open_time": time_texts(table.column("open_time").combine_chunks())}
    columns |= {name: number_texts(table.column(name).combine_chunks(), name, where) for name in NUMBERS}
    if "session" in table.column_names:
        columns["session"] = table.column("session").combine_chunks().fill_null("none")
    pa_csv.write_csv(pa.table(columns), path, pa_csv.WriteOptions(quoting_style="none"))


def name_of(path, symbol, interval):
    """As papertape fetch names them: BRK-B_1d.csv, BTC-USD_1m.csv."""
    if symbol is None:
        return os.path.splitext(os.path.basename(path))[0] + ".csv"
    return symbol.replace("/", "-") + (f"_{interval}.csv" if interval else ".csv")


def wanted_symbols(table, path, asked, takes_all):
    """[symbol], or [None] where no column says it."""
    found = words(table, "symbol")
    if not found:
        return [None]
    if asked:
        by_name = {name.upper(): name for name in found}
        lacking = [name for name in asked if name.upper() not in by_name]
        if lacking:
            raise Refused(f"{path}: it has no bars of {listing(lacking)}, and has those of {listing(found)}")
        return [by_name[name.upper()] for name in asked]
    if len(found) > 1 and not takes_all:
        raise Refused(f"{path}: it has the symbols {listing(found)}: --symbol names one")
    if len(found) > SYMBOLS_MAX:
        raise Refused(f"{path}: it has {len(found)} symbols, and {SYMBOLS_MAX} can be read: --symbol names them")
    return found


def bars_of(request):
    path = request["path"]
    files, root, takes_all = choose(path, request["interval"])
    symbols = sorted({form for symbol in request["symbols"] or () for form in (symbol, symbol.upper())})
    tables, first = [], None
    for name in files:
        table, first = read_file(name, root, symbols, first)
        tables.append(table)
    table = pa.concat_tables(tables)
    if table.num_rows == 0:
        raise Refused(f"{path}: it has no bar" + (f" of {listing(request['symbols'])}" if request["symbols"] else ""))
    if request["interval"] and "interval" in table.column_names:
        if request["interval"] not in words(table, "interval"):
            raise Refused(f"{path}: it has no bars of {request['interval']}, and has those of {listing(words(table, 'interval'))}")
        table = table.filter(pc.equal(table.column("interval"), request["interval"]))
    written = []
    for symbol in wanted_symbols(table, path, request["symbols"], takes_all):
        rows = table if symbol is None else table.filter(pc.equal(table.column("symbol"), symbol))
        where = path if symbol is None else f"{path}: {symbol}"
        rows = one_of(rows, "venue", "venues", where)
        rows = one_of(rows, "source", "sources", where, prefer="venue")
        rows = one_of(rows, "interval", "intervals", where, remedy="--interval names one")
        interval = (words(rows, "interval") or [request["interval"]])[0]
        name = os.path.join(request["out"], name_of(path, symbol, interval))
        write(rows, where, name)
        written.append(name)
    return written


def main():
    answer(executable=sys.executable, python=sys.version.split()[0], pyarrow=pa.__version__)
    for line in iter(sys.stdin.buffer.readline, b""):
        try:
            answer(files=bars_of(json.loads(line)))
        except Refused as error:
            answer(error=str(error))
        except OSError as error:
            answer(error=f"{error.filename or 'its bars'}: {error.strerror or error}")
        except pa.ArrowException as error:
            answer(error=f"pyarrow {pa.__version__}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main()
