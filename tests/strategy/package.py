"""The package papertape.strategy, line by line, as docs/plugins-protocol.md has them: package.py SOURCE (standard library only)."""

import json
import os
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]
STRATEGY = """
import math
from papertape.strategy import *


class Mine(Strategy):
    name = "mine"
    summary = "for a test"
    params = {
        "n": Param(10, 1, 100, "bars"),
        "share": Param(0.5, 0, 1),
        "average": Param("sma", words=("sma", "ema")),
    }
    history = 7
    shorts = True

    def check(self):
        return "n: not 13" if self.n == 13 else None

    def indicators(self):
        return [f"{self.average}:{self.n}", "macd"]

    def start(self):
        print("begins", self.mode, self.account, self.currency, self.interval, sorted(self.symbols), type(self.share).__name__)

    def on_bar(self, bar):
        assert all(math.isnan(value) for value in bar.indicators) != bar.warm
        seen = bar.memory["seen"] = bar.memory.get("seen", 0) + (not bar.close == 5)
        if bar.close == 1:
            return Enter(self.share, stop=0.9, profit=None, limit=1, good=10**18, why="caf\\u00e9")
        if bar.close == 2:
            return [Exit(), Exit(0.5), Short(1, why="turn")]
        if bar.close == 3:
            return bar.nothing
        if bar.close == 4:
            return Target(math.inf)
        if bar.close == 6:
            bar.memory = {}
        if bar.close == 7:
            return (Stop(intent) for intent in (1, 2))
        if bar.close == 8:
            return "buy"
        if bar.close == 10:
            return [Exit(0.25, why="half"), Cancel(), Order("buy", "limit", fraction=bar.leverage, limit=9, tif="gtd", good=10**18),
                    Order("sell", "trailing_stop", qty=bar.orders, trail_share=0.02, reduce_only=True, why="t"),
                    Order("sell", size="position", fraction=1)]
        assert (bar.history, bar.again, bar.record, bar.session) == (False, False, (0, 0, 0, 0.0, 0.0), None)
        assert bar.interval == 60 * 10**9
        return []


run(Mine)
"""


ROUND = """
from papertape.strategy import *


class Several(Strategy):
    name = "several"
    shorts = needs_shorts = together = True
    symbols_min = 2

    def indicators(self):
        return ["sma:2"]

    def on_bar(self, bar):
        assert bar.self == 0 and bar.symbol == "A" and len(bar.peers) == 2
        rounds = bar.memory["rounds"] = bar.memory.get("rounds", 0) + 1
        a, b = bar.peers
        assert (a.warm, b.warm, b.leverage, b.orders) == (True, rounds > 1, 2 if rounds > 1 else 1, 0)
        assert b.close != b.close if rounds == 1 else b.close == 5
        if rounds == 1:
            assert b.time is None and bar.close != bar.close
            return Target(a.qty / 4).on("A")
        return [Exit().on(peer) for peer in bar.peers if peer.fresh] + [Order("sell", qty=1).on(b)]


run(Several)
"""


