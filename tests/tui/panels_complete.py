"""A panel that lacks its line in the list does not build: panels_complete.py SOURCE_ROOT CC... (in the short run some).

Each line of PANEL_LIST in tui/layout.h is taken out, and the file that draws the panel compiled: the compiler names both.
A panel whose title is always the same text is in a picture of tests/tui/golden.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, CC = pathlib.Path(sys.argv[1]), sys.argv[2:]
HEADER = "tui/layout.h"
text = (ROOT / HEADER).read_text()
names = re.findall(r"^    X\((?:\w+), (\w+)\)", text, re.M)
drawn = {name: path for path in (ROOT / "tui/panel").glob("*.c")
         for name in re.findall(r"^void panel_(\w+)\(", path.read_text(), re.M)}


sources = [path.read_text() for path in (ROOT / "tui/panel").glob("*.c")]
pictures = "".join(path.read_text() for path in (ROOT / "tests/tui/golden").glob("*.txt"))


def undrawn(name):
    """Its title, where no picture has it."""
    calls = [call for source in sources
             for call in re.findall(rf"panel_frame_rule(?:_of)?\(\w+, \w+,\s*PANEL_{name.upper()},\s*([^,]+),", source)]
    titles = [call[1:-1] for call in calls if re.fullmatch('"[^"]+"', call)]
    return titles[0] if titles and len(titles) == len(calls) and not any("\u2500" + title in pictures for title in titles) else None


def fault(name):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / HEADER
        place.parent.mkdir()
        less, n = re.subn(rf"^    X\(\w+, {name}\).*\n", "", text, flags=re.M)
        if name == names[-1]:
            less = less.replace(" \\\n/* clang-format on */", "\n/* clang-format on */")
        place.write_text(less)
        done = subprocess.run([*CC, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wmissing-prototypes", "-Werror", f"-I{folder}", f"-I{ROOT}",
                               str(drawn[name])], capture_output=True, text=True, check=False)
        good = n == 1 and done.returncode and drawn[name].name in done.stderr and (f"panel_{name}" in done.stderr or f"PANEL_{name.upper()}" in done.stderr)
        return None if good else f"{name}: without its line the build says: {done.stderr}"


with concurrent.futures.ThreadPoolExecutor() as pool:
    faults = [f"{name}: no file in tui/panel draws it" for name in names if name not in drawn]
    tried = [name for name in (names if "PAPERTAPE_LONG" in os.environ else names[::12] + names[-1:]) if name in drawn]
    faults += [found for found in pool.map(fault, tried) if found]
faults += [f"{name}: no picture in tests/tui/golden has a panel \"{undrawn(name)}\": a check_screen() in tests/tui/screens.c" for name in names
           if undrawn(name)]
for found in faults:
    print("FAILED", found, file=sys.stderr)
print(f"tui/panels_complete: {len(names)} panels, {len(tried)} taken out, {len(faults)} failures")
sys.exit(1 if faults or len(names) < 30 else 0)
