"""Shared by the tests of `papertape-trainer train`: running it, its lines; the market is that of fixtures/hourly_bars.py. Standard library only."""
import json
import os
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fixtures"))
from hourly_bars import write_market  # noqa: E402,F401: of the tests too

checks = failures = 0


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)
    return condition


def done(name):
    print(f"{name}: {checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


SMALL = {"training": {"name": "small", "output": "out", "total_steps": 51200, "checkpoint_every": 20, "checkpoint_keep": 3,
                      "seed": 5, "threads": 1, "evaluate_episodes": 4, "device": "cpu"},
         "network": {"policy_layers": "16,16", "value_layers": "16"},
         "ppo": {"copies": 4, "steps": 64, "minibatch": 64, "epochs": 2, "learning_rate": 0.001}}


def config(path, *changes):
    """Writes SMALL with changes, {section: {key: value}}; a value of None leaves the key out."""
    sections = {name: dict(keys) for name, keys in SMALL.items()}
    for change in changes:
        for name, keys in change.items():
            sections.setdefault(name, {}).update(keys)
    with open(path, "w") as file:
        for name, keys in sections.items():
            file.write(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None))
    return path


class Trainer:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        self.environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache"),
                            "XDG_STATE_HOME": os.path.join(folder, "state")}
        self.environment.pop("STATE_DIRECTORY", None)

    def run(self, *arguments, cwd=None, **options):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, cwd=cwd or self.folder,
                              env=self.environment, timeout=300, **options)

    def start(self, *arguments, cwd=None):
        return subprocess.Popen([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=cwd or self.folder, env=self.environment)

    def end_by(self, number, until, *arguments, cwd=None):
        """Starts it, sends the signal once until(lines) holds; (lines, stderr, exit status)."""
        process, seen = self.start(*arguments, cwd=cwd), []
        for line in process.stdout:
            seen.append(json.loads(line))
            if until(seen):
                process.send_signal(number)
                break
        rest = process.stdout.read()
        if number != signal.SIGKILL: # a killed one may leave half a line
            seen += lines(rest)
        error = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        return seen, error, process.wait()


def lines(text):
    return [json.loads(line, parse_constant=lambda word: check(False, f"{word} is no JSON")) for line in text.splitlines()]


def events(seen, name):
    return [line for line in seen if line["event"] == name]


TIMES = ("seconds", "utilisation", "per_second", "_bytes")


def figures(seen):
    """What an update must be again when it is done again."""
    return {line["steps"]: {key: value for key, value in line.items() if not any(word in key for word in TIMES)}
            for line in events(seen, "update")}


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def pieces(path):
    """A checkpoint's, by docs/training.md."""
    data = read(path)
    magic, version, order, n, zero, size = struct.unpack_from("<8sIIIIQ", data)
    check((magic, version, order, zero, size) == (b"PTCKPT\r\n", 1, 0x01020304, 0, len(data)), f"{path}: its head")
    found = {}
    for index in range(n):
        name, offset, length = struct.unpack_from("<32sQQ", data, 32 + 48 * index)
        found[name.rstrip(b"\0").decode()] = data[offset:offset + length]
    return found
