"""Runs the parts of bench/live and prints their figures: python3 bench/live_figures.py BUILD_FOLDER. What is predicted stands in
bench/live_orders.c."""

import os
import subprocess
import sys
import tempfile

import figures
from figures import BUILD, ROOT

PEERS = ("numpy==2.4.6",)
ROUNDS = {1: 2000, 10: 600, 50: 200}
NAME = "7 assets 2048x1024x512"


def numpy(python, policies, rounds, **environment):
    printed = subprocess.run([python, ROOT / "bench/live_peer.py", str(policies), str(rounds)], stdout=subprocess.PIPE,
                             text=True, check=True, env=os.environ | environment).stdout
    return dict(zip(("p50", "p99"), map(float, printed.split())))


def main():
    python = figures.peers_python("live", PEERS)
    if not python:
        return 1
    with tempfile.TemporaryDirectory(prefix="papertape-live-") as folder:
        for policies, rounds in ROUNDS.items():
            lines = figures.program("live_orders", folder, policies, rounds).splitlines()
            done = {case: float(value) for case, value, _ in (line.split("\t") for line in lines)}
            both, one = numpy(python, policies, rounds), numpy(python, policies, rounds, OPENBLAS_NUM_THREADS="1")
            case = f"{NAME}, {policies} {'policies' if policies > 1 else 'policy'}"
            for cut in ("p50", "p99"):
                figures.figure("live", f"{case}, bar close to the last order {cut}", done[f"last {cut}"], "s",
                               ("numpy 2.4.6, its products alone, on all cores", both[cut]), peer_one_core=one[cut],
                               backend="cpu", rounds=rounds)
                if policies > 1:
                    figures.figure("live", f"{case}, to each order {cut}", done[f"each {cut}"], "s", backend="cpu")
            figures.figure("live", f"{case}, weights", policies * done["weights"] / done["last p50"], "bytes/s",
                           limit=done["read"], ordering=done["ordering"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
