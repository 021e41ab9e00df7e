"""bench/gpu's machinery: steps, each a process with a limit, and a line on how each ended. No step keeps another from running.

$PAPERTAPE_BENCH_BREAK=HOW:STEP[,…] breaks steps for rehearsals: HOW is fail or hang (bench/cases.h has the same for cases).
$PAPERTAPE_GPU_STEP_S is every step's limit in place of its own."""
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

SKIP, TIMED_OUT = 77, 124
TERM_S = 5           # from SIGTERM to SIGKILL
KILLED_S = 10        # for the kernel, with what a killed process still has on a device
LOG_MAX = 2 << 20    # bytes of a step's output that are kept: the first and the last half
REASON_MAX = 300


@dataclasses.dataclass
class Step:
    name: str
    command: list
    limit_s: float
    log: str                     # the file that takes its output
    figures: bool = False        # its stdout has a JSON object a line
    watched: bool = True         # what the device did meanwhile is in its line
    environment: dict = dataclasses.field(default_factory=dict)
    unsupported: str = ""        # output that says that the tool cannot work here: skipped
    culprits: str = ""           # what lines begin with that name what failed


def not_a_number(word):
    raise ValueError(f"{word} is no JSON")


def broken(name):
    """The command that takes a step's place, if it is to break."""
    for word in os.environ.get("PAPERTAPE_BENCH_BREAK", "").split(","):
        how, _, what = word.partition(":")
        if what == name:
            return {"fail": ["sh", "-c", "echo PAPERTAPE_BENCH_BREAK asked for it; exit 1"], "hang": ["sleep", "1000000"]}[how]
    return None


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:REASON_MAX] if lines else ""


