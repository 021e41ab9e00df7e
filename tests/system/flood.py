#!/usr/bin/env python3
"""A crowd at a control socket, as one process: flood.py SOCKET PIPELINING IDLE. PIPELINING connections ask for `status` as fast
as the socket takes it, every second of them reads nothing; IDLE others only connect. What is closed connects again.
SIGTERM ends it with one JSON line of counts."""

import json
import os
import selectors
import signal
import socket
import sys
import time

REQUESTS = b'{"id":1,"cmd":"status"}\n' * 500
AGAIN_S = 0.005  # between attempts while the socket's queue is full


class Crowd:
    def __init__(self, path):
        self.path, self.selector, self.count = path, selectors.DefaultSelector(), {}
        self.waiting = []  # roles whose connect the socket's queue had no room for

    def add(self, what, n=1):
        self.count[what] = self.count.get(what, 0) + n

    def connect(self, role):
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        try:
            client.connect(self.path)
        except BlockingIOError:
            client.close()
            self.waiting.append(role)
            return
        self.add(f"{role} connects")
        events = selectors.EVENT_READ if role == "idle" else selectors.EVENT_WRITE
        if role == "reader":
            events |= selectors.EVENT_READ
        self.selector.register(client, events, [role, 0])

    def again(self, client, role):
        self.selector.unregister(client)
        client.close()
        self.connect(role)

    def serve(self, key, events):
        client, (role, sent) = key.fileobj, key.data
        try:
            if events & selectors.EVENT_READ:
                data = client.recv(1 << 18)
                if not data:
                    return self.again(client, role)
                self.add("answers", data.count(b"\n"))
                self.add("EBUSY", data.count(b'"EBUSY"'))
            if events & selectors.EVENT_WRITE:
                n = client.send(REQUESTS[sent % 24:])
                key.data[1] = (sent + n) % 24
                self.add("requests", n // 24)
        except BlockingIOError:
            pass
        except OSError:
            self.again(client, role)

    def run(self):
        due = time.monotonic()
        while True:
            for key, events in self.selector.select(AGAIN_S if self.waiting else None):
                self.serve(key, events)
            if self.waiting and time.monotonic() >= due:
                roles, self.waiting = self.waiting, []
                for role in roles:
                    self.connect(role)
                due = time.monotonic() + AGAIN_S


def main():
    path, pipelining, idle = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    crowd = Crowd(path)

    def end(*_):
        print(json.dumps(crowd.count), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    for i in range(pipelining):
        crowd.connect("mute" if i % 2 else "reader")
    for _ in range(idle):
        crowd.connect("idle")
    crowd.run()


main()
