#!/usr/bin/env python3
"""bench/backup's figures on a state of a few megabytes: each line is there, and what was restored has the same ledger."""

import json
import os
import subprocess
import sys

BUILD, ROOT = sys.argv[1], sys.argv[2]

done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/backup_figures.py"), BUILD, "4", "500", "1"], stdout=subprocess.PIPE, text=True)
assert done.returncode == 0, done
figures = [json.loads(line) for line in done.stdout.splitlines()]
assert [figure["case"].split(",")[0] for figure in figures] == [
    "command to acknowledgement", "archive", "archive", "command to acknowledgement", "folder", "folder"], figures
assert all(figure["commands"] > 0 and figure["frames_s"] > 0 for figure in figures if "commands" in figure), figures
assert all(figure["ledger_rows"] > 0 for figure in figures if "ledger_rows" in figure), figures
print(f"{len(figures)} figures")
