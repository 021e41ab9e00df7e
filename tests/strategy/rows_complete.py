"""A strategy that lacks its line in the list does not build: rows_complete.py SOURCE_ROOT CC...

Each line of strategy/strategies.h is taken out, and the strategy's file compiled: the compiler names line and file.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, CC = pathlib.Path(sys.argv[1]), sys.argv[2:]
HEADER = "strategy/strategies.h"
text = (ROOT / HEADER).read_text()
names = re.findall(r"^    X\((\w+)\)", text, re.M)
failures = 0


def compiled(folder, name):
    command = [*CC, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", f"-I{folder}", f"-I{ROOT}", str(ROOT / f"strategy/{name}.c")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder) / HEADER
    place.parent.mkdir()
    for name in names:
        place.write_text(text)
        check(compiled(folder, name).returncode == 0, f"{name}: its file does not compile as it is")
        place.write_text(re.sub(rf"^    X\({name}\)( \\)?\n", "    \\\\\n" if name != names[-1] else "\n", text, flags=re.M))
        done = compiled(folder, name)
        check(done.returncode != 0 and f"STRATEGY_LISTED_{name}" in done.stderr and f"strategy/{name}.c" in done.stderr,
              f"{name}: without its line the build says: {done.stderr}")
check(len(names) >= 8 and names == sorted(names), f"sorted by name: {names}")
print(f"strategy/rows_complete: {len(names)} rows, {failures} failures")
sys.exit(1 if failures else 0)
