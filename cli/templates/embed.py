"""Turns files into C texts by their names: embed.py OUT.c FILE..."""

import os
import sys


def literal(line):
    return '        "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main(out, *sources):
    rows = []
    for source in sources:
        with open(source, encoding="utf-8") as f:
            lines = f.read().splitlines()
        rows.append(f'    {{"{os.path.basename(source)}",\n' + "\n".join(literal(line) for line in lines) + "},\n")
    with open(out, "w", encoding="utf-8") as f:
        f.write('#include "cli/strategy_templates.h"\n\n')
        f.write("const struct strategy_template cli_strategy_templates[] = {\n" + "".join(rows) + "    {NULL, NULL},\n};\n")


main(*sys.argv[1:])
