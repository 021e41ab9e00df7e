#!/usr/bin/env python3
"""A crowd at the control socket of the daemon: 63 connections that pipeline `status`, half of them not reading, and 200 that only
connect. pause, resume and flatten, each by a connection of its own, come through; frames are handled as without the
crowd; memory is bounded; the service manager's watchdog is fed. PAPERTAPE_LONG=1: 10 minutes, 1,000 of each command."""

import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

import harness

CONFIG = "[market]\ninterval = 1s\nhistory = 50\n[engine]\nlatency_ms = 0\n[account hand]\ncash = 50000\nstrategy = none\n"
HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = (("pause", {}), ("resume", {}), ("flatten", {"confirm": "FLATTEN"}))
CALM_S, FLOOD_S, ROUNDS = (60, 600, 1000) if harness.LONG else (2.5, 6, 40)
CROWD = ("63", "200")
COMMAND_P99_MS, FRAME_ADDED_P99_MS, RESIDENT_MAX = 250, 5, 150 << 20
LOOP_WINDOW_S = 5  # of status' "loop"
WATCHDOG_S = 4.0
NICE = -10
AGAIN_S = 0.01
LONGEST_TURN_MS = 1000  # of a loop that shares two cores with a crowd; before it was seconds


class Manager(harness.Manager):
    """Counts WATCHDOG=1 and the longest time between two."""

    def __init__(self, path):
        super().__init__(path)
        self.count, self.longest, self.last = 0, 0.0, None

    def take(self, line):
        if line == "WATCHDOG=1":
            self.see()

    def see(self):
        now = time.monotonic()
        if self.last is not None:
            self.longest = max(self.longest, now - self.last)
        self.last = now
        self.count += 1


def ask(path, cmd, args):
    """One command by a connection of its own; asked again while that is refused. (ms, refusals)"""
    start, refusals = time.monotonic(), 0
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            data = b""
            try:
                client.connect(path)  # waits its turn in the socket's queue
                client.settimeout(harness.PATIENCE)
                client.sendall(json.dumps({"id": 7, "cmd": cmd, "args": args}).encode() + b"\n")
                while not data.endswith(b"\n"):
                    part = client.recv(1 << 16)
                    if not part:
                        break
                    data += part
            except (BrokenPipeError, ConnectionResetError):
                pass
        answer = json.loads(data.splitlines()[-1]) if data else {"ok": False, "error": {"code": "EBUSY"}}
        if answer["ok"]:
            return (time.monotonic() - start) * 1000, refusals
        assert answer["error"]["code"] == "EBUSY", (cmd, answer)
        refusals += 1
        time.sleep(AGAIN_S)


def p99(values):
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def commands(path, until, rounds, waits):
    """Rounds of the three, evenly until then. {command: [ms]}, refusals; `waits` gets what the loop let a frame wait."""
    took, refused = {cmd: [] for cmd, _ in COMMANDS}, 0
    next_look = time.monotonic() + LOOP_WINDOW_S
    started = time.monotonic()
    for number in range(rounds):
        for cmd, args in COMMANDS:
            ms, refusals = ask(path, cmd, args)
            took[cmd].append(ms)
            refused += refusals
        if time.monotonic() >= next_look or number == rounds - 1:
            waits.append(status(path)["loop"]["wait_p99_ms"])
            next_look = time.monotonic() + LOOP_WINDOW_S
        wait = started + (until - started) * (number + 1) / rounds - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    return took, refused


class Resident(threading.Thread):
    """The most memory that it had."""
    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.of, self.most, self.done = daemon, 0, threading.Event()

    def run(self):
        while not self.done.wait(0.1):
            self.most = max(self.most, self.of.resident())


