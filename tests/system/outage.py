#!/usr/bin/env python3
"""The way to the venue is cut, so that nothing is answered: the daemon says so, stays the same process, and continues by itself once
it is back. By the forwarder of packages/service, where the outage takes minutes."""

import os
import signal
import subprocess
import sys

import harness

CONFIG = harness.BUSY_CONFIG + "[feed]\nstale_s = 1\nstale_trade_s = 2\nsilence_s = 2\n"


class Way(harness.Process):
    """The forwarder in front of a venue, which has its place then."""

    def __init__(self, folder, replay):
        port = replay.urls["rest_url"].rsplit(":", 1)[1]
        program = os.path.join(harness.SOURCE, "tests/packages/forward.py")
        super().__init__([sys.executable, program, "0", port], os.path.join(folder, "way.log"), stdout=subprocess.PIPE, text=True)
        own = self.popen.stdout.readline().strip()
        replay.urls = {name: url.replace(f":{port}", f":{own}") for name, url in replay.urls.items()}


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "200"))
        way = folder.start(Way(folder.path, replay))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["feed"]["frames"] > 50, "data")
        way.popen.send_signal(signal.SIGUSR1)
        status = daemon.wait_status(lambda s: s["feed"]["state"] in ("retry", "connecting", "stale") and all(x["stale"] for x in s["symbols"]),
                                    "that nothing comes")
        frames = status["feed"]["frames"]
        way.popen.send_signal(signal.SIGUSR2)
        status = daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["feed"]["frames"] > frames + 50, "data again")
        assert status["pid"] == daemon.popen.pid
        assert daemon.stop() == 0 and daemon.papertape("parity").startswith("parity ok")
        print(f"cut at {frames} frames, and back: the same process, parity ok")


main()
