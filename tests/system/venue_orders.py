#!/usr/bin/env python3
"""Orders of an account at its venue, papertape-replay, by REST and over the WebSocket API: on a book that stands still they have the
same fills and states. And an order that may be there or not: UNKNOWN in the database and wherever orders are shown."""

import csv
import io
import json
import os
import subprocess
import time

import harness
import plain
import venue_fills
from venue_paper import at_venue, attached

SYMBOL, PLAYED_S = venue_fills.SYMBOL, venue_fills.PLAYED_S


def pem(inside):
    """A pair of Ed25519 keys: the files of the private and of the public one."""
    private, public = os.path.join(inside, "private.pem"), os.path.join(inside, "public.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    os.chmod(private, 0o600)
    return private, public


def start(folder, name, way, *options):
    """By REST the account signs with a secret, over the WebSocket API with the private key of a PEM file; the venue verifies both."""
    inside = folder.within(name)
    secret, known = ("hush", "hmac hush") if way == "rest" else (lambda files: (files[0], f"ed25519 {files[1]}"))(pem(inside))
    keys = harness.write_keys(inside, "keys", secret)
    with open(os.path.join(inside, "known"), "w") as file:
        file.write(f"PKTEST {known}\n")
    replay = folder.start(harness.Replay(inside, "--synthetic", "29", "--keys", file.name, *options))
    daemon = folder.start(harness.Daemon(inside, replay, f"""[market]
symbols = {SYMBOL}
[venue binance]
orders = {way}
[feed]
stale_s = 3600
{harness.NO_LIMITS}[account paper]
strategy = none
execution = venue-paper
execution_keys = {keys}
execution_rest_url = {replay.urls["rest_url"]}
execution_ws_url = {replay.urls["ws_url"]}
"""))
    attached(daemon)
    return replay, daemon


def in_state(daemon, order, state):
    harness.wait_for(lambda: daemon.query(f"SELECT state FROM orders WHERE id = {order}") == [(state,)], f"order {order} {state}")


def transport(folder, way, began):
    """A market order each way, a limit and a stop that rest and are cancelled, and one that is refused."""
    replay, daemon = start(folder, way, way, "--from", str(began), "--to", str((began + PLAYED_S) * 10**9 + 1))
    if way == "websocket":  # by REST there is no order now, no cancel, and no query of one
        harness.fault(replay, "5xx:order")
    venue_fills.standing(replay, daemon, (began + PLAYED_S) * 1000)
    for order, (words, state) in enumerate(((("buy", "0.5"), "FILLED"), (("sell", "0.2"), "FILLED"),
                                            (("buy", "0.1", "--limit", "50000.00"), "OPEN"),
                                            (("sell", "0.1", "--stop", "30000.00"), "OPEN"),
                                            (("buy", "0.1", "--limit", "90000.00", "--post-only"), "REJECTED")), 1):
        daemon.papertape("order", words[0], SYMBOL, *words[1:])
        in_state(daemon, order, state)
    daemon.papertape("order", "cancel", "--all")
    for order in (3, 4):
        in_state(daemon, order, "CANCELED")
    daemon.papertape("parity")
    assert (daemon.stop(), replay.stop()) == (0, 0), (daemon.popen.returncode, replay.popen.returncode)
    alerts = daemon.query("SELECT DISTINCT code FROM alerts WHERE code LIKE 'VENUE%'")
    assert alerts == [("VENUE_REFUSED",)], alerts
    return (daemon.query("SELECT id, side, type, tif, qty, price, stop_price, state, reason, filled FROM orders ORDER BY id"),
            daemon.query("SELECT order_id, price, qty, notional, fee, fee_base, maker FROM fills ORDER BY id"))


def transports(folder):
    ways = ("rest", "websocket")
    found, began = {}, int(time.time())
    harness.together(folder, *(lambda folder, way=way: found.update({way: transport(folder, way, began)}) for way in ways))
    assert found["rest"] == found["websocket"], found
    orders, fills = found["rest"]
    assert len(orders) == 5 and len({order for order, *_ in fills}) == 2 and len(fills) > 2, fills
    print(f"{len(orders)} orders, {len(fills)} fills by REST and over the WebSocket API")


def shown(daemon, order):
    """Where orders are shown."""
    row, = daemon.query(f"SELECT state, filled FROM orders WHERE id = {order}")
    assert row == ("UNKNOWN", 0), row
    status = daemon.status_object()
    assert [o["state"] for o in status["orders"] if o["order"] == order] == ["UNKNOWN"], status["orders"]
    assert (at_venue(status)["unknown"], at_venue(status)["unknown_order"]) == (1, order), at_venue(status)
    assert "1 of unknown outcome" in daemon.papertape("status"), daemon.papertape("status")
    listed = json.loads(daemon.papertape("orders", "--json"))["orders"]
    assert [o["state"] for o in listed if o["order"] == order] == ["UNKNOWN"], listed
    rows = list(csv.DictReader(io.StringIO(daemon.papertape("orders", "--csv"))))
    assert [o["state"] for o in rows if int(o["order"]) == order] == ["UNKNOWN"], rows
    line, = [line for line in daemon.papertape("orders").splitlines() if line.split()[:1] == [str(order)]]
    assert "UNKNOWN" in line, line
    explained = daemon.papertape("explain", str(order))
    assert "UNKNOWN" in explained, explained
    of, = json.loads(daemon.papertape("explain", str(order), "--json"))["orders"]
    assert of["final"]["state"] == "UNKNOWN", of
    account, = json.loads(daemon.papertape("account", "list", "--json"))["accounts"]
    assert account["unknown_orders"] == 1, account
    assert "unknown" in daemon.papertape("doctor", "daemon", status=None), daemon.papertape("doctor", "daemon", status=None)
    lines = plain.Plain(daemon)
    lines.until("^trading on")
    lines.say("orders")
    lines.until(rf"^order +{order} .* UNKNOWN")
    lines.say(f"order:{order}")
    lines.until("^state: UNKNOWN")
    return lines


def unknown(folder):
    """A request that is lost on its way. In the long run it waits until that can have no effect any more: the order is not there."""
    replay, daemon = start(folder, "unknown", "rest", "--fault", "order:lost-request")
    lost = []
    while not lost:
        daemon.papertape("order", "buy", SYMBOL, "0.01", "--limit", "50000.00")
        harness.wait_for(lambda: not daemon.query("SELECT 1 FROM orders WHERE state = 'PENDING'"), "what became of the order")
        lost = daemon.query("SELECT id FROM orders WHERE state = 'UNKNOWN'")
    lines = shown(daemon, lost[0][0])
    if harness.LONG:
        in_state(daemon, lost[0][0], "REJECTED")
        assert daemon.query(f"SELECT reason FROM orders WHERE id = {lost[0][0]}") == [("VENUE_LOST",)]
    order = {"account": "paper", "side": "buy", "symbol": SYMBOL, "qty": "0.01"}
    placed, canceled = harness.control_together(daemon, ("order", order), ("cancel", {"all": True}))
    assert placed["order"] in canceled["canceled"] and "arriving" not in canceled, canceled  # it may be lost, or wait here
    assert (daemon.stop(), replay.stop()) == (0, 0), (daemon.popen.returncode, replay.popen.returncode)  # asked for its status meanwhile
    lines.process.kill()
    lines.process.wait()


def main():
    with harness.Folder() as folder:
        harness.together(folder, transports, unknown)


if __name__ == "__main__":
    main()
