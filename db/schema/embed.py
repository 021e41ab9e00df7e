"""Turns the numbered migrations of a folder into one C file: embed.py OUT.c DEPFILE FOLDER

A line "-- after: FUNCTION" names the C function of db/migrate.h that continues where SQL ends."""

import os
import sys


def literal(line):
    return '        "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main(out, depfile, folder):
    rows = []
    sources = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sql"))
    for number, source in enumerate(sources, 1):
        name = os.path.splitext(os.path.basename(source))[0]
        if not name.startswith(f"{number:03d}_"):
            sys.exit(f"embed.py: {source}: migration {number:03d} is missing or out of order")
        with open(source, encoding="ascii") as f:
            text = f.read().splitlines()
        after = [line.removeprefix("-- after: ") for line in text if line.startswith("-- after: ")]
        lines = "\n".join(literal(line) for line in text)
        rows.append(f'    {{\n        "{name}",\n{lines},\n        {after[0] if after else "NULL"},\n    }},\n')
    with open(depfile, "w", encoding="utf-8") as f:
        f.write(f"{out}: {' '.join([folder, *sources])}\n")
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "db/migrate.h"\n\n')
        f.write("const struct db_migration db_migrations[] = {\n" + "".join(rows) + "};\n")
        f.write("const int db_migrations_count = sizeof(db_migrations) / sizeof(db_migrations[0]);\n")


main(*sys.argv[1:])
