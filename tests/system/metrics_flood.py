#!/usr/bin/env python3
"""A crowd at the sockets of [metrics]: half requests that stay, headers without end, headers a byte at a time, answers that are
never read, connections by the hundred, and readers without a pause. The market's loop does not notice: no frame is lost, no
connection to the venue is silent, commands come through, the watchdog is fed, memory is bounded; and others are answered."""

import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time

import harness
import metrics

CONFIG = harness.BUSY_CONFIG + "[metrics]\nsocket = metrics.sock\nlisten = 127.0.0.1:0\n"
ROUNDS, TURNS = (100, 1000) if harness.LONG else (3, 12)  # of commands; of each of the crowd
WATCHDOG_S = 4.0
GROWTH_MAX = 64 << 20
CLIENTS_MAX = 32


class Manager(harness.Manager):
    """The longest time between two WATCHDOG=1."""

    def __init__(self, path):
        super().__init__(path)
        self.longest, self.last, self.count = 0.0, None, 0

    def take(self, line):
        if line == "WATCHDOG=1":
            now = time.monotonic()
            self.longest = max(self.longest, now - (self.last or now))
            self.last, self.count = now, self.count + 1


# ---- the crowd, a process of its own ----

def opened(where):
    host, _, port = where.rpartition(":")
    client = socket.create_connection((host, int(port))) if host else socket.socket(socket.AF_UNIX)
    if not host:
        client.connect(where)
    client.settimeout(30)
    return client


def swallow(client):
    size = 0
    while part := client.recv(1 << 16):
        size += len(part)
    return size


def half(where, kept):
    client = opened(where)
    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: local")
    kept.append(client)
    del kept[:-200]


def endless(where, _):
    with opened(where) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 20))


def dripping(where, _):
    with opened(where) as client:
        for byte in b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n":
            client.sendall(bytes([byte]))


def unread(where, kept):
    client = opened(where)
    client.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"/equity", b"/status", b"/metrics")[len(kept) % 3])
    kept.append(client)
    del kept[:-12]


def silent(where, kept):
    kept.append(opened(where))
    del kept[:-100]


def greedy(where, _):
    with opened(where) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        swallow(client)


KINDS = (half, endless, dripping, unread, silent, greedy)


def crowd(places):
    """Each kind at each socket, without end; a line on standard output once each has had its turns, and the counts at the end."""
    counts = {kind.__name__: 0 for kind in KINDS}
    there = threading.Barrier(len(KINDS) * len(places) + 1)

    def run(kind, where):
        kept = []
        for turn in itertools.count(1):
            try:
                kind(where, kept)
            except OSError:
                pass  # it was cut
            counts[kind.__name__] += 1
            if turn == TURNS:
                there.wait()
    for kind, where in itertools.product(KINDS, places):
        threading.Thread(target=run, args=(kind, where), daemon=True).start()
    print("here", flush=True)
    there.wait()
    print(json.dumps(counts), flush=True)
    sys.stdin.read()


# ---- the test ----

def scraped(where):
    """A scrape, tried again while its connection gives way to others. How often it was."""
    for tries in itertools.count(1):
        try:
            text = metrics.get(where, "/metrics")
            assert text.endswith("papertape_metrics_left_out 0\n"), text[-200:]
            return tries
        except (OSError, metrics.http.client.HTTPException):
            assert tries < 10000


def commands(daemon, where):
    """pause and resume by the control socket, and a scrape, in turns. How often the scrapes were tried."""
    tries = 0
    for _ in range(ROUNDS):
        for command in ("pause", "resume"):
            answer = harness.control(daemon, command, {})
            assert answer["ok"], answer
        tries += scraped(where)
    return tries


def undisturbed(status):
    """No frame was lost, nothing was silent: one connection since the start, and not a gap in the books."""
    venue, = status["venues"]
    assert venue["connects"] == 1 and venue["bad_frames"] == 0, venue
    assert all(s["book_gaps"] == 0 and not s["stale"] for s in status["symbols"]), status["symbols"]
    assert not any(s["stale"] for s in status["feed"]["streams"]), status["feed"]
    assert status["compute"]["queue_full"] == 0 and status["events"]["lost"] == 0


def main():
    with harness.Folder() as folder:
        manager = Manager(os.path.join(folder.path, "notify"))
        environment = dict(os.environ, NOTIFY_SOCKET=os.path.join(folder.path, "notify"), WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)))
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "11", "--rate", "400"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=environment))
        daemon.wait_status(lambda s: s["counters"] and s["counters"]["fills"] > 10, "fills")
        where = metrics.listening(daemon)
        places = where["socket"], where["listen"]
        manager.start()
        commands(daemon, places[0])
        calm, memory = daemon.status_object(), daemon.resident()
        many = folder.start(harness.Process([sys.executable, __file__, "crowd", *places], os.path.join(folder.path, "crowd.log"),
                                            stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True))
        assert many.popen.stdout.readline() == "here\n"
        tries = commands(daemon, places[0]) + commands(daemon, places[1])
        counts = json.loads(many.popen.stdout.readline())
        flood = daemon.wait_status(lambda s: s["http"]["cut"] > 0, "that half requests are cut")
        growth = daemon.resident() - memory
        assert flood["http"]["clients"] <= CLIENTS_MAX, flood["http"]
        undisturbed(flood)
        many.popen.stdin.close()
        assert many.popen.wait(harness.PATIENCE) == 0, many.log_text()
        after = daemon.wait_status(lambda s: s["http"]["clients"] == 0, "the end of the crowd's connections")
        assert all(scraped(place) == 1 for place in places)
        assert after["feed"]["frames"] > flood["feed"]["frames"] > calm["feed"]["frames"]
        undisturbed(after)
        assert manager.count >= 1 and manager.longest < WATCHDOG_S, "the watchdog"
        assert growth < GROWTH_MAX or harness.SANITIZED, f"{growth >> 20} MiB more"
        assert min(counts.values()) >= TURNS, counts
        assert daemon.stop() == 0
        print(f"the crowd: {json.dumps(counts)}; the server: {json.dumps(flood['http'] | {'socket': '', 'listen': ''})}")
        print(f"a frame waits for the loop, p99: {calm['loop']['wait_p99_ms']:.2f} ms without, {flood['loop']['wait_p99_ms']:.2f} ms with it; busy "
              f"{calm['loop']['busy']:.3f}, {flood['loop']['busy']:.3f}; memory {growth / (1 << 20):+.1f} MiB; watchdog {manager.longest:.2f} s apart at "
              f"most, of {WATCHDOG_S:.0f}; {2 * ROUNDS} scrapes of others in {tries} tries")


if sys.argv[1:2] == ["crowd"]:
    crowd(sys.argv[2:])
else:
    main()
