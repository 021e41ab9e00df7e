"""Turns the numbered migrations into one C file: embed.py OUT.c 001_initial.sql 002_….sql

A line "-- after: FUNCTION" names the C function of db/migrate.h that continues where SQL ends."""

import os
import sys


def literal(line):
    return '        "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main(out, *sources):
    rows = []
    for number, source in enumerate(sources, 1):
        name = os.path.splitext(os.path.basename(source))[0]
        if not name.startswith(f"{number:03d}_"):
            sys.exit(f"embed.py: {source}: migration {number:03d} is missing or out of order")
        with open(source, encoding="ascii") as f:
            text = f.read().splitlines()
        after = [line.removeprefix("-- after: ") for line in text if line.startswith("-- after: ")]
        lines = "\n".join(literal(line) for line in text)
        rows.append(f'    {{\n        "{name}",\n{lines},\n        {after[0] if after else "NULL"},\n    }},\n')
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "db/migrate.h"\n\n')
        f.write("const struct db_migration db_migrations[] = {\n" + "".join(rows) + "};\n")
        f.write("const int db_migrations_count = sizeof(db_migrations) / sizeof(db_migrations[0]);\n")


main(*sys.argv[1:])
