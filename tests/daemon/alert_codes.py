#!/usr/bin/env python3
"""The codes of alerts: alert_codes.py SOURCE_ROOT (standard library only). daemon/alert_codes.c has each code that the daemon and
the engine raise; docs/control.md and docs/alerts.md have each code of it, and no other."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
CALLS = (r'(?:daemon_session_alert(?:_lasting|_moment|_over|_over_former)?|feed_alert(?:_raise|_end)?|raise_alert|engine_alert(?:_over)?)'
         r'\((?:[^;"]|\n)*?"([A-Za-z_-]+)"')
OTHERS = (r'\.alert = "([\w-]+)"', r'RULE\((\w+), "', r'"(TRAINING_[A-Z]+)"', r'"(POLICY_(?:ADMITTED|CROWNED|RETIRED))"',
          r'define ALERT +"([\w-]+)"', r'"(HALTED|SYMBOL_GONE)"',
          r'"(STRATEGY_(?:LATE|INVALID|ENDED))"')


def raised():
    found = set()
    for room in ("daemon", "engine"):
        for path in (ROOT / room).rglob("*.c"):
            if path.name != "alert_codes.c":
                for pattern in (CALLS, *OTHERS):
                    found |= set(re.findall(pattern, path.read_text(encoding="utf-8")))
    return found


def documented():
    """Those of tables whose first column is `code`, and those that a sentence names."""
    cells, named = set(), set()
    for page in ("docs/control.md", "docs/alerts.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for table in re.findall(r"^\| code \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.M):
            for row in table.splitlines():
                if not re.match(r"\| `E[A-Z]+`", row):  # errors of the socket
                    cells |= set(re.findall(r"`([A-Za-z_-]+)`", row.split("|")[1]))
        named |= set(re.findall(r"`([A-Za-z_-]+)`", text))
    return cells, named


def main():
    table = re.findall(r'^    "([\w-]+)",$', (ROOT / "daemon/alert_codes.c").read_text(), re.M)
    cells, named = documented()
    assert table == sorted(set(table)) and len(table) > 80, len(table)
    for what, wrong in (("raised, and not in daemon/alert_codes.c", raised() - set(table)),
                        ("in daemon/alert_codes.c, and not raised", set(table) - raised()),
                        ("in daemon/alert_codes.c, and in neither page", set(table) - named),
                        ("of a page, and not in daemon/alert_codes.c", cells - set(table))):
        assert not wrong, f"{what}: {', '.join(sorted(wrong))}"
    print(f"{len(table)} codes")


main()
