"""No product file outside record/ reads a column, or binds a parameter, of SQLite by a number: columns.py SOURCE_ROOT
(standard library only). A record's follow from its list (record/field.h), others are named beside their statement
(record/sqlite.h)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
ROOMS = ("cli", "daemon", "db", "engine", "exchange", "indicators_gpu", "strategy", "trainer", "tui")
NUMBERED = re.compile(r"sqlite3_(?:column|bind)_(?!count|parameter)\w+\(\s*[^,()]*(?:\([^()]*\))?[^,()]*,\s*\d")


def main():
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.[ch]"))]
    if len(files) < 300 or not NUMBERED.search("x = sqlite3_column_int64(b->stmt, 0);"):
        sys.exit("columns: the product's files are not there, or the pattern finds nothing")
    wrong = [f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, hit.start()) + 1}: {hit.group(0)}"
             for path in files for text in [path.read_text(encoding="utf-8")] for hit in NUMBERED.finditer(text)]
    for line in wrong:
        print(f"{line}…: a column or parameter by its number: RECORD_INTO or RECORD_PARAMS of record/sqlite.h, or a record")
    sys.exit(bool(wrong))


main()
