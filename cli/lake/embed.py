"""Makes the scripts beside it one archive that Python runs, and of it one C file: embed.py OUT.c SCRIPT…"""

import io
import os
import sys
import zipfile


def archive(scripts):
    """Nothing is compressed, since not every Python has zlib; its bytes follow from the scripts alone."""
    made, here = io.BytesIO(), os.path.dirname(os.path.abspath(__file__))
    with zipfile.ZipFile(made, "w") as file:
        for script in scripts:
            with open(script, "rb") as source:
                file.writestr(zipfile.ZipInfo(os.path.relpath(os.path.abspath(script), here)), source.read())
    return made.getvalue()


def main(out, *scripts):
    content = archive(scripts)
    lines = "\n".join("    " + " ".join(f"{byte}," for byte in content[at:at + 24]) for at in range(0, len(content), 24))
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'#include "cli/lake/python.h"\n\nconst unsigned char cli_lake_archive[] = {{\n{lines}\n}};\n'
                   "const size_t cli_lake_archive_size = sizeof cli_lake_archive;\n")


main(*sys.argv[1:])
