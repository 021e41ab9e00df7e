"""A control server that speaks docs/control.md, for the dashboard's tests: it answers from a status that
the test may change, and remembers every command."""

import copy
import json
import os
import socket
import threading
import time

import fake_trainings

STATUS = {
    "schema": "papertape.status/1", "version": "0.1.0", "pid": 4242, "clock": "wall",
    "now_ns": 0, "uptime_s": 12.5, "state_dir": "/var/lib/papertape", "trading": "on", "trading_reason": None,
    "feed": {"state": "ok", "venue": "binance", "url": "wss://127.0.0.1:9443", "detail": "", "age_ms": 12,
             "retry_in_ms": None, "connects": 1, "frames": 9120, "bytes": 2400000, "bad_frames": 0,
             "streams": [{"symbol": s, "stream": k, "age_ms": 12, "limit_ms": 60000, "frames": 812, "stale": False}
                         for s in ("BTCUSDT", "ETHUSDT") for k in ("trade", "kline_1m", "bookTicker", "depth")]},
    "symbols": [
        {"symbol": "BTCUSDT", "last": 61837.63, "bid": 61837.63, "ask": 61837.64, "mark": 61837.63, "age_ms": 12,
         "stale": False, "change_24h_pct": 1.52, "price_decimals": 2, "book": "synced", "book_gaps": 0,
         "interval": "1m", "bars": 512,
         "last_bar": {"open_time_ms": 1723161180000, "open": 61790.0, "high": 61850.0, "low": 61780.1,
                      "close": 61837.6, "volume": 12.5},
         "indicators": {"sma_10": 61830.1, "rsi_14": 55.2}},
        {"symbol": "ETHUSDT", "last": 2612.1, "bid": 2612.09, "ask": 2612.1, "mark": 2612.1, "age_ms": 212,
         "stale": False, "change_24h_pct": -0.4, "price_decimals": 2, "book": "synced", "book_gaps": 0,
         "interval": "1m", "bars": 512, "last_bar": None, "indicators": {"sma_10": 2611.4, "rsi_14": 47.9}}],
    "accounts": [{"account": "main", "currency": "USDT", "strategy": "sma-cross-rsi", "cash": 5000.1,
                  "equity": 10010.2, "deposits": 10000, "return_pct": 0.102, "drawdown_pct": -0.4, "realized": 8.1,
                  "fees": 2.2, "day_pnl": 10.2}],
    "positions": [{"account": "main", "symbol": "BTCUSDT", "side": "L", "qty": 0.08, "entry": 61700.5,
                   "mark": 61837.63, "upnl": 10.97, "stop": 61200.0, "age_ms": 12, "qty_decimals": 5}],
    "orders": [{"order": 7, "account": "main", "symbol": "BTCUSDT", "side": "SELL", "type": "STOP", "state": "OPEN",
                "qty": 0.08, "filled": 0, "price": None, "stop": 61200.0, "tag": "stop"}],
    "counters": {"orders": 7, "fills": 5, "rejected": 1, "refused": {"RISK_STALE_DATA": 1}},
    "alerts_open": 0,
    "parity": {"state": "ok", "days": 31, "checked_ns": time.time_ns(), "detail": ""},
    "gpu": {"state": "n/a", "reason": "libnvidia-ml.so.1: cannot open shared object file", "devices": []},
    "compute": {"backend": "cpu", "reason": "no CUDA driver"},
    "db": {"state": "ok", "detail": "", "commits": 120, "rows": 4000, "queue": 0, "commit_p50_ms": 0.8,
           "commit_p99_ms": 3.1},
    "trainings": [],
}


