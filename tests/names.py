"""Whether each external name of the product is of its folder: names.py BUILD_ROOT SOURCE_ROOT [--write] (nm; standard library only).

docs/names.md has the rule and the prefixes, tests/names_left the names from before it, which --write makes anew.
"""

import collections
import json
import os
import re
import subprocess
import sys

BUILD, ROOT = sys.argv[1], sys.argv[2]
PAGE, LEFT = "docs/names.md", "tests/names_left"
SHOWN = 20
OTHERS = ("bench/", "fixtures/", "tests/")


def prefixes():
    """The folders of each prefix."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as page:
        rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", page.read(), re.M)
    found = {}
    for folders, words in rows:
        for word in re.findall(r"`(\w+_)`", words):
            if word in found:
                raise SystemExit(f"{PAGE}: {word} is in two lines")
            found[word] = re.findall(r"`([^`]+)`", folders)
    return found


def defined():
    """The product's sources that define each external name."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    sources = {}
    for command in commands:
        path, output = os.path.join(command["directory"], command["file"]), command.get("output", "")
        path = next(os.path.relpath(path, top) for top in (BUILD, ROOT, "/") if os.path.realpath(path).startswith(os.path.realpath(top)))
        if output and os.path.exists(os.path.join(BUILD, output)) and not path.startswith(OTHERS) and not output.startswith(OTHERS):
            sources[output] = path
    printed = subprocess.run(["nm", "-A", "-g", "--defined-only", *sources], cwd=BUILD, capture_output=True, text=True, check=True).stdout
    names = collections.defaultdict(set)
    for line in printed.splitlines():
        place, rest = line.split(":", 1)
        names[rest.split()[-1].removesuffix(".resolver")].add(sources[place])
    return {name: places for name, places in names.items() if name != "main" and not name.startswith(("__asan", "__odr", "DW.ref."))}


def fits(name, path, known):
    """Is the longest prefix of the name one of the source's folder, or of one above it?"""
    longest = max((word for word in known if name.startswith(word)), key=len, default="")
    return any(path.startswith(folder + "/") for folder in known.get(longest, []))


def main():
    known, names = prefixes(), defined()
    wrong = {name for name, places in names.items() if not all(fits(name, place, known) for place in places)}
    twice = {name: sorted(places) for name, places in names.items() if len(places) > 1}
    if "--write" in sys.argv:
        with open(os.path.join(ROOT, LEFT), "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in sorted(wrong))
    with open(os.path.join(ROOT, LEFT), encoding="utf-8") as file:
        left = set(file.read().split())
    faults = [f"{name}: defined by {' and '.join(twice[name])}: one room only is right" for name in sorted(twice)]
    faults += [f"{name}: {sorted(names[name])[0]}: it does not begin with a prefix that {PAGE} lists for its folder"
               for name in sorted(wrong - left - set(twice))]
    faults += [f"{name}: it is in {LEFT}, and follows the rule or is gone: take its line out" for name in sorted(left - wrong)]
    for fault in faults[:SHOWN]:
        print("FAILED", fault, file=sys.stderr)
    print(f"names: {len(names)}, of which {len(left)} are from before the rule; {len(faults)} failures")
    return 1 if faults or len(names) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
