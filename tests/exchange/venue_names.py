"""No code names a venue but its own folder, the replay, and the list of venues.

usage: venue_names.py SOURCE_ROOT
A venue is a folder of exchange/ with a venue.c. Its name is looked for in every line of the rooms' sources, in any case, as
a word or as one of an identifier's. And the skeleton of a venue, which another one begins with, stays short."""

import pathlib
import re
import sys

ROOMS = "exchange record indicators_gpu strategy engine db trainer daemon cli tui".split()
KINDS = {".c", ".h", ".cu", ".cuh", ".py", ".ini", ".sql", ".in"}
STRATEGY = re.compile("binance[_-]day[_-]trade")  # the name that its users know it by
SKELETON = "tests/exchange/skeleton"
SKELETON_LINES = 600  # of code, without blanks and comments; its side on loopback apart
LISTS = {"exchange/venues.c", "exchange/venue_formats.c", "exchange/bars_name.c"}


def allowed(path, venues):
    parts = path.parts
    return path.as_posix() in LISTS or (parts[0] == "exchange" and parts[1] in venues | {"replay"})


def lines_that_name(root, path, pattern):
    text = (root / path).read_text(errors="replace")
    return [(path, n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if pattern.search(STRATEGY.sub("", line))]


def skeleton_lines(root):
    """Of the venue's side, and of its replay; both are as clang-format breaks them, which other tests see to."""
    code = {p.name: re.sub(r"/\*.*?\*/", "", p.read_text(), flags=re.DOTALL) for p in (root / SKELETON).glob("*.[ch]")}
    lines = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in code.items()}
    replay = lines.pop("replay.c")
    assert set(lines) == {"account.c", "format.c", "rest.c", "skeleton.h", "stream.c"}, lines
    return sum(lines.values()), replay


def main():
    root = pathlib.Path(sys.argv[1])
    venues = {p.parent.name for p in (root / "exchange").glob("*/venue.c")}
    assert len(venues) >= 2, f"exchange/ holds {sorted(venues)}: at least two venues are expected"
    pattern = re.compile(rf"(?<![a-z])(?:{'|'.join(sorted(venues))})(?![a-z])", re.IGNORECASE)
    for venue in venues:
        assert pattern.search(f"x = {venue}_stream(1);") and not pattern.search(f"a{venue} {venue}s"), pattern.pattern
    files = [p.relative_to(root) for room in ROOMS for p in (root / room).rglob("*") if p.suffix in KINDS]
    looked = [p for p in files if not allowed(p, venues)]
    assert len(looked) > 500, f"only {len(looked)} files: is {root} the source root?"
    # The pattern finds what it should: each list names every venue, by its folder at least.
    for name in LISTS:
        text = (root / name).read_text()
        assert all(v in text for v in venues), f"{name} does not name {sorted(v for v in venues if v not in text)}"
    found = [hit for path in looked for hit in lines_that_name(root, path, pattern)]
    for path, n, line in found:
        print(f"{path}:{n}: {line}")
    lines, replay = skeleton_lines(root)
    print(f"{len(looked)} files of {len(ROOMS)} rooms, {len(venues)} venues: {len(found)} lines name one; "
          f"{SKELETON} has {lines} lines, at most {SKELETON_LINES}, and its replay {replay}")
    return 1 if found or not 100 < lines <= SKELETON_LINES else 0


sys.exit(main())
