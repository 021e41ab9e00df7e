"""How many sources are compiled again when a header changes: includes.py BUILD_ROOT SOURCE_ROOT (standard library only).

What the sources of compile_commands.json include, by name and whatever #if says: no build is needed. LIMITS has the
headers that change whenever something is added to a list.
"""

import functools
import json
import os
import re
import sys

BUILD, ROOT = sys.argv[1], sys.argv[2]
LIMITS = {
    "engine/event.h": 260, "exchange/market.h": 330, "indicators_gpu/indicator_rows.h": 200, "indicators_gpu/indicators.h": 480,
    "strategy/strategy.h": 300}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


@functools.lru_cache(maxsize=None)
def included(path):
    """The project's files that a file includes itself."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        names = INCLUDE.findall(file.read())
    places = (os.path.normpath(os.path.join(folder, name)) for name in names for folder in ("", os.path.dirname(path)))
    return frozenset(place for place in places if os.path.exists(os.path.join(ROOT, place)))


def reached(path):
    """A source, and all that it includes."""
    seen, waiting = {path}, [path]
    while waiting:
        for other in included(waiting.pop()) - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def main():
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    sources = [os.path.relpath(os.path.join(command["directory"], command["file"]), ROOT) for command in commands]
    sources = [reached(path) for path in sources if not path.startswith("..") and os.path.exists(os.path.join(ROOT, path))]
    failures = 0
    for header, most in LIMITS.items():
        n = sum(header in reach for reach in sources)
        print(f"{header}: {n} of {len(sources)} objects, at most {most}")
        if not 0 < n <= most:
            failures += 1
            print(f"FAILED {header}: {n} objects include it; from 1 to {most} are right", file=sys.stderr)
    print(f"includes: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
