#!/usr/bin/env python3
"""Links of the installed documents to other files lead to files that are installed, except those into the source, which
documents for developers have. usage: links.py DOC_FOLDER"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
missing = []
count = 0
for page in root.rglob("*.md"):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        count += 1
        there = (page.parent / target).resolve()
        if not there.exists() and there.is_relative_to(root / "docs"):
            missing.append(f"{page.relative_to(root)}: {target}")
print("\n".join(missing) or f"{count} links")
sys.exit(bool(missing) or count < 100)
