#!/usr/bin/env python3
"""The kinds of events of the log: log_catalog.py PAPERTAPE-LOG-CATALOG SOURCE_ROOT (standard library only). Ids and names are unique,
explanations name fields that there are, every kind is used, docs/logging.md has the tables, and journalctl reads the catalog."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def printed(what):
    return subprocess.run([PROGRAM, what], capture_output=True, text=True, check=True).stdout


def entries(catalog):
    found = re.findall(r"^-- (\S+)\nSubject: (.+)\nDefined-By: papertape\nDocumentation: \S+\n\n(.+)\n\n", catalog, re.M)
    assert len(found) == catalog.count("-- ") > 25, len(found)
    return found


def main():
    docs, catalog = printed("docs"), printed("catalog")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| `(\w+)` \| (.+) \|$", docs, re.M)
    fields = set(re.findall(r"^\| `([A-Z_]+)`", docs, re.M))
    found = entries(catalog)
    ids = [entry[0] for entry in found]
    assert ids == [row[2] for row in rows] and len(set(ids)) == len(ids) == len({row[0] for row in rows})
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in ids)
    for _, subject, text in found:
        assert set(re.findall("@([A-Z_]+)@", subject + text)) <= fields, subject
    assert docs in (ROOT / "docs/logging.md").read_text(encoding="utf-8"), \
        "docs/logging.md: its tables are not those of daemon/log_kinds.h: papertape-log-catalog docs prints them"

    kinds = re.findall(r"KIND\((\w+), \"", (ROOT / "daemon/log_kinds.h").read_text())
    sources = "".join(path.read_text() for path in (ROOT / "daemon").rglob("*.c") if path.name != "log_kinds.c")
    unused = [kind for kind in kinds if not re.search(rf"\bLOG_{kind}\b", sources)]
    assert len(kinds) == len(ids) and not unused, unused

    if not shutil.which("journalctl"):
        print("journalctl is not installed: the catalog is not read by it")
        return
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(f"{root}/usr/lib/systemd/catalog")
        pathlib.Path(root, "usr/lib/systemd/catalog/papertape.catalog").write_text(catalog)
        subprocess.run(["journalctl", f"--root={root}", "--update-catalog"], check=True, capture_output=True)
        listed = subprocess.run(["journalctl", f"--root={root}", "--list-catalog"], check=True, capture_output=True, text=True).stdout
        assert len(re.findall(r"^\w{32} papertape: ", listed, re.M)) == len(ids), listed
    print(f"{len(ids)} kinds of events")


main()
