"""Runs the parts of bench/studies and prints their figures: python3 bench/studies_figures.py BUILD_FOLDER.

Predicted, after sampling our own program, for one ask-and-tell with 24 parameters at 500 finished trials, one running. Statements of
SQLite: 24 parameters looked up (1 us) and put into a table and its index (3 us), about 100 us; some 15 rows more of the trial, its
heartbeat, attributes and value, 50 us; to see what changed 2 times 8 statements of 2 us and 24 rows of 0.7 us: 50 us. The journal's
beginning is a file made and 10 to 20 pages of 4 KiB written to it, 50 us. TPE: 24 candidates against 25 components below and 476
above, in 18 numeric dimensions 216,000 densities of an exponential each, at 2 ns 430 us; the parameters' distribution functions and
categories 100 us. In all 0.8 ms. A commit waits for the disk three or four times (journal, its header, file, folder), an ask-and-tell
for two commits: at 1 ms a sync 7 ms; those bound many workers too, who commit one after another: 140 asks a second however many they
are, and with 50 of them in a queue each waits 0.36 s.

Optuna takes 27 transactions for the same, and reads the study again for most."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from functools import partial

import figures
from figures import BUILD, ROOT

PEERS = ("optuna==5.0.0",)
PEER = "Optuna 5.0.0"
FINISHED, TIMES, PEER_TIMES = 500, 101, 21
WORKERS, PEER_WORKERS, SECONDS, PEER_SECONDS = 50, 8, 20.0, 30.0
LIMIT_S = 1e-3

program = partial(figures.program, "studies_asks")


def figure(case, value, unit, peer_value=None, limit=None, **more):
    """load: how many others wanted the processor, too, in the last minute."""
    peer = (PEER, peer_value) if peer_value else None
    figures.figure("studies", case, value, unit, peer, limit, load=round(os.getloadavg()[0], 1), **more)


def optuna(python, *arguments):
    return subprocess.run([python, ROOT / "bench/studies_optuna.py", *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def alone(folder, name, times, run):
    """Medians of what one ask-and-tell takes without commits, of its commits, of both, and (ours) of processor time, commits too;
    about FINISHED trials have ended."""
    path = folder / name
    program("fill", path, FINISHED - times // 2)
    rows = [tuple(map(float, line.split())) for line in run("one", path, times).splitlines()]
    return (*map(statistics.median, list(zip(*rows))[:2]), statistics.median(r[0] + r[1] for r in rows),
            statistics.median(r[-1] for r in rows))


def together(folder, name, workers, seconds, run):
    """Asks a second of all, and the 99th percentile of the seconds of one."""
    took, *each = map(float, run("many", folder / name, workers, seconds).split())
    each.sort()
    return len(each) / took, each[min(len(each) - 1, len(each) * 99 // 100)]


def main():
    python = figures.peers_python("studies", PEERS)
    peer = partial(optuna, python)
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        folder = pathlib.Path(name)
        ours = alone(folder, "one.db", TIMES, program)
        theirs = alone(folder, "one-optuna.db", PEER_TIMES, peer) if python else (None,) * 4
        case = f"ask_tell_24_at_{FINISHED}"
        figure(case, ours[0], "s", theirs[0], LIMIT_S, processor_s_with_commits=ours[3])
        figure(f"{case}_commits", ours[1], "s", theirs[1])
        figure(f"{case}_with_commits", ours[2], "s", theirs[2])
        rate, p99 = together(folder, "many.db", WORKERS, SECONDS, program)
        figure(f"asks_{WORKERS}_workers", rate, "asks/s")
        figure(f"ask_p99_{WORKERS}_workers", p99, "s")
        rate, p99 = together(folder, "few.db", PEER_WORKERS, SECONDS, program)
        theirs = together(folder, "few-optuna.db", PEER_WORKERS, PEER_SECONDS, peer) if python else (None, None)
        figure(f"asks_{PEER_WORKERS}_workers", rate, "asks/s", theirs[0])
        figure(f"ask_p99_{PEER_WORKERS}_workers", p99, "s", theirs[1])
    return 0 if python else 1


sys.exit(main())