class Daemon:
    """start() and stop() are all that the tests need of a daemon; `silent` and `status` only of this one."""

    def __init__(self, state_dir):
        self.path = os.path.join(state_dir, "control.sock")
        self.status = copy.deepcopy(STATUS)
        self.silent = False
        self.deaf = set()  # commands that are taken and never answered
        self.commands = []  # (cmd, args), in the order in which they came; status left out
        self.learning = fake_trainings.Trainings()
        self.named = {}  # what was answered to each client id and key
        self.lock = threading.Lock()
        self.server = None

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(self.path)
        self.server.listen()
        self.connections = []
        threading.Thread(target=self._accept, args=(self.server,), daemon=True).start()

    def stop(self):
        server, self.server = self.server, None
        if server is None:
            return
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        os.unlink(self.path)
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def seen(self, cmd):
        with self.lock:
            return [args for name, args in self.commands if name == cmd]

    def trading(self):
        with self.lock:
            return self.status["trading"]

    def _accept(self, server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection, connection.makefile("rwb") as stream:
                for line in stream:
                    request = json.loads(line)
                    with self.lock:
                        reply = self._answer(request["cmd"], request.get("args", {}))
                        silent = self.silent or request["cmd"] in self.deaf
                    if silent:
                        continue
                    reply["id"] = request["id"]
                    stream.write(json.dumps(reply).encode() + b"\n")
                    stream.flush()
        except (OSError, ValueError):
            pass

    def _answer(self, cmd, args):
        if cmd == "status":
            self.status.update(now_ns=time.time_ns(), trainings=self.learning.trainings,
                               policies=self.learning.policies, champion=self.learning.champion())
            return {"ok": True, "result": self.status}
        self.commands.append((cmd, args))
        if cmd in ("pause", "resume"):
            self.status["trading"] = "paused" if cmd == "pause" else "on"
            return {"ok": True, "result": {"trading": self.status["trading"]}}
        if cmd == "flatten":
            if args.get("confirm") != "FLATTEN":
                return self._refuse("EINVAL", "args.confirm: \"FLATTEN\" is needed")
            self.status["trading"] = "paused"
            orders = [8 + i for i in range(len(self.status["positions"]))]
            canceled = len(self.status["orders"])
            self.status["positions"], self.status["orders"] = [], []
            return {"ok": True, "result": {"canceled": canceled, "orders": orders}}
        if cmd == "order":
            if args["qty"] == "0.000001":
                return self._refuse("LOT_SIZE", "BTCUSDT: 0.000001: the least quantity is 0.00001")
            name = args.get("client_id")
            if name in self.named:
                return {"ok": True, "result": dict(self.named[name], state="FILLED", repeated=True)}
            legs = ("take_profit" in args) + ("stop_loss" in args) + (args.get("group") != "oco")
            result = {"order": 9, "state": "PENDING", "orders": list(range(9, 9 + legs))}
            if name:
                self.named[name] = result
            return {"ok": True, "result": result}
        if cmd == "cancel" and args.get("all"):
            canceled = [order["order"] for order in self.status["orders"]
                        if args.get("symbol") in (None, order["symbol"])]
            return {"ok": True, "result": {"canceled": canceled}}
        if cmd in ("amend", "cancel"):
            if args.get("order") == 404:
                return self._refuse("UNKNOWN_ORDER", "no live order has that id")
            return {"ok": True, "result": {"order": args.get("order", 9)}}
        if cmd.startswith("account_"):
            if args.get("account") == "nobody":
                return self._refuse("UNKNOWN_ACCOUNT", "args.account: there is no account \"nobody\"")
            result = {"account": args.get("account") or args.get("name") or args.get("from")}
            if args.get("key") in self.named:
                result["repeated"] = True
            elif "key" in args:
                self.named[args["key"]] = result
            return {"ok": True, "result": result}
        if cmd == "book":
            return {"ok": True, "result": {"symbol": args["symbol"], "state": "synced", "last_id": 77,
                                           "bids": [["61837.63", "3.78826"]], "asks": [["61837.64", "1.5"]]}}
        if cmd.startswith(("train_", "policy_")):
            return self.learning.answer(cmd, args)
        if cmd in ("symbol_add", "symbol_remove"):
            if args["symbol"] == "BTCUSTD":
                return self._refuse("ENOENT", 'args.symbol: "BTCUSTD" is not listed: did you mean BTCUSDT?')
            if args.get("venue") == "binnace":
                return self._refuse("EINVAL", 'args.venue: "binnace" is not one of this run: did you mean binance?')
            if cmd == "symbol_remove":
                return {"ok": True, "result": {"symbol": args["symbol"]}}
            return {"ok": True, "result": {"symbol": args["symbol"], "venue": args.get("venue", "binance")}}
        if cmd == "symbol_list":
            return {"ok": True, "result": {"symbols": [
                {"symbol": "BTCUSDT", "venue": "binance", "streamed": True, "calendar": None},
                {"symbol": "AAPL", "venue": "alpaca", "streamed": False, "calendar": "us-equity"}]}}
        if cmd == "streams":
            return {"ok": True, "result": {"streams": ["btcusdt@trade", "btcusdt@depth"]}}
        if cmd in ("ack", "ping"):
            return {"ok": True, "result": {}}
        return self._refuse("EINVAL", f"cmd: \"{cmd}\": not a command")

    @staticmethod
    def _refuse(code, message):
        return {"ok": False, "error": {"code": code, "message": message}}


if __name__ == "__main__":
    import sys
    daemon = Daemon(sys.argv[1])
    daemon.start()
    threading.Event().wait()
