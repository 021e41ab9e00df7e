"""Turns the scripts of this folder into one C file: embed.py OUT.c SCRIPT… A NAME.py is cli_lake_NAME_script."""

import os
import sys


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main(out, *scripts):
    with open(out, "w", encoding="utf-8") as file:
        file.write('#include "cli/lake/python.h"\n')
        for script in scripts:
            name = os.path.splitext(os.path.basename(script))[0]
            with open(script, encoding="utf-8") as source:
                lines = "\n".join(literal(line) for line in source.read().splitlines())
            file.write(f"\nconst char cli_lake_{name}_script[] =\n{lines};\n")


main(*sys.argv[1:])
