"""The books of real recordings against a book kept here, on a dictionary, by the venue's rule.

Exit status 77, skip, without the recordings (PAPERTAPE_SHARED names their folder)."""
import gzip
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

folder = Path(os.environ.get("PAPERTAPE_SHARED", "")) / "data/recorded/binance"
if not os.environ.get("PAPERTAPE_SHARED") or not folder.is_dir():
    print(f"skipped: no recordings in {folder}")
    sys.exit(77)


def units(text):
    return int(Decimal(text).scaleb(8))


class Book:
    def __init__(self):
        self.sides, self.id, self.buffer = None, 0, []

    def load(self, reply):
        if self.sides is not None:
            return
        if self.buffer and self.buffer[0]["U"] > reply["lastUpdateId"] + 1:
            return
        self.sides = {side: {units(p): units(q) for p, q, *_ in reply[name]} for side, name in (("b", "bids"), ("a", "asks"))}
        self.id = reply["lastUpdateId"]
        waiting, self.buffer = self.buffer, []
        for data in waiting:
            self.update(data)

    def update(self, data):
        if self.sides is None:
            self.buffer.append(data)
            return
        if data["u"] <= self.id:
            return
        if data["U"] > self.id + 1:
            self.sides, self.buffer = None, [data]
            return
        for side, levels in self.sides.items():
            for price, qty, *_ in data[side]:
                levels.pop(units(price), None)
                if units(qty):
                    levels[units(price)] = units(qty)
        self.id = data["u"]

    def text(self):
        def spell(levels, reverse):
            return ",".join(f"{p}:{q}" for p, q in sorted(levels.items(), reverse=reverse))

        return f"1 {self.id} {spell(self.sides['b'], True)} {spell(self.sides['a'], False)}"


def single(path):
    """Lines "NS FRAME", with the REST reply between the frames."""
    symbol = path.name.split("_")[0].upper()
    for line in gzip.open(path, "rt"):
        text = line.split(" ", 1)[1].strip()
        yield symbol, text, json.loads(text)


def several(ws, http):
    """Frames of several symbols and the REST replies, each with its time: in the order of the times."""
    items = []
    for line in gzip.open(ws, "rt"):
        if ": {" in line[:30]:
            time, text = line.split(": ", 1)
            items.append((float(time), None, text.strip()))
    for line in gzip.open(http, "rt"):
        if "/depth?" in line:
            url, answer = line.split(" -> ", 1)
            time, text = answer.split(": ", 1)
            items.append((float(time), url.split("symbol=")[1].split("&")[0], text.strip()))
    for _, symbol, text in sorted(items, key=lambda item: item[0]):
        yield symbol, text, json.loads(text)


def compare(name, items, symbols):
    books = {symbol: Book() for symbol in symbols}
    asked, expected, depths = [], [], 0
    for symbol, text, parsed in items:
        if "lastUpdateId" in parsed:
            books[symbol].load(parsed)
            asked.append(f"S {symbol} {text}")
            expected.append(None)
            continue
        asked.append(f"F {text}")
        expected.append("0")
        if "@depth" not in parsed["stream"]:
            continue
        depths += 1
        symbol = parsed["data"]["s"]
        books[symbol].update(parsed["data"])
        if depths % 100 == 0 and books[symbol].sides is not None:
            asked.append(f"P {symbol}")
            expected.append(books[symbol].text())
    for symbol, book in books.items():
        if book.sides is not None:
            asked.append(f"P {symbol}")
            expected.append(book.text())
    run = subprocess.run([sys.argv[1], "book", *symbols], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True)
    got = run.stdout.splitlines()
    wrong = [(q, e, g) for q, e, g in zip(asked, expected, got) if e is not None and e != g]
    for question, want, answer in wrong[:5]:
        print(f"{question[:200]}:\n  {answer[:200]}\n  here {want[:200]}")
    compared = sum(q.startswith("P") for q in asked)
    print(f"{name}: {len(asked) - compared} frames and replies, {compared} books of {len(symbols)} symbols compared, {len(wrong)} differ")
    return bool(wrong) or len(got) != len(asked) or compared < len(symbols)


failed = False
for path in sorted(folder.glob("*_2024-*.jsonl.gz")):
    failed |= compare(path.name, single(path), [path.name.split("_")[0].upper()])
ws, http = folder / "book_sync_2021-10.ws.gz", folder / "book_sync_2021-10.http.gz"
if ws.exists() and http.exists():
    failed |= compare(ws.name, several(ws, http), ["NKNUSDT", "BLZETH", "LRCBTC", "RUNEEUR"])
sys.exit(failed)
