"""What the programs cost, for bench/feed: papertape in a terminal of 80x24 and papertaped, against papertape-replay on
loopback over TLS."""

import fcntl
import os
import pty
import select
import statistics
import struct
import termios
import time

import programs

PAINTS = 10
QUIET_S = 0.2     # no byte for so long: the frame is complete
WATCHED_S = 10.0  # at one look a second
SETTLE_S = 1.5


def cpu_of(task):
    """Seconds of processor time that a thread has used."""
    with open(f"{task}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


class Screen:
    """The dashboard on a terminal of its own."""

    def __init__(self, state):
        self.begin = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.execv(programs.PAPERTAPE, ["papertape", "--state", state])

    def read_until_quiet(self, quiet_s, end=float("inf")):
        """The bytes until none came for so long, and when the last one came."""
        data, last = b"", None
        while select.select([self.fd], [], [], min(quiet_s, max(0, end - time.monotonic())))[0]:
            chunk = os.read(self.fd, 65536)
            data, last = data + chunk, time.monotonic()
        return data, last

    def cpu_s(self):
        return cpu_of(f"/proc/{self.pid}")

    def quit(self):
        os.write(self.fd, b"q")
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:  # the other side is closed
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        if status:
            raise RuntimeError(f"papertape ended with status {status}")


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))


def first_paint_s(state):
    screen = Screen(state)
    data, last = screen.read_until_quiet(QUIET_S)
    screen.quit()
    if b"BTCUSDT" not in data or b"TRADING" not in data:
        raise RuntimeError("the first frame does not show the market")
    return last - screen.begin


def dashboard():
    """Yields (case, value, unit, limit)."""
    with programs.Folder() as folder:
        replay = folder.start(programs.Replay(folder.path, "--synthetic", "1"))
        daemon = folder.start(programs.Daemon(folder.path, replay))
        daemon.frames("BTCUSDT", "trade", 20)
        daemon.frames("ETHUSDT", "trade", 20)
        yield "first_paint", statistics.median(first_paint_s(daemon.state) for _ in range(PAINTS)), "s", 0.05

        screen = Screen(daemon.state)
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end:
            screen.read_until_quiet(QUIET_S, end)
        begin, cpu, frames = time.monotonic(), screen.cpu_s(), []
        while time.monotonic() < begin + WATCHED_S:
            data, _ = screen.read_until_quiet(QUIET_S, begin + WATCHED_S)
            if data:
                frames.append(len(data))
        share = (screen.cpu_s() - cpu) / (time.monotonic() - begin)
        resident = resident_bytes(screen.pid)
        screen.quit()
        if len(frames) < WATCHED_S / 2:
            raise RuntimeError(f"only {len(frames)} frames were drawn in {WATCHED_S:.0f} s")
        yield "frame_bytes", statistics.median(frames), "B", 2000
        yield "cpu_dashboard", share, "cores", 0.005
        yield "resident_dashboard", resident, "B", 16 * 1024 * 1024
        daemon.stop()
        replay.stop()


def daemon_on(path, counts):
    """Yields (case, value, unit, limit) of papertaped taking a whole recording over TLS, as fast as it can."""
    with programs.Folder() as folder:
        replay = folder.start(programs.Replay(folder.path, "--recording", path, "--speed", "max"))
        daemon = folder.start(programs.Daemon(folder.path, replay, "[market]\nsymbols = BTCUSDT\ninterval = 1s\n",
                                             ["--clock", "feed"]))
        for stream, count in counts.items():
            daemon.frames("BTCUSDT", stream, count)
        pid = daemon.popen.pid
        resident = resident_bytes(pid)
        cpu_s = sum(cpu_of(f"/proc/{pid}/task/{task}") for task in os.listdir(f"/proc/{pid}/task"))
        frames = daemon.status_object()["feed"]["frames"]
        yield "resident_daemon", resident, "B", None
        yield "daemon_tls", frames / cpu_s, "frames/s", None  # a second of processor time, of all its threads
        daemon.stop()
        replay.stop()
