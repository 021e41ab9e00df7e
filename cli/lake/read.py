"""Reads bars out of Parquet for --bars of papertape, which passes this script to Python: read.py.

A request is a line of JSON. {"path": a file or folder, "symbols": [..] or null, "interval": "5m" or null, "out": a folder} answers which
files of bars, as CSV and one a symbol, are to be in `out`, and a SHA-256 of what their content follows from:
{"files": [{"path", "symbol", "sha256"}, …]}; what of this the program has in its cache it does not read again. {"write": true} writes
them, all that were asked for: {"written": n}. {"path": one of these, "line": n} asks then where that row came from: {"where": words}.

Where neither a column nor a folder has the symbol, the answer is {"names": [paths]} at first, and the next line has what the program
finds in them: {"names": [{"symbol", "interval", "specific", "trades"}, …]}.

Numbers are the Parquet file's own, as exact decimals or as the shortest text of their double, so that what is computed of them is to the
bit what the same bars as CSV give. Files are read one by one, in the order of their names, so that memory is that of one."""

import hashlib
import json
import os
import signal
import sys
import urllib.parse


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
KEY = ("symbol", "venue", "source", "interval")
OTHERS = (*KEY, "session")
SYMBOLS_MAX = 256  # of a lake: each has its file of bars open while they are written, and a process may open 1,024
VERIFY_CHECKSUMS = {"page_checksum_verification": True} if int(pa.__version__.split(".")[0]) >= 15 else {}  # of pages: 14 has none
SYMBOL_BYTES = 23  # of a symbol's name
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
RULES = b"papertape.lake.read/1"  # what CSV is made of a file: another way takes another number


class Refused(Exception):
    """A sentence for the user."""


class WrongBar(Exception):
    """A series' bar, by its number from 0 on, and what is wrong with it."""


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
    """What a file's folders below `root` say: {"symbol": "A/B"} of symbol=A%2FB, as DuckDB, Spark and pyarrow write it."""
    words = os.path.relpath(path, root).split(os.sep)[:-1]
    found = {name: urllib.parse.unquote(value) for name, value in (word.split("=", 1) for word in words if "=" in word)}
    if found.get("symbol") in ("", NULL_PARTITION):
        raise Refused(f"{path}: the folder symbol={found['symbol']} has the bars without a symbol: give them one, or move it out")
    return found


def of_lake(folder, interval):
    """(the files of one interval of papertape export's, day by day; the interval); None: it is no such folder."""
    if not os.path.exists(manifest_of(folder)):
        return None
    found = {}
    for day in sorted(name for name in os.listdir(folder) if name.startswith("date=") and os.path.isdir(os.path.join(folder, name))):
        for name in os.listdir(os.path.join(folder, day)):
            if visible(name) and name.endswith(".parquet"):
                found.setdefault(name.removesuffix(".parquet"), []).append(os.path.join(folder, day, name))
    if interval is None and len(found) > 1:
        raise Refused(f"{folder}: it has bars of {listing(sorted(found))}: --interval names one")
    if interval is not None and found and interval not in found:
        raise Refused(f"{folder}: it has no bars of {interval}, and has those of {listing(sorted(found))}")
    name = interval or next(iter(found), None)
    return found.get(name, []), name


def manifest_of(folder):
    return os.path.join(os.path.dirname(os.path.abspath(folder)), "_manifest.jsonl")


def above_partitions(folder):
    """The folder that partitions are below, of one that may be one itself, as t of t/symbol=BTCUSDT/date=2024-08-07."""
    folder = os.path.abspath(folder)
    while "=" in os.path.basename(folder):
        folder = os.path.dirname(folder)
    return folder


def choose(path, interval):
    """(files, the folder that their partitions are below, whether all of its symbols are taken, the interval)"""
    if not os.path.isdir(path):
        return [path], above_partitions(os.path.dirname(path)), False, interval
    path = os.path.normpath(path)
    if os.path.exists(os.path.join(path, "_manifest.jsonl")):
        path = os.path.join(path, "bars")
        if not os.path.isdir(path):
            raise Refused(f"{path}: it is not there: papertape export --table bars writes it")
    found, interval = of_lake(path, interval) or (files_below(path), interval)
    if not found:
        raise Refused(f"{path}: it has no file NAME.parquet")
    return found, above_partitions(path), True, interval


