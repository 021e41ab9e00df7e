"""A report's figures, computed again: from `papertape ledger export`, `fills`, `equity` and the stored bars, by the words of
docs/report.md, with integers for money and NumPy and empyrical for ratios. Nothing here is the program's code.

check(papertape, state, *arguments) makes a report of the arguments and compares all of it; it returns the report."""

import bisect
import collections
import csv
import datetime
import io
import json
import math
import sqlite3
import subprocess
import zoneinfo
from decimal import Decimal

import empyrical
import numpy as np

HOUR, DAY = 3600 * 10**9, 86400 * 10**9
KINDS_MOVED = ("deposit", "withdrawal", "transfer", "reset")
LEAST_HOURS = 24
TOLERANCE = 1e-9


def run(papertape, state, *arguments):
    return subprocess.run([papertape, *arguments, "--state", state], check=True, capture_output=True, text=True).stdout


def rows(papertape, state, *arguments):
    return list(csv.DictReader(io.StringIO(run(papertape, state, *arguments, "--csv"))))


class Record:
    """What is stored, read once."""

    def __init__(self, papertape, state):
        self.base = sqlite3.connect(f"file:{state}/papertape.db?mode=ro", uri=True)
        self.symbols = {row["name"]: row for row in self.table("symbols")}
        self.by_id = {row["id"]: row for row in self.table("symbols")}
        self.accounts = {row["name"]: row for row in self.table("accounts")}
        self.ledger = rows(papertape, state, "ledger", "export")
        self.fills = {int(row["fill"]): row for row in rows(papertape, state, "fills")}
        self.orders = {row["id"]: row for row in self.table("orders")}
        self.policies = {row["policy"]: row["name"] for row in self.table("policies")}
        self.order_policies = {row["order_id"]: row["policy"] for row in self.table("order_policies")}
        self.points = collections.defaultdict(list)
        for row in rows(papertape, state, "equity"):
            self.points[row["account"]].append((int(row["ts_ns"]), Decimal(row["equity"]), Decimal(row["cash"]), Decimal(row["peak"])))
        self.day_equity = {(row["account"], row["ts_ns"]): row["day_equity"] for row in self.table("equity")}
        self.actions = [row for row in self.table("corporate_actions") if row["kind"] == "split"]
        self.split_symbols = {self.by_id[row["symbol"]]["name"] for row in self.actions}
        self.prices = {self.by_id[row["symbol"]]["name"]: (row["ts_ns"], row["mark"]) for row in self.table("prices")}
        self.bars = collections.defaultdict(list)  # (symbol, interval, source): (open_ns, open, close), rising
        for row in self.base.execute("SELECT symbol, interval_ns, source, open_ns, open, close FROM bars ORDER BY open_ns"):
            self.bars[(self.by_id[row[0]]["name"], row[1], row[2])].append(row[3:])

    def table(self, name):
        cursor = self.base.execute(f"SELECT * FROM {name}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def kinds(self, symbol):
        """The kinds of bars of a symbol, the finest first, of one interval the venue's first."""
        return sorted((key for key in self.bars if key[0] == symbol), key=lambda key: (key[1], key[2] == "trades"))

    def price(self, symbol, ts_ns):
        """Units; None: not known."""
        best, found = None, None
        for key in self.kinds(symbol):
            at = bisect.bisect_right(self.bars[key], ts_ns - key[1], key=lambda bar: bar[0]) - 1
            if at >= 0 and (best is None or self.bars[key][at][0] + key[1] > best):
                best, found = self.bars[key][at][0] + key[1], self.bars[key][at][2]
        mark_ns, mark = self.prices.get(symbol, (math.inf, 0))
        if mark and mark_ns <= ts_ns and (best is None or mark_ns > best):
            found = mark
        return found

    def first_row(self, ts_ns):
        """The place in the ledger of the first row that is not before."""
        return next((i for i, row in enumerate(self.ledger) if int(row["ts_ns"]) >= ts_ns), len(self.ledger))


# ---- positions, by average cost, in units ----

class Held:
    def __init__(self):
        self.qty = self.cost = self.realized = self.fees = 0
        self.opened_ns = 0
        self.opened = (0, 0)  # realized and fees when it was opened from flat

    def change(self, qty, notional, fee, ts_ns):
        """A part of a fill that only opens or only closes; the profit of a trade that it ends, or None."""
        before = self.qty
        if before == 0:
            self.opened_ns, self.opened = ts_ns, (self.realized, self.fees)
        self.fees += fee
        if before == 0 or (before > 0) == (qty > 0):
            self.qty += qty
            self.cost += notional
            return None
        left = self.cost * abs(qty) // abs(before)
        self.qty += qty
        left = self.cost if self.qty == 0 else left
        self.cost -= left
        self.realized += notional - left if before > 0 else left - notional
        return None if self.qty else self.realized - self.opened[0] - (self.fees - self.opened[1])

    def against(self, qty):
        """How much of such a change closes."""
        return min(abs(qty), abs(self.qty)) if self.qty and (self.qty > 0) != (qty > 0) else 0

    def unrealized(self, price, unit):
        if self.qty == 0:
            return 0
        worth = price * abs(self.qty)
        return worth // unit - self.cost if self.qty > 0 else self.cost - -(-worth // unit)


def parts(qty, notional, fee, take):
    """A fill cut into one of `take` and the rest."""
    if take == abs(qty):
        return (qty, notional, fee), (0, 0, 0)
    sign = 1 if qty > 0 else -1
    first = (sign * take, notional * take // abs(qty), fee * take // abs(qty))
    return first, (qty - first[0], notional - first[1], fee - first[2])


class Walk:
    """The fills of an account up to the period's end, and what they gained in it."""

    def __init__(self, record, account, first, end, opening_ns, closing_ns):
        self.record, self.account, self.opening_ns, self.closing_ns = record, account, opening_ns, closing_ns
        self.whole = collections.defaultdict(Held)  # symbol
        self.own = collections.defaultdict(Held)  # symbol, source
        self.begun = False
        self.start = {}
        self.gone = collections.defaultdict(lambda: [0, 0, 0])
        self.unpriced = set()
        self.trades = collections.defaultdict(list)  # key: profits and times held
        self.fills = collections.Counter()
        self.volume = collections.Counter()
        self.fees_base = collections.Counter()
        self.touched = set()
        last = None
        for i, row in enumerate(record.ledger[:end]):
            if row["account"] != account["name"] or row["kind"] not in ("reset", "trade") or (row["kind"] == "trade" and Decimal(row["amount"]) == 0):
                continue
            if i >= first:
                self.begin()
            if row["kind"] == "reset":
                self.reset(int(row["ts_ns"]))
            elif row["fill_id"] != last:
                self.fill(record.fills[int(row["fill_id"])], int(row["ts_ns"]))
            last = row["fill_id"] if row["kind"] == "trade" else None
        self.begin()

    def keys(self):
        return [(key, held) for key, held in self.whole.items()] + [(key, held) for key, held in self.own.items()]

    def value(self, key, held, ts_ns):
        symbol = key if isinstance(key, str) else key[0]
        if held.qty == 0:
            return 0
        price = self.record.price(symbol, ts_ns)
        if not price:
            self.unpriced.add(key)
            return 0
        row = self.record.symbols[symbol]
        return held.unrealized(price, 10 ** (row["price_scale"] + row["qty_scale"] - row["quote_scale"]))

    def begin(self):
        if not self.begun:
            self.begun = True
            self.start = {key: (held.realized, self.value(key, held, self.opening_ns), held.fees, held.qty) for key, held in self.keys()}

    def since(self, key):
        return self.start.get(key, (0, 0, 0, 0))

    def reset(self, ts_ns):
        for key, held in self.keys():
            if self.begun:
                start = self.since(key)
                for i, gained in enumerate((held.realized - start[0], self.value(key, held, ts_ns) - start[1], held.fees - start[2])):
                    self.gone[key][i] += gained
                self.start[key] = (0, 0, 0, start[3])
            opened = held.opened_ns
            held.__init__()
            held.opened_ns = opened

    def source(self, order):
        policy = self.record.order_policies.get(order["id"])
        if order["by_hand"]:
            return "by hand"
        if policy:
            return "policy " + self.record.policies.get(policy, policy.hex()[:12])
        return self.account["strategy"] or "other orders"

    def apply(self, key, held, part, ts_ns, scale):
        if not part[0]:
            return
        self.volume[key] += part[1] if self.begun else 0
        opened_ns = held.opened_ns if held.qty else ts_ns
        profit = held.change(*part, ts_ns)
        if profit is not None and self.begun:
            self.trades[key].append((float(Decimal(profit).scaleb(-scale)), ts_ns - opened_ns))

    def fill(self, fill, ts_ns):
        row = self.record.symbols[fill["symbol"]]
        units = lambda text, scale: int(Decimal(text).scaleb(scale))
        scale = row["quote_scale"]
        qty = units(fill["qty"], row["qty_scale"]) * (1 if fill["side"] == "BUY" else -1)
        rest = (qty, units(fill["notional"], scale), units(fill["fee"], scale))
        name, whole = fill["symbol"], self.whole[fill["symbol"]]
        self.fills[name] += self.begun
        self.fees_base[name] += units(fill["fee_base"] or "0", row["qty_scale"]) if self.begun else 0
        closing, opening = parts(*rest, whole.against(qty)) if whole.against(qty) else ((0, 0, 0), rest)
        self.apply(name, whole, closing, ts_ns, scale)
        self.apply(name, whole, opening, ts_ns, scale)
        source = self.source(self.record.orders[int(fill["order"])])
        own = self.own[(name, source)]
        self.fills[(name, source)] += self.begun
        others = lambda: sorted(((held.opened_ns, key, held) for key, held in self.own.items() if key[0] == name and held.against(rest[0])),
                                key=lambda each: each[0])
        while rest[0]:
            key, held = ((name, source), own) if own.against(rest[0]) else next(((key, held) for _, key, held in others()), (None, None))
            if held is None:
                self.touched.add((name, source))
                self.apply((name, source), own, rest, ts_ns, scale)
                break
            part, rest = parts(*rest, held.against(rest[0]))
            self.apply(key, held, part, ts_ns, scale)

    def gained(self, key, held):
        """Realized, unrealized, fees, P&L."""
        start, gone = self.since(key), self.gone[key]
        now = self.value(key, held, self.closing_ns)
        realized, unrealized, fees = gone[0] + held.realized - start[0], gone[1] + now - start[1], gone[2] + held.fees - start[2]
        return realized, unrealized, fees, realized + unrealized - fees


# ---- comparisons ----

class Checks:
    def __init__(self, where):
        self.where, self.n = where, 0

    def equal(self, what, found, wanted):
        self.n += 1
        assert found == wanted, (self.where, what, found, wanted)

    def money(self, what, found, units, scale):
        """To the last unit: the report's number is a decimal of that scale."""
        self.equal(what, None if found is None else Decimal(found), None if units is None else Decimal(units).scaleb(-scale))

    def near(self, what, found, wanted, tolerance=TOLERANCE):
        self.n += 1
        if wanted is None or not math.isfinite(wanted):
            assert found is None, (self.where, what, found, wanted)
        else:
            assert found is not None and abs(float(found) - wanted) <= tolerance * max(1.0, abs(wanted)), (self.where, what, found, wanted)


def series(record, account, report, first_day_zone):
    """Points of the period with what moved before each, and the point before it: numpy has no decimals, so units of the currency."""
    scale = account["currency_scale"]
    frm, to = report["from_ns"], report["to_ns"]
    points = [(ts, int(e.scaleb(scale)), int(c.scaleb(scale)), int(p.scaleb(scale))) for ts, e, c, p in record.points[account["name"]] if ts < to]
    moved = [row for row in record.ledger if row["account"] == account["name"] and row["asset"] == account["currency"] and row["kind"] in KINDS_MOVED]
    before = [p for p in points if p[0] < frm]
    kept, last, at = ([before[-1]] if before else []), before[-1][0] if before else None, 0
    seen = record.day_equity.get((account["id"], last)) if before else None
    flows = []  # of each kept point of the period: rows
    if before:
        while at < len(moved) and int(moved[at]["ts_ns"]) <= last:
            at += 1
    for point in points[len(before):]:
        mine = []
        k = at
        while k < len(moved) and int(moved[k]["ts_ns"]) <= point[0]:
            mine.append(moved[k])
            k += 1
        day_equity = record.day_equity[(account["id"], point[0])]
        if last is None and not mine:
            continue  # a fill at a closed bar's prices, stamped before the first deposit
        if last is not None and last // DAY == point[0] // DAY and not mine and day_equity != seen:
            continue
        at, last, seen = k, point[0], day_equity
        kept.append(point)
        flows.append(mine)
    return bool(before), kept, flows, moved


def split_flows(mine, scale, sums):
    """The sum of what moved, whether it was reset; and by kind into `sums`. What comes with a reset is no deposit."""
    total, reset_ns = 0, None
    for row in mine:
        amount = int(Decimal(row["amount"]).scaleb(scale))
        if row["kind"] == "reset":
            sums["resets"] += row["ts_ns"] != reset_ns
            reset_ns = row["ts_ns"]
        elif row["ts_ns"] != reset_ns:
            total += amount
            sums["flows"] += 1
            sums["transfers" if row["kind"] == "transfer" else "withdrawals" if amount < 0 else "deposits"] += amount
    return total, reset_ns is not None


def check_curve(c, record, account, a):
    scale = account["currency_scale"]
    zone = zoneinfo.ZoneInfo(a["day_zone"])
    has_before, kept, flows, _ = series(record, account, a, zone)
    mine = kept[1:] if has_before else kept
    c.equal("points", a["points"], len(mine))
    c.equal("created", a["created_in_period"], not has_before)
    opening = kept[0][1] if has_before else None
    c.money("opening", a["opening"], opening, scale)
    c.money("closing", a["closing"], kept[-1][1] if kept else None, scale)
    c.money("cash", a["cash"], kept[-1][2] if kept else None, scale)
    c.money("peak", a["peak"], kept[-1][3] if kept else None, scale)
    c.equal("times", (a["opening_ns"], a["closing_ns"]), (kept[0][0] if has_before else None, kept[-1][0] if kept else None))
    if not mine:
        c.equal("no pnl", (a["pnl"], a["return_share"]), (None, None))
        return None
    sums, gains, by_day, flow_sum, reset_sum = collections.Counter(), [], {}, 0, 0
    last = opening
    for point, rows_ in zip(mine, flows):
        total, reset = split_flows(rows_, scale, sums)
        base = (0 if last is None else last) + total
        if reset:
            gain, moved = 0.0, point[1] - (0 if last is None else last)
            reset_sum += point[1] - base
        else:
            moved = total
            start = total if last is None else last
            gain = float("nan") if start <= 0 else (point[1] - moved - (0 if last is None else last)) / start
        day = datetime.datetime.fromtimestamp(point[0] // 10**9, zone).date().isoformat()
        each = by_day.setdefault(day, {"pnl": 0, "flows": 0, "gains": []})
        each["pnl"] += point[1] - (0 if last is None else last) - moved
        each["flows"] += moved
        each["closing"] = point[1]
        each["gains"].append(gain)
        gains.append(gain)
        flow_sum += moved
        last = point[1]
    pnl = mine[-1][1] - (opening or 0) - flow_sum
    c.money("pnl", a["pnl"], pnl, scale)
    for name, wanted in (("deposits", sums["deposits"]), ("withdrawals", -sums["withdrawals"]), ("transfers", sums["transfers"]), ("resets", reset_sum)):
        c.money(name, a["flows"][name], wanted, scale)
    c.equal("flows", a["flows"]["count"], sums["flows"] + sums["resets"])
    gains = np.array(gains)
    c.equal("unmeasured", a["points_without_return"], int(np.isnan(gains).sum()))
    gains = np.nan_to_num(gains, nan=0.0)
    c.near("return", a["return_share"], float(np.prod(1 + gains) - 1))
    index = np.concatenate(([1.0], np.cumprod(1 + gains)))
    c.near("max drawdown", a["max_drawdown_share"], float((index / np.maximum.accumulate(index) - 1).min()))
    c.near("empyrical's drawdown", a["max_drawdown_share"], float(empyrical.max_drawdown(gains)))
    c.near("drawdown", a["drawdown_share"], mine[-1][1] / mine[-1][3] - 1 if mine[-1][3] > 0 else float("nan"))
    # Hours: of each the product of its points' gains.
    start_ns = a["from_ns"] if has_before else mine[0][0]
    at = np.array([point[0] // HOUR for point in mine]) - start_ns // HOUR
    hours = np.ones(int(at[-1]) + 1)
    np.multiply.at(hours, at, 1 + gains)
    hours -= 1
    held = [kept[0][1] != kept[0][2] if has_before else False] * len(hours)
    state, k = held[0], 0
    for h in range(len(hours)):
        while k < len(mine) and at[k] == h:
            state = mine[k][1] != mine[k][2]
            k += 1
        held[h] = state
    if not has_before:
        pass
    c.equal("hours", a["hours"], len(hours))
    c.near("exposure", a["exposure_share"], sum(held) / len(hours))
    enough = len(hours) >= LEAST_HOURS
    options = {"annualization": 8760}
    with np.errstate(all="ignore"):
        for name, wanted in (("sharpe", empyrical.sharpe_ratio(hours, **options)), ("sortino", empyrical.sortino_ratio(hours, **options)),
                             ("volatility_share_year", empyrical.annual_volatility(hours, **options)),
                             ("cagr_share_year", empyrical.cagr(hours, **options))):
            c.near(name, a[name], float(wanted) if enough else None, 1e-7)
    c.near("best hour", a["best_hour_share"], float(hours.max()))
    c.near("worst hour", a["worst_hour_share"], float(hours.min()))
    check_days(c, a, by_day, scale)
    return start_ns, hours


def check_days(c, a, by_day, scale):
    listed = {day["day"]: day for day in a["days"]}
    assert len(listed) == len(a["days"]) and set(by_day) <= set(listed), (c.where, sorted(listed), sorted(by_day))
    for name, day in listed.items():
        found = by_day.get(name)
        c.money("day's pnl", day["pnl"], found["pnl"] if found else None, scale)
        c.money("day's closing", day["closing"], found["closing"] if found else None, scale)
        if found:
            gains = np.array(found["gains"])
            gains = gains[~np.isnan(gains)]
            c.near("day's return", day["return_share"], float(np.prod(1 + gains) - 1) if len(gains) else None)
            c.money("day's flows", day["flows"], found["flows"], scale)


def check_trades(c, what, found, trades):
    profits = [profit for profit, _ in trades]
    wins = [p for p in profits if p > 0]
    losses = [p for p in profits if not p > 0]
    c.equal(what + " closed", (found["closed"], found["wins"], found["losses"]), (len(profits), len(wins), len(losses)))
    if profits:
        c.near(what + " win rate", found["win_rate_share"], len(wins) / len(profits))
        c.near(what + " expectancy", found["expectancy"], sum(profits) / len(profits), 1e-7)
        c.near(what + " held", found["average_held_s"], sum(held for _, held in trades) / len(trades) / 1e9, 1e-6)
        lost = -sum(losses)
        c.near(what + " factor", found["profit_factor"], sum(wins) / lost if lost else None, 1e-6)
        c.near(what + " largest win", found["largest_win"], max(wins) if wins else None, 1e-7)
        c.near(what + " largest loss", found["largest_loss"], min(losses) if losses else None, 1e-7)
    else:
        c.equal(what + " of none", {found[key] for key in found if key not in ("closed", "wins", "losses")}, {None})


def check_positions(c, record, account, a):
    scale, currency = account["currency_scale"], account["currency"]
    first, end = record.first_row(a["from_ns"]), record.first_row(a["to_ns"])
    opening_ns = a["opening_ns"] or a["from_ns"]
    closing_ns = a["closing_ns"] or a["to_ns"]
    walk = Walk(record, account, first, end, opening_ns, closing_ns)
    listed = {row["symbol"]: row for row in a["symbols"]}
    sums = {"realized": 0, "unrealized": 0, "pnl": 0}
    for name, held in walk.whole.items():
        if name in record.split_symbols:
            sums = dict.fromkeys(sums)  # the splits' arithmetic is tests/engine's
            continue
        realized, unrealized, fees, pnl = walk.gained(name, held)
        start = walk.since(name)
        says = start[3] or held.qty or walk.fills[name] or walk.volume[name] or walk.gone[name][0] or walk.gone[name][1]
        c.equal(f"{name} listed", name in listed, bool(says))
        if not says:
            continue
        row, quote = listed[name], record.symbols[name]["quote_scale"]
        known = name not in walk.unpriced
        c.money(f"{name} realized", row["realized"], realized, quote)
        c.money(f"{name} unrealized", row["unrealized_change"], unrealized if known else None, quote)
        c.money(f"{name} fees", row["fees"], fees, quote)
        c.money(f"{name} pnl", row["pnl"], pnl if known else None, quote)
        c.money(f"{name} volume", row["volume"], walk.volume[name], quote)
        c.money(f"{name} fees of the asset", row["fees_base"], walk.fees_base[name], record.symbols[name]["qty_scale"])
        c.money(f"{name} from", row["qty_from"], start[3], record.symbols[name]["qty_scale"])
        c.money(f"{name} to", row["qty_to"], held.qty, record.symbols[name]["qty_scale"])
        c.equal(f"{name} fills", row["fills"], walk.fills[name])
        c.money(f"{name} price from", row["price_from"], record.price(name, opening_ns), record.symbols[name]["price_scale"])
        c.money(f"{name} price to", row["price_to"], record.price(name, closing_ns), record.symbols[name]["price_scale"])
        ends = record.price(name, opening_ns), record.price(name, closing_ns)
        c.near(f"{name} held", row["hold_return_share"], ends[1] / ends[0] - 1 if all(ends) else None)
        check_trades(c, f"{name} trades", row["trades"], walk.trades[name])
        if record.symbols[name]["quote"] == currency:
            sums = {key: None if value is None or (not known and key != "realized") else value + more
                    for (key, value), more in zip(sums.items(), (realized, unrealized, pnl))}
    mine = [row for row in record.ledger[first:end] if row["account"] == account["name"] and row["asset"] == currency]
    total = lambda kind: sum((int(Decimal(row["amount"]).scaleb(scale)) for row in mine if row["kind"] == kind), 0)
    c.money("fees", a["fees"], -total("fee"), scale)
    c.money("interest", a["interest"], -total("interest"), scale)
    c.money("dividends", a["dividends"], total("dividend"), scale)
    if not set(walk.whole) & record.split_symbols:
        c.money("realized", a["realized"], sums["realized"], scale)
        c.money("unrealized", a["unrealized_change"], sums["unrealized"], scale)
        other = None
        if a["pnl"] is not None and sums["unrealized"] is not None:
            other = int(Decimal(a["pnl"]).scaleb(scale)) - (sums["realized"] + sums["unrealized"] + total("dividend") + total("fee") + total("interest"))
        c.money("other", a["other"], other, scale)
        check_strategies(c, record, account, a, walk)
    return walk


def check_strategies(c, record, account, a, walk):
    scale = account["currency_scale"]
    wanted = {}
    for (name, source), held in walk.own.items():
        if record.symbols[name]["quote"] != account["currency"]:
            continue
        key = (name, source)
        _, _, fees, pnl = walk.gained(key, held)
        start = walk.since(key)
        opened = held.opened_ns
        says = opened and (start[3] or held.qty or walk.fills[key] or walk.volume[key] or walk.gone[key][0] or walk.gone[key][1])
        if not says:
            continue
        each = wanted.setdefault(source, {"pnl": 0, "fees": 0, "fills": 0, "trades": []})
        each["pnl"] = None if each["pnl"] is None or key in walk.unpriced else each["pnl"] + pnl
        each["fees"] += fees
        each["fills"] += walk.fills[key]
        each["trades"] += walk.trades[key]
    found = {row["strategy"]: row for row in a["strategies"]}
    c.equal("strategies", sorted(found), sorted(wanted))
    for source, each in wanted.items():
        c.money(f"{source} pnl", found[source]["pnl"], each["pnl"], scale)
        c.money(f"{source} fees", found[source]["fees"], each["fees"], scale)
        c.equal(f"{source} fills", found[source]["fills"], each["fills"])
        check_trades(c, f"{source} trades", found[source]["trades"], each["trades"])
    counted = [row for row in a["symbols"] if row["in_equity"]]
    if all(row["pnl"] is not None for row in counted) and all(row["pnl"] is not None for row in found.values()):
        c.equal("the same sum", sum(Decimal(row["pnl"]) for row in counted), sum((Decimal(row["pnl"]) for row in found.values()), Decimal(0)))


def check_benchmark(c, record, account, a, curve):
    start_ns, hours = curve
    rules = account
    for which, names in (("benchmark_streamed", list(record.symbols)), ("benchmark_traded", [row["symbol"] for row in a["symbols"]])):
        worths = []
        for name in names:
            symbol = record.symbols[name]
            if symbol["quote"] != account["currency"] or name in record.split_symbols:
                continue
            bars = next((found for key in record.kinds(name)
                         if (found := [bar + (bar[0] + key[1],) for bar in record.bars[key] if bar[0] >= start_ns and bar[0] + key[1] <= a["to_ns"]])), None)
            if not bars:
                continue
            fee = (rules["taker_e6"] if not rules["class_fees"] or not symbol["asset"] else rules[f"{symbol['asset']}_taker_e6"]) / 1e6
            bought = record.price(name, start_ns) or bars[0][1]
            worth = np.ones(len(hours))
            for _, _, close, end in bars:
                worth[max(0, (end - 1) // HOUR - start_ns // HOUR):] = close / bought / (1 + fee)
            worths.append(worth)
        if record.split_symbols:
            continue
        c.equal(which, a[which]["symbols"], len(worths))
        if not worths:
            c.equal(which, a[which]["return_share"], None)
            continue
        worth = np.mean(worths, axis=0)
        c.near(which + " return", a[which]["return_share"], float(worth[-1] - 1))
        full = np.concatenate(([1.0], worth))
        returns = full[1:] / full[:-1] - 1
        c.near(which + " drawdown", a[which]["max_drawdown_share"], float((full / np.maximum.accumulate(full) - 1).min()))
        if len(hours) >= LEAST_HOURS:
            with np.errstate(all="ignore"):
                c.near(which + " sharpe", a[which]["sharpe"], float(empyrical.sharpe_ratio(returns, annualization=8760)), 1e-7)
                c.near(which + " volatility", a[which]["volatility_share_year"], float(empyrical.annual_volatility(returns, annualization=8760)), 1e-7)
                c.near(which + " beta", a[which]["beta"], float(empyrical.beta_aligned(hours, returns)), 1e-6)


def lost(record, table, frm):
    """Whether a rebuild after that moment lost rows of a table."""
    moments = {row["id"]: row["ts_ns"] for row in record.table("rebuilds")}
    return any(row["name"] == table and moments[row["rebuild"]] > frm and
               ("lost" in row["source"] or "not all of it could be read" in row["source"]) for row in record.table("rebuild_sources"))


def check_data(c, record, report):
    frm, to = report["from_ns"], report["to_ns"]
    no_gaps = lost(record, "gaps", frm)
    revised = record.table("revisions")
    for market in report["markets"]:
        symbol = record.symbols[market["symbol"]]["id"]
        c.equal("revisions", market["revisions"], sum(row["symbol"] == symbol and frm <= row["ts_ns"] < to for row in revised))
        keys = [key for key in record.kinds(market["symbol"]) if key[2] == "venue"]
        if not keys:
            continue
        _, step, _ = keys[0]
        bars = [bar[0] for bar in record.bars[keys[0]]]
        mine = [ns for ns in bars if frm <= ns <= to - step]
        c.equal("bars", market["bars"], len(mine))
        c.near("interval", market["interval_s"], step / 1e9)
        check_gaps(c, record, market, (symbol, step, frm, to), no_gaps)
        if not record.symbols[market["symbol"]]["calendar"]:
            first = max(bars[0], frm)
            expected = max(0, (to - step) // step - -(-first // step) + 1)
            c.equal("expected", market["bars_expected"], expected)
            missing = max(0, expected - len(mine))
        else:
            missing = None if no_gaps else max(0, market["gap_bars"] - market["gap_bars_filled"])
        c.equal("missing", market["bars_missing"], missing)
    check_parity(c, record, report)
    each = [market["bars_missing"] for market in report["markets"]]
    c.equal("all that are missing", report["bars_missing"], None if None in each else sum(each))
    alerts = record.table("alerts")
    begun = [a for a in alerts if a["ts_ns"] < to]
    for severity in ("info", "warning", "error"):
        c.equal("open " + severity, report["alerts"]["open_now"][severity],
                sum(a["severity"] == severity and a["acked_ns"] is None and a["closed_ns"] is None for a in begun))
    newest = [a["id"] for a in begun if a["last_ns"] >= frm or (a["lasts"] and (a["closed_ns"] or frm) >= frm)]
    c.equal("newest alerts", [a["id"] for a in report["alerts"]["newest"]], sorted(newest, reverse=True)[:200])
    if lost(record, "alerts", frm):
        c.equal("alerts", (set(report["alerts"]["raised"].values()), report["feed_silent_s"]), ({None}, None))
        check_uptime(c, record, report)
        return
    for severity in ("info", "warning", "error"):
        c.equal("alerts " + severity, report["alerts"]["raised"][severity], sum(a["severity"] == severity and frm <= a["ts_ns"] < to for a in alerts))
    silent, done = 0, frm
    for ns, closed in sorted((a["ts_ns"], a["closed_ns"] or to) for a in alerts if a["code"] in ("feed", "stale") and a["lasts"]):
        begins, ends = max(ns, done), min(closed, to)
        silent, done = silent + max(0, ends - begins), max(done, ends)
    c.near("silent", report["feed_silent_s"], silent / 1e9, 1e-6)
    check_uptime(c, record, report)


def check_gaps(c, record, market, of, no_gaps):
    """Known gaps of a symbol's bars, as far as they are in the period."""
    symbol, step, frm, to = of
    gaps, bars, filled = 0, 0, 0
    for row in record.table("gaps"):
        first, last = max(row["from_open_ns"], frm), min(row["to_open_ns"], to - step)
        if row["symbol"] != symbol or row["interval_ns"] != step or row["to_open_ns"] < frm or row["from_open_ns"] > to - step:
            continue
        n = (last - first) // step + 1
        gaps, bars, filled = gaps + 1, bars + n, filled + (n if row["filled_ns"] else 0)
    wanted = (None, None, None) if no_gaps else (gaps, bars, filled)
    c.equal("gaps", (market["gaps"], market["gap_bars"], market["gap_bars_filled"]), wanted)


def check_parity(c, record, report):
    meta = {row["key"]: row["value"] for row in record.table("meta")}
    found = report["parity"]
    c.equal("parity", found and found["state"], meta.get("parity_state"))
    if found:
        c.equal("parity's days", found["days"], int(meta["parity_days"]))
        c.equal("parity's time", found["checked_ns"], int(meta["parity_ns"]) or None)


def check_uptime(c, record, report):
    """By the stretches of time between all moments at which a run begins or ends; what follows one that still runs is unknown."""
    runs = sorted(record.table("runs"), key=lambda run: run["run"])
    frm, to = report["from_ns"], report["to_ns"]
    up, down, outages = 0, 0, 0
    part = lambda begins, ends: max(0, min(ends, to) - max(begins, frm))
    for i, run in enumerate(runs):
        up += part(run["began_ns"], run["alive_ns"])
        if runs[i + 1]["run"] != run["run"] + 1 if i + 1 < len(runs) else run["state"] == "running":
            continue
        out = part(run["alive_ns"], runs[i + 1]["began_ns"] if i + 1 < len(runs) else to)
        down, outages = down + out, outages + (out > 0)
    killed = sum(run["state"] == "killed" and frm <= run["alive_ns"] < to for run in runs)
    known = up + down
    for name, wanted in (("observed_s", known), ("up_s", up), ("down_s", down)):
        c.near(name, report[name], wanted / 1e9 if known else None, 1e-9)
    c.near("uptime", report["uptime_share"], up / known if known else None)
    c.equal("outages", (report["outages"], report["runs_killed"]), (outages, killed) if known else (None, None))
    first = report["record_from_ns"]
    c.near("unknown", report["uptime_unknown_s"], max(0, part(first, to) - known) / 1e9 if first else 0, 1e-9)


def check_statement(c, statements, a):
    """The same figures as `papertape statement` of the period; those that the report has otherwise are listed with a reason."""
    wanted = statements[a["from_ns"], a["to_ns"]].get(a["account"])
    found, differences = a["statement"], {each["figure"]: each for each in a["statement_differences"]}
    c.equal("stated", found is not None, wanted is not None)
    if wanted is None:
        return
    for figure, value in found.items():
        c.equal("statement's " + figure, None if value is None else Decimal(value), None if wanted[figure] is None else Decimal(wanted[figure]))
    for figure in ("opening", "realized", "unrealized_change", "fees", "interest", "dividends", "closing"):
        if a[figure] is not None and found[figure] is not None:
            by = Decimal(a[figure]) - Decimal(found[figure])
            c.equal("difference of " + figure, Decimal(differences.get(figure, {"by": 0})["by"]), by)
    c.equal("reasons", all(each["why"] for each in differences.values()), True)


def statements_of(papertape, state, report):
    """By period, then by account: of its own currency, which is its first."""
    found = {}
    for period in {(a["from_ns"], a["to_ns"]) for a in report["accounts"] if a["from_ns"] < a["to_ns"]}:
        made = json.loads(run(papertape, state, "statement", "--json", "--from", str(period[0]), "--to", str(period[1])))
        found[period] = {}
        for one in made["accounts"]:
            found[period].setdefault(one["account"], one)
    return found


def check(papertape, state, *arguments, record=None):
    """Makes the report of these arguments and compares all of it. Returns the report and the number of comparisons."""
    text = run(papertape, state, "report", "--json", *arguments)
    report = json.loads(text, parse_float=Decimal)
    record = record or Record(papertape, state)
    n, statements = 0, statements_of(papertape, state, report)
    for a in report["accounts"]:
        account = record.accounts[a["account"]]
        c = Checks((" ".join(arguments), a["account"]))
        curve = check_curve(c, record, account, a)
        check_positions(c, record, account, a)
        check_statement(c, statements, a)
        if curve:
            check_benchmark(c, record, account, a, curve)
        orders = [o for o in record.orders.values() if o["account"] == account["id"] and a["from_ns"] <= o["created_ns"] < a["to_ns"]]
        c.equal("orders", (a["orders"], a["orders_refused"], a["orders_cancelled"]),
                (len(orders), sum(o["state"] == "REJECTED" for o in orders), sum(o["state"] in ("CANCELED", "EXPIRED") for o in orders)))
        n += c.n
    c = Checks((" ".join(arguments), "data"))
    check_data(c, record, report)
    return report, n + c.n
