"""Which symbols, intervals, venues and sources files have by their columns and folders, and which of them are read."""

import pyarrow.compute as pc

from papertape_lake.common import Refused
from papertape_lake.files import listing
from papertape_lake.source import KEY

SYMBOLS_MAX = 256  # of a lake: each has its file of bars open while they are written, and a process may open 1,024
SYMBOL_BYTES = 23  # of a symbol's name


def groups_in(source, path):
    """The different (symbol, venue, source, interval) of all files; None for what they do not have, which is never the symbol."""
    found = set()
    for name in source.files:
        table = source.read(name, ("open_time", *KEY))
        names = [column for column in KEY if column in table.column_names]
        for column in names:
            if table.column(column).null_count:
                raise Refused(f"{name}: its column {column} is null in some rows: each bar's is needed, or no such column")
        if table.num_rows:
            empty = pc.index(table.column("symbol"), "").as_py()
            if empty >= 0:
                where = f"row {empty + 1}" if not source.symbols else "a row"
                raise Refused(f"{name}: {where}: its symbol is empty: each bar's is needed")
            rows = table.select(names).group_by(names).aggregate([]).to_pylist()
            found |= {tuple(row.get(column) for column in KEY) for row in rows}
    if not found:
        raise Refused(f"{path}: it has no bar" + (f" of {listing(sorted({s.upper() for s in source.symbols}))}" if source.symbols else ""))
    return found


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
    """Those of `asked`, or all, as they are."""
    found = sorted({group[0] for group in groups})
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
