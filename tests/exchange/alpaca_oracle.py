"""Every recorded reply and frame of Alpaca's through its parsers, compared with a reading by Python's json,
Decimal and datetime; then numbers and times by the thousand. Usage: alpaca_oracle.py EXCHANGE_LINES"""

import datetime
import decimal
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import zoneinfo

E9 = decimal.Decimal(10) ** 9
decimal.getcontext().prec = 60


def units(value):
    whole = decimal.Decimal(value) * E9
    assert whole == whole.to_integral_value(), value
    return int(whole)


def cut(value):
    return int((decimal.Decimal(value) * E9).to_integral_value(decimal.ROUND_FLOOR))


def nanoseconds(text):
    """By datetime, whose microseconds are not enough."""
    head, _, rest = text.replace("Z", "").partition(".")
    moment = datetime.datetime.fromisoformat(head).replace(tzinfo=datetime.timezone.utc)
    return int(moment.timestamp()) * 10**9 + int(rest.ljust(9, "0") or 0)


def message(symbol, kind, m):
    if kind == "trades":
        return (f"{symbol} trade {nanoseconds(m['t'])} {m['i']} {units(m['p'])} {units(m['s'])} "
                f"{int(m.get('tks') == 'S')}")
    if kind == "quotes":
        return (f"{symbol} bookTicker {nanoseconds(m['t'])} {units(m['bp'])} {units(m['bs'])} {units(m['ap'])} "
                f"{units(m['as'])}")
    prices = " ".join(str(units(m[k])) for k in "ohlc")
    if kind == "days":
        return f"{symbol} miniTicker {prices} {units(m['v'])}"
    return (f"{symbol} kline {nanoseconds(m['t'])} {prices} {m.get('n', 0)} {units(m['v'])} "
            f"{units(m['v']) * cut(m.get('vw', 0))}")


PARTS = {"latestTrade": "trades", "latestQuote": "quotes", "minuteBar": "bars", "dailyBar": "days",
         "prevDailyBar": "days"}


def snapshots(body):
    return [message(symbol, PARTS[part], m) for symbol, one in body.items() for part, m in (one or {}).items() if m]


def reply(body):
    lines = []
    for key, value in body.items():
        if key in ("trades", "quotes", "bars"):
            for symbol, messages in value.items():
                for m in messages if isinstance(messages, list) else [messages]:
                    if m.get("u") not in ("canceled", "incorrect"):  # no trades any more
                        lines.append(message(symbol, key, m))
        elif key == "snapshots":
            lines += snapshots(value)
        elif key != "next_page_token" and not isinstance(value, str):
            lines += snapshots({key: value})
    return lines + [f"next {body.get('next_page_token') or ''}".rstrip()]


def morning(date):
    """When a day's extended hours begin in New York, in nanoseconds."""
    day = datetime.datetime.fromisoformat(date)
    return int(day.replace(hour=4, tzinfo=zoneinfo.ZoneInfo("America/New_York")).timestamp()) * 10**9


def actions(body):
    lines = []
    for kind, listed in body["corporate_actions"].items():
        for a in listed:
            if kind == "name_changes":
                old, new, date = a["old_symbol"], a["new_symbol"], a["process_date"]
                lines.append(f"{old} name {new} {morning(date)} {a.get('id') or f'{old} name {date}'}")
                continue
            if kind not in ("forward_splits", "reverse_splits", "cash_dividends", "stock_dividends"):
                continue
            ex = morning(a["ex_date"])
            word, cash, shares, per = "split", 0, 0, 0
            if kind == "cash_dividends":
                word, cash = "dividend", units(a["rate"])
            else:
                new, old = (a["new_rate"], a["old_rate"]) if "splits" in kind else (1 + a["rate"], 1)
                shares, per = (decimal.Decimal(new) / decimal.Decimal(old)).as_integer_ratio()
            lines.append(f"{a['symbol']} {word} {ex} {shares} {per} {cash} "
                         f"{a.get('id') or a['symbol'] + ' ' + word + ' ' + a['ex_date']}")
    return lines


def trading(frame):
    data = frame["data"]
    if frame["stream"] == "authorization":
        return ["0" if data["status"] == "authorized" else "1"]
    if frame["stream"] == "listening":
        return ["2"]
    order = data["order"]

    def amount(value):
        return "-1" if value is None else str(units(value))

    return [" ".join(["3", data["event"], data["event_id"], str(nanoseconds(data["timestamp"])),
                      amount(data.get("price")), amount(data.get("qty")), amount(data.get("position_qty")),
                      *(order[k] for k in ("id", "client_order_id", "symbol", "side", "type", "time_in_force",
                                           "status")),
                      *(amount(order[k]) for k in ("qty", "filled_qty", "filled_avg_price", "limit_price")), "1"])]


