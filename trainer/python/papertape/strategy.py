"""Trading strategies as processes of their own: docs/plugins-protocol.md has what they say to Papertape.

    from papertape.strategy import Enter, Exit, Param, Strategy, run

    class Cross(Strategy):
        name = "my-cross"
        summary = "long while the fast average is above the slow one"
        params = {"fast": Param(10, 1, 1000), "slow": Param(30, 2, 5000), "fraction": Param(0.5, 0.001, 1.0)}

        def indicators(self):
            return [f"sma:{self.fast}", f"sma:{self.slow}"]

        def on_bar(self, bar):
            if bar.warm and not bar.live_orders:
                fast, slow = bar.indicators
                if bar.qty == 0 and fast > slow:
                    return Enter(self.fraction, stop=0.95 * bar.close, why="fast above slow")
                if bar.qty > 0 and fast < slow:
                    return Exit(why="fast below slow")

    if __name__ == "__main__":
        run(Cross)

    papertape backtest --strategy 'exec:python3 my_cross.py' --bars FILE

It needs Python's standard library alone.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

PROTOCOL = 1


class Param:
    """A parameter: its default, range and summary. A whole default makes it whole; `words` are instead of a range."""

    def __init__(self, default: float | str, min: float | None = None, max: float | None = None, summary: str = "", *, words: Sequence[str] = ()):
        self.default, self.min, self.max, self.summary, self.words = default, min, max, summary, tuple(words)
        if self.words and (default not in self.words or min is not None or max is not None):
            raise ValueError(f"Param: the default, {default!r}, must be one of the words {self.words}, which have no range")
        if not self.words and (isinstance(default, (str, bool)) or min is None or max is None or not min <= default <= max):
            raise ValueError(f"Param: a number between min and max is needed: {default!r} is not between {min!r} and {max!r}")

    def described(self, name: str) -> dict[str, Any]:
        row: dict[str, Any] = {"name": name, "summary": self.summary, "default": self.default}
        if self.words:
            return {**row, "words": self.words}
        return {**row, "min": self.min, "max": self.max, "integer": isinstance(self.default, int)}


class Intent:
    """What on_bar() asks for: Enter, Short, Exit, Stop, Target, Order or Cancel. `why` (31 bytes of it) is recorded with the order."""

    kind = ""
    needs = ""  # the number that it cannot be without

    def __init__(self, why: str | None = None, **members: Any):
        self.members: dict[str, Any] = {"kind": self.kind}
        for name, value in members.items():
            if value is None and name != self.needs:
                continue
            if not hasattr(value, "__float__") or not math.isfinite(value):
                raise ValueError(f"{type(self).__name__}: {name} is {value!r}: a finite number{'' if name == self.needs else ' or None'} is needed")
            self.members[name] = int(value) if name == "good" else float(value)
        if why is not None:
            self.members["why"] = str(why)

    def on(self, symbol: str | Peer) -> Intent:
        """The same of this symbol: each intent of a strategy with `together` needs one."""
        self.members["symbol"] = symbol if isinstance(symbol, str) else symbol.symbol
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.members.items() if name != 'kind')})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intent) and self.members == other.members


class Enter(Intent):
    """Buys for this share of equity: at market, or at `limit` until `good` (nanoseconds since 1970, UTC). What was
    bought is sold at `stop`, below the price, or at `profit`, above it."""

    kind = "enter"
    needs = "fraction"

    def __init__(self, fraction: float, stop: float | None = None, profit: float | None = None, limit: float | None = None, good: int | None = None, why: str | None = None):
        super().__init__(why, fraction=fraction, stop=stop, profit=profit, limit=limit, good=good)


class Short(Enter):
    """Enter the other way round, where bar.shorts allows it: `stop` is above the price, `profit` below."""

    kind = "short"


class Exit(Intent):
    """Closes the position, long or short, at market; or `fraction` of it, in whole lots."""

    kind = "exit"

    def __init__(self, fraction: float | None = None, why: str | None = None):
        super().__init__(why, fraction=fraction)


class Stop(Intent):
    """Moves the protective stop to this price, or places one."""

    kind = "stop"
    needs = "stop"

    def __init__(self, stop: float, why: str | None = None):
        super().__init__(why, stop=stop)


class Target(Intent):
    """Holds this share of equity, from -bar.leverage to bar.leverage, negative where bar.shorts allows it: buys or
    sells the difference at market; 0 is Exit."""

    kind = "target"
    needs = "fraction"

    def __init__(self, fraction: float, why: str | None = None):
        super().__init__(why, fraction=fraction)


class Order(Intent):
    """One order of any type, which its venue and the account's limits take or refuse as one by hand.

    `side` is "buy" or "sell"; `type` "market", "limit", "stop", "stop_limit", "take_profit", "take_profit_limit" or
    "trailing_stop"; `tif` "gtc", "ioc", "fok", "day", "gtd" (until `good`), "opg" or "cls". Its quantity is `qty`, or
    `fraction` of equity, or with size="position" of the position. `limit` and `stop` are its prices, where its type has
    them; a trailing stop has `trail`, a distance, or `trail_share` of the price."""

    kind = "order"

    def __init__(
        self, side: str, type: str = "market", *, fraction: float | None = None, qty: float | None = None, size: str | None = None,
        limit: float | None = None, stop: float | None = None, trail: float | None = None, trail_share: float | None = None,
        tif: str | None = None, good: int | None = None, reduce_only: bool = False, why: str | None = None
    ):  # fmt: skip
        if (fraction is None) == (qty is None):
            raise ValueError(f"Order: fraction or qty is needed, one of them: {fraction!r} and {qty!r}")
        super().__init__(why, fraction=fraction, qty=qty, limit=limit, stop=stop, trail=trail, trail_share=trail_share, good=good)
        for name, word in (("side", side), ("type", type), ("size", size), ("tif", tif)):
            if word is not None:
                self.members[name] = str(word)
        if reduce_only:
            self.members["reduce_only"] = True


class Cancel(Intent):
    """Cancels the symbol's orders that bar.orders counts."""

    kind = "cancel"

    def __init__(self, why: str | None = None):
        super().__init__(why)


