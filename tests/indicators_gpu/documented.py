"""docs/indicators says what the registry says: documented.py PAPERTAPE SOURCE_ROOT (standard library only).

Each row is on its family's page and on no other, with its defaults, inputs, the ranges of its options and the names of its
outputs; docs/indicators.md lists the families' rows and the backends; the counts in words and figures are the registry's.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

PAPERTAPE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
ONES = " one two three four five six seven eight nine".split(" ")
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
LONGEST = 100000
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def in_words(n):
    """21 to 999, as a sentence begins, whose last two digits are 00, or 20 and more."""
    if n >= 100:
        rest = in_words(n % 100).lower() if n % 100 else ""
        return f"{ONES[n // 100].capitalize()} hundred" + (f" and {rest}" if rest else "")
    return "-".join(filter(None, [TENS[n // 10 - 2], ONES[n % 10]])).capitalize()


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(page, first):
    """The lines of the tables whose first heading is that, as {heading: cell}."""
    for head, body in re.findall(rf"^(\| {first} \|.*)\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.M):
        for line in body.splitlines():
            yield dict(zip(cells(head), cells(line), strict=True))


def default_spec(row):
    options = ",".join(f"{option['default']:.10g}" for option in row["options"])
    return f"{row['name']}:{options}" if options else row["name"]


def range_of(option):
    if option["max"] == LONGEST:
        return f"≥ {option['min']:g}"
    if option["whole"] and option["max"] == option["min"] + 1:
        return f"{option['min']:g} or {option['max']:g}"
    return f"{option['min']:g} to {option['max']:g}"


def check_row(row, line, where):
    for option in row["options"]:
        check(range_of(option) in line["options"], f"{where}: option {option['name']}: {range_of(option)}, not {line['options']!r}")
    if not row["options"]:
        check(line["options"] == "none", f"{where}: it has no options")
    if "reads" in line:
        reads = [name if name == "time" else name[0] for name in row["inputs"]]
        check(line["reads"] == ", ".join(reads), f"{where}: it reads {reads}, not {line['reads']}")
    else:
        check(row["inputs"] == ["close"], f"{where}: the page has no column of what it reads")
    outputs = [column.rpartition(".")[2] for column in row["columns"]] if len(row["columns"]) > 1 else []
    named = re.findall(r"`(\w+)`", line.get("outputs", ""))
    check(named == outputs, f"{where}: outputs {outputs}, not {named}")


def check_pages(rows):
    seen = collections.Counter()
    for path in sorted((ROOT / "docs/indicators").glob("*.md")):
        for line in table(path.read_text(), "spec"):
            for spec in re.findall(r"`([^`]+)`", line["spec"]):
                name, where = spec.partition(":")[0], f"{path.name}: {spec}"
                seen[name] += 1
                check(name in rows, f"{where}: there is no such indicator")
                if name not in rows:
                    continue
                check(rows[name]["family"] == path.stem, f"{where}: its family is {rows[name]['family']}")
                check(default_spec(rows[name]) == spec, f"{where}: its defaults are {default_spec(rows[name])}")
                check_row(rows[name], line, where)
    for name, row in rows.items():
        check(seen[name] == 1, f"{name}: {seen[name]} lines in tables of docs/indicators/{row['family']}.md: one is needed")


def check_overview(rows):
    page = (ROOT / "docs/indicators.md").read_text()
    families = collections.defaultdict(set)
    for row in rows.values():
        families[row["family"]].add(row["name"])
    listed = {}
    for line in table(page, "family"):
        (family,) = re.findall(r"\(indicators/(\w+)\.md\)", line["family"])
        names = line["rows"].split()
        check(len(names) == len(set(names)), f"docs/indicators.md: {family}: a row is there twice")
        listed[family] = set(names)
    for family in sorted({*listed, *families}):
        lacks, extra = families[family] - listed.get(family, set()), listed.get(family, set()) - families[family]
        check(not lacks and not extra, f"docs/indicators.md: family {family}: without {sorted(lacks)}, and {sorted(extra)} of no such row")

    said = subprocess.run([PAPERTAPE, "indicators", "--backend", "none", "x", "sma"], capture_output=True, text=True).stderr
    backends = set(re.findall(r"\w+", said.partition("one of ")[2].partition(" is needed")[0]))
    named = {line["`--backend`"].strip("`") for line in table(page, "`--backend`")}
    check(named == backends and len(named) > 1, f"docs/indicators.md: backends {named}, not {backends}")
    check(f"{ONES[len(backends)]} backends" in page, f"docs/indicators.md: there are {len(backends)} backends")


def check_words(n):
    for path, texts in {
        "docs/indicators.md": [f"{in_words(n)} definitions, one registry"],
        "README.md": [f"# {n} definitions: options", f"\n{in_words(n)}, with TA-Lib's definitions"],
        "NEWS.md": [f"\n- {in_words(n)} indicators, TA-Lib's"],
    }.items():
        for text in texts:
            check(text in (ROOT / path).read_text(), f"{path}: {text.strip()!r} is needed: the registry has {n} rows")
    for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "tui/papertape.1.scd", ROOT / "indicators_gpu/indicators.h"]:
        check(not re.search(r"\bfast (CPU )?backend", path.read_text(), re.I), f"{path}: the backend is called cpu")


def main():
    done = subprocess.run([PAPERTAPE, "indicators", "--list", "--json"], capture_output=True, text=True, check=True)
    rows = {row["name"]: row for row in json.loads(done.stdout)["indicators"]}
    check_pages(rows)
    check_overview(rows)
    check_words(len(rows))
    print(f"indicators_gpu/documented: {len(rows)} rows, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