def recorded(folder):
    """Pairs of requests and the required answers."""
    pairs = []
    with gzip.open(folder / "rest_replies.jsonl.gz", "rt") as file:
        for line in file:
            row = json.loads(line, parse_float=decimal.Decimal)
            start = line.index('"body": ') + len('"body": ')
            body, text = row["body"], line[start:].rstrip()[:-1]
            assert json.loads(text, parse_float=decimal.Decimal) == body
            if "corporate_actions" in body:
                pairs.append(("actions " + text, actions(body)))
            elif "class" in body:
                primary = {"NYSE": "N", "NASDAQ": "Q", "ARCA": "P", "AMEX": "A", "BATS": "Z"}.get(body["exchange"], "-")
                pairs.append(("asset " + text, [f"1 APCA APCA USD alpaca us-equity 1 0 1 10000000 {primary}"]))
            elif "message" in body:
                pairs.append(("refusal " + text, ["refusal " + body["message"]]))
            elif list(body) == ["id", "symbol"]:  # an order that was cancelled: no market data
                pairs.append(("reply " + text, ["next"]))
            else:
                pairs.append(("reply " + text, reply(body)))
    with open(folder / "trade_updates_2026-09-18.jsonl") as file:
        for line in file:
            if line.strip():
                pairs.append(("trading " + line.rstrip(), trading(json.loads(line))))
    return pairs


def numbers(rng, n):
    pairs = []
    for _ in range(n):
        digits, scale = rng.randint(0, 10 ** rng.randint(1, 15) - 1), rng.randint(0, 9)
        value = decimal.Decimal(digits).scaleb(-scale)
        text = repr(float(value))  # shortest digits, as the venue's language writes them
        if decimal.Decimal(text) != value:
            continue
        pairs.append(("number " + text, [f"{units(value)} 0 {units(value)}"]))
    return pairs


def times(rng, n):
    pairs = []
    for _ in range(n):
        ns = rng.randint(0, 4102444799) * 10**9 + rng.choice([0, rng.randint(0, 999999999)])
        head = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        full = head + (f".{ns % 10**9:09d}" if ns % 10**9 else "") + "Z"
        short = full if "." not in full else full[:-1].rstrip("0") + "Z"
        pairs.append(("time " + short, [f"{ns} {full}"]))
    return pairs


def moment(day, minute):
    """Nanoseconds of a wall time in New York."""
    local = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=day, minutes=minute)
    return int(local.replace(tzinfo=zoneinfo.ZoneInfo("America/New_York")).timestamp()) * 10**9


def eastern(rng, n):
    pairs = []
    for _ in range(n):
        day, minute = rng.randint(6575, 24800), rng.randint(0, 1439)  # 1988 to 2037
        pairs.append((f"eastern {day} {minute}", [f"{moment(day, minute)} {day}"]))
    for year in range(1990, 2037):  # the days on which clocks change, around the change
        for month in (3, 4, 10, 11):
            for date in range(1, 15 if month != 10 else 32):
                day = (datetime.date(year, month, date) - datetime.date(1970, 1, 1)).days
                for minute in (119, 120, 121, 179, 180, 181, 240):
                    pairs.append((f"eastern {day} {minute}", [f"{moment(day, minute)} {day}"]))
    return pairs


def calendars(rng, n):
    pairs = []
    for _ in range(n):
        first = rng.randint(15000, 24000)
        rows, wanted = [], []
        for day in range(first, first + 30):
            if rng.random() < 0.3:
                continue
            close = rng.choice([960, 960, 960, 780])
            row = {"date": (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat(), "open": "09:30",
                   "close": f"{close // 60:02d}:{close % 60:02d}", "settlement_date": "x"}
            late = 1200
            if rng.random() < 0.7:
                late = 1200 if close == 960 else 1020
                row |= {"session_open": "0400", "session_close": f"{late // 60:02d}00"}
            rows.append(row)
            wanted.append(" ".join(str(moment(day, m)) for m in (240, 570, close, late)))
        pairs.append(("calendar " + json.dumps(rows), wanted))
    return pairs


def main():
    program = sys.argv[1]
    seed = int(os.environ.get("PAPERTAPE_SEED", "20261122"))
    print(f"alpaca_oracle: PAPERTAPE_SEED={seed}")
    rng = random.Random(seed)
    pairs = numbers(rng, 5000) + times(rng, 2000) + eastern(rng, 3000) + calendars(rng, 20)
    pairs += [("number 1e-10", None), ("number 12x", None), ("time 2025-02-29T00:00:00Z", None),
              ("time 2025-02-28T24:00:00Z", None),
              ('calendar [{"date":"2025-03-04","open":"09:30","close":"16:00"},{"date":"2025-03-03","open":"09:30",'
               '"close":"16:00"}]', None),
              ('calendar [{"date":"2025-03-04","open":"16:00","close":"09:30"}]', None),
              ('calendar [{"date":"2025-03-04","open":"09:30"}]', None),
              ('calendar [{"date":"2025-02-30","open":"09:30","close":"16:00"}]', None),
              ('calendar {}', None)]
    shared = os.environ.get("PAPERTAPE_SHARED")
    shared = pathlib.Path(shared) if shared else pathlib.Path(__file__).resolve().parents[3] / "shared"
    folder = shared / "data" / "recorded" / "alpaca"
    n = 0
    if folder.is_dir():
        pairs += recorded(folder)
        n = len(recorded(folder))
    asked = "".join(text + "\n" for text, _ in pairs)
    said = subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    at = failures = 0
    for text, wanted in pairs:
        lines = []
        while not said[at].startswith("end "):
            lines.append(said[at].rstrip())
            at += 1
        code = int(said[at].split()[1])
        at += 1
        good = code != 0 if wanted is None else code == 0 and lines == wanted
        if not good:
            failures += 1
            print(f"{text[:200]}\n  code {code}, {lines}\n  wanted {wanted}")
    assert at == len(said)
    print(f"alpaca_oracle: {n} recorded replies and frames, {len(pairs)} texts, {failures} differ")
    sys.exit(1 if failures else 0)


main()
