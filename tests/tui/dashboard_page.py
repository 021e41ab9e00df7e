#!/usr/bin/env python3
"""docs/dashboard.md's pictures are the pictures that the tests of the dashboard compare it with, and each tab and each kind of page is
there. dashboard_page.py PAGE FOLDER; with PAPERTAPE_GOLDEN=write the page gets them. The kinds of pages and boxes are those of the code:
one without a picture fails, as does one that this file does not know."""

import os
import re
import sys

SCREEN = re.compile(r"^<!-- transcript: the screen (\S+) of tests/tui/golden -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABS = 8
# What the picture of a kind has: of each enumeration, the kinds by their names there; None: it has no picture of its own.
KINDS = {
    "item.h": ("item_kind", {"ITEM_NONE": None, "ITEM_KINDS": None, **{f"ITEM_{kind}": f"> {words} " for kind, words in (
        ("ORDER", "order"), ("EXTERNAL", "order from elsewhere"), ("FILL", "fill"), ("ALERT", "alert"), ("COMMAND", "command"), ("TRIP", "trip"),
        ("LEDGER", "ledger"), ("ACCOUNT", "account"), ("POSITION", "position"), ("SYMBOL", "symbol"), ("POLICY", "policy"), ("WHAT_IF", "what-if"))}}),
    "opened.h": ("opened_kind", {"OPENED_NOTHING": None, "OPENED_ITEM": None, "OPENED_TRAINING": "\u2500Training ", "OPENED_STUDY": "\u2500Study ",
                                 "OPENED_VALIDATION": "\u2500Validation of ", "OPENED_TRIAL": "\u2500Trial "}),
    "view.h": ("choosing", {"CHOOSING_NOTHING": None, "CHOOSING_COLUMNS": " Columns of ", "CHOOSING_INDICATORS": " Indicators of the chart ",
                            "CHOOSING_KEYS": " Keys ", "CHOOSING_VIEWS": " Saved views "}),
}
BOXES = " Help ", " Whole texts ", " Set-up ", " Flatten ", "\n:order "


def kinds(path, name):
    body = re.search(rf"enum {name} \{{(.*?)\}}", read(path), re.DOTALL)[1]
    return re.findall(r"^\s*([A-Z]\w+)|, ([A-Z]\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL), re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    page, folder = sys.argv[1:]
    tui = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tui")
    found, text = {}, read(page)

    def picture(match):
        found[match[1]] = match[2]
        return f"{match[0].partition('```text')[0]}```text\n{read(os.path.join(folder, match[1] + '.txt'))}```"

    right = SCREEN.sub(picture, text)
    if os.environ.get("PAPERTAPE_GOLDEN") == "write" and right != text:
        with open(page, "w", encoding="utf-8") as file:
            file.write(right)
        text = right
        SCREEN.sub(picture, text)
    wrong = [name for name, drawn in found.items() if drawn != read(os.path.join(folder, name + ".txt"))]
    assert not wrong, f"{page}: {wrong} differ from {folder}: PAPERTAPE_GOLDEN=write {sys.argv[0]} writes them"
    for tab in range(1, TABS + 1):
        assert any(f"[{tab}]" in drawn.partition("\n─")[0] for drawn in found.values()), f"{page}: no picture of tab {tab}"
    items = {match[1] for name in os.listdir(folder) if (match := re.fullmatch(r"(item-\w+-80x24)\.txt", name))}
    assert items <= found.keys(), f"{page}: no picture of {sorted(items - found.keys())}"
    for header, (name, words) in KINDS.items():
        for kind in map("".join, kinds(os.path.join(tui, header), name)):
            assert kind in words, f"{sys.argv[0]}: which picture has {kind} of tui/{header}?"
            assert words[kind] is None or any(words[kind] in drawn for drawn in found.values()), f"{page}: no picture of {kind}"
    for words in BOXES:
        assert any(words in drawn for drawn in found.values()), f"{page}: no picture of the box {words!r}"
    print(f"{len(found)} pictures")


main()
