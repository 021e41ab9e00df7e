"""Turns the calendars of a folder into one C file: embed.py OUT.c DEPFILE FOLDER"""

import os
import sys


def literal(line):
    return '     "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n'


def main(out, depfile, folder):
    rows = []
    sources = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".calendar"))
    for source in sources:
        with open(source, encoding="ascii") as f:
            text = "".join(literal(line) for line in f.read().splitlines())
        rows.append(f'    {{"{os.path.basename(source).removesuffix(".calendar")}",\n{text}    }},\n')
    with open(depfile, "w", encoding="utf-8") as f:
        f.write(f"{out}: {' '.join([folder, *sources])}\n")
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "exchange/calendar_table.h"\n\n')
        f.write("const struct calendar_built_in calendar_built_ins[] = {\n" + "".join(rows) + "};\n")
        f.write("const size_t calendar_built_ins_n = sizeof(calendar_built_ins) / sizeof(*calendar_built_ins);\n")


main(*sys.argv[1:])
