"""Runs the parts of bench/studies and prints their figures: python3 bench/studies_figures.py BUILD_FOLDER [sqlite|postgresql].

Predicted, after sampling our own program, for one ask-and-tell with 24 parameters at 500 finished trials, one running. Statements of
SQLite: 24 parameters looked up (1 us) and put into a table and its index (3 us), about 100 us; some 15 rows more of the trial, its
heartbeat, attributes and value, 50 us; to see what changed 2 times 8 statements of 2 us and 24 rows of 0.7 us: 50 us. The journal's
beginning is a file made and 10 to 20 pages of 4 KiB written to it, 50 us. TPE: 24 candidates against 25 components below and 476
above, in 18 numeric dimensions 216,000 densities of an exponential each, at 2 ns 430 us; the parameters' distribution functions and
categories 100 us. In all 0.8 ms. A commit waits for the disk three or four times (journal, its header, file, folder), an ask-and-tell
for two commits: at 1 ms a sync 7 ms; those bound many workers too, who commit one after another: 140 asks a second however many they
are, and with 50 of them in a queue each waits 0.36 s.

Optuna takes 27 transactions for the same, and reads the study again for most.

Predicted for PostgreSQL, before it was measured: what an ask costs is its round trips times the time of one, and its two commits.
Ours, in messages that wait for an answer, is 12: of the ask BEGIN; the study's lock with directions, count and a waiting trial; the
trial's row; all that is read, with the heartbeat; its parameters, with attributes; the transaction's number; COMMIT; of the report
BEGIN, the trial's row, directions, state and value with the number, COMMIT. One is a system call on either side and a change of
process, 60 us on loopback: 0.7 ms. The server's own work, 24 rows with two indexes and some 20 statements, 1 ms; TPE 0.4 ms at 100
finished trials; a commit that waits for the disk 1 ms, twice: 4 ms, 250 asks a second, p99 8 ms. With 10 workers the lock, from the
count of trials to COMMIT, is what they wait for: 2.5 ms, and reading the nine others' trials, 216 rows of 2 us on either side, 0.5 ms:
300 asks a second, p99 60 ms. With 50 the others' trials are 1,200 rows, 2.5 ms: 180 asks a second, p99 0.4 s.

Optuna's takes some 30 transactions, and each waits at least for BEGIN, two statements and COMMIT or ROLLBACK; SQLAlchemy's own time
is 0.5 ms a statement and more: 200 ms, 5 asks a second with one worker. Ten and fifty share the two cores of client and server: 8."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from functools import partial

import figures
from figures import BUILD, ROOT

sys.path.insert(0, str(ROOT / "fixtures"))
import postgresql_server  # noqa: E402

PEERS = ("optuna==5.0.0", "psycopg2-binary==2.9.13")
PEER = "Optuna 5.0.0"
FINISHED, TIMES, PEER_TIMES = 500, 101, 21
WORKERS, PEER_WORKERS, SECONDS, PEER_SECONDS = 50, 8, 20.0, 30.0
LIMIT_S = 1e-3
PG_WORKERS, PG_FINISHED, PG_SECONDS, PG_PEER_SECONDS = (1, 10, 50), 100, 8.0, 20.0
PG_SETTINGS = ("fsync=on", "synchronous_commit=on")  # a server's defaults, which tests do without

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


def together(where, workers, seconds, run):
    """Asks a second of all, and the 99th percentile of the seconds of one."""
    took, *each = map(float, run("many", where, workers, seconds).split())
    each.sort()
    return len(each) / took, each[min(len(each) - 1, len(each) * 99 // 100)], len(each)


def sqlite(folder, peer):
    ours = alone(folder, "one.db", TIMES, program)
    theirs = alone(folder, "one-optuna.db", PEER_TIMES, peer) if peer else (None,) * 4
    case = f"ask_tell_24_at_{FINISHED}"
    figure(case, ours[0], "s", theirs[0], LIMIT_S, processor_s_with_commits=ours[3])
    figure(f"{case}_commits", ours[1], "s", theirs[1])
    figure(f"{case}_with_commits", ours[2], "s", theirs[2])
    rate, p99, _ = together(folder / "many.db", WORKERS, SECONDS, program)
    figure(f"asks_{WORKERS}_workers", rate, "asks/s")
    figure(f"ask_p99_{WORKERS}_workers", p99, "s")
    rate, p99, _ = together(folder / "few.db", PEER_WORKERS, SECONDS, program)
    theirs = together(folder / "few-optuna.db", PEER_WORKERS, PEER_SECONDS, peer) if peer else (None,) * 3
    figure(f"asks_{PEER_WORKERS}_workers", rate, "asks/s", theirs[0])
    figure(f"ask_p99_{PEER_WORKERS}_workers", p99, "s", theirs[1])


def postgresql(peer):
    """Each has a database with a study of so many finished trials for each number of workers."""
    names = {(who, workers): f"{who}_{workers}" for workers in PG_WORKERS for who in ("ours", "optuna")}
    with postgresql_server.running(PG_SETTINGS, names.values()) as server:
        version, = server.sql("postgres", "SHOW server_version")
        for name in names.values():
            program("fill", server.url(name), PG_FINISHED)
        for workers in PG_WORKERS:
            rate, p99, n = together(server.url(names["ours", workers]), workers, PG_SECONDS, program)
            url = server.url(names["optuna", workers], scheme="postgresql+psycopg2")
            theirs = together(url, workers, PG_PEER_SECONDS, peer) if peer else (None,) * 3
            more = {"asks": n, "peer_asks": theirs[2], "server": version[0]}
            figure(f"postgresql_asks_{workers}_workers", rate, "asks/s", theirs[0], **more)
            figure(f"postgresql_ask_p99_{workers}_workers", p99, "s", theirs[1], **more)


def main():
    parts = sys.argv[2:] or ["sqlite", "postgresql"]
    if not set(parts) <= {"sqlite", "postgresql"}:
        figures.say("sqlite or postgresql is needed after the build's folder")
        return 2
    python = figures.peers_python("studies", PEERS)
    peer = partial(optuna, python) if python else None
    if "sqlite" in parts:
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            sqlite(pathlib.Path(name), peer)
    if "postgresql" in parts and postgresql_server.installed():
        postgresql(peer)
    elif "postgresql" in parts:
        figures.say("no PostgreSQL: its server's programs (on Debian, postgresql) are missing; SQLite alone is measured")
    return 0 if python else 1


sys.exit(main())
