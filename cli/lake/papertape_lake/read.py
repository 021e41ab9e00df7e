"""read: reads bars out of Parquet for --bars.

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
import sys

import pyarrow as pa

from papertape_lake.common import Refused, answer, words_of
from papertape_lake.files import choose, digests
from papertape_lake.names import take_names
from papertape_lake.series import Series, WrongBar
from papertape_lake.source import NUMBERS, OTHERS, Source
from papertape_lake.symbols import chosen_symbols, groups_in, of_interval

RULES = b"papertape.lake.read/1"  # what CSV is made of a file: another way takes another number


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
            answer(error=f"pyarrow {pa.__version__}: {words_of(error)}")
