"""Whether each external name of the product is of its folder: names.py BUILD_ROOT SOURCE_ROOT (nm; standard library only).

docs/names.md has the rule and the prefixes.
"""

import collections
import json
import os
import re
import subprocess
import sys

BUILD, ROOT = sys.argv[1], sys.argv[2]
PAGE = "docs/names.md"
SHOWN = 20
OTHERS = ("bench/", "fixtures/", "tests/")


def prefixes():
    """The folders of each prefix."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as page:
        rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", page.read(), re.M)
    found = {}
    for folders, words in rows:
        for word in re.findall(r"`(\w+)`", words):
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
        if "-unity" in path:  # several sources of one folder, included
            with open(path, encoding="utf-8") as unity:
                path = unity.readline().split("<")[1].split(">")[0]
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


def tags():
    """The product's headers that define each struct, enum and union, and other files of it that define one of these names.

    A header's name that is declared only is of the one source that defines it.
    """
    files = subprocess.run(["git", "ls-files", "*.h", "*.c", "*.cu", "*.cuh"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = {}
    for path in files:
        if not path.startswith(OTHERS):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                texts[path] = file.read()
    found = collections.defaultdict(set)
    for path, text in texts.items():
        for tag in re.findall(r"^(?:typedef )?(?:struct|enum|union) (\w+)\s*\{", text, re.M):
            found[tag].add(path)
    of_headers = {tag for path, text in texts.items() if path.endswith((".h", ".cuh")) for tag in re.findall(r"^(?:struct|enum|union) (\w+)(?:;|\s*\{)", text, re.M)}
    return {tag: places for tag, places in found.items() if tag in of_headers}


def main():
    if not os.path.exists(os.path.join(ROOT, ".git")):
        print("source/names: skipped: this is no clone, whose list of files is needed")
        return 77
    known, names, of_tags = prefixes(), defined(), tags()
    faults = [f"{name}: defined by {' and '.join(sorted(places))}: one room only is right" for name, places in sorted(names.items()) if len(places) > 1]
    faults += [f"{name}: {place}: it does not begin with a prefix that {PAGE} lists for its folder"
               for name, places in sorted(names.items()) for place in sorted(places) if not fits(name, place, known)]
    faults += [f"struct {tag}: defined by {' and '.join(sorted(places))}: one meaning a name is right" for tag, places in sorted(of_tags.items()) if len(places) > 1]
    for fault in faults[:SHOWN]:
        print("FAILED", fault, file=sys.stderr)
    print(f"names: {len(names)}, of headers' types {len(of_tags)}; {len(faults)} failures")
    return 1 if faults or len(names) < 1000 or len(of_tags) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
