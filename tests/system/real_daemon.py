"""papertape-replay's synthetic market and papertaped on it, with the start() and stop() that the dashboard's tests
want of a daemon."""

import json
import os
import socket
import subprocess
import time

PATIENCE_S = 60  # sanitizers on two busy cores are slow


class Daemon:
    def __init__(self, state_dir, papertaped, replay):
        self.state = state_dir
        self.papertaped = papertaped
        self.replay_program = replay
        self.replay = self.daemon = None

    def start(self, venue=True):
        """Begins where stop() left the state directory; the market is a new one each time. Without a venue there is
        none at the address of the one before."""
        authority = os.path.join(self.state, "venue-ca.pem")
        if venue:
            with open(os.path.join(self.state, "replay.log"), "ab") as log:
                self.replay = subprocess.Popen(
                    [self.replay_program, "--venue", "binance", "--synthetic", "7", "--listen", "127.0.0.1:0",
                     "--ca-out", authority], stdout=subprocess.PIPE, stderr=log)
            self.venue = json.loads(self.replay.stdout.readline())
        with open(os.path.join(self.state, "papertaped.log"), "ab") as log:
            self.daemon = subprocess.Popen(
                [self.papertaped, "--state", self.state, "--venue-url", self.venue["ws_url"], "--rest-url",
                 self.venue["rest_url"], "--ca-file", authority], stderr=log)
        end = time.monotonic() + PATIENCE_S
        while not self._listens():
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"papertaped does not listen:\n{self.log()}")
            time.sleep(0.02)

    def _listens(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            return client.connect_ex(os.path.join(self.state, "control.sock")) == 0

    def stop(self):
        for process in (self.daemon, self.replay):
            if process:
                process.terminate()
                process.wait(PATIENCE_S)
                if process.stdout:
                    process.stdout.close()
        self.replay = self.daemon = None

    def log(self):
        with open(os.path.join(self.state, "papertaped.log"), encoding="utf-8") as log:
            return "".join(log.readlines()[-20:])