class Running:
    """A step's process; its figures are passed on as they come."""

    def __init__(self, run, step, limit_s):
        self.run, self.step, self.limit_s = run, step, limit_s
        self.started, self.bad, self.timed_out = time.monotonic(), "", False
        self.output = tempfile.TemporaryFile()
        self.reader = None
        stdout = subprocess.PIPE if step.figures else self.output
        try:
            self.process = subprocess.Popen(broken(step.name) or [str(word) for word in step.command], stdin=subprocess.DEVNULL,
                                            stdout=stdout, stderr=self.output, start_new_session=True,
                                            env={**os.environ, **step.environment})
        except OSError as error:
            self.process, self.bad = None, f"{error.filename}: {error.strerror}"
            return
        if step.figures:
            self.reader = threading.Thread(target=self.read, daemon=True)
            self.reader.start()

    def read(self):
        for line in self.process.stdout:
            try:
                json.loads(line, parse_constant=not_a_number)
                self.run.line(line.decode().strip())
            except ValueError as error:
                self.bad = self.bad or f"a line is no JSON: {error}"
                self.output.write(line)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def wait(self):
        """Until it has ended or its time is over; then it is ended."""
        if not self.process:
            return
        for patience, number in ((self.started + self.limit_s - time.monotonic(), signal.SIGTERM), (TERM_S, signal.SIGKILL), (KILLED_S, None)):
            try:
                self.process.wait(max(patience, 0))
                break
            except subprocess.TimeoutExpired:
                self.timed_out = True
                if number:
                    self.signal(number)
        self.signal(signal.SIGKILL)  # what it has left behind
        if self.reader:
            self.reader.join(TERM_S)

    def text(self):
        self.output.seek(0, os.SEEK_END)
        size = self.output.tell()
        self.output.seek(0)
        if size <= LOG_MAX:
            return self.output.read().decode(errors="replace")
        first = self.output.read(LOG_MAX // 2)
        self.output.seek(size - LOG_MAX // 2)
        gap = f"\n… {size - LOG_MAX} bytes are left out …\n".encode()
        return (first + gap + self.output.read()).decode(errors="replace")

    def verdict(self, text):
        """VALUE, reason."""
        status = self.process.returncode if self.process else None
        if self.step.unsupported and self.step.unsupported in text:
            return "skipped", f"{self.step.unsupported}: {self.step.command[0]}"
        if self.timed_out:
            return "no verdict", f"not done in {self.limit_s:.0f} s"
        if self.bad:
            return "failed", self.bad
        if status == 0:
            return "ok", ""
        if status == SKIP:
            return "skipped", last_line(text).removeprefix("skipped: ")
        if status == TIMED_OUT:
            return "no verdict", "a case was not done in its time"
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        first = self.step.culprits
        culprits = ", ".join(line[len(first):].strip() for line in text.splitlines() if first and line.startswith(first))
        return "failed", f"{how}: {culprits[:REASON_MAX] or last_line(text)}".rstrip(": ")


class Run:
    """A whole run: where its lines and logs go, until when it may last, how it has gone."""

    def __init__(self, folder, deadline_s, watch=None):
        self.folder, self.deadline_s, self.watch = pathlib.Path(folder), deadline_s, watch
        self.folder.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        self.lock = threading.Lock()
        self.outcomes, self.logs = {}, set()
        self.figures = open(self.folder / "figures.jsonl", "w", encoding="utf-8")

    def seconds(self):
        return time.monotonic() - self.started

    def left(self):
        return self.deadline_s - self.seconds()

    def say(self, text):
        print(f"== {text} ({self.seconds():.0f} s)", file=sys.stderr, flush=True)

    def line(self, text):
        with self.lock:
            for out in (sys.stdout, self.figures):
                print(text, file=out, flush=True)

    def outcome(self, name, value, reason="", **more):
        self.outcomes[name] = value
        self.say(f"{name}: {value}{reason and ': '}{reason}")
        self.fact(name, value=value, **({"reason": reason} if reason else {}), **more)

    def fact(self, name, **more):
        self.line(json.dumps({"bench": "gpu", "case": name, **more}, ensure_ascii=False, separators=(",", ":")))

    def log(self, step, text, value):
        with open(self.folder / step.log, "a" if step.log in self.logs else "w", encoding="utf-8") as out:
            out.write(f"== {step.name}: {value}: {' '.join(map(str, step.command))}\n{text}\n")
        self.logs.add(step.log)
        if value in ("failed", "no verdict"):
            print("\n".join(text.splitlines()[-15:]), file=sys.stderr, flush=True)

    def steps(self, *steps):
        """Runs them, more than one beside each other. Returns the values of their outcomes."""
        given = os.environ.get("PAPERTAPE_GPU_STEP_S")
        at = self.seconds()
        limits = [min(float(given or step.limit_s), self.left()) for step in steps]
        for step, limit in zip(steps, limits):
            self.say(f"{step.name}: at most {max(limit, 0):.0f} s")
        running = [Running(self, step, limit) if limit > 0 else None for step, limit in zip(steps, limits)]
        values = []
        with self.watch() as watched:
            seconds = self.wait_for(running)
        for i, (step, one) in enumerate(zip(steps, running)):
            text = one.text() if one else ""
            value, reason = one.verdict(text) if one else ("no verdict", "no time was left")
            self.log(step, text, value)
            more = watched.figures() if step.watched else {}
            self.outcome(step.name, value, reason, seconds=round(seconds[i] - at, 2), started=round(at, 2), **more)
            values.append(value)
        return values

    def wait_for(self, running):
        """When each has ended."""
        seconds = [self.seconds()] * len(running)

        def wait(i, one):
            one.wait()
            seconds[i] = self.seconds()

        waits = [threading.Thread(target=wait, args=(i, one), daemon=True) for i, one in enumerate(running) if one]
        for thread in waits:
            thread.start()
        try:
            for thread in waits:
                thread.join()
        except BaseException:  # this run is ended: so are they
            for one in running:
                if one and one.process:
                    one.signal(signal.SIGKILL)
            raise
        return seconds

    def status(self, no_device):
        values = set(self.outcomes.values())
        return 1 if "failed" in values else 2 if "no verdict" in values else SKIP if no_device else 0