class Peer:
    """A symbol that the account trades, as a strategy with `peers` or `together` sees it: its last closed bar that the
    strategy has seen, and its position now. Prices are NaN before its first bar."""

    symbol: str
    time: int | None  #: of the bar's opening; None: there was none yet
    fresh: bool  #: `together`: it is the bar of this time
    open: float
    high: float
    low: float
    close: float
    volume: float
    indicators: list[float]  #: as Bar's
    warm: bool
    qty: float
    entry: float
    stop: float
    profit: float
    live_orders: bool
    shorts: bool
    leverage: float = 1
    orders: int = 0
    record: Sequence[float] = (0, 0, 0, 0.0, 0.0)


class Bar:
    """A closed bar of a symbol, and what may be known of the account then."""

    time: int  #: of its opening, nanoseconds since 1970, UTC
    interval: int  #: of all bars, nanoseconds
    symbol: str
    open: float
    high: float
    low: float
    close: float
    volume: float
    exact: list[str]  #: open, high, low, close and volume with every digit, for decimal.Decimal
    indicators: list[float]  #: the outputs of Strategy.indicators(), in their order; NaN while warming up
    warm: bool  #: none of them is NaN
    qty: float  #: of the position; negative: short
    entry: float  #: its average price; 0 when flat
    equity: float
    cash: float
    live_orders: bool  #: an order of this symbol is still working (stops and profits apart)
    shorts: bool  #: the account may be short of this symbol
    stop: float  #: price of the protective stop that rests; 0: none
    profit: float  #: price of the take-profit that rests; 0: none
    positions: int  #: symbols with a position or an entry, this one included
    symbols: int  #: that the account trades
    leverage: float = 1  #: the most of its equity that the account may hold of this symbol; 1 without margin
    orders: int = 0  #: its own orders of this symbol that work, and that Cancel would cancel
    record: Sequence[float] = (0, 0, 0, 0.0, 0.0)  #: closed trades: wins, losses, losses in a row, sums won and lost
    session: Sequence[int] | None = None  #: when the market's session opened and when it closes
    peers: Sequence[Peer] = ()  #: of a strategy with `peers` or `together`: the account's symbols, in an order that stays
    self: int | None = None  #: which of them this one is; `together`: 0, and all that is above is of that one
    history: bool = False  #: the answer will not be carried out
    again: bool = False  #: the symbol's bars begin again, as after a split: what came before is void, its memory is empty
    memory: dict[str, Any]  #: the symbol's own, kept between bars and over restarts: what JSON can hold


