#!/usr/bin/env python3
"""papertape --plain: what is typed is answered in lines, what happens is said once, no character but text and line ends comes out;
orders of its lines are those of the verbs; the end of the input ends it once all is answered."""

import json
import re
import select
import subprocess
import time

import harness

CONFIG = "[market]\ninterval = 1s\nhistory = 50\n[engine]\nlatency_ms = 0\n[account hand]\ncash = 50000\nstrategy = none\n"


class Plain:
    def __init__(self, daemon, *options):
        self.process = subprocess.Popen([harness.PAPERTAPE, "--state", daemon.state, "--plain", "--interval", "0.25", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
        self.all = []

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, pattern):
        """The first of the lines from now on that has it."""
        end = time.monotonic() + harness.PATIENCE
        while select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
            line = self.process.stdout.readline().decode()
            if not line:
                break
            self.all.append(line)
            if re.search(pattern, line):
                return line
        raise AssertionError(f"no {pattern}: {self.all}")

    def end(self):
        self.process.stdin.close()
        self.all += [raw.decode() for raw in self.process.stdout]
        assert self.process.wait(harness.PATIENCE) == 0
        text = "".join(self.all)
        assert not re.search(r"[^\n\t -~…└─]", text), repr(text)
        return text


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        plain = Plain(daemon)
        plain.until("^trading on, feed ok$")
        plain.say("help")
        plain.until("^prices +last, bid and ask")
        plain.until("^ITEM .*order:N, .*trip:N, ledger:N, .*position:SYMBOL:ACCOUNT$")
        plain.say("prices")
        plain.until("^price +BTCUSDT last [0-9]")
        plain.say("x" * 5000)
        plain.until("a line of at most")
        plain.say("\x1b[31mhostile\x07")
        plain.until("not known: help says")
        plain.say("order buy BTCUSDT 0.01 --limit 50000")
        order = re.search(r"order (\d+) ", plain.until("^order done: order [0-9]+ PENDING"))[1]
        plain.until(rf"Z order {order} BUY LIMIT BTCUSDT 0.01000 .*OPEN")
        daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", "50000")
        mine, verbs = json.loads(daemon.papertape("orders", "--json"))["orders"][::-1]
        assert {k: mine[k] for k in ("side", "type", "qty", "price", "tif")} == {k: verbs[k] for k in ("side", "type", "qty", "price", "tif")}
        plain.say("orders")
        plain.until(rf"^order +{order} hand BUY LIMIT BTCUSDT qty 0.01000 price 50000.00 stop none OPEN")
        plain.say(f"order:{order}")
        plain.until("^state: OPEN$")
        for side in "buy", "sell":
            plain.say(f"order {side} BTCUSDT 0.02")
            plain.until(rf"Z order [0-9]+ {side.upper()} MARKET BTCUSDT 0.02000 .*FILLED")
        closed = max(f["fill"] for f in json.loads(daemon.papertape("fills", "--json"))["fills"])
        plain.say(f"trip:{closed}")
        plain.until("^return: [+-]?[0-9.]+%$")
        plain.say("ledger:1")
        plain.until("^balance: 50000")
        plain.say("order buy BTCUSDT 5")
        plain.until("^order refused: .*INSUFFICIENT_BALANCE")
        plain.say("pause")
        plain.until("^pause done: trading paused$")
        plain.until("^trading paused")
        daemon.papertape("resume")
        plain.until("^trading on, feed ok$")
        text = plain.end()
        assert len(re.findall(rf"Z order {order} BUY LIMIT", text)) == 1, text  # said once

        reader = Plain(daemon, "--readonly")
        reader.say(f"order cancel {order}")
        reader.say("alerts")
        assert "order refused: read-only" in reader.end()
        assert daemon.status_object()["orders"], "nothing was cancelled"
        once = Plain(daemon)
        once.say("order cancel --all")
        assert re.search(rf"cancel done: canceled {order}; canceled \d+\n", once.end())
        daemon.wait_status(lambda s: not s["orders"], "no orders")
        quits = Plain(daemon)
        quits.say("quit")
        assert quits.process.wait(harness.PATIENCE) == 0
        assert daemon.stop() == 0
    print("what was typed was answered, and what happened was said once")


if __name__ == "__main__":
    main()
