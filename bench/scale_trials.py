"""A study of `papertape-trainer` on a PostgreSQL server, measured: processor time of the trainer and of the server, round trips and
bytes between them, transactions, artifacts. Standard library and PostgreSQL's programs.

A trial here is small: its training is so short that what the storage costs is seen. PLANNED is the trial that docs/scale.md plans."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import scale_usage

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "fixtures"))
import postgresql_server  # noqa: E402
from hourly_bars import write_market  # noqa: E402

NAME = "scale"
SETTINGS = ["autovacuum=off", "max_connections=400"]  # so that each number of a transaction is the study's
SEARCH = {
    "learning_rate": "1e-6..1e-3 log", "gamma": "0.88..0.99", "lookback": "1..5", "norm_cash": "2^-16..2^-10 log",
    "norm_stocks": "2^-11..2^-5 log", "norm_tech": "2^-19..2^-12 log", "norm_reward": "2^-14..2^-7 log", "norm_action": "1000..25000",
    "time_decay_floor": "0..0.5", "clip_range": "0.1..0.4", "ent_coef": "1e-5..1e-2 log", "vf_coef": "0.25..1", "max_grad_norm": "0.3..2",
    "gae_lambda": "0.90..0.99", "epochs": "1..3", "target_kl": "0.005..0.03", "adam_epsilon": "1e-9..1e-5 log",
    "lr_schedule": "constant | linear | exponential", "lr_final": "0.5..0.95", "min_cash_reserve": "0.04..0.3",
    "concentration_penalty": "0..0.1", "drawdown_penalty": "0..1", "volatility_penalty": "0..10", "trailing_stop_pct": "0..0.2",
}
SMALL = {"training": {"total_steps": 1024}, "network": {"policy_layers": 8, "value_layers": 8},
         "ppo": {"copies": 4, "steps": 64, "minibatch": 64}, "data": {}, "study": {"validation": "kfold:3"}, "rows": 900, "splits": 3}
MORE_SPLITS = {**SMALL, "study": {"validation": "kfold:10"}, "rows": 3000, "splits": 10}
PLANNED = {"training": {"total_steps": 20480}, "network": {"policy_layers": "64,64", "value_layers": "64,64"},
           "ppo": {"copies": 8, "steps": 256, "minibatch": 512}, "data": {"features": "market14"}, "study": {"validation": "cpcv:5,2"},
           "rows": 20000, "splits": 10}
HEARTBEAT_S = 3600  # none but the first, so that transactions can be counted


def configure(folder, trial):
    """The study's file, and its bars beside it."""
    write_market(folder, n=trial["rows"])
    sections = {
        "training": {"device": "cpu", "threads": 1, **trial["training"]}, "network": trial["network"], "ppo": trial["ppo"],
        "environment": {"initial_capital": 1000000, "episode_bars": 100, "random_start": "true"},
        "data": {"bars": "AAAUSDT_1h.csv, BBBUSDT_1h.csv", **trial["data"]},
        "study": {"pruner": "none", "heartbeat_s": HEARTBEAT_S, "grace_s": 86400, **trial["study"]}, "search": SEARCH,
    }
    path = Path(folder, "scale.ini")
    path.write_text("".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in sections.items()),
                    encoding="utf-8")
    return path


class Counting:
    """A proxy before the server that counts bytes, and how often a client waits for an answer."""

    def __init__(self, port):
        self.port_of_server, self.lock = port, threading.Lock()
        self.sent = self.received = self.round_trips = 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.port_of_server))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asks = [False]
            threading.Thread(target=self.carry, args=(client, server, True, asks), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client, False, asks), daemon=True).start()

    def carry(self, source, sink, is_client, asks):
        try:
            while data := source.recv(1 << 16):
                with self.lock:
                    if is_client:
                        self.sent += len(data)
                        self.round_trips += not asks[0]
                    else:
                        self.received += len(data)
                    asks[0] = is_client
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listening.close()


def postmaster(server):
    with open(os.path.join(server.folder, "d", "postmaster.pid"), encoding="ascii") as file:
        return int(file.readline())


def stored(server, database):
    """What the server counts."""
    names = ("transactions", "wal_bytes")
    # The number of the next transaction that writes; this one does not.
    row, = server.rows(database, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS a, "
                       "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS b")
    return dict(zip(names, row))


