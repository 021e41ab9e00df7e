"""Clients that are not ours, unmodified, against papertape-replay: python-binance, cryptofeed, ccxt and alpaca-py. The shared
scripts run; and what the first three received is, value by value, what the replay's transcript says it sent (of alpaca-py
alpaca_py.py shows that).

usage: clients.py PROGRAM SHARED
Skipped (77) without the venv that PAPERTAPE_VENV names, the versions below in it, or the shared client scripts."""

import json
import os
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

from order_client import STILL
from venue import Venue

VERSIONS = {"python-binance": "1.0.37", "cryptofeed": "2.4.1", "ccxt": "4.5.90", "alpaca-py": "0.44.0"}
SKIP = 77
PROGRAM, SHARED = sys.argv[1], os.environ.get("PAPERTAPE_SHARED", sys.argv[2])
VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_values.py")
MESSAGES = 1500


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def find_python():
    venv = os.environ.get("PAPERTAPE_VENV")
    if not venv:
        skip("PAPERTAPE_VENV is not set")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        skip(f"no {python}")
    ask = "import importlib.metadata as m, sys; print(*(m.version(n) for n in sys.argv[1:]))"
    p = subprocess.run([python, "-c", ask, *VERSIONS], capture_output=True, text=True)
    if p.returncode != 0 or p.stdout.split() != list(VERSIONS.values()):
        skip(f"{venv} has not " + " ".join(f"{n}=={v}" for n, v in VERSIONS.items()))
    return python


PYTHON = find_python()


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def run(venue, *clients):
    """Runs clients at the same time, each (words, environment); what each printed, as JSON."""
    running = [subprocess.Popen([PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "PT_URL": f"127.0.0.1:{venue.port}", "PT_CA": venue.ca, **env})
               for words, env in clients]
    try:
        reported = []
        for p, (words, _) in zip(running, clients):
            out, err = p.communicate(timeout=120)
            if p.returncode != 0 or not out.strip():
                raise AssertionError(f"{words}: exit {p.returncode}\n{out}{err}")
            reported.append(json.loads(out.strip().splitlines()[-1]))
            print(os.path.basename(words[0]), *words[1:], {k: f"{len(v)} values" if hasattr(v, "__len__") else v
                                                           for k, v in reported[-1].items()}, flush=True)
        return reported
    finally:
        for p in running:
            if p.poll() is None:
                p.kill()
                p.communicate()


def script(name, **env):
    return [os.path.join(SHARED, "clients", name)], env


def values(name):
    return [VALUES, name, str(MESSAGES)], {}


def check_binance(out, symbols, klines, low, high):
    assert out["symbols"] == symbols, out
    assert klines[0] <= out["klines"] <= klines[1], out["klines"]
    assert all(low < float(c) < high for c in out["kline_closes"]), out["kline_closes"]
    assert out["depth"] == 100 and out["frames"] == 20, out
    assert out["streams"] and set(out["streams"]) <= {"btcusdt@trade", "btcusdt@bookTicker"}, out["streams"]


def check_cryptofeed(out, *channels):
    assert set(out["counts"]) == set(channels) and min(out["counts"].values()) >= 3, out


def check_ccxt(out):
    assert (out["markets"], out["ohlcv"]) == (2, 100), out
    assert 50000 < out["trade"] < 70000 and 50000 < out["book"][0] < out["book"][1] < 70000, out


def test_scripts():
    """The shared scripts, all at once."""
    with Venue(PROGRAM, "--synthetic", "7", "--speed", "20") as v:
        binance, feed, candles, ccxt = run(v, script("python_binance.py", PT_ORDERS="1"), script("cryptofeed_client.py"),
                                           script("cryptofeed_client.py", PT_CHANNELS="candles,trades"), script("ccxt_client.py", PT_ORDERS="1"))
        assert (binance["order"], binance["cancel"], ccxt["order"], ccxt["cancel"]) == ("NEW", "CANCELED", "open", "canceled"), (binance, ccxt)
        check_binance(binance, 2, (100, 100), 50000, 70000)
        check_cryptofeed(feed, "book", "trades", "ticker")
        check_cryptofeed(candles, "candles", "trades")
        check_ccxt(ccxt)
    with Venue(PROGRAM, "--venue", "alpaca", "--synthetic", "7", "--speed", "20") as v:
        out, = run(v, script("alpaca_client.py", PT_ORDERS="1"))
        kinds = [out.pop("StockDataStream"), out.pop("CryptoDataStream")]
        assert all(len(seen) >= 2 and set(seen) <= {"Trade", "Quote", "Bar"} for seen in kinds), kinds
        equal(out, {"equity": "100000", "order": "OrderStatus.NEW", "events": ["new", "canceled"]}, "alpaca-py")


