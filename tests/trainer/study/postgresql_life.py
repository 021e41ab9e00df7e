"""Workers on PostgreSQL through an operator's day: how many connections they hold, and what they say where there are no more; SIGTERM
while the server is stopped or hangs; a server that comes back within the time-out, or does not; a start that waits for it; an outage
longer than grace_s, of the server and of the network, after which no trial of a worker that lives is taken.

    postgresql_life.py PAPERTAPE_TRAINER [PART ...]

Without parts, and without PAPERTAPE_LONG, those of SHORT.
"""
import contextlib
import os
import signal
import socket
import sys
import tempfile
import time

from small_study import LONG, Run, SLOW, Trainer, check, done, events, poll, refuse, write, write_market

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "..", "fixtures"), os.path.join(HERE, "..", "..", "db", "studies")]
import postgresql_server  # noqa: E402
from cutting_proxy import Proxy  # noqa: E402

STEADY_S, GRACE_S = 15, 2  # grace_s: of what is not about it, and of outages that are longer
ENDLESS = {"training": {"total_steps": 10**8}}
WAITS, BACK = "it is waited for, ", "the connection is there again, after "
SHORT = ("connections", "stopped_hung", "begins_again")
FOREVER = "timeout=600"  # longer than any test waits


def words(seen, part):
    return [event["message"] for event in events(seen, "warning") if part in event["message"]]


def running(server, study):
    return server.rows("life", f"SELECT trial_id FROM trials JOIN studies USING (study_id) WHERE study_name = '{study}' AND state = 'RUNNING'")


def states(server, study):
    return [state for state, in server.rows("life", "SELECT state::TEXT AS s FROM trials JOIN studies USING (study_id) WHERE study_name = "
                                            f"'{study}' ORDER BY number")]


