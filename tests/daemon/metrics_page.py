"""The table of docs/prometheus.md is what the rows of the metrics give: metrics_page.py PAPERTAPED_REFERENCE DOCS/PROMETHEUS.MD."""

import subprocess
import sys

made = subprocess.run([sys.argv[1], "metrics"], capture_output=True, text=True, check=True).stdout
with open(sys.argv[2], encoding="utf-8") as file:
    page = file.read()
written = page[page.find("| metric | "):]
if len(made.splitlines()) < 50 or written != made:
    lines = [line for line in made.splitlines() if line not in written.splitlines()]
    lines += [line for line in written.splitlines() if line not in made.splitlines()]
    sys.exit(f"{sys.argv[2]}: its last table is not what `papertaped-reference metrics` writes:\n" + "\n".join(lines[:9]))
