#!/usr/bin/env python3
"""`papertaped --record`: a synthetic market is recorded, the recording played by papertape-replay, and that recorded again: the
same frames of every stream, in order, byte for byte, the same replies of klines and filters, the same bars.

In the environment: PAPERTAPE_BUILD, the build folder. Standard library only."""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["PAPERTAPE_BUILD"]
PAPERTAPE, PAPERTAPED, REPLAY = (os.path.join(BUILD, path) for path in
                                 ("tui/papertape", "daemon/papertaped", "exchange/replay/papertape-replay"))
FROM, TO = "2024-08-08T10:00:00Z", "2024-08-08T10:03:00Z"
END_NS = 1723111380 * 10**9
DEADLINE_S = 120


def run(*args):
    return subprocess.run([PAPERTAPE, *args], capture_output=True, text=True, timeout=DEADLINE_S)


def last_ns(log):
    listed = run("events", "list", "--json", log)
    return max(s["last_ns"] for s in json.loads(listed.stdout)["segments"]) if listed.returncode == 0 else 0


def record(folder, name, until_ns, *source, as_many_as=None):
    """Runs a venue and a daemon that records it until an event of that time came, and as many frames of its streams as another
    log has: several may come at the same time. The log's folder."""
    state, log, authority = (os.path.join(folder, name + end) for end in ("", ".log", ".pem"))
    os.mkdir(state)
    venue = subprocess.Popen([REPLAY, *source, "--speed", "max", "--ca-out", authority], stdout=subprocess.PIPE)
    daemon = None
    try:
        urls = json.loads(venue.stdout.readline())
        daemon = subprocess.Popen(
            [PAPERTAPED, "--state", state, "--venue-url", urls["ws_url"], "--rest-url", urls["rest_url"], "--ca-file", authority,
             "--clock", "feed", "--record", log, "--log-level", "error"])
        end = time.monotonic() + DEADLINE_S
        while last_ns(log) < until_ns or (as_many_as and streamed(log) < streamed(as_many_as)):
            if daemon.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{name}: the recording ends at {last_ns(log)}, before {until_ns}")
            time.sleep(0.1)
    finally:
        for process in (daemon, venue):
            if process:
                process.terminate()
                process.wait(DEADLINE_S)
        venue.stdout.close()
    assert daemon.returncode == 0, daemon.returncode
    verified = run("events", "verify", log)
    assert verified.returncode == 0, verified.stderr
    return log


def frames(log):
    """The frames of each stream; the bodies of replies that are no snapshots, by what was asked."""
    lines = log + ".jsonl"
    with open(lines, "w") as file:
        file.write("mine\n")
    os.chmod(lines, 0o640)
    failed = run("events", "export", os.path.dirname(log), "-o", lines)
    assert failed.returncode == 1 and open(lines).read() == "mine\n", failed.stderr  # it is replaced whole or not at all
    os.symlink(os.path.basename(lines), lines + ".link")
    if os.geteuid() == 0:  # another user's link may name any file of root's
        os.lchown(lines + ".link", 65534, 65534)
        failed = run("events", "export", log, "-o", lines + ".link")
        assert failed.returncode == 1 and "is a link that another user made" in failed.stderr and open(lines).read() == "mine\n", failed.stderr
    exported = run("events", "export", log, "-o", lines)
    assert exported.returncode == 0, exported.stderr
    assert os.stat(lines).st_mode & 0o777 == 0o640 and run("events", "export", log, "-o", "-").stdout == open(lines).read()
    os.unlink(lines + ".link")
    streams, replies = collections.defaultdict(list), {}
    with open(lines, encoding="utf-8") as file:
        for line in file:
            if line.startswith("http"):
                url, reply = line.split(" -> ", 1)
                if not url.endswith("/time"):
                    replies.setdefault(url.split("&startTime")[0], reply.split(": ", 1)[1])
            else:
                frame = line.split(" ", 1)[1]
                streams[json.loads(frame).get("stream", "snapshot")].append(frame)
    return streams, replies


def streamed(log):
    """How many frames of streams there are by now."""
    return sum(len(reported) for stream, reported in frames(log)[0].items() if stream != "snapshot")


def bars(folder, name):
    done = run("bars", "BTCUSDT", "1m", "--state", os.path.join(folder, name))
    assert done.returncode == 0, done.stderr
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        first = record(folder, "first", END_NS - 10**9, "--synthetic", "7", "--from", FROM, "--to", TO)
        second = record(folder, "second", last_ns(first), "--recording", first, as_many_as=first)
        [(a, asked_a), (b, asked_b)] = frames(first), frames(second)
        assert set(a) == set(b) and len(a) == 11, (sorted(a), sorted(b))
        for stream in a:
            if stream != "snapshot":
                assert a[stream] == b[stream], f"{stream}: {len(a[stream])} frames, then {len(b[stream])}"
        assert set(asked_a) == set(asked_b), (sorted(asked_a), sorted(asked_b))
        for url, body in asked_a.items():
            if "klines" in url:
                assert json.loads(body) == json.loads(asked_b[url]), url
            else:
                assert json.loads(body)["symbols"] == json.loads(asked_b[url])["symbols"], url
        assert bars(folder, "first") == bars(folder, "second")
        print(f"record: {sum(map(len, a.values()))} frames and {len(asked_a)} replies, the same when they were played")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"record: {failure}")
