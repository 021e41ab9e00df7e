"""What the tests of exports share: random records, and sums from the program's own lists."""

import collections
import csv
import decimal
import io
import json
import os
import subprocess
import sys

LONG = "PAPERTAPE_LONG" in os.environ
CONTRA = {"deposit": "equity:deposits:{0}", "withdrawal": "equity:deposits:{0}", "fee": "expenses:fees:{0}",
          "transfer": "equity:transfers", "borrow": "liabilities:loans:{0}:{1}", "interest": "expenses:interest:{0}",
          "reset": "equity:resets:{0}", "split": "equity:splits:{0}", "dividend": "income:dividends:{0}"}


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{argv}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def seeds(short, long):
    """Of the records; PAPERTAPE_SEED is one alone."""
    if "PAPERTAPE_SEED" in os.environ:
        return [int(os.environ["PAPERTAPE_SEED"])]
    return range(1, (long if LONG else short) + 1)


def rows(papertape, state, *verb):
    return csv.DictReader(io.StringIO(run(papertape, *verb, "--csv", "--state", state)))


def nonzero(sums):
    return {key: amount for key, amount in sums.items() if amount != 0}


def expected(papertape, state, *options):
    """{(account, commodity): amount} from the ledger's rows, by their kinds, and the gains: what is posted in between."""
    sums = collections.defaultdict(decimal.Decimal)
    for row in rows(papertape, state, "ledger", "export", *options):
        amount = decimal.Decimal(row["amount"])
        sums[f"assets:{row['account']}:{row['asset']}", row["asset"]] += amount
        if row["kind"] != "trade":
            sums[CONTRA[row["kind"]].format(row["account"], row["asset"]), row["asset"]] -= amount
    for row in rows(papertape, state, "gains", *options):
        sums[f"income:gains:{row['account']}", row["quote"]] -= decimal.Decimal(row["gain"])
    return nonzero(sums)


def period(papertape, state):
    """--from and --to: about a third and two thirds into the ledger, where all rows of before are earlier and all of after later, as
    bars fill orders after their time."""
    times = [int(row["ts_ns"]) for row in rows(papertape, state, "ledger", "export")]
    clean = [at for at in range(1, len(times)) if max(times[:at]) < min(times[at:])]
    from_ns, to_ns = (min(times[min(clean, key=lambda at: abs(at - len(times) * third // 3)):]) for third in (1, 2))
    return "--from", str(from_ns), "--to", str(to_ns)


def verified(papertape, state):
    """assets:… as ledger verify says them."""
    found = {}
    for row in json.loads(run(papertape, "ledger", "verify", "--json", "--state", state), parse_float=decimal.Decimal,
                          parse_int=decimal.Decimal)["balances"]:
        if row["balance"] != 0:
            found[f"assets:{row['account']}:{row['asset']}", row["asset"]] = row["balance"]
    return found


def costs(papertape, state):
    """{(account, asset, quote): cost} of what is held, first in first out; below 0 for a short."""
    found = collections.defaultdict(decimal.Decimal)
    symbols = {row["symbol"]: (row["symbol"][:3], row["symbol"][3:]) for row in rows(papertape, state, "positions")}
    for row in rows(papertape, state, "positions"):
        base, quote = symbols[row["symbol"]]
        cost = decimal.Decimal(row["fifo_cost"])
        found[row["account"], base, quote] += -cost if row["qty"].startswith("-") else cost
    return nonzero(found)
