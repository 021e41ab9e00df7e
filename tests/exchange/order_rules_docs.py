"""docs/orders.md says every rule of the program's table, and no other: usage: order_rules_docs.py TEST_PROGRAM SOURCE_ROOT"""

import pathlib
import re
import subprocess
import sys

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def main():
    out = subprocess.run([PROGRAM, "list"], capture_output=True, text=True, check=True).stdout
    rules = {(reason, words) for _, reason, words in (line.split("\t") for line in out.splitlines())}
    page = (ROOT / "docs/orders.md").read_text(encoding="utf-8")
    said = set(re.findall(r"^\| `(RULE_\w+)` \| (.+?) \|$", page, re.M))
    assert len(rules) > 10
    for reason, words in sorted(rules - said):
        print(f"docs/orders.md lacks: | `{reason}` | {words} |")
    for reason, words in sorted(said - rules):
        print(f"docs/orders.md has, and the program does not: | `{reason}` | {words} |")
    print(f"{len(rules)} rules, {len(said)} in docs/orders.md")
    return 0 if rules == said else 1


sys.exit(main())
