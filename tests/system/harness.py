"""Starts the real programs on loopback for a system test: papertape-replay as the venue, papertaped against it, and
papertape as the command line. Nothing sleeps for luck: everything waits for a condition, with a deadline."""

import concurrent.futures
import gzip
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get("PAPERTAPE_BUILD") or os.path.join(os.path.dirname(__file__), "../../build")
SOURCE = os.environ.get("PAPERTAPE_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SHARED = os.environ.get("PAPERTAPE_SHARED") or os.path.join(SOURCE, "../shared")
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
SANITIZED = "PAPERTAPE_SANITIZED" in os.environ
PATIENCE = 300.0  # seconds; sanitizers on two busy cores are slow

REPLAY = os.path.join(BUILD, "exchange/replay/papertape-replay")
DAEMON = os.path.join(BUILD, "daemon/papertaped")
PAPERTAPE = os.path.join(BUILD, "tui/papertape")
FAKE_GPU = os.path.join(BUILD, "tests/daemon/libfake-gpu.so")
GPU_ON_CPU = os.path.join(BUILD, "tests/indicators_gpu/libgpu-on-cpu.so")
SHIFTED_CLOCK = os.path.join(BUILD, "tests/system/libshifted-clock.so")
FAILURES = os.path.join(BUILD, "tests/system/libfailures.so")
SLOW_SYNC = os.path.join(BUILD, "tests/system/libslow-sync.so")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def recording(name):
    """The path of a real recording, or None without the sample data."""
    path = os.path.join(SHARED, "data/recorded/binance", name)
    return path if os.path.exists(path) else None


def lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        yield from file


def wait_for(condition, what, patience=PATIENCE):
    """Polls until condition() is true, and returns what it returned."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience:.0f} s for: {what}")
        time.sleep(0.02)


class Process:
    def __init__(self, argv, log, **kwargs):
        self.log = open(log, "ab")
        self.log_path = log
        self.argv = argv
        self.popen = subprocess.Popen(argv, **({"stderr": self.log, "stdin": subprocess.DEVNULL} | kwargs))

    def log_text(self):
        with open(self.log_path, "r", errors="replace") as file:
            return file.read()

    def alive(self):
        return self.popen.poll() is None

    def stop(self, number=signal.SIGTERM, patience=PATIENCE):
        """Ends it and returns its exit status."""
        if self.alive():
            self.popen.send_signal(number)
        try:
            status = self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
            raise AssertionError(f"{self.argv[0]} did not end within {patience:.0f} s; its log:\n{self.log_text()}")
        self.log.close()
        return status


class Replay(Process):
    def __init__(self, folder, *arguments, **kwargs):
        self.ca = os.path.join(folder, "ca.pem")
        super().__init__([REPLAY, "--listen", "127.0.0.1:0", "--ca-out", self.ca, *arguments],
                         os.path.join(folder, "replay.log"), stdout=subprocess.PIPE, text=True, **kwargs)
        line = self.popen.stdout.readline()
        if not line:
            raise AssertionError("papertape-replay did not start:\n" + self.log_text())
        self.urls = json.loads(line)


class Daemon(Process):
    def __init__(self, folder, replay, config="", arguments=(), name="daemon", state="state", **kwargs):
        self.state = os.path.join(folder, state)
        self.config = os.path.join(folder, f"{name}.ini")
        with open(self.config, "w") as file:
            file.write(config)
        argv = [DAEMON, "--config", self.config, "--state", self.state, *arguments]
        if replay:
            argv += ["--venue-url", replay.urls["ws_url"], "--rest-url", replay.urls["rest_url"],
                     "--ca-file", replay.ca]
        super().__init__(argv, os.path.join(folder, f"{name}.log"), **kwargs)

    def papertape(self, *arguments, status=0):
        """Runs a verb of papertape on this daemon's state and returns its standard output."""
        done = subprocess.run([PAPERTAPE, *arguments, "--state", self.state], capture_output=True, text=True,
                              timeout=PATIENCE)
        if status is not None and done.returncode != status:
            raise AssertionError(f"papertape {' '.join(arguments)}: status {done.returncode}, not {status}\n"
                                 f"{done.stdout}{done.stderr}\ndaemon's log:\n{self.log_text()[-4000:]}")
        return done.stdout if status == 0 else done.stdout + done.stderr

    def status_object(self):
        """The status, once the daemon answers."""
        return wait_for(self.status_now, "an answer of the daemon")

    def status_now(self):
        """The status, or None while the daemon does not answer."""
        done = subprocess.run([PAPERTAPE, "status", "--json", "--state", self.state], capture_output=True, text=True,
                              timeout=PATIENCE)
        if not self.alive():
            raise AssertionError("papertaped ended:\n" + self.log_text()[-4000:])
        return json.loads(done.stdout) if done.returncode in (0, 4) and done.stdout else None

    def wait_status(self, condition, what, patience=PATIENCE):
        """Waits until condition(status) is true; returns that status."""
        def look():
            status = self.status_now()
            return status if status and condition(status) else None
        try:
            return wait_for(look, what, patience)
        except AssertionError as error:
            raise AssertionError(f"{error}\nlast status: {json.dumps(self.status_now())}\n"
                                 f"daemon's log:\n{self.log_text()[-4000:]}") from None

    def query(self, sql):
        """All rows of a question to its database."""
        return query(f"{self.state}/papertape.db", sql)

    def resident(self):
        """Its memory, in bytes."""
        with open(f"/proc/{self.popen.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def frames(self, symbol, stream, count):
        """Waits until so many frames of a stream have been taken."""
        def there(status):
            return any(s["symbol"] == symbol and s["stream"] == stream and s["frames"] >= count
                       for s in status["feed"]["streams"])
        return self.wait_status(there, f"{count} frames of {symbol} {stream}")


def query(path, sql):
    """All rows of a question to the database `path`, which is not changed."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


class Manager(threading.Thread):
    """The service manager's end of NOTIFY_SOCKET: take(line) gets what is sent to it."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)

    def run(self):
        while True:
            for line in self.socket.recv(1 << 16).decode().split("\n"):
                self.take(line)


def connect(daemon, patience=PATIENCE):
    """A connection to the control socket."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(patience)
    client.connect(os.path.join(daemon.state, "control.sock"))
    return client


def control(daemon, cmd, args):
    """Asks the control socket one thing and returns the answer."""
    with connect(daemon) as client:
        client.sendall(json.dumps({"id": 1, "cmd": cmd, "args": args}).encode() + b"\n")
        data = b""
        while not data.endswith(b"\n"):
            part = client.recv(1 << 16)
            assert part, f"{cmd}: the daemon went away"
            data += part
        return json.loads(data)


# Two symbols; an account whose strategy trades all the time, and one by hand; as many orders as are asked for.
BUSY_CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 50
[risk]
orders_per_second = 0
[account main]
cash = 1000000
strategy = sma-cross
strategy.fast = 2
strategy.slow = 4
strategy.fraction = 0.2
[account hand]
cash = 1000000
strategy = none
"""


def write_keys(folder, name, secret):
    """A venue's keys, as papertape-replay's --keys PKTEST:SECRET has them."""
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"PKTEST\n{secret}\n")
    return path


def stocks_config(keys):
    """One stock, held by a strategy from its first bar on, on the feed's clock."""
    return f"""[market]
venue = alpaca
symbols = AAPL
interval = 1m
history = 20
streams = trade, kline, bookTicker
[engine]
clock = feed
latency_ms = 0
[venue alpaca]
keys = {keys}
feed = sip
[account usd]
currency = USD
cash = 100000
strategy = buy-and-hold
strategy.fraction = 0.5
"""


class Folder:
    """A temporary folder that is kept when the test fails."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="papertape-")
        self.processes = []
        return self

    def within(self, name):
        """A folder in it, made."""
        path = os.path.join(self.path, name)
        os.mkdir(path)
        return path

    def start(self, process):
        self.processes.append(process)
        return process

    def __exit__(self, kind, value, trace):
        for process in reversed(self.processes):
            if process.alive():
                process.stop(signal.SIGKILL)
        if kind is None:
            shutil.rmtree(self.path)
        else:
            print("kept for inspection:", self.path)
        return False


def together(folder, *scenarios):
    """Each waits for its own programs, most of the time."""
    with concurrent.futures.ThreadPoolExecutor(len(scenarios)) as pool:
        for done in [pool.submit(scenario, folder) for scenario in scenarios]:
            done.result()
