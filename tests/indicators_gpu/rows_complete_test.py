"""With any part of an indicator removed the build ends and names row and file: rows_complete_test.py SOURCE_ROOT CC...

Each part of each row is taken away before the check of indicators_gpu/rows_complete.py, one row's in a copy of the sources,
by the command that the build runs (standard library only).
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, CC = pathlib.Path(sys.argv[1]), sys.argv[2:]
sys.path.insert(0, str(ROOT / "indicators_gpu"))
sys.dont_write_bytecode = True
import rows_complete  # noqa: E402

FILES_MOST = 8  # source files that an indicator is written in
COPIED = "rank"
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def definition(part, name):
    return re.compile(part[2].replace("NAME", name), re.M)


def without(part, name, text):
    """The text with that name's part under another name."""
    return definition(part, name).sub(lambda match: match.group().replace(name, name + "_gone"), text)


def place_of(texts, part, name):
    return next(path for path, text in texts.items() if path.startswith(part[0] + "/") and definition(part, name).search(text))


def test_every_part(texts):
    """In memory: the missing part of each row is named with its folder, as is the one that no row has."""
    for part in rows_complete.PARTS:
        for name in rows_complete.names_of(part, texts):
            path = place_of(texts, part, name)
            here = {path: without(part, name, texts[path])}
            said = "\n".join(rows_complete.of_part(here, [name], {name: pathlib.Path(path).stem}, part))
            check(f'{path}: indicator "{name}" has no {part[3]}: {part[4].format(name)} is missing' in said, f"{name}: {said}")
            check(f'{path}: {part[4].format(name + "_gone")} is there, and indicator "{name}_gone" is not in' in said, said)


def test_files(texts, names):
    for name in names:
        places = {rows_complete.LIST} | {place_of(texts, part, name) for part in rows_complete.PARTS
                                          if name in rows_complete.names_of(part, texts)}
        sources = {path for path in places if not path.startswith("docs/")}
        check(len(sources) <= FILES_MOST, f"{name} is written in {sorted(sources)}")


def test_list(texts):
    """Its own faults."""
    lines = texts[rows_complete.LIST]
    line = next(line for line in lines.splitlines(keepends=True) if f", {COPIED}, " in line)
    number, rows = re.search(r"\d+", line)[0], len(rows_complete.LINE.findall(lines))
    for other, says in {
        line.replace(f"{number},", "50,"): f"number 50 is there 2 times: 1 to {rows}, each once, is needed",
        line.replace(f"{number},", f"{rows + 2},"): f"number {number} is there 0 times: 1 to {rows}, each once, is needed",
        line + line: f'indicator "{COPIED}" stands after "{COPIED}": sorted by name, each once, is needed',
        line.replace("RANK", "RANG"): f'indicator "{COPIED}": RANK is needed, not RANG',
        line.replace("BOTH", "F32"): f'indicator "{COPIED}": BOTH, F64, WINDOW or STEPS is needed, not F32',
    }.items():
        said = rows_complete.faults({**texts, rows_complete.LIST: lines.replace(line, other)})
        check(f"{rows_complete.LIST}: {says}" in said, f"{other!r}: {said}")


def run(copy):
    """Status and output, as in the build."""
    stamp, depfile = copy / "stamp.h", copy / "stamp.d"
    done = subprocess.run([sys.executable, copy / "indicators_gpu/rows_complete.py", copy, stamp, depfile], capture_output=True, text=True)
    check(stamp.exists() == depfile.exists() == (done.returncode == 0), "stamp and depfile are written where all is well")
    stamp.unlink(missing_ok=True)
    depfile.unlink(missing_ok=True)
    return done.returncode, done.stderr


def compiled(copy, path):
    return subprocess.run([*CC, "-std=gnu11", "-fsyntax-only", "-I", copy, copy / path], capture_output=True, text=True)


def test_copy(copy, texts):
    """One row's parts, each taken from the files; its line of the list, which the compiler misses as well."""
    parts = [part for part in rows_complete.PARTS if COPIED in rows_complete.names_of(part, texts)]
    check(run(copy) == (0, ""), "the sources as they are")
    for part in parts:
        path = copy / place_of(texts, part, COPIED)
        text = path.read_text()
        spoiled = text.replace(f"`{COPIED}:", "`gone:") if path.suffix == ".md" else without(part, COPIED, text)
        check(spoiled != text, f"{path}: nothing to take away")
        path.write_text(spoiled)
        status, said = run(copy)
        check(status == 1 and f'indicator "{COPIED}" has no {part[3]}' in said and part[0] in said, f"{part[3]}: {status}: {said}")
        path.write_text(text)
    path, row = copy / rows_complete.LIST, place_of(texts, rows_complete.PARTS[0], COPIED)
    check(compiled(copy, row).returncode == 0, "the row is compiled")
    path.write_text(re.sub(rf"^.*, {COPIED}, .*\n", "", path.read_text(), flags=re.M))
    status, said = run(copy)
    for part in parts:
        there = f'{place_of(texts, part, COPIED)}: {part[4].format(COPIED)} is there, and indicator "{COPIED}" is not in {rows_complete.LIST}'
        check(status == 1 and there in said, f"{there}: {said}")
    done = compiled(copy, row)
    check(done.returncode != 0 and row in done.stderr and COPIED in done.stderr, f"{row}: {done.stderr}")


def main():
    texts = rows_complete.read(ROOT)
    names = [row[2] for row in rows_complete.LINE.findall(texts[rows_complete.LIST])]
    check(rows_complete.faults(texts) == [] and COPIED in names, "the sources as they are")
    test_every_part(texts)
    test_files(texts, names)
    test_list(texts)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for path in [*texts, "indicators_gpu/rows_complete.py", *(ROOT / "indicators_gpu").rglob("*.h")]:
            to = copy / (ROOT / path).relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, to)
        test_copy(copy, texts)
    print(f"indicators_gpu/rows_complete: {len(names)} rows, {len(rows_complete.PARTS)} parts, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
