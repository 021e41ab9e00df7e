"""A bare echo of JSON lines, by Python's json: what bench/plugins_process compares a strategy with."""

import json
import sys

for line in sys.stdin:
    sys.stdout.write(json.dumps(json.loads(line)) + "\n")
    sys.stdout.flush()