class Strategy:
    """A strategy. Each parameter's value is an attribute of its name. A new object is made for each run; check() and
    indicators() are also asked of objects that see no bar (mode "check")."""

    name = ""  #: a to z, 0 to 9 and -
    summary = ""
    params: dict[str, Param] = {}
    history = 500  #: bars of a symbol that it is shown again when its process had to be started again
    shorts = False  #: it also sells short, where the account may
    needs_shorts = False  #: and opens nothing where that may not
    peers = False  #: it reads the last bars of the account's other symbols: bar.peers
    together = False  #: it is asked once a time, when the bars of all symbols have closed: each intent has .on(symbol)
    symbols_min = 0  #: symbols that the account must trade at least

    mode = "check"  #: "live", "backtest" or "check"
    account = ""
    currency = ""
    interval = 0  #: of the bars, nanoseconds
    symbols: dict[str, dict[str, Any]] = {}  #: that the account trades: scales, tick, lot

    def start(self) -> None:
        """Called before the first bar, with everything above known."""

    def check(self) -> str | None:
        """Why these parameters, each within its range, contradict each other: text that begins with the name of one."""
        return None

    def indicators(self) -> list[str]:
        """The indicators that it reads, as `papertape indicators` names them: "sma:20", "ema:9@4h"; and external columns:
        "col:funding", with the age beyond which a value is stale "col:funding,8h", "sma:20@col:funding"."""
        return []

    def on_bar(self, bar: Bar) -> Intent | Iterable[Intent] | None:
        """Decides at a closed bar."""
        raise NotImplementedError