def rows_of(server, database):
    """{table: rows}"""
    tables = ("trials", "trial_params", "trial_values", "trial_intermediate_values", "trial_user_attributes", "trial_system_attributes",
              "trial_heartbeats")
    query = " UNION ALL ".join(f"SELECT '{table}' AS name, count(*) AS n FROM {table}" for table in tables)
    return dict(server.rows(database, query))


def files_of(store):
    """(number, bytes) of the trials' artifacts."""
    found = [path for path in Path(store).rglob("*returns.csv")]
    return len(found), sum(path.stat().st_size for path in found)


def search(trainer, server, database, folder, config, trials, wanted, workers):
    """Runs a study until so many trials of this run have ended, `wanted` being what the study then has; what it cost."""
    proxy = Counting(server.port)
    state, store = tempfile.mkdtemp(prefix="state-", dir=folder), Path(folder, "artifacts", database)  # a machine of its own
    store.parent.mkdir(exist_ok=True)
    url = server.url(database, port=proxy.port)
    words = [trainer, "study", NAME, "--config", config, "--storage", url, "--state", state, "--artifacts", store, "--no-proposal",
             "--trials", str(wanted), "--workers", str(workers)]
    before, server_s, client_s = stored(server, database), scale_usage.running_s(postmaster(server)), scale_usage.ended_s()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, cwd=folder,
                               env={**os.environ, "XDG_CACHE_HOME": str(Path(folder, "cache"))})
    ended, last = 0, None
    with process.stdout:
        for line in process.stdout:
            last = json.loads(line)
            ended += last["event"] == "trial"
            if ended == trials:
                os.kill(process.pid, signal.SIGTERM)  # trials of other machines run, which it would wait for
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -signal.SIGTERM) or ended != trials:
        raise RuntimeError(f"{ended} of {trials} trials, status {process.returncode}: {last}")
    after = stored(server, database)
    proxy.close()
    return {"trials": trials, "client_s": scale_usage.ended_s() - client_s, "server_s": scale_usage.running_s(postmaster(server)) - server_s,
            "process_bytes": usage.ru_maxrss * 1024, "round_trips": proxy.round_trips, "sent_bytes": proxy.sent,
            "received_bytes": proxy.received, **{key: after[key] - before[key] for key in after}}


COPY = """
INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete)
    SELECT n, 1, '{state}', now() AT TIME ZONE 'UTC', {complete} FROM generate_series({first}, {first} + {more} - 1) AS n;
CREATE TEMPORARY TABLE pairs AS SELECT new.trial_id AS new, old.trial_id AS old FROM trials AS new JOIN trials AS old
    ON old.number = new.number % {first} WHERE new.number >= {first};
INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)
    SELECT new, param_name, param_value, distribution_json FROM pairs JOIN trial_params ON trial_id = old ORDER BY new, param_id;
INSERT INTO trial_user_attributes (trial_id, key, value_json) SELECT new, key, value_json FROM pairs JOIN trial_user_attributes
    ON trial_id = old WHERE '{state}' = 'COMPLETE' OR key IN ('papertape:worker', 'papertape:version');
INSERT INTO trial_system_attributes (trial_id, key, value_json) SELECT new, key, value_json FROM pairs JOIN trial_system_attributes
    ON trial_id = old;
INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type)
    SELECT new, step, intermediate_value, intermediate_value_type FROM pairs JOIN trial_intermediate_values ON trial_id = old;
INSERT INTO trial_values (trial_id, objective, value, value_type) SELECT new, objective, value, value_type FROM pairs JOIN trial_values
    ON trial_id = old WHERE '{state}' = 'COMPLETE';
INSERT INTO trial_heartbeats (trial_id, heartbeat) SELECT new, now() AT TIME ZONE 'UTC' + interval '1 day' FROM pairs;
ANALYZE;
"""


def add(server, database, first, more, state):
    """So many trials more, copies of the `first` that there are: COMPLETE, or RUNNING on other machines."""
    complete = "now() AT TIME ZONE 'UTC'" if state == "COMPLETE" else "NULL"
    server.sql(database, COPY.format(first=first, more=more, state=state, complete=complete))