def tree(pid):
    """A process and all below it."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError), open(f"/proc/{one}/task/{one}/children") as file:
            found += [int(child) for child in file.read().split()]
    return found


def postmaster(server):
    with open(os.path.join(server.data, "postmaster.pid")) as file:
        return int(file.readline())


@contextlib.contextmanager
def hung(server):
    """None of its processes runs. The first, which starts the others and takes note of their ends, is stopped before they are looked for:
    from then on there are no others, and their numbers stay theirs."""
    first = postmaster(server)
    os.kill(first, signal.SIGSTOP)
    try:
        for pid in tree(first)[1:]:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in tree(first):
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def away(run, server, what):
    server.stop("immediate")
    run.until(lambda seen: words(seen, WAITS), f"{what}: the loss")
    yield
    server.start()


class Life:
    def __init__(self, trainer, server, folder):
        self.trainer, self.server, self.folder = trainer, server, folder

    def start(self, study, *changes, workers=2, trials=4, query=FOREVER, state=None, user="pt", port=None, grace=STEADY_S, more=()):
        config = write(os.path.join(self.folder, f"{study}.ini"), *changes, {"study": {"trials": trials, "pruner": "none", "grace_s": grace}})
        return Run(self.trainer, study, "--config", config, "--state", state or study, "--workers", str(workers), "--no-proposal",
                   "--storage", self.server.url("life", query, user=user, port=port), *more)

    def started(self, study, *changes, workers=2, **kwargs):
        run = self.start(study, *changes, workers=workers, **kwargs)
        run.until(lambda seen: events(seen, "start"), f"{study}: it starts")
        poll(lambda: len(running(self.server, study)) == workers, f"{study}: {workers} trials")
        return run


def connections(life):
    """One a worker, and one of the process."""
    run = life.started("connections", ENDLESS, workers=3)
    beats = lambda: set(life.server.rows("life", "SELECT trial_id, heartbeat FROM trial_heartbeats"))
    first = beats()
    poll(lambda: len(beats() - first) >= 3, "heartbeats")
    held = life.server.rows("life", "SELECT pid FROM pg_stat_activity WHERE application_name = 'papertape'")
    check(len(held) == 4, f"connections: {held}")
    run.process.terminate()
    seen, error, status = run.end()
    check(status == 0 and seen[-1]["result"] == "stopped" and error == "", f"connections: {status} {error} {seen[-1:]}")
    check(states(life.server, "connections") == ["FAIL"] * 3 + ["WAITING"] * 3, f"connections: {states(life.server, 'connections')}")


def stopped_while(study, run, absence):
    """SIGTERM while the server is not there: it does not wait for it."""
    pids = tree(run.process.pid)
    with absence:
        run.process.terminate()
        seen, error, status = run.end()
        check(status == 0 and seen[-1]["result"] == "stopped" and not events(seen, "error"), f"{study}: {status} {error} {seen[-2:]}")
        check(not any(os.path.exists(f"/proc/{pid}") for pid in pids), f"{study}: all of its processes have ended")


def stopped_away(life):
    run = life.started("stopped-away", ENDLESS)
    stopped_while("stopped-away", run, away(run, life.server, "stopped-away"))


def stopped_hung(life):
    stopped_while("stopped-hangs", life.started("stopped-hangs", ENDLESS), hung(life.server))


def stopped_start(life):
    """SIGTERM while a start waits."""
    life.server.stop()
    run = life.start("none", more=["--resume"])
    run.until(lambda seen: words(seen, WAITS), "the start: it waits")
    run.process.terminate()
    seen, error, status = run.end()
    check(status == 0 and seen[-1]["result"] == "stopped", f"a start: {status} {error} {seen[-2:]}")
    life.server.start()


def stopped_connecting(life):
    """SIGTERM while a connection is not answered: each of a run's, up to its worker's."""
    for n in range(6):
        study = f"connecting-{n}"
        with contextlib.closing(Proxy(life.server.port)) as proxy:
            proxy.answered = n
            run = life.start(study, ENDLESS, workers=1, port=proxy.port, more=["--artifacts", os.path.join(life.folder, "store")])
            check(proxy.held.wait(60), f"{study}: {proxy.accepted} connections")
            run.process.terminate()
            seen, error, status = run.end()
        check(status == 0 and seen[-1]["result"] == "stopped" and not events(seen, "error"), f"{study}: {status} {error} {seen[-2:]}")


def gone(life):
    """It does not come back: one line, and the error once the time-out has passed."""
    run = life.started("gone", ENDLESS, query="timeout=2")
    life.server.stop()
    seen, error, status = run.end()
    check(status == 1 and len(words(seen, WAITS + "2 s at most")) == 1 and len(events(seen, "error")) == 1, f"gone: {status} {error}")
    check(seen[-1]["result"] == "failed" and "cannot be opened" in events(seen, "error")[0]["message"], f"gone: {seen[-2:]}")
    life.server.start()


def begins_again(life):
    """A start with --resume waits for the server; what waiting does not mend is refused at once."""
    server = life.server
    server.stop()
    run = life.start("first", more=["--resume", "--trials", "3"])
    run.until(lambda seen: words(seen, WAITS + "600 s at most"), "a start: it waits")
    server.start()
    seen, error, status = run.end()
    check(status == 0 and len(words(seen, BACK)) == 1 and states(server, "first") == ["COMPLETE"] * 3, f"a start: {status} {error} {seen[-2:]}")
    for url, part in ((server.url("none", FOREVER), '"none" does not exist'), (server.url("life", FOREVER, host="x" * 70), "could not translate"),
                      (server.url("life", FOREVER, user="other"), '"other" does not exist')):
        refuse(life.trainer, "a start", [part], "first", "--resume", "--no-proposal", "--storage", url, "--state", "first")


def wait_out(runs, what):
    """All have noticed it, and the grace has passed."""
    for run in runs:
        run.until(lambda seen: words(seen, WAITS), f"{what}: the loss")
    until = time.monotonic() + 1.5 * GRACE_S
    poll(lambda: time.monotonic() > until, "the grace")


def all_lived(life, runs, study):
    for run in runs:
        seen, error, status = run.end()
        check(status == 0 and seen[-1]["result"] == "done" and len(words(seen, WAITS)) == len(words(seen, BACK)) == 1 and
              len(events(seen, "warning")) == 2, f"{study}: {status} {error} {seen[-1:]}")
    found = states(life.server, study)
    check(found == ["COMPLETE"] * len(found), f"{study}: no trial was taken: {found}")


def server_away(life):
    """Of two machines; for longer than the grace."""
    study = "server-away"
    runs = [life.started(study, SLOW, workers=1, state=f"{study}-1", trials=6, grace=GRACE_S)]
    runs.append(life.start(study, SLOW, workers=1, state=f"{study}-2", trials=6, grace=GRACE_S, more=["--resume"]))
    poll(lambda: len(running(life.server, study)) == 2, f"{study}: both run a trial")
    life.server.stop("immediate")
    wait_out(runs, study)
    life.server.start()
    all_lived(life, runs, study)


def network_away(life):
    """The server runs on."""
    study, proxy = "network-away", Proxy(life.server.port)
    with contextlib.closing(proxy):
        runs = [life.started(study, SLOW, workers=1, state=f"{study}-1", trials=6, grace=GRACE_S, port=proxy.port)]
        runs.append(life.start(study, SLOW, workers=1, state=f"{study}-2", trials=6, grace=GRACE_S, port=proxy.port, more=["--resume"]))
        poll(lambda: len(running(life.server, study)) == 2, f"{study}: both run a trial")
        proxy.refuses = True
        with proxy.lock:
            sockets = list(proxy.sockets)
        for end in sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        wait_out(runs, study)
        proxy.refuses = False
        all_lived(life, runs, study)


def too_many(life):
    """The role has connections for one worker: at once it is said what would be right, and one worker runs all trials."""
    life.server.sql("life", "CREATE ROLE few LOGIN SUPERUSER; ALTER ROLE few NOSUPERUSER CONNECTION LIMIT 2; "
                    "GRANT ALL ON ALL TABLES IN SCHEMA public TO few; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO few")
    run = life.start("few", SLOW, workers=3, trials=4, query="timeout=1", user="few")
    seen, error, status = run.end()
    said = words(seen, "too many connections for role")
    check(status == 0 and seen[-1]["result"] == "done" and said and all("fewer workers, or more connections" in one for one in said),
          f"too many: {status} {error} {seen[-1:]}")
    check(states(life.server, "few") == ["COMPLETE"] * 4, f"too many: {states(life.server, 'few')}")


def main():
    with postgresql_server.running(databases=["life"]) as server, tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        life = Life(trainer, server, folder)
        check(life.start("first", trials=1).end()[2] == 0, "the first study")
        for what in (connections, stopped_hung, begins_again, stopped_away, stopped_start, stopped_connecting, gone, server_away, network_away, too_many):
            if what.__name__ in (sys.argv[2:] or SHORT) or (LONG and not sys.argv[2:]):
                what(life)
    done("trainer/study/postgresql_life")


main()
