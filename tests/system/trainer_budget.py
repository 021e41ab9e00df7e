#!/usr/bin/env python3
"""A worker that outgrows its memory is ended and says so, and the daemon does not notice: what its socket takes to answer, and
what its commits take, is printed for the time before and for the time in which the workers grow, one after the other. Nothing is
asserted of these times: other tests share the machine."""

import json
import os
import signal
import sys
import time

import harness

WORKERS = 12 if harness.LONG else 3
PINGS = 2000 if harness.LONG else 500
LIMIT_MIB = 96  # the rollout below is some 560 MiB
GREEDY = """[training]
world = cartpole
total_steps = 100000000
copies = 1024
steps = 8192
device = cpu
threads = 1
checkpoint_every = 0
[serve]
memory_mib = {limit}
"""


class Socket:
    """One connection to the daemon that is kept."""

    def __init__(self, daemon):
        self.socket = harness.connect(daemon)
        self.file = self.socket.makefile("rwb")

    def ask(self, cmd, **args):
        self.file.write(json.dumps({"id": 1, "cmd": cmd, "args": args}).encode() + b"\n")
        self.file.flush()
        answer = json.loads(self.file.readline())
        assert answer["ok"], (cmd, answer)
        return answer["result"]

    def close(self):
        self.file.close()
        self.socket.close()


def ping(client, times):
    started = time.perf_counter()
    client.ask("ping")
    times.append(time.perf_counter() - started)


def figures(what, times):
    times = sorted(times)
    p50, p99 = (1000 * times[len(times) * share // 100] for share in (50, 99))
    print(f"| {what} | {len(times)} | {p50:.3f} | {p99:.3f} | {1000 * times[-1]:.3f} |")


def training(client, name):
    return next((t for t in client.ask("train_list")["trainings"] if t["training"] == name), None)


def grow(client, name, times):
    """Starts a worker and pings until it has ended; how it ended."""
    client.ask("train_start", name=name, config=GREEDY.format(limit=LIMIT_MIB))
    deadline = time.monotonic() + harness.PATIENCE
    while True:
        for _ in range(10):
            ping(client, times)
        ended = training(client, name)
        if ended and ended["state"] in ("failed", "done", "stopped"):
            return ended
        assert time.monotonic() < deadline, f"{name}: {ended}"
        time.sleep(0.005)  # the pace of the pings


def raised(daemon):
    """The alerts of memory that are in the database by now."""
    return [alert for alert in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"]
            if alert["code"] == "TRAINING_MEMORY"]


def main():
    print(f"counts: {WORKERS} workers, {PINGS} pings before" + ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "9", "--speed", "1"))
        daemon = folder.start(harness.Daemon(folder.path, replay, "[market]\nsymbols = BTCUSDT, ETHUSDT\n"))
        daemon.wait_status(lambda status: status["feed"]["state"] == "ok",
                           "the venue")
        client = Socket(daemon)
        before, during = [], []
        for _ in range(PINGS):
            ping(client, before)
        for i in range(WORKERS):
            ended = grow(client, f"greedy{i}", during)
            assert ended["state"] == "failed" and ended["cause"] in ("memory", "memory_budget"), ended
            assert str(LIMIT_MIB) in ended["reason"] and "MiB" in ended["reason"], ended
            assert ended["attempts"] == 1, ended
        print(f"ended: {ended['cause']}: {ended['reason']}")
        print("| the daemon answers, ms | pings | p50 | p99 | most |\n|---|---|---|---|---|")
        figures("before", before)
        figures("while workers outgrow their memory", during)
        commit = daemon.status_object()["db"]
        print(f"commits: p50 {commit['commit_p50_ms']:.2f} ms, p99 {commit['commit_p99_ms']:.2f} ms")
        alerts = harness.wait_for(lambda: len(raised(daemon)) >= WORKERS and raised(daemon), "an alert for each worker")
        assert len(alerts) == WORKERS, alerts
        status = daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["trading"] == "on" and s["trainer"]["state"] == "ok",
                                    "all of it in order")
        pid = status["trainer"]["pid"]
        client.close()
        assert daemon.stop() == 0
        assert replay.stop() == 0
        os.kill(pid, signal.SIGTERM)  # it would end by itself a minute later
        harness.wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the co-process' end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
