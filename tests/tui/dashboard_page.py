#!/usr/bin/env python3
"""docs/dashboard.md's pictures are the pictures that the tests of the dashboard compare it with, and each tab and each kind of page is
there. dashboard_page.py PAGE FOLDER; with PAPERTAPE_GOLDEN=write the page gets them."""

import os
import re
import sys

SCREEN = re.compile(r"^<!-- transcript: the screen (\S+) of tests/tui/golden -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABS = 8


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    page, folder = sys.argv[1:]
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
    print(f"{len(found)} pictures")


main()
