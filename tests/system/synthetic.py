#!/usr/bin/env python3
"""What recording.py shows, on generated data: a plain Python client captures a stretch of the synthetic market into a file of the
recordings' form, with the depth snapshot inline; the daemon then plays that file. Also the synthetic market itself twice over TLS
gives the same ledger."""

import csv
import json
import os
import sys

import harness
import recording
import wsclient

START = "2024-01-01T00:00:00Z"


def capture(folder, symbol, seconds, path):
    """Writes what the venue sends for one symbol. Lines: local time in ns, a space, the frame."""
    end = f"2024-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z"
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--from", START, "--to", end,
                                         "--speed", "max"))
    name = symbol.lower()
    streams = f"{name}@trade/{name}@bookTicker/{name}@depth@100ms"
    client = wsclient.WebSocket(f"{replay.urls['ws_url']}/stream?streams={streams}", replay.ca)
    last_ms, snapshot, frames = 0, False, 0
    stop_ms = 1704067200000 + seconds * 1000 - 200  # differences come every 100 ms: one after this ends it
    with open(path, "w") as file:
        while True:
            text = client.receive()
            frame = json.loads(text)
            last_ms = max(last_ms, frame["data"].get("E", 0))
            file.write(f"{last_ms * 1000000} {text}\n")
            frames += 1
            depth = "@depth" in frame["stream"]
            if depth and not snapshot:
                snapshot = True
                reply = wsclient.get(f"{replay.urls['rest_url']}/api/v3/depth?symbol={symbol}&limit=5000", replay.ca)
                file.write(f"{last_ms * 1000000} {json.dumps(reply, separators=(',', ':'))}\n")
            if depth and frame["data"]["E"] >= stop_ms:
                break
    client.close()
    assert replay.stop() == 0
    return frames


def ledger(folder, name, seconds):
    end = f"2024-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z"
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--from", START, "--to", end,
                                         "--speed", "max"))
    config = recording.CONFIG.format(symbol="BTCUSDT, ETHUSDT", interval="1s")
    daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"], name=name, state=name))
    # What happens in the last second may or may not be in when the daemon stops: rows before it are compared.
    cut_ms = 1704067200000 + (seconds - 1) * 1000
    daemon.wait_status(lambda s: s["now_ns"] // 1000000 >= cut_ms + 500, "the end of the market")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    report = json.loads(daemon.papertape("ledger", "verify", "--json"))
    assert report["ok"] is True, report
    rows = [row for row in csv.DictReader(daemon.papertape("ledger", "export", "--csv").splitlines())
            if int(row["ts_ns"]) < cut_ms * 1000000]
    # The venue sends a bar when it has closed: the newest that was built from trades may not have come yet.
    built = [line for line in daemon.papertape("bars", "BTCUSDT", "1s", "--source", "trades").splitlines()[1:]
             if int(line.split(",")[0]) < cut_ms - 1000]
    venue = daemon.papertape("bars", "BTCUSDT", "1s").splitlines()[1:]
    assert len(built) > seconds // 2 and set(built) <= set(venue), "bars built from trades are not the venue's"
    return rows


def main():
    minutes, seconds = (30, 1800) if harness.LONG else (4, 180)
    print(f"counts: {minutes} minutes captured a symbol, {seconds} s of trading played twice"
          + ("" if harness.LONG else " (--long: 30 minutes, 1800 s)"))
    with harness.Folder() as folder:
        for symbol in ("BTCUSDT", "ETHUSDT"):
            path = os.path.join(folder.path, f"{symbol}.jsonl")
            capture(folder, symbol, minutes * 60, path)
            recording.check_bars_and_book(folder, path, symbol)
        first, second = ledger(folder, "first", seconds), ledger(folder, "second", seconds)
        assert len(first) > 10, "nothing was traded: the comparison would say nothing"
        assert first == second, next((a, b) for a, b in zip(first, second) if a != b)
        print(f"the same market twice: {len(first)} ledger rows, hash {first[-1]['hash']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