def test_orders():
    """Two clients at once, each with an account of its own: all that they do with orders."""
    script_of = os.path.join(os.path.dirname(VALUES), "client_orders.py")
    with Venue(PROGRAM, *STILL) as v:
        binance, ccxt = run(v, ([script_of, "python-binance"], {}), ([script_of, "ccxt"], {}))
    equal(binance, {"market": "FILLED", "partial": "PARTIALLY_FILLED", "cancelled": "CANCELED", "replaced": "NEW", "open": 1, "by_socket": "CANCELED",
                    "refused": [-2010, -1013, -2011], "events": ["CANCELED", "NEW", "TRADE"], "sums": True,
                    "lists": [["OCO", "EXECUTING", 2], ["OCO", "EXECUTING", 2], ["OTO", "EXECUTING", 3], [3, "EXECUTING"], ["ALL_DONE"] * 3]}, "python-binance")
    equal(ccxt, {"market": "closed", "replaced": ["canceled", "open"], "open": 1, "cancelled": "canceled",
                 "refused": ["InsufficientFunds", "OrderNotFound"], "sums": True,
                 "lists": [4, 2, ["ALL_DONE"] * 2], "trailing": ["open", "canceled"]}, "ccxt")
    with Venue(PROGRAM, "--venue", "alpaca", "--synthetic", "7") as v:
        alpaca, = run(v, ([script_of, "alpaca-py"], {}))
    equal(alpaca, {"market": "filled", "sums": True, "replaced": ["replaced", "new", True], "open": 1, "refused": [40310000, 40310000, 40010001],
                   "fill": True, "events": ["canceled", "fill", "new", "replaced"]}, "alpaca-py")


def test_recordings():
    files = [os.path.join(SHARED, "data", "recorded", "binance", f"{s}usdt_2024-08-08.jsonl.gz") for s in ("btc", "eth")]
    if not all(map(os.path.exists, files)):
        print("the shared recordings are absent: synthetic market only")
        return
    with Venue(PROGRAM, "--recording", *files, "--speed", "20") as v:
        binance, feed = run(v, script("python_binance.py"), script("cryptofeed_client.py"))
        check_binance(binance, 2, (0, 7), 61000, 62500)
        check_cryptofeed(feed, "book", "trades", "ticker")


class Transcript:
    """What the replay says that it sent."""

    def __init__(self, path):
        self.opened, self.texts, self.rest = {}, {}, {}
        with open(path) as file:
            for line in file:
                client, kind, rest = line.rstrip("\n").split(" ", 2) if line.count(" ") > 1 else (*line.split(), "")
                if kind == "open":
                    self.opened[client] = rest
                elif kind == "text":
                    self.texts.setdefault(client, []).append(json.loads(rest))
                elif kind == "rest":
                    _, target, status, body = rest.split(" ", 3)
                    if status == "200":
                        self.rest.setdefault(target, []).append(json.loads(body))

    def replies(self, *words):
        return [body for target, bodies in self.rest.items() if all(w in target for w in words) for body in bodies]

    def clients(self, *words):
        return [self.texts[c] for c, path in self.opened.items() if all(w in path for w in words)]

    def events(self, symbol, kind):
        """Every message of a kind that went to anybody, once each, whether wrapped or not."""
        seen = {}
        for texts in self.texts.values():
            for m in texts:
                d = m.get("data", m)
                if d.get("s") == symbol and d.get("e") == kind:
                    seen[d.get("t", d.get("u"))] = d
        return [seen[k] for k in sorted(seen)]


def starts_with(sent, got):
    return sent[:len(got)] == got


def books(transcript, symbol):
    """The venue's book by id: a function that starts from the last snapshot whose differences were sent without a hole."""
    snapshots = sorted(((r["lastUpdateId"], r) for r in transcript.replies("/api/v3/depth", f"symbol={symbol}")), reverse=True,
                       key=lambda pair: pair[0])
    diffs = transcript.events(symbol, "depthUpdate")

    def follow(snapshot, update):
        last, sides = snapshot["lastUpdateId"], [{Decimal(p): Decimal(q) for p, q in snapshot[side]} for side in ("bids", "asks")]
        for d in diffs:
            if not last < d["u"] <= update:
                continue
            if d["U"] > last + 1:
                return None
            for side, key in zip(sides, "ba"):
                side.update((Decimal(p), Decimal(q)) for p, q in d[key])
            last = d["u"]
        return sides if last == update else None

    def at(update):
        sides = next(filter(None, (follow(s, update) for i, s in snapshots if i <= update)), None)
        assert sides, f"no snapshot and differences that lead to {update}"
        return [sorted(((p, q) for p, q in side.items() if q), reverse=not i) for i, side in enumerate(sides)]

    return at


