"""Whether each row of indicator_rows.h has all its parts, and each part a row: rows_complete.py SOURCE_ROOT STAMP DEPFILE

The build runs it before it compiles the registry. It prints a line for each part that is missing, with the file or folder
where it belongs, and ends with status 1; else it writes the two files, for ninja.
"""

import pathlib
import re
import sys

LIST = "indicators_gpu/indicator_rows.h"
LINE = re.compile(r"^ +X\((\d+), (\w+), (\w+), (\w+)\)", re.M)

CANDLES = "indicators_gpu/step/candle_list.h"
CANDLE = re.compile(r"^ +X\((\w+), \d+, [\d.]+, \"", re.M)
# The parts that a row of this kind does not have by hand.
ONCE = {"WINDOW": {"reference function", "memory", "step", "visitor", "fast kernel"}, "STEPS": {"reference function", "fast kernel"}}

# Folder, files, what defines NAME, the part, and its definition. It stands in the file named as its row's, where there is one.
PARTS = [
    ("indicators_gpu/rows", "*.c", r"^const struct indicator indicator_(NAME) = \{\n    INDICATOR_ROW\(NAME\),",
     "row", "indicator_{0}, which begins with INDICATOR_ROW({0}),"),
    ("indicators_gpu/step", "*.h", r"^FORMULA\((NAME)\)", "formula", "FORMULA({0})"),
    ("indicators_gpu/reference", "*.c", r"^int reference_(NAME)\(", "reference function", "reference_{0}()"),
    ("indicators_gpu/step", "*.h", r"^struct step_(NAME) \{", "memory", "struct step_{0}"),
    ("indicators_gpu/step", "*.h", r"^STEP size_t step_(NAME)_cells\(", "step", "step_{0}_cells()"),
    ("indicators_gpu/step", "*.h", r"^STEP void step_(NAME)_start\(", "step", "step_{0}_start()"),
    ("indicators_gpu/step", "*.h", r"^STEP bool step_(NAME)_next\(", "step", "step_{0}_next()"),
    ("indicators_gpu/stream", "*.c", r"^void visit_row_(NAME)\(", "visitor", "visit_row_{0}()"),
    ("indicators_gpu/fast", "*.c", r"^(?:const struct fast_kernel FAST|WINDOW_KERNEL\w*)\((NAME)[,)]", "fast kernel", "FAST({0})"),
    ("docs/indicators", "*.md", r"^(NAME)(?::|$)", "line in a page's table", "`{0}:defaults`"),
]


def specs(page):
    """What stands in the column "spec" of a page, a line each."""
    tables = re.findall(r"^\| spec \|.*\n((?:\|.*\n)+)", page, re.M)
    return "\n".join(spec for table in tables for line in table.splitlines() for spec in re.findall(r"`([^`]+)`", line.split("|")[1]))


def read(root):
    """The files' texts by path; of a page its specifications."""
    paths = [root / LIST] + [path for part in sorted({part[:2] for part in PARTS}) for path in sorted((root / part[0]).glob(part[1]))]
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in paths}
    return {path: specs(text) if path.endswith(".md") else text for path, text in texts.items()}


def of_list(rows):
    """What is wrong with the list itself; `rows` are its lines."""
    names, numbers = [row[2] for row in rows], sorted(int(row[0]) for row in rows)
    for _, upper, name, kernels in rows:
        if upper != name.upper():
            yield f'{LIST}: indicator "{name}": {name.upper()} is needed, not {upper}'
        if kernels not in ("BOTH", "F64", *ONCE):
            yield f'{LIST}: indicator "{name}": BOTH, F64, WINDOW or STEPS is needed, not {kernels}'
    for before, name in zip(names, names[1:]):
        if before >= name:
            yield f'{LIST}: indicator "{name}" stands after "{before}": sorted by name, each once, is needed'
    for number in range(1, len(rows) + 1):
        if numbers.count(number) != 1:
            yield f"{LIST}: number {number} is there {numbers.count(number)} times: 1 to {len(rows)}, each once, is needed"


def of_part(texts, names, files, part):
    """Which of the names lack the part, and which have it without being in the list."""
    folder, _, pattern, what, definition = part
    found = {}
    for path, text in texts.items():
        if path.startswith(folder + "/"):
            for match in re.finditer(pattern.replace("(NAME)", r"(\w+)").replace("NAME", r"\1"), text, re.M):
                found.setdefault(match.group(1), path)
    for name in names:
        if name not in found:
            base = files.get(name, "")
            at = next((path for path in texts if pathlib.Path(path).parent.as_posix() == folder
                       and pathlib.Path(path).stem == base), folder + "/")
            yield f'{at}: indicator "{name}" has no {what}: {definition.format(name)} is missing'
    for name, path in found.items():
        if name not in names:
            yield f'{path}: {definition.format(name)} is there, and indicator "{name}" is not in {LIST}'


def candles_of(texts):
    """The rows of the list of candlestick patterns, which are written there, and in one file of formulas."""
    return {"cdl" + name for name in CANDLE.findall(texts.get(CANDLES, ""))}


def names_of(part, texts):
    """The rows that have the part by hand."""
    candles = candles_of(texts)
    return [name for _, _, name, kind in LINE.findall(texts[LIST]) if part[3] not in ONCE.get(kind, ())
            and (part[3] != "formula" or kind == "WINDOW") and not (name in candles and part[3] in ("row", "formula"))]


def faults(texts):
    """Sentences; none where all is well."""
    rows = LINE.findall(texts[LIST])
    listed = {row[2] for row in rows}
    files = {name: pathlib.Path(path).stem for path, text in texts.items() if path.startswith("indicators_gpu/rows/")
             for name in re.findall(r"INDICATOR_ROW\((\w+)\)", text)}
    lost = [f'{CANDLES}: indicator "{name}" is not in {LIST}' for name in sorted(candles_of(texts) - listed)]
    return list(of_list(rows)) + lost + [fault for part in PARTS for fault in of_part(texts, names_of(part, texts), files, part)]


def main():
    root, stamp, depfile = map(pathlib.Path, sys.argv[1:])
    texts = read(root)
    wrong = faults(texts)
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    if wrong:
        return 1
    depfile.write_text(f"{stamp}: " + " ".join(str(root / path) for path in texts) + "\n")
    stamp.write_text("/* Every row has its parts. */\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
