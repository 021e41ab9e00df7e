"""What an account has, row by row, so that it can be compared with another account that trades alike: its name is left
out, and what counts over all accounts is counted within the account, by its first appearance."""

import csv

COUNTED = {"fill": "fill", "order": "order", "group": "group", "parent": "order", "client_id": "client", "fill_id": "fill", "order_id": "order", "id": "row"}
LEFT_OUT = {"account", "hash", "prev_hash"}
VERBS = (("orders", "--csv"), ("fills", "--csv"), ("ledger", "list", "--csv"))


def of_text(text, account, left_out=frozenset()):
    """The account's rows of a verb's CSV."""
    counts, rows = {}, []
    for row in csv.DictReader(text.splitlines()):
        if row["account"] != account:
            continue
        for key, value in row.items():
            if key in COUNTED and value not in ("", "0"):
                seen = counts.setdefault(COUNTED[key], {})
                row[key] = seen.setdefault(value, len(seen) + 1)
        rows.append({key: value for key, value in row.items() if key not in LEFT_OUT | left_out})
    return rows


def same(expected, found, what):
    for at, (a, b) in enumerate(zip(expected, found)):
        assert a == b, f"{what}: row {at + 1}:\n{a}\n{b}"
    assert len(expected) == len(found), (what, len(expected), len(found))