def compare_book(at, update, sides, what):
    for side, got in zip(at(update), sides):
        equal([(Decimal(str(p)), Decimal(str(q))) for p, q in got], side[:len(got)], f"{what} at {update}")


def compare_binance(t, got):
    assert got["exchangeInfo"] in t.replies("exchangeInfo"), "exchangeInfo"
    assert got["klines"] in t.replies("klines", "BTCUSDT", "limit=100"), "klines"
    assert got["depth"] in t.replies("depth", "BTCUSDT"), "depth"
    sent = t.clients("ethusdt@aggTrade")
    equal((len(sent), len(got["messages"])), (1, MESSAGES), "messages")
    assert starts_with(sent[0], got["messages"]), "messages"
    equal(len({m["stream"] for m in got["messages"]}), 5, "streams")


def compare_ccxt(t, got):
    info = {s["symbol"]: s for s in t.replies("exchangeInfo")[0]["symbols"]}
    equal(set(got["markets"]), set(info), "markets")
    for name, m in got["markets"].items():
        filters = {f["filterType"]: f for f in info[name]["filters"]}
        equal((m["base"], m["quote"], m["tick"], m["step"], m["least"]),
              (info[name]["baseAsset"], info[name]["quoteAsset"], float(filters["PRICE_FILTER"]["tickSize"]),
               float(filters["LOT_SIZE"]["stepSize"]), float(filters["LOT_SIZE"]["minQty"])), name)
    rows = [[[r[0], *map(float, r[1:6])] for r in reply] for reply in t.replies("klines", "ETHUSDT")]
    assert got["klines"] in rows, "klines"
    sent = {str(d["t"]): [str(d["t"]), float(d["p"]), float(d["q"]), d["T"], "sell" if d["m"] else "buy"]
            for d in t.events("BTCUSDT", "trade")}
    assert len(got["trades"]) >= MESSAGES // 10
    for trade in got["trades"]:
        equal(trade, sent.get(trade[0]), "a trade")
    at = books(t, "BTCUSDT")
    for update, *sides in got["books"]:
        compare_book(at, update, sides, "ccxt's book")


def compare_cryptofeed(t, got):
    sent = next(texts for path, texts in zip(t.opened.values(), (t.texts.get(c, []) for c in t.opened))
                if "btcusdt@kline_1m" in path and "aggTrade" in path)
    sent = [m["data"] for m in sent if "data" in m]
    trades = [[str(d["a"]), Decimal(d["p"]), Decimal(d["q"]), "sell" if d["m"] else "buy"] for d in sent if d.get("e") == "aggTrade"]
    assert starts_with(trades, [[i, Decimal(p), Decimal(q), side] for i, p, q, side in got["trades"]]), "trades"
    ticker = [[Decimal(d["b"]), Decimal(d["a"])] for d in sent if "e" not in d]
    assert starts_with(ticker, [list(map(Decimal, x)) for x in got["ticker"]]), "ticker"
    candles = [[*(Decimal(d["k"][x]) for x in "ohlcv"), d["k"]["n"], d["k"]["x"]] for d in sent if d.get("e") == "kline"]
    assert starts_with(candles, [[*map(Decimal, x[:5]), *x[5:]] for x in got["candles"]]), "candles"
    at = books(t, "BTCUSDT")
    for update, *sides in got["book"]:
        compare_book(at, update, sides, "cryptofeed's book")


def test_values():
    """At full speed, where the replay waits for each of them."""
    with tempfile.TemporaryDirectory(prefix="papertape-clients-") as folder:
        path = os.path.join(folder, "transcript")
        with Venue(PROGRAM, "--synthetic", "7", "--speed", "max", "--transcript", path) as v:
            binance, ccxt, cryptofeed = run(v, values("binance"), values("ccxt"), values("cryptofeed"))
            equal(v.stop(), (0, ""), "it ends")
        transcript = Transcript(path)
    compare_binance(transcript, binance)
    compare_ccxt(transcript, ccxt)
    compare_cryptofeed(transcript, cryptofeed)


def main():
    if not os.path.exists(os.path.join(SHARED, "clients", "python_binance.py")):
        skip(f"no client scripts in {SHARED}")
    for test in (test_scripts, test_orders, test_recordings, test_values):
        start = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - start:.1f} s", flush=True)


main()