class Process:
    def __init__(self, folder, text):
        path = os.path.join(folder, "mine.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.popen = subprocess.Popen([sys.executable, "-S", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "trainer/python")})

    def ask(self, /, **line):
        self.popen.stdin.write(json.dumps(line) + "\n")
        self.popen.stdin.flush()
        answer = self.popen.stdout.readline()
        return json.loads(answer, parse_constant=lambda word: 1 / 0)

    def end(self):
        """What it wrote to standard error."""
        self.popen.stdin.close()
        assert self.popen.stdout.read() == ""
        errors = self.popen.stderr.read()
        assert self.popen.wait() == 0, errors
        return errors


def hello(n=10, states=(None, None), mode="live"):
    symbols = [{"symbol": name} for name in ("A", "B")]
    return {"type": "hello", "protocol": 1, "mode": mode, "account": "main", "currency": "USDT", "interval": 60 * 10**9, "limit": 1,
            "params": {"n": n, "share": 1, "average": "ema"}, "symbols": symbols, "states": list(states)}


def bar(close, symbol="A", indicators=(1.5, 2, 3, 4), **more):
    return {"type": "bar", "time": 60 * 10**9, "symbol": symbol, "open": 1, "high": 1, "low": 1, "close": close, "volume": 1, "exact": ["1"] * 5,
            "indicators": list(indicators), "qty": 0, "entry": 0, "equity": 1, "cash": 1, "live_orders": False, "shorts": False, "stop": 0,
            "profit": 0, "positions": 0, "symbols": 2, **more}


def answer(intents, symbol="A", **more):
    return {"type": "intents", "bar": 60 * 10**9, "symbol": symbol, "intents": intents, **more}


def failed(text, symbol="A"):
    return {"type": "error", "bar": 60 * 10**9, "symbol": symbol, "text": text}


def peer(symbol, close, **more):
    return {"symbol": symbol, "time": None if close is None else 0, "fresh": close is not None, "open": close, "high": close, "low": close, "close": close,
            "volume": close, "indicators": [close], "qty": 2, "entry": 1, "stop": 0, "profit": 0, "live_orders": False, "shorts": True, **more}


def check_rounds(folder):
    process = Process(folder, ROUND)
    described = process.ask(type="describe")
    assert (described["together"], described["needs_shorts"], described["symbols_min"], "peers" in described) == (True, True, 2, False), described
    empty = {**hello(), "params": {}}
    assert process.ask(**empty) == {"type": "ready", "indicators": ["sma:2"]}
    first = bar(None, self=0, peers=[peer("A", 1), peer("B", None)], indicators=[None])
    assert process.ask(**first) == answer([{"kind": "target", "fraction": 0.5, "symbol": "A"}], state={"rounds": 1})
    second = bar(1, self=0, peers=[peer("A", 1), peer("B", 5, leverage=2)], indicators=[1])
    assert process.ask(**second) == answer([{"kind": "exit", "symbol": "A"}, {"kind": "exit", "symbol": "B"},
                                            {"kind": "order", "qty": 1.0, "side": "sell", "type": "market", "symbol": "B"}], state={"rounds": 2})
    process.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_rounds(folder)
        process = Process(folder, STRATEGY)
        described = process.ask(type="describe")
        assert described == {
            "type": "strategy", "protocol": 1, "name": "mine", "summary": "for a test", "history": 7, "shorts": True,
            "params": [{"name": "n", "summary": "bars", "default": 10, "min": 1, "max": 100, "integer": True},
                       {"name": "share", "summary": "", "default": 0.5, "min": 0, "max": 1, "integer": False},
                       {"name": "average", "summary": "", "default": "sma", "words": ["sma", "ema"]}]}, described
        assert process.ask(**hello(13)) == {"type": "error", "text": "n: not 13"}
        assert process.ask(**hello(20, mode="check")) == {"type": "ready", "indicators": ["ema:20", "macd"]}
        assert process.ask(**hello(20, [{"seen": 5}, None])) == {"type": "ready", "indicators": ["ema:20", "macd"]}
        enter = {"kind": "enter", "fraction": 1.0, "stop": 0.9, "limit": 1.0, "good": 10**18, "why": "caf\u00e9"}
        for asked, expected in (
            (bar(1), answer([enter], state={"seen": 6})),
            (bar(1, "B"), answer([enter], "B", state={"seen": 1})),
            (bar(5), answer([])),  # its memory is as it was
            (bar(2), answer([{"kind": "exit"}, {"kind": "exit", "fraction": 0.5}, {"kind": "short", "fraction": 1.0, "why": "turn"}], state={"seen": 7})),
            (bar(3), failed("AttributeError: 'Bar' object has no attribute 'nothing' (mine.py:34)")),
            (bar(4), failed("ValueError: Target: fraction is inf: a finite number is needed (mine.py:36)")),
            (bar(8), failed("TypeError: on_bar() returned 'buy': an Enter, Short, Exit, Stop, Target, Order or Cancel, or several of them, or None, is right")),
            (bar(7), answer([{"kind": "stop", "stop": 1.0}, {"kind": "stop", "stop": 2.0}], state={"seen": 11})),
            (bar(6), answer([], state={})),
            (bar(5), answer([], state={"seen": 0})),
            (bar(9, indicators=[None] * 4), answer([], state={"seen": 1})),
            (bar(2, again=True, history=True), answer([{"kind": "exit"}, {"kind": "exit", "fraction": 0.5}, {"kind": "short", "fraction": 1.0, "why": "turn"}], state={"seen": 1})),
            (bar(9, "B", more=1), answer([], "B", state={"seen": 2})),
            (bar(10, "B", leverage=3.5, orders=2), answer([
                {"kind": "exit", "fraction": 0.25, "why": "half"}, {"kind": "cancel"},
                {"kind": "order", "fraction": 3.5, "limit": 9.0, "good": 10**18, "side": "buy", "type": "limit", "tif": "gtd"},
                {"kind": "order", "qty": 2.0, "trail_share": 0.02, "side": "sell", "type": "trailing_stop", "reduce_only": True, "why": "t"},
                {"kind": "order", "fraction": 1.0, "side": "sell", "type": "market", "size": "position"}], "B", state={"seen": 3})),
        ):
            found = process.ask(**asked)
            assert found == expected, (asked["close"], found, expected)
        assert process.ask(**hello(30)) == {"type": "ready", "indicators": ["ema:30", "macd"]}
        assert process.ask(**bar(5)) == answer([], state={"seen": 0})  # all before is over
        assert process.ask(**{**hello(), "protocol": 2})["text"].startswith("ValueError: protocol 2 is not 1")
        errors = process.end()
        assert errors.count("begins live main USDT 60000000000 ['A', 'B'] float\n") == 2, errors
        assert errors.count("Traceback") == 4, errors
        for wrong in ("Param(5, 6, 7)", "Param('a', words=('b', 'c'))", "Param(5)", "Param('a', 0, 1)", "Param(float('nan'), 0, 1)", "Enter('x')", "Enter(None)",
                      "Stop(float('nan'))", "Order('buy')", "Order('buy', qty=1, fraction=1)", "Order('buy', qty='1')"):
            done = subprocess.run([sys.executable, "-S", "-c", f"from papertape.strategy import *\n{wrong}"], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "trainer/python")})
            assert done.returncode == 1 and "ValueError" in done.stderr, (wrong, done)
    print("strategy/package: ok")


main()
