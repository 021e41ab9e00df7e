"""Average and first-in-first-out cost in exact fractions, compared with what engine/position.c made of the same
fills: nothing is shared but the fills.

Where the engine rounds, it rounds a cost that leaves down to a unit, so what stays is too much by less than one
unit for each time that it was rounded since the lot (or, by average, the position) was last whole.

usage: positions_oracle.py TEST-POSITIONS [SEED…]
"""

import csv
import subprocess
import sys
from fractions import Fraction


class Exact:
    def __init__(self):
        self.lots = []  # [sign, qty, cost, roundings, opened]
        self.qty = 0
        self.average_cost = Fraction(0)
        self.average_roundings = 0
        self.realized = Fraction(0)  # by average
        self.fifo_realized = Fraction(0)
        self.realized_roundings = self.fifo_realized_roundings = 0

    def fill(self, side, qty, notional, when):
        sign = 1 if side == "BUY" else -1
        price = Fraction(notional, qty)
        closed = min(qty, abs(self.qty)) if self.qty * sign < 0 else 0
        if closed:
            self.close(sign, closed, price, through_zero=closed < qty)
        if qty > closed:
            if self.qty == 0:
                self.average_cost, self.average_roundings = Fraction(0), 0
            self.lots.append([sign, qty - closed, price * (qty - closed), 0, when])
            self.average_cost += price * (qty - closed)
            self.average_roundings += 1 if closed else 0
            self.lots[-1][3] += 1 if closed else 0
            self.qty += sign * (qty - closed)

    def close(self, sign, closed, price, through_zero):
        gone = self.average_cost * closed / abs(self.qty)
        self.realized += -sign * (price * closed - gone)
        self.average_cost -= gone
        self.average_roundings += 1
        self.realized_roundings += 1 + through_zero
        self.qty += sign * closed
        left = closed
        while left:
            lot = self.lots[0]
            part = min(left, lot[1])
            cost = lot[2] * part / lot[1]
            self.fifo_realized += -sign * (price * part - cost)
            lot[1] -= part
            lot[2] -= cost
            lot[3] += 1
            left -= part
            if lot[1] == 0:
                self.lots.pop(0)
        self.fifo_realized_roundings += 1 + through_zero


def near(name, line, value, exact, roundings):
    if abs(value - exact) > roundings:
        sys.exit(f"line {line}: {name} is {value}, exactly {float(exact)} ± {roundings}")


def check(program, seed):
    run = subprocess.run([program, "print", str(seed)], check=True, capture_output=True, text=True)
    exact, closings, flats = Exact(), 0, 0
    for line, row in enumerate(csv.DictReader(run.stdout.splitlines()), 1):
        exact.fill(row["side"], int(row["qty"]), int(row["notional"]), line)
        if int(row["held"]) != exact.qty:
            sys.exit(f"line {line}: {row['held']} held, not {exact.qty}")
        opened = exact.lots[0][4] if exact.lots else 0
        if int(row["opened"]) != opened:
            sys.exit(f"line {line}: opened {row['opened']}, not {opened}")
        fifo = sum(lot[2] for lot in exact.lots)
        near("cost", line, int(row["cost"]), exact.average_cost, exact.average_roundings)
        near("fifo_cost", line, int(row["fifo_cost"]), fifo, sum(lot[3] for lot in exact.lots))
        # Gains are of the same money: they are off by what the costs are off, and by the split of a fill
        # that went through zero.
        near("realized", line, int(row["realized"]), exact.realized,
             exact.average_roundings + exact.realized_roundings)
        near("fifo_realized", line, int(row["fifo_realized"]), exact.fifo_realized,
             len(exact.lots) + exact.fifo_realized_roundings)
        if exact.qty == 0:
            flats += 1
            if row["realized"] != row["fifo_realized"] or int(row["cost"]) or int(row["fifo_cost"]):
                sys.exit(f"line {line}: flat, and not the same by both ways")
            if int(row["realized"]) != exact.realized:
                sys.exit(f"line {line}: flat, {row['realized']} realized, exactly {exact.realized}")
    print(f"engine/positions_oracle: seed {seed}: {line} fills, {flats} times flat")


if len(sys.argv) < 2:
    sys.exit("usage: positions_oracle.py TEST-POSITIONS [SEED…]")
for seed in sys.argv[2:] or ["1", "2", "3"]:
    check(sys.argv[1], seed)
