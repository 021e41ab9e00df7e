"""Shared by the tests of `papertape-trainer serve`: a co-process in a folder of its own, its socket, and the outcome of
its workers. Standard library only."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE = 300 # seconds; of machines that do much else
checks = failures = 0
FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_worker.py")


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr, flush=True)
    return condition


def done(name):
    print(f"{name}: {checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


def until(condition, what):
    """Polls until it holds, and returns what it gave; fails loudly."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        got = condition()
        if got:
            return got
        time.sleep(0.01)
    check(False, f"in time: {what}")
    raise TimeoutError(what)


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.error = error["code"], error


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw")
        self.id = 0

    def ask(self, cmd, **args):
        self.id += 1
        self.file.write(json.dumps({"id": self.id, "cmd": cmd, "args": args}) + "\n")
        self.file.flush()
        line = self.file.readline()
        if not line:
            raise ConnectionError("it hung up")
        answer = json.loads(line)
        check(answer["id"] == self.id, f"{cmd}: id {answer['id']}")
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer["result"]

    def close(self):
        self.file.close()
        self.socket.close()


class CoProcess:
    """A state folder with, mostly, a co-process. `with` leaves no process behind."""

    def __init__(self, program, *options, worker=FAKE, environment=None):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="ptserve", dir=memory)
        self.state, self.fake = os.path.join(self.folder, "s"), os.path.join(self.folder, "fake")
        os.mkdir(self.fake)
        self.program, self.options, self.worker = os.path.abspath(program), options, worker
        self.socket = os.path.join(self.state, "trainer.sock")
        self.environment = {**os.environ, "FAKE": self.fake, **(environment or {})}
        if not environment:
            for key in ("NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "CUDA_VISIBLE_DEVICES"):
                self.environment.pop(key, None)
        self.process = self.client = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        for _ in range(3): # workers, and those that they might still begin
            for pid in self.look():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def begin(self, *options):
        command = [self.program, "serve", "--state", self.state, "--devices", "none", *self.options, *options]
        if self.worker:
            command += ["--worker", self.worker]
        self.process = subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, text=True)
        until(self.connect, "it listens")
        return self

    def connect(self):
        try:
            self.client = Client(self.socket)
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            if self.process.poll() is not None:
                raise RuntimeError(f"it ended: {self.process.stderr.read()}")
            return False

    def ask(self, cmd, **args):
        return self.client.ask(cmd, **args)

    def refused(self, code, words, cmd, **args):
        try:
            result = self.client.ask(cmd, **args)
        except Refused as error:
            check(error.code == code and all(word in str(error) for word in words), f"{cmd} {args}: {error.error}")
            return error.error
        check(False, f"{cmd} {args}: {code} expected: {result}")
        return {}

    def end(self):
        """SIGTERM, as a service manager; its exit status."""
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        return self.gone()

    def gone(self):
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            check(False, "it ends in time")
            raise
        self.error = self.process.stderr.read()
        self.process.stderr.close()
        self.process = None
        return status

    def kill(self):
        if self.client:
            self.client.close()
            self.client = None
        if self.process:
            self.process.kill()
            self.gone()

    def how(self, name, **how):
        with open(os.path.join(self.fake, name + ".json"), "w") as file:
            json.dump(how, file)

    def let_go(self, name):
        """Opens the gate of a fake worker."""
        open(os.path.join(self.fake, name + ".go"), "w").close()

    def runs(self, name, kind=None):
        try:
            with open(os.path.join(self.fake, name + ".runs")) as file:
                lines = [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
        return [line for line in lines if kind in (None, line["kind"])]

    def list(self):
        return {training["name"]: training for training in self.ask("list")["trainings"]}

    def training(self, name):
        return self.list()[name]

    def wait(self, name, *states, **values):
        """Until it is in one of the states and has these values."""
        def holds():
            training = self.training(name)
            return training if training["state"] in states and all(training[k] == v for k, v in values.items()) else None
        return until(holds, f"{name}: {states} {values}")

    def workers(self):
        """The processes of workers of this folder, whichever process started them; not what a leak checker clones of one at its end.
        Those that are returned live at the same time, however long it takes to look."""
        before = self.look()
        now = self.look()
        return [pid for pid, (parent, started) in now.items() if parent not in now and before.get(pid) == (parent, started)]

    def look(self):
        """One after the other: pid: (parent, when it began)."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if (b"train" in words or b"study" in words) and fields[0] not in "ZX" and any(word.startswith(self.state.encode() + b"/trainings/") for word in words):
                found[int(pid)] = int(fields[1]), fields[19]
        return found

    def events(self, name, after=0):
        events = []
        while True:
            got = self.ask("events", name=name, after=after)
            events += got["events"]
            if not got["events"] or got["events"][-1]["seq"] == got["last"]:
                return events
            after = got["events"][-1]["seq"]


RUNS = ("loading", "features", "rollout", "update", "evaluating", "proposing", "searching", "checkpointing")


def config(*serve, **training):
    """A configuration of a world that needs no bars; `serve`: lines of its section."""
    keys = {"world": "cartpole", "threads": 1, "checkpoint_every": 10, **training}
    text = "[training]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
    return text + "[ppo]\ncopies = 8\nsteps = 128\nminibatch = 256\n" + ("[serve]\n" + "\n".join(serve) + "\n" if serve else "")


def market(device="auto", *serve):
    """A configuration of a market, which a device may train."""
    return (f"[training]\ndevice = {device}\n[environment]\nlookback = 1\n[data]\nbars = A_1h.csv\n" +
            ("[serve]\n" + "\n".join(serve) + "\n" if serve else ""))
