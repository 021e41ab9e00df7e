"""What system tests have in addition to the programs themselves (fixtures/programs.py): harness.X is either's."""

import concurrent.futures
import datetime
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures"))
import programs  # noqa: E402,F401
from programs import (  # noqa: E402,F401
    BUILD, DAEMON, Daemon, Folder, LONG, PAPERTAPE, PATIENCE, Process, REPLAY, Replay, SANITIZED, SHARED,
    SOURCE, lines, query, recording, wait_for,
)

FAKE_GPU = os.path.join(BUILD, "tests/daemon/libfake-gpu.so")
FAKE_NVML = os.path.join(BUILD, "tests/daemon/libfake-nvml-all.so")  # tests/daemon/fake_nvml.c says how it is used
GPU_ON_CPU = os.path.join(BUILD, "tests/indicators_gpu/libgpu-on-cpu.so")
SHIFTED_CLOCK = os.path.join(BUILD, "tests/system/libshifted-clock.so")
FAILURES = os.path.join(BUILD, "tests/system/libfailures.so")
SLOW_SYNC = os.path.join(BUILD, "tests/system/libslow-sync.so")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def with_mounts(script):
    """The prefix of a command that has the script's mounts, which end with it."""
    return ["unshare", "--map-root-user", "--mount", "sh", "-ec", script + '\nexec "$@"', "sh"]


def read_only(folder):
    """For with_mounts()."""
    return f"mount --bind {folder} {folder}; mount -o remount,ro,bind {folder}"


def works(prefix):
    return subprocess.run([*prefix, "true"], capture_output=True).returncode == 0


def run(line, status=0, **more):
    """A program that ends with that status; `more`: as of subprocess.run()."""
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, **more)
    assert done.returncode == status, done
    return done


def rest(replay, path, **request):
    """What papertape-replay answers over REST; `request`: as of urllib's."""
    trusted = ssl.create_default_context(cafile=replay.ca)
    with urllib.request.urlopen(urllib.request.Request(replay.urls["rest_url"] + path, **request), context=trusted, timeout=PATIENCE) as answer:
        return answer.read()


def fault(replay, text):
    """From now on, as papertape-replay(1) has it; returns when that is."""
    assert rest(replay, "/_control", data=text.encode(), method="POST") == b"ok\n", text
    return time.time_ns()


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


def control_together(daemon, *requests):
    """The results of requests (command, arguments), which are sent before any is answered."""
    with connect(daemon) as client:
        client.sendall(b"".join(json.dumps({"id": i, "cmd": cmd, "args": args}).encode() + b"\n" for i, (cmd, args) in enumerate(requests)))
        with client.makefile() as lines:
            answers = {answer["id"]: answer["result"] for answer in (json.loads(next(lines)) for _ in requests)}
    return [answers[i] for i in range(len(requests))]


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


def write_keys(folder, name, secret, key="PKTEST"):
    """A venue's keys, as papertape-replay's --keys PKTEST:SECRET has them."""
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{key}\n{secret}\n")
    return path


class Alpaca(Replay):
    """papertape-replay as Alpaca, with the file of its keys."""

    def __init__(self, folder, *arguments):
        self.keys = write_keys(folder, "keys", "hush")
        super().__init__(folder, "--venue", "alpaca", "--keys", "PKTEST:hush", *arguments)


def alpaca_config(keys, more, symbols="AAPL", interval="1m", history=5, feed="sip", engine="latency_ms = 0\n"):
    """A configuration of that venue on the feed's clock, and `more`: its accounts, and what else it has."""
    return f"""[market]
venue = alpaca
symbols = {symbols}
interval = {interval}
history = {history}
streams = trade, kline, bookTicker
[engine]
clock = feed
{engine}[venue alpaca]
keys = {keys}
feed = {feed}
{more}"""


# For `engine`: as `papertape backtest --latency-ms 50 --slippage 0.0002`.
BAR_MODEL = """fill_model = bar
latency_ms = 50
slippage = 0.0002
equity_interval_s = 0
"""

# An account by hand.
IDLE_ACCOUNT = """[account usd]
currency = USD
cash = 100000
strategy = none
"""

# Orders of any size.
NO_LIMITS = """[risk]
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
orders_per_second = 0
"""


def stocks_config(keys):
    """One stock, held by a strategy from its first bar on."""
    return alpaca_config(keys, """[account usd]
currency = USD
cash = 100000
strategy = buy-and-hold
strategy.fraction = 0.5
""", history=20)


def last_bar_ms(path):
    """When the last bar of a file opens, whose times are texts with their zone."""
    *_, last = lines(path)
    return int(datetime.datetime.fromisoformat(last.split(",")[0]).timestamp()) * 1000


def wait_last_bars(daemon, last, interval, patience=PATIENCE, end_ns=0):
    """Waits until the newest bar of each symbol of `last` is the one that opens at its millisecond, and the market has
    reached a moment; that status."""
    return daemon.wait_status(lambda status: status["now_ns"] >= end_ns and all(
        daemon.papertape("bars", symbol, interval, status=None).rstrip().rsplit("\n", 1)[-1].startswith(f"{ms},")
        for symbol, ms in last.items()), f"the last bar of {', '.join(last)}", patience)


def free_port():
    """A port on loopback for a program that is to be there again after its end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def together(folder, *scenarios):
    """Each waits for its own programs, most of the time."""
    with concurrent.futures.ThreadPoolExecutor(len(scenarios)) as pool:
        for done in [pool.submit(scenario, folder) for scenario in scenarios]:
            done.result()


class Journal(threading.Thread):
    """In the journal's place, of a daemon started with `environment` as "daemon": entries as they come, while it reads."""

    def __init__(self, folder, log="daemon"):
        super().__init__(daemon=True)
        path = os.path.join(folder, f"{log}.journal")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        stat = os.fstat(os.open(os.path.join(folder, f"{log}.log"), os.O_CREAT | os.O_WRONLY))
        self.environment = {"PAPERTAPE_JOURNAL_SOCKET": path, "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}"}
        self.reads = threading.Event()
        self.entries = []
        self.reads.set()
        self.start()

    def run(self):
        while True:
            self.reads.wait()
            self.entries.append(journal_fields(self.socket.recv(1 << 16)))

    def of(self, event):
        return [entry for entry in list(self.entries) if entry.get("PAPERTAPE_EVENT") == event]

    def wait(self, event, what):
        return wait_for(lambda: self.of(event), f"an entry: {what}")[-1]

    def wait_alert(self, code):
        return wait_for(lambda: [entry for entry in list(self.entries) if entry.get("PAPERTAPE_ALERT") == code], f"an entry of {code}")[-1]


def journal_fields(data):
    """An entry of the native protocol."""
    found = {}
    while data:
        name, _, rest = data.partition(b"\n")
        if b"=" in name:
            name, _, value = name.partition(b"=")
            data = rest
        else:
            size = int.from_bytes(rest[:8], "little")
            value, data = rest[8:8 + size], rest[8 + size + 1:]
        found[name.decode()] = value.decode()
    return found
