"""A strategy, panel or verb that lacks its line in the list does not build: rows_complete.py SOURCE_ROOT BUILD_ROOT CC...

Lines of each list are taken out, one at a time, and the file of its row compiled: the compiler names line and file. With
PAPERTAPE_LONG all of them; else each fourth from a place that is drawn (PAPERTAPE_SEED). Each has one file. A strategy's file
that is not listed is not compiled, and named here. Indicators have a check of their own, indicators_gpu/rows_complete_test.py.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT, BUILD, CC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
# The list: header, its macro, a line; where the row of NAME is, and how it begins; what the compiler then names.
KINDS = {
    "strategy": ("strategy/strategies.h", "STRATEGIES", r"X\((\w+)\)", ("strategy",), r"STRATEGY_ROW\(NAME\)", "STRATEGY_LISTED_{}"),
    "panel": ("tui/layout.h", "PANEL_LIST", r"X\(\w+, (\w+)\)", ("tui", "tui/panel"), r"void panel_NAME\(", "panel_{}"),
    "verb": ("cli/verbs.h", "CLI_VERBS", r"X\((\w+)\)", ("cli", "tui/verb"), r"CLI_VERB\(NAME\)", "CLI_LISTED_{}"),
    "trainer's verb": ("trainer/command/args.h", "TRAINER_VERBS", r"X\((\w+)\)", ("trainer/command",), r"TRAINER_VERB\(NAME\)",
                       "TRAINER_LISTED_{}"),
}

BARE = {"tui_dashboard"}  # what is done without a verb
SORTED = {"strategy", "verb", "trainer's verb"}
EVERY = 4  # compiling one takes a tenth of a second of a processor


def lines(header, macro, line):
    """Each line of the list, as it stands in the header, and its name."""
    rows = re.search(rf"#define {macro}\(X\) \\\n((?:.*\\\n)*.*\n)", (ROOT / header).read_text(encoding="utf-8"))[1]
    return [(row, re.search(line, row)[1]) for row in rows.splitlines(keepends=True)]


def file_of(folders, begins):
    found = [path for folder in folders for path in sorted((ROOT / folder).glob("*.c"))
             if re.search(rf"^{begins}", path.read_text(encoding="utf-8"), re.M)]
    return found[0] if len(found) == 1 else None


def unbuilt():
    """A strategy's file is built because its list names it."""
    header, macro, line, (folder,), begins, _ = KINDS["strategy"]
    listed = {name for _, name in lines(header, macro, line)}
    for path in sorted((ROOT / folder).glob("*.c")):
        for name in re.findall(f"^{begins.replace('NAME', '(.+)')}", path.read_text(encoding="utf-8"), re.M):
            if name not in listed or name != path.stem:
                yield f"{path.relative_to(ROOT)}: X({name}) is not in {header}, or the file has another name: it is not built"


def unlisted():
    """A verb's row that does not begin with its list's macro would build without a line; those of no verb are `BARE`."""
    for folder in dict.fromkeys(folder for kind in KINDS if "verb" in kind for folder in KINDS[kind][3]):
        for path in sorted((ROOT / folder).glob("*.c")):
            for name in re.findall(r"^const struct option_verb (\w+)", path.read_text(encoding="utf-8"), re.M):
                if name not in BARE:
                    yield f"{path.relative_to(ROOT)}: {name}: CLI_VERB or TRAINER_VERB is to begin its row"


def compiled(path, *before):
    command = [*CC, "-std=gnu11", "-D_GNU_SOURCE", '-DPAPERTAPE_VERSION=""', "-Werror=missing-prototypes", "-fsyntax-only", *before,
               f"-I{ROOT}", f"-I{BUILD}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def without(kind, row, name):
    """What is wrong where that line is taken out; None: the compiler named it and the file."""
    header, _, _, folders, begins, missing = KINDS[kind]
    path = file_of(folders, begins.replace("NAME", name))
    if not path:
        return f"{kind} {name}: no file, or two, of {', '.join(folders)} has its row"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / header
        place.parent.mkdir(parents=True)
        text = (ROOT / header).read_text(encoding="utf-8")
        place.write_text(text.replace(row, "    \\\n" if row.endswith("\\\n") else "\n", 1), encoding="utf-8")
        done = compiled(path, f"-I{folder}")
    if done.returncode == 0 or missing.format(name) not in done.stderr or str(path.relative_to(ROOT)) not in done.stderr:
        return f"{kind} {name}: without its line the build says: {done.stderr or 'nothing'}"
    return None


def main():
    rows = [(kind, *row) for kind, (header, macro, line, *_) in KINDS.items() for row in lines(header, macro, line)]
    for kind, (_, _, _, folders, begins, _) in KINDS.items():
        first = file_of(folders, begins.replace("NAME", next(name for other, _, name in rows if other == kind)))
        done = compiled(first)
        if done.returncode != 0:
            sys.exit(f"{first} does not compile as it is: {done.stderr}")
    seed = int(os.environ.get("PAPERTAPE_SEED") or random.randrange(2**31))
    tried = rows if "PAPERTAPE_LONG" in os.environ else rows[random.Random(seed).randrange(EVERY) :: EVERY]
    said = [f"{kind} {name}: no file, or two, has its row" for kind, _, name in rows if not file_of(KINDS[kind][3], KINDS[kind][4].replace("NAME", name))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said += [fault for fault in pool.map(lambda row: without(*row), tried) if fault] + list(unlisted()) + list(unbuilt())
    for kind in SORTED:
        names = [re.sub("^(cli|tui)_", "", name) for other, _, name in rows if other == kind]
        said += [f"{KINDS[kind][0]}: {names}: sorted by name is needed"] if names != sorted(names) else []
    print("\n".join(said), file=sys.stderr)
    counts = {kind: sum(other == kind for other, *_ in rows) for kind in KINDS}
    print(f"counts: {len(tried)} of {len(rows)} lines, PAPERTAPE_SEED={seed} (--long: all)")
    print(f"source/rows_complete: {', '.join(f'{kind} {n}' for kind, n in counts.items())}: {len(said)} failures")
    return 1 if said or min(counts.values()) < 8 else 0


sys.exit(main())
