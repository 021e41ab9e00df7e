"""Drives sampler_driver.c: a study in memory and our samplers on it."""

import json
import math
import subprocess


def encode(value):
    """As the driver takes it: JSON has no infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value


class Driver:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise AssertionError(f"the driver ended with {self.process.returncode}")

    def say(self, op, **request):
        self.process.stdin.write(json.dumps(encode({"op": op, **request})) + "\n")

    def ask(self, op, **request):
        self.say(op, **request)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the driver is gone: {op}")
        return json.loads(line)