def _described(kind: type[Strategy]) -> dict[str, Any]:
    for name, param in kind.params.items():
        if not isinstance(param, Param):
            raise TypeError(f"parameter {name}: Param(...) is needed")
        if hasattr(kind, name):
            raise TypeError(f"parameter {name}: the class has an attribute of that name: give it another one")
    return {
        "type": "strategy",
        "protocol": PROTOCOL,
        "name": kind.name,
        "summary": kind.summary,
        "params": [param.described(name) for name, param in kind.params.items()],
        "history": kind.history,
        "shorts": kind.shorts,
    } | {name: getattr(kind, name) for name in ("needs_shorts", "peers", "together", "symbols_min") if getattr(kind, name)}


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _failed(error: BaseException) -> str:
    """The error in a line, with the place of the strategy's own code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return traceback.format_exception_only(error)[-1].strip() + place


def _words(intents: Intent | Iterable[Intent]) -> str:
    if isinstance(intents, Intent):
        return _text(intents.members)
    several = list(intents) if isinstance(intents, Iterable) else [intents]
    if not all(isinstance(intent, Intent) for intent in several):
        raise TypeError(f"on_bar() returned {intents!r}: an Enter, Short, Exit, Stop, Target, Order or Cancel, or several of them, or None, is right")
    return ",".join(_text(intent.members) for intent in several)


def _read(line: dict[str, Any]) -> None:
    """What is not known becomes NaN."""
    values = line["indicators"]
    line["warm"] = None not in values
    if None in values:
        line["indicators"] = [math.nan if value is None else value for value in values]
    if line["close"] is None:
        line.update(dict.fromkeys(("open", "high", "low", "close", "volume"), math.nan))


def _peer(line: dict[str, Any]) -> Peer:
    peer = Peer.__new__(Peer)
    _read(line)
    peer.__dict__ = line
    return peer


class _Session:
    """From hello to the next one."""

    def __init__(self, kind: type[Strategy], hello: dict[str, Any]):
        if hello["protocol"] != PROTOCOL:
            raise ValueError(f"protocol {hello['protocol']} is not {PROTOCOL}: install the package of this papertape")
        self.strategy = strategy = kind()
        for name, value in hello["params"].items():
            setattr(strategy, name, value if isinstance(kind.params[name].default, (int, str)) else float(value))
        strategy.mode, strategy.account, strategy.currency = hello["mode"], hello["account"], hello["currency"]
        strategy.interval = hello["interval"]
        strategy.symbols = {symbol["symbol"]: symbol for symbol in hello["symbols"]}
        self.refused = strategy.check()
        self.memories: dict[str, dict[str, Any]] = {}
        self.kept: dict[str, str] = {}  # of memories, as they were sent
        for name, state in zip(strategy.symbols, hello["states"]):
            self.memories[name] = state or {}
            self.kept[name] = _text(self.memories[name])
        self.names = {name: json.dumps(name) for name in strategy.symbols}
        self.bar = type("Bar", (Bar,), {"interval": strategy.interval})

    def ready(self) -> dict[str, Any]:
        if self.refused:
            return {"type": "error", "text": self.refused}
        specs = list(self.strategy.indicators())
        if self.strategy.mode != "check":
            self.strategy.start()
        return {"type": "ready", "indicators": specs}

    def answer(self, line: dict[str, Any]) -> str:
        """The line that answers a bar."""
        bar = self.bar.__new__(self.bar)
        bar.__dict__ = line
        symbol = line["symbol"]
        _read(line)
        if "peers" in line:
            line["peers"] = [_peer(peer) for peer in line["peers"]]
        if "again" in line:
            self.memories[symbol], self.kept[symbol] = {}, "{}"
        line["memory"] = self.memories[symbol]
        intents = self.strategy.on_bar(bar)
        words = _words(intents) if intents else ""
        memory = self.memories[symbol] = bar.memory
        state = ""
        if memory or self.kept[symbol] != "{}":
            text = _text(memory)
            if text != self.kept[symbol]:
                self.kept[symbol] = text
                state = f',"state":{text}'
        return f'{{"type":"intents","bar":{line["time"]},"symbol":{self.names[symbol]},"intents":[{words}]{state}}}\n'


def _loop(kind: type[Strategy], lines: Any, write: Any) -> None:
    session = None
    decode = json.JSONDecoder().raw_decode
    for text in lines:
        line = decode(text)[0]
        what = line["type"]
        try:
            if what == "bar":
                write(session.answer(line))
            elif what == "hello":
                session = None
                session = _Session(kind, line)
                write(_text(session.ready()) + "\n")
            elif what == "describe":
                write(_text(_described(kind)) + "\n")
        except Exception as error:
            traceback.print_exc()
            answer = {"type": "error", "text": _failed(error)}
            if what == "bar":
                answer |= {"bar": line["time"], "symbol": line["symbol"]}
            write(_text(answer) + "\n")


def run(kind: type[Strategy]) -> None:
    """Speaks with Papertape until it closes our standard input. print() goes to standard error, as Papertape's log."""
    if sys.stdin.isatty():
        sys.exit(f"{sys.argv[0]}: Papertape starts this strategy: papertape backtest --strategy 'exec:python3 {sys.argv[0]}' --bars FILE")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)

    def write(text: str) -> None:
        out.write(text.encode())
        out.flush()

    with open(0, encoding="utf-8", newline="\n", closefd=False) as lines:
        try:
            _loop(kind, iter(lines.readline, ""), write)
        except BrokenPipeError:
            os._exit(1)
