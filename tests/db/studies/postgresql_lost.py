#!/usr/bin/env python3
"""Connections that are lost at each COMMIT, before the server has it and after it has done it, and at other messages: all is stored
once. A server that is restarted while workers run; one that does not come back. postgresql_lost.py TEST-DB-STUDIES-WORKER"""

import contextlib
import os
import subprocess
import sys

from cutting_proxy import Proxy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures"))
import postgresql_server  # noqa: E402

WORKER = sys.argv[1]
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
STRIDE = 1 if LONG else 5  # of the messages of a run so many are one that is cut
TRIALS, WORKERS, RESTART_TRIALS = 2, 4, 24
ANY = "\0"  # in each message of a statement


def work(url, study, trials=TRIALS, pause_ms=0, **kwargs):
    return subprocess.Popen([WORKER, url, study, str(trials), "60", str(pause_ms)], text=True, **kwargs)


def check(server, wanted):
    """`wanted`: of each study how many trials. Each is there once, with all that its worker stored; no trial was retried, since no
    worker died."""
    of = "JOIN trials USING (trial_id) JOIN studies USING (study_id)"
    found = {}
    for study, number, state in server.rows("lost", "SELECT study_name, number, state::text FROM trials JOIN studies USING (study_id) "
                                            "ORDER BY trial_id"):
        found.setdefault(study, []).append(number)
        assert study not in wanted or state in ("COMPLETE", "PRUNED"), (study, number, state)
    for study, trials in wanted.items():
        assert found[study] == list(range(trials)), (study, found[study])
    for table, values in (("trial_params", (4,)), ("trial_user_attributes", (1,)), ("trial_heartbeats", (1,)), ("trial_values", (1,)),
                          ("trial_system_attributes", ()), ("trial_intermediate_values", (4, 5))):
        counts = {study: [] for study in wanted}
        for study, count in server.rows("lost", f"SELECT study_name, count(*) FROM {table} {of} GROUP BY study_name, number"):
            counts.get(study, []).append(count)
        for study, trials in wanted.items():
            assert len(counts[study]) == (trials if values else 0) and all(count in values for count in counts[study]), (
                study, table, counts[study])


def check_cuts(server):
    """A run without cuts says how many there are."""
    proxy, studies = Proxy(server.port), {}
    with contextlib.closing(proxy):
        url = server.url("lost", port=proxy.port)
        for text, moments in (("COMMIT", ("before", "after")), ("BEGIN", ("before", "after")), (ANY, ("before",))):
            proxy.cut(text, 10**9, "before")
            assert work(url, f"whole {ord(text[0])}").wait() == 0
            total = proxy.seen[text]
            proxy.cuts.clear()
            stride = STRIDE if text != ANY else STRIDE * 15
            for when in moments:
                for count in range(1, total + 1, stride):
                    study = f"{ord(text[0])} {when} {count}"
                    proxy.cut(text, count, when)
                    assert work(url, study).wait() == 0, study
                    studies[study] = TRIALS
                    proxy.cuts.clear()
    check(server, studies)
    # A run whose trial is pruned has fewer messages than the first.
    assert {("COMMIT", "before"), ("COMMIT", "after"), ("BEGIN", "before"), ("BEGIN", "after"), (ANY, "before")} <= set(proxy.done)
    assert len(proxy.done) >= 20, proxy.done
    return len(proxy.done)


def check_restart(server, mode):
    """Each trial takes some time; the server is restarted once some are done."""
    study = f"restart {mode}"
    workers = [work(server.url("lost"), study, RESTART_TRIALS, 10) for _ in range(WORKERS)]
    finished = f"SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE study_name = '{study}' AND state = 'COMPLETE'"
    while server.rows("lost", finished) < [(3,)]:
        assert all(worker.poll() is None for worker in workers)
    server.stop(mode)
    server.start()
    assert [worker.wait() for worker in workers] == [0] * WORKERS
    check(server, {study: RESTART_TRIALS})


def check_gone(server):
    """It does not come back: the worker ends with a sentence once its time-out has passed."""
    proxy = Proxy(server.port)
    with contextlib.closing(proxy):
        worker = work(server.url("lost", "timeout=1", port=proxy.port), "gone", 10**6, 1, stderr=subprocess.PIPE)
        while not server.rows("lost", "SELECT 1 AS one FROM trials JOIN studies USING (study_id) WHERE study_name = 'gone'"):
            assert worker.poll() is None
        proxy.refuses = True
        proxy.close()
        _, words = worker.communicate()
    assert worker.returncode == 1 and f"postgresql://pt@127.0.0.1:{proxy.port}/lost: cannot be opened: " in words, words


with postgresql_server.running(databases=["lost"]) as running:
    assert work(running.url("lost"), "first").wait() == 0
    cuts = check_cuts(running)
    for how in ("fast", "immediate"):
        check_restart(running, how)
    check_gone(running)
print(f"counts: {cuts} connections cut, 2 restarts under {WORKERS} workers")