def lateness(folder):
    """[(received, ms after the venue's own time)] of each frame that has one."""
    path = os.path.join(folder.path, "frames.txt")
    subprocess.run([harness.PAPERTAPE, "events", "export", os.path.join(folder.path, "record"), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    late = []
    for line in harness.lines(path):
        head, _, text = line.partition(" ")
        if not head.isdigit():
            continue
        event_us = json.loads(text).get("data", {}).get("E")
        if event_us:
            late.append((int(head), int(head) / 1e6 - event_us / 1e3))
    return late


def as_unit(*processes):
    """The priority that systemd/papertaped.service gives the daemon, where that is allowed; the venue is another machine's. Each
    has a session of its own, to which Linux' autogroups give processor time, as a service's group has."""
    for process in processes:
        try:
            os.setpriority(os.PRIO_PROCESS, process.popen.pid, NICE)
            with open(f"/proc/{process.popen.pid}/autogroup", "w") as file:
                file.write(str(NICE))
        except (PermissionError, FileNotFoundError):
            print("not the priority of the unit: no right to it")


def flood(folder, path, waits):
    """What the commands took, and when the crowd was there."""
    crowd = folder.start(harness.Process([sys.executable, os.path.join(HERE, "flood.py"), path, *CROWD],
                                         os.path.join(folder.path, "flood.log"), stdout=subprocess.PIPE, text=True))
    harness.wait_for(lambda: status(path)["control"]["clients"] >= 60, "the crowd")
    started = time.time_ns()
    took, refused = commands(path, time.monotonic() + FLOOD_S, ROUNDS, waits)
    ended = time.time_ns()
    assert crowd.alive(), crowd.log_text()
    assert crowd.stop() == 0
    return took, refused, started, ended, json.loads(crowd.popen.stdout.read())


def status(path):
    """Of the socket, by the same door as the crowd's; {} where it is refused."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
            client.settimeout(harness.PATIENCE)
            client.sendall(b'{"id":1,"cmd":"status"}\n')
            answer = json.loads(client.makefile("rb").readline() or b"{}")
        except (BrokenPipeError, ConnectionResetError):
            answer = {}
    return answer.get("result", {"control": {"clients": 0}})


def main():
    with harness.Folder() as folder:
        manager = Manager(os.path.join(folder.path, "notify"))
        environment = dict(os.environ, NOTIFY_SOCKET=os.path.join(folder.path, "notify"), WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)))
        replay = folder.start(harness.Replay(folder.path, "--venue", "binance", "--synthetic", "22", "--rate", "200", start_new_session=True))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--record", os.path.join(folder.path, "record")],
                                             env=environment, start_new_session=True))
        path = os.path.join(daemon.state, "control.sock")
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        ticker = folder.start(harness.Process([sys.executable, os.path.join(HERE, "ticker.py")], os.path.join(folder.path, "ticker.log"),
                                              start_new_session=True, stdout=open(os.path.join(folder.path, "ticks.json"), "wb")))
        as_unit(daemon, replay, ticker)
        waits = {"none": [], "flood": []}
        manager.start()
        memory = Resident(daemon)
        memory.start()

        calm = time.time_ns()
        commands(path, time.monotonic() + CALM_S, max(1, ROUNDS // 10), waits["none"])
        calm_end = time.time_ns()
        took, refused, started, ended, crowd = flood(folder, path, waits["flood"])
        memory.done.set()
        end = status(path)
        manager.see()
        assert daemon.stop() == 0
        assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True

        assert ticker.stop() == 0
        with open(os.path.join(folder.path, "ticks.json")) as file:
            ticks = json.load(file)
        frames, machine = ({"none": [ms for at, ms in late if calm <= at < calm_end], "flood": [ms for at, ms in late if started <= at < ended]}
                           for late in (lateness(folder), ticks))
        added, machine_added = (p99(late["flood"]) - p99(late["none"]) for late in (frames, machine))
        waited = {name: statistics.median(values) for name, values in waits.items()}
        for cmd, values in took.items():
            print(f"{cmd}: {len(values)} answers, p50 {statistics.median(values):.1f} ms, p99 {p99(values):.1f} ms, most {max(values):.1f} ms")
        print(f"refused and asked again: {refused} of {3 * ROUNDS}")
        for name, values in frames.items():
            print(f"frames, {name}: {len(values)}, p50 {statistics.median(values):.2f} ms, p99 {p99(values):.2f} ms after the venue's time")
        print(f"frames: p99 added {added:.2f} ms; {machine_added:.2f} ms of a program that only wakes up")
        print(f"a frame waits for the loop, p99: {waited['none']:.2f} ms without, {waited['flood']:.2f} ms with the crowd ({len(waits['flood'])} times 5 s, most {max(waits['flood']):.2f})")
        print(f"memory: {memory.most >> 20} MiB at most; watchdog: {manager.count} times, {manager.longest:.2f} s apart at most, of {WATCHDOG_S:.0f}")
        print(f"the crowd in {(ended - started) / 1e9:.1f} s: {json.dumps(crowd)}; the socket: {json.dumps(end['control'])}")
        assert all(len(values) == ROUNDS and p99(values) < COMMAND_P99_MS for values in took.values()), "a command is late"
        assert len(frames["none"]) > 100 and len(frames["flood"]) > 100, "frames"
        assert waited["flood"] - waited["none"] < FRAME_ADDED_P99_MS, "frames wait for the loop"
        assert added - max(0, machine_added) < FRAME_ADDED_P99_MS, "frames are late"
        assert memory.most < RESIDENT_MAX, "memory"
        assert manager.longest < WATCHDOG_S and manager.count >= 2, "the watchdog"
        assert crowd["answers"] > 1000 and end["control"]["requests"] > 1000, "the crowd was there"
        assert end["control"]["turn_max_ms"] < LONGEST_TURN_MS, "a turn"


main()
