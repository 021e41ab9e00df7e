"""Hundreds of symbols over TLS on one core, for bench/feed: starts papertape-replay on other cores and bench/feed_many on
the last, and gives it the snapshots that its books wait for (a hundred levels each, so that the venue's limit of
requests holds)."""

import http.client
import json
import os
import ssl
import subprocess
import threading
import urllib.parse

import programs

DEPTH = 100
PATIENCE_S = 60  # for connecting, snapshots and settling


def names(count, connection):
    """The synthetic market's symbols, as it lists them."""
    connection.request("GET", "/api/v3/exchangeInfo")
    listed = [symbol["symbol"] for symbol in json.loads(connection.getresponse().read())["symbols"]]
    if len(listed) < count:
        raise RuntimeError(f"papertape-replay lists {len(listed)} symbols, not {count}")
    return listed[:count]


def run(build, symbols, rate, seconds):
    """Yields (case, value, unit, limit) of so many symbols with so many frames a second each."""
    with programs.Folder() as folder:
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores - {max(cores)} or cores)  # the last one is feed_many's
        try:
            replay = folder.start(programs.Replay(folder.path, "--synthetic", "1", "--symbols", str(symbols), "--rate",
                                                 str(rate)))
            host = urllib.parse.urlparse(replay.urls["rest_url"])
            context = ssl.create_default_context(cafile=replay.ca)
            rest = http.client.HTTPSConnection(host.hostname, host.port, context=context)
            listed = names(symbols, rest)
            process = subprocess.Popen([build / "bench/feed_many", os.path.join(folder.path, "state"),
                                        replay.urls["ws_url"], replay.ca, str(seconds)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
            late = threading.Timer(seconds + PATIENCE_S, process.kill)  # then it prints nothing more, which is reported
            late.start()
            try:
                yield from measure(process, rest, listed, f"{symbols}x{rate}")
            finally:
                late.cancel()
                process.kill()
                process.wait()
            replay.stop()
        finally:
            os.sched_setaffinity(0, cores)


def depth(rest, name):
    rest.request("GET", f"/api/v3/depth?symbol={name}&limit={DEPTH}")
    reply = rest.getresponse()
    body = reply.read().decode().replace("\n", "")
    if reply.status != 200:
        raise RuntimeError(f"depth of {name}: {reply.status} {body}")
    return body


def measure(process, rest, listed, case):
    try:
        process.stdin.write("".join(name + "\n" for name in listed) + "-\n")
        process.stdin.flush()
    except BrokenPipeError:
        pass  # its status says why
    for line in process.stdout:
        if line.startswith("need "):
            name = line.split()[1]
            process.stdin.write(f"{name} {depth(rest, name)}\n")
            process.stdin.flush()
            continue
        name, value, unit, limit = line.rstrip("\n").split("\t")
        yield f"{case}_{name}", float(value), unit, float(limit) if limit else None
    if process.wait() != 0:
        raise RuntimeError(f"{case}: frames, books or connections were lost")