def digests(files, root):
    """Each file's SHA-256: the manifest's of a file that has not changed since, else that of its bytes."""
    known, listed = {}, manifest_of(root)
    if os.path.exists(listed):
        with open(listed, "rb") as file:
            for line in file:
                try:
                    row = json.loads(line)
                    known[os.path.abspath(os.path.join(os.path.dirname(listed), row["file"]))] = row["bytes"], row["sha256"]
                except (ValueError, KeyError, TypeError):
                    continue  # the lake's own line, one that a kill cut off, or another program's
        written_ns = os.stat(listed).st_mtime_ns
    for name in files:
        row, stat = known.get(os.path.abspath(name)), os.stat(name)
        if row is not None and row[0] == stat.st_size and stat.st_mtime_ns <= written_ns:
            yield row[1]
        else:
            yield digest_of(name)


def digest_of(name):
    digest = hashlib.sha256()
    with open(name, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


# ---- a file's columns ----

def columns_of(schema, path, known):
    """{bars' name: the file's}; a column that is missing is refused. `known`: what the folders say."""
    by_name = {}
    for name in schema.names:
        key = name.lower()
        if key in by_name and key in (*TIMES, *NUMBERS, *OTHERS):
            raise Refused(f"{path}: it has a column {by_name[key]} and a column {name}: names are taken in any case: leave one of them out")
        by_name.setdefault(key, name)
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


def unreadable(path, error):
    return Refused(f"{path}: it cannot be read as Parquet ({str(error).splitlines()[0]})")


def is_text(kind):
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return str(kind) in ("string", "large_string", "string_view")


def groups_of(file, column, symbols):
    """The row groups that may have one of the symbols, by their statistics: a lake's files are sorted by symbol."""
    metadata, groups = file.metadata, []
    names = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    for i in range(metadata.num_row_groups):
        found = metadata.row_group(i).column(names.index(column)).statistics if column in names else None
        if found is None or not found.has_min_max or any(found.min <= name <= found.max for name in symbols):
            groups.append(i)
    return groups


class Source:
    """The files that are read together, whose columns have the same types."""

    def __init__(self, files, root, symbols):
        self.files, self.root, self.symbols, self.first = files, root, symbols, None
        self.named = {}  # what files' names say, where nothing else does

    def lacking(self):
        """The files whose symbol is in no column and in no folder."""
        schema = self.file_of(self.files[0]).schema_arrow
        if any(name.lower() == "symbol" for name in schema.names):
            return []
        return [path for path in self.files if "symbol" not in partitions(path, self.root)]

    @staticmethod
    def file_of(path):
        try:
            return pq.ParquetFile(path, **VERIFY_CHECKSUMS)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(path, error) from None

    def open(self, path):
        """(the file, {bars' name: its column}, what its folders say)"""
        file = self.file_of(path)
        known = {name: value for name, value in partitions(path, self.root).items() if name in OTHERS} | self.named.get(path, {})
        columns = columns_of(file.schema_arrow, path, known)
        check_types(file.schema_arrow, columns, path)
        types = {name: "text" if name in OTHERS else str(file.schema_arrow.field(column).type) for name, column in sorted(columns.items())}
        if self.first is None:
            self.first = path, types
        if types != self.first[1]:
            name = next(name for name in sorted({*types, *self.first[1]}) if types.get(name) != self.first[1].get(name))
            raise Refused(f"{path}: its column {name} is {types.get(name, 'missing')}, and in {self.first[0]} it is "
                          f"{self.first[1].get(name, 'missing')}: files that are read together have one schema")
        return file, columns, known

    def read(self, path, names, whole=False):
        """Some columns of a file, of the symbols that are asked for; whole: every row."""
        try:
            file, columns, known = self.open(path)
            groups = list(range(file.num_row_groups))
            if self.symbols and "symbol" in columns and not whole:
                groups = groups_of(file, columns["symbol"], self.symbols)
            table = file.read_row_groups(groups, columns=[columns[name] for name in names if name in columns])
        except (pa.ArrowException, OSError) as error:
            raise unreadable(path, error) from None
        arrays = {}
        for name in names:
            if name in columns:
                array = table.column(columns[name])
                arrays[name] = array.cast(pa.string()) if name in OTHERS else array
            elif name in known:
                arrays[name] = pa.array([known[name]] * table.num_rows, pa.string())
            if name not in OTHERS and arrays[name].null_count:
                row = pc.index(arrays[name].is_null(), True).as_py() + 1
                where = f"row {row}" if len(groups) == file.num_row_groups else "a row"
                raise Refused(f"{path}: {where}: {columns[name]} is null: a bar has all of time, open, high, low, close and volume")
        table = pa.table(arrays)
        if self.symbols and "symbol" in arrays and path not in self.named and not whole:
            table = table.filter(pc.is_in(table.column("symbol"), pa.array(self.symbols)))
        return table


# ---- which bars ----

def groups_in(source, path):
    """The different (symbol, venue, source, interval) of all files; None for what they do not have."""
    found, any_row = set(), False
    for name in source.files:
        table = source.read(name, ("open_time", *KEY))
        any_row |= table.num_rows > 0
        names = [column for column in KEY if column in table.column_names]
        for column in names:
            if table.column(column).null_count:
                raise Refused(f"{name}: its column {column} is null in some rows: each bar's is needed, or no such column")
        if "symbol" in names and table.num_rows:
            empty = pc.index(table.column("symbol"), "").as_py()
            if empty >= 0:
                where = f"row {empty + 1}" if not source.symbols else "a row"
                raise Refused(f"{name}: {where}: its symbol is empty: each bar's is needed")
        if names and table.num_rows:
            rows = table.select(names).group_by(names).aggregate([]).to_pylist()
            found |= {tuple(row.get(column) for column in KEY) for row in rows}
    if not any_row:
        raise Refused(f"{path}: it has no bar" + (f" of {listing(sorted({s.upper() for s in source.symbols}))}" if source.symbols else ""))
    return found or {(None,) * len(KEY)}


def of_interval(groups, interval, path):
    found = sorted({group[3] for group in groups if group[3]})
    if interval is None or not found:
        return groups
    if interval not in found:
        raise Refused(f"{path}: it has no bars of {interval}, and has those of {listing(found)}")
    return {group for group in groups if group[3] == interval}


def one_of(groups, place, what, where, prefer=None, remedy="a file with one of them is needed"):
    """Those of the one value of a column: of several the preferred one's."""
    found = sorted({group[place] for group in groups if group[place]})
    if len(found) < 2:
        return groups
    if prefer not in found:
        raise Refused(f"{where}: it has bars of the {what} {listing(found)}: {remedy}")
    return {group for group in groups if group[place] == prefer}


def check_symbols(names, where):
    """Each as it is, for the program to take."""
    seen = {}
    for name in names:
        why = (f"it has {len(name.encode())} bytes, and {SYMBOL_BYTES} can be taken" if len(name.encode()) > SYMBOL_BYTES else
               "a comma, a control character, or a space at an end is in it" if "," in name or name != name.strip() or not name.isprintable() else
               f"it differs from {seen[name.upper()]!r} in case alone, and names are in upper case here: --symbol names one"
               if name.upper() in seen else None)
        if why:
            raise Refused(f"{where}: the symbol {name!r}: {why}")
        seen[name.upper()] = name
    return names


def chosen_symbols(groups, path, asked, takes_all):
    """[symbol], or [None] where nothing says it."""
    found = sorted({group[0] for group in groups if group[0]})
    if not found:
        return [None]
    if asked:
        by_name = {name.upper(): name for name in found} | {name: name for name in found}
        taken = [by_name.get(name) or by_name.get(name.upper()) for name in asked]
        lacking = [name for name, of in zip(asked, taken) if of is None]
        if lacking:
            raise Refused(f"{path}: it has no bars of {listing(lacking)}, and has those of {listing(found)}")
        return check_symbols(list(dict.fromkeys(taken)), path)
    if len(found) > 1 and not takes_all:
        raise Refused(f"{path}: it has the symbols {listing(found)}: --symbol names one")
    if len(found) > SYMBOLS_MAX:
        raise Refused(f"{path}: it has {len(found)} symbols, and {SYMBOLS_MAX} can be read: --symbol names them")
    return check_symbols(found, path)


# ---- files' names ----

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


class Series:
    """A symbol's bars on their way into a file of bars."""

    def __init__(self, path, symbol, groups, out, interval, number):
        self.where = path if symbol is None else f"{path}: {symbol}"
        self.symbol = symbol
        groups = one_of(groups, 1, "venues", self.where)
        groups = one_of(groups, 2, "sources", self.where, prefer="venue")
        groups = one_of(groups, 3, "intervals", self.where, remedy="--interval names one")
        self.key = next(iter(groups))
        interval = interval or self.key[3]
        self.path = os.path.join(out, f"{number}_{interval}.csv" if interval else f"{number}.csv")  # its symbol is answered beside it
        self.file, self.rows, self.last = None, 0, []  # last: the newest time, as a chunk
        self.parts = []  # (file, its rows)

    def of(self, table):
        """Its rows."""
        for name, value in zip(KEY, self.key):
            if value is not None and name in table.column_names:
                table = table.filter(pc.equal(table.column(name), value))
        return table

    def check_times(self, times):
        """Rising, without the same time twice."""
        before = times.slice(0, len(times) - 1)
        before = pa.chunked_array([*self.last, *before.chunks], times.type)
        later = pc.greater(times.slice(0 if self.rows else 1), before)
        if pc.all(later).as_py() is False:
            at = pc.index(later, False).as_py()
            row, now, then = at + (0 if self.rows else 1), times[at + (0 if self.rows else 1)], before[at]
            why = ("the same time as the bar before it: a bar comes twice" if now.equals(then) else
                   f"before {then}, the bar before it: sort them by time")
            raise WrongBar(self.rows + row, f" is of {now}, {why}")

    def place(self, bar):
        """(the file of the bar of that number from 0 on, which of its bars there it is)"""
        for path, rows in self.parts:
            if bar < rows:
                return path, bar
            bar -= rows
        return None

    def words_of(self, bar, source):
        """Where the bar of that number from 0 on is: "FILE: row 7 (row group 0)"."""
        path, left = self.place(bar) or (None, 0)
        if path is None:
            return self.where
        table = source.read(path, ("open_time", *KEY), whole=True)
        mask = pa.chunked_array([pa.array([True] * table.num_rows)])
        for name, value in zip(KEY, self.key):
            if value is not None and name in table.column_names:
                mask = pc.and_(mask, pc.equal(table.column(name), value))
        row = pc.indices_nonzero(mask)[left].as_py()
        metadata, group, first = source.file_of(path).metadata, 0, 0
        while row >= first + metadata.row_group(group).num_rows:
            first, group = first + metadata.row_group(group).num_rows, group + 1
        return f"{path}: row {row + 1} (row group {group})" + (f", {self.symbol}" if self.symbol else "")

    def add(self, table, path):
        table = self.of(table)
        if table.num_rows == 0:
            return
        self.parts.append((path, table.num_rows))
        times = table.column("open_time")
        self.check_times(times)
        columns = {"open_time": time_texts(times)}
        columns |= {name: self.number_texts(table.column(name), name) for name in NUMBERS}
        if "session" in table.column_names:
            columns["session"] = table.column("session").fill_null("none")
        made = pa.table(columns)
        if self.file is None:
            self.file = pa_csv.CSVWriter(self.path, made.schema, write_options=pa_csv.WriteOptions(quoting_style="none"))
        self.file.write_table(made)
        self.rows, self.last = self.rows + table.num_rows, times.slice(len(times) - 1).chunks

    def number_texts(self, array, name):
        if pa.types.is_floating(array.type):
            wrong = pc.invert(pc.is_finite(array))
            if pc.any(wrong).as_py():
                row = pc.index(wrong, True).as_py()
                raise WrongBar(self.rows + row, f": {name} is {array[row]}: a number is needed")
        return array.cast(pa.string())

    def end(self):
        if self.file is not None:
            self.file.close()


def time_texts(array):
    """As a bars file has them: nanoseconds where the zone is known."""
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return array.cast(pa.timestamp("ns", tz=kind.tz)).cast(pa.int64()).cast(pa.string())
    if pa.types.is_timestamp(kind):
        return pc.strftime(array.cast(pa.timestamp("ns")), "%Y-%m-%dT%H:%M:%S")
    return array.cast(pa.string())


class Plan:
    """What one request's files become."""

    def __init__(self, request):
        path = request["path"]
        files, root, takes_all, interval = choose(path, request["interval"])
        asked = request["symbols"] or ()
        self.source = Source(files, root, sorted({form for symbol in asked for form in (symbol, symbol.upper())}))
        asked = take_names(self.source, path, asked)
        groups = of_interval(groups_in(self.source, path), request["interval"] if takes_all or not self.source.named else None, path)
        self.series = [Series(path, symbol, {group for group in groups if group[0] == symbol}, request["out"], interval, number)
                       for number, symbol in enumerate(chosen_symbols(groups, path, asked, takes_all))]
        content = hashlib.sha256(RULES)
        for name, digest in zip(self.source.files, digests(self.source.files, root)):
            content.update(f"{os.path.relpath(name, root)}={digest}\n".encode())
        self.content, self.written = content.hexdigest(), False

    def answers(self):
        return [{"path": one.path, "symbol": one.symbol, "sha256": hashlib.sha256(f"{self.content} {one.key}".encode()).hexdigest()} for one in self.series]

    def add(self, one, table, path):
        try:
            one.add(table, path)
        except WrongBar as wrong:
            bar, what = wrong.args
            raise Refused(f"{one.where}: bar {bar + 1}{what} ({one.words_of(bar, self.source)})") from None

    def write(self):
        self.written = True
        try:
            for name in self.source.files:
                table = self.source.read(name, ("open_time", *NUMBERS, *OTHERS))
                for one in self.series:
                    self.add(one, table, name)
            for one in self.series:
                one.end()
        except OSError as error:
            raise Refused(f"{os.path.dirname(self.series[0].path)}: {os.strerror(error.errno) if error.errno else error}: bars of Parquet are CSV there "
                          "while they are loaded, some 100 bytes each: TMPDIR names another place") from None
        return len(self.series)


def where(request, plans):
    """What a file of bars, or a line of it, was made of; its first line has the names."""
    plan, one = next(((plan, one) for plan in plans for one in plan.series if one.path == request["path"]), (None, None))
    if one is None:
        return None
    return one.where if request["line"] < 2 else one.words_of(request["line"] - 2, plan.source)


def carry_out(request, plans):
    if "write" in request:
        answer(written=sum(plan.write() for plan in plans if not plan.written))
    elif "line" in request:
        answer(where=where(request, plans))
    else:
        plans[:] = [plan for plan in plans if not plan.written]
        plans.append(Plan(request))
        answer(files=plans[-1].answers())


def main():
    answer(executable=sys.executable, python=sys.version.split()[0], pyarrow=pa.__version__)
    plans = []
    for line in iter(sys.stdin.buffer.readline, b""):
        try:
            carry_out(json.loads(line), plans)
        except Refused as error:
            plans.clear()
            answer(error=str(error))
        except OSError as error:
            answer(error=f"{error.filename or 'its bars'}: {error.strerror or error}")
        except pa.ArrowException as error:
            answer(error=f"pyarrow {pa.__version__}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main()
