#!/usr/bin/env python3
"""The daemon's HTTP: /metrics, /status, /positions and /equity, by the UNIX socket and by the loopback. The text follows the
format strictly, each number is the one of `status --json`, by the table of docs/prometheus.md, and of the database; lists are
the verbs'. Both sockets move by a reload, and what cannot be listened on is an alert."""

import contextlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import stat

import exposition
import harness

CONFIG = harness.BUSY_CONFIG + "[metrics]\nsocket = {socket}\nlisten = {listen}\n"


LISTS_MAX, POINTS = 4, 20000
HTTP_ALERT = "code = 'http' AND closed_ns IS NULL"


class Local(http.client.HTTPConnection):
    """By a UNIX socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=harness.PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def connection(where):
    return Local(where) if "/" in where else http.client.HTTPConnection(where, timeout=harness.PATIENCE)


def get(where, path, status=200, method="GET"):
    with_headers = connection(where)
    with_headers.request(method, path)
    answer = with_headers.getresponse()
    body = answer.read().decode()
    assert answer.status == status, (path, answer.status, body)
    assert answer.getheader("Cache-Control") == "no-store" and answer.getheader("Access-Control-Allow-Origin") is None
    return body


def listening(daemon):
    """Where it listens: path and address."""
    return daemon.wait_status(lambda s: s["http"] and s["http"]["socket"] and s["http"]["listen"], "both sockets")["http"]


def samples_of(families, row):
    """{labels: number} of the text, the state being the word whose sample is 1."""
    family = families[row.name]
    assert family.kind == row.kind and family.help == row.text + ".", (row.name, family.help)
    found = {}
    for (_, labels), value in family.samples.items():
        if "state" not in row.labels:
            found[labels] = value
            continue
        plain, word = labels[:-1], labels[-1][1]
        assert labels[-1][0] == "state" and value in (0, 1)
        found.setdefault(plain, None)
        if value:
            assert found[plain] is None, row.name
            found[plain] = word
    return found


def between(row, labels, value, before, after):
    """Is it what the status was before, or after, or of a number between the two?"""
    low, high = before.get(labels), after.get(labels)
    if isinstance(value, str) or value is None:
        return value in (low, high)
    near = [number for number in (low, high) if number is not None]
    assert near, (row.name, labels)
    slack = 1e-12 * max(map(abs, near))
    return min(near) - slack <= value <= max(near) + slack


MOVE = {"papertape_loop_busy_ratio", "papertape_loop_wait_p99_seconds", "papertape_loop_longest_turn_seconds", "papertape_log_waiting_bytes",
        "papertape_database_queue_rows", "papertape_control_clients", "papertape_http_clients"}


def compare(where, daemon, moving=False):
    """Every number of the text lies between those of two statuses; of a market that moves the counters: what else there is goes up
    and down. How many are compared, and how many of them did not move."""
    before = daemon.status_object()
    families = exposition.parse(get(where, "/metrics"))
    after = daemon.status_object()
    table, compared, still = exposition.rows(), 0, 0
    assert set(families) == {row.name for row in table}
    for row in table:
        if not row.path or row.kind == "histogram" or row.name in MOVE or (moving and row.kind != "counter"):
            continue
        was, now = exposition.values(row, before), exposition.values(row, after)
        found = samples_of(families, row)
        if "reason" in row.labels and "account" not in row.labels:  # from 0 on; the status has those that there were
            assert len(found) > 5, found
            found = {labels: value for labels, value in found.items() if value or labels in was or labels in now}
        assert set(was) & set(now) <= set(found) <= set(was) | set(now), (row.name, found, was)
        for labels, value in found.items():
            assert between(row, labels, value, was, now), (row.name, labels, value, was.get(labels), now.get(labels))
            compared += 1
            still += was.get(labels) == now.get(labels)
    times = families["papertape_database_commit_seconds"].samples[("papertape_database_commit_seconds_count", ())]
    assert before["db"]["commit_times"]["commits"] <= times <= after["db"]["commit_times"]["commits"]
    return families, compared, still


def one(families, name, **labels):
    return families[name].samples[(name, tuple(labels.items()))]


def stored(daemon, families):
    """The database has the same: all orders, fills and bars, the last equity, the positions."""
    assert daemon.query("SELECT count(*) FROM fills")[0][0] == one(families, "papertape_fills_total") > 0
    assert daemon.query("SELECT count(*) FROM orders")[0][0] == one(families, "papertape_orders_total") > 0
    for symbol, bars in daemon.query("SELECT name, count(*) FROM bars JOIN symbols ON symbols.id = symbol WHERE source = 'venue' "
                                     "GROUP BY name"):
        assert bars == one(families, "papertape_symbol_bars_total", venue="binance", symbol=symbol) > 50, (symbol, bars)
    held = daemon.query("SELECT a.name, s.name, qty, qty_scale FROM positions JOIN accounts a ON a.id = account "
                        "JOIN symbols s ON s.id = symbol WHERE qty <> 0")
    assert {(("account", account), ("symbol", symbol)): qty / 10**scale for account, symbol, qty, scale in held} == {
        labels: value for (_, labels), value in families["papertape_position_quantity"].samples.items()}
    refused = daemon.query("SELECT a.name, reason, count(*) FROM orders o JOIN accounts a ON a.id = o.account WHERE state = 'REJECTED' "
                           "GROUP BY a.name, reason")
    by_account = families["papertape_account_orders_refused_total"].samples
    assert {(("account", account), ("reason", reason)): n for account, reason, n in refused} == {
        labels: value for (_, labels), value in by_account.items() if value}
    by_code = daemon.query("SELECT severity, code, count(*) FROM alerts WHERE acked_ns IS NULL AND closed_ns IS NULL GROUP BY severity, code")
    assert {(("severity", severity), ("code", code)): n for severity, code, n in by_code} == {
        labels: value for (_, labels), value in families["papertape_alerts"].samples.items()}
    assert one(families, "papertape_alerts_open") == daemon.query("SELECT count(*) FROM alerts WHERE acked_ns IS NULL AND closed_ns IS NULL")[0][0]


def lists(where, daemon):
    """/positions, /equity and /status are the verbs'."""
    def both(path, *verb):
        return json.loads(get(where, path)), json.loads(daemon.papertape(*verb, "--json"))
    for path, verb in (("/positions", ("positions",)), ("/equity", ("equity",)), ("/equity?account=hand", ("equity", "--account", "hand"))):
        harness.wait_for(lambda p=path, v=verb: len({json.dumps(x, sort_keys=True) for x in both(p, *v)}) == 1, f"{path} as the verb has it")
    ours, theirs = both("/status", "status")
    assert ours["schema"] == "papertape.status/1" and ours.keys() == theirs.keys()
    for part in ("accounts", "positions", "orders", "venues", "pid", "state_dir"):
        assert str(ours[part]).count(":") == str(theirs[part]).count(":"), part
    assert get(where, "/equity?account=stranger", status=404) == "\"stranger\": there is no such account\n"


def the_verbs(daemon, curve):
    """The list, where the verb says the same: no point came in between."""
    return curve if curve and curve == daemon.papertape("equity", "--account", "hand", "--json") else None


def long_list(daemon, path):
    """A curve of many times what waits for its client: equal to the verb's, also beside clients that read slowly, or leave. Those
    beyond four are refused. Its bytes. (The daemon would find these points at its next start, and build the database again.)"""
    with contextlib.closing(sqlite3.connect(os.path.join(daemon.state, "papertape.db"))) as database, database:
        hand, last_ns = database.execute("SELECT account, max(ts_ns) FROM equity WHERE account = "
                                         "(SELECT id FROM accounts WHERE name = 'hand')").fetchone()
        others = ", ".join(column[1] for column in database.execute("PRAGMA table_info(equity)") if column[1] != "ts_ns")
        database.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {POINTS}) INSERT INTO equity "
                         f"(ts_ns, {others}) SELECT ts_ns - 1000 * i, {others} FROM equity, n WHERE account = {hand} AND ts_ns = {last_ns}")
    slow = []
    for _ in range(LISTS_MAX):
        slow.append(connection(path))
        slow[-1].request("GET", "/equity?account=hand")
    answers = []

    def refused():
        client = connection(path)
        client.request("GET", "/positions")
        answers.append(client.getresponse().status)
        return answers[-1] == 503
    harness.wait_for(refused, "that a fifth list is refused")
    first = slow[0].getresponse()
    assert first.status == 200 and first.read(1 << 16)
    first.close()
    for client in slow:
        client.close()  # midway, or before its first byte
    curve = harness.wait_for(lambda: the_verbs(daemon, listed(path, "/equity?account=hand")), "the verb's list, once the others are gone")
    assert len(curve) > POINTS * 100, len(curve)
    assert get(path, "/metrics")
    return len(curve)


def taken_at_the_start(folder):
    """A port that is taken when the state is new: an alert, and the rest works; of a run that does not want it, it is over."""
    replay = folder.start(harness.Replay(folder.within("taken-venue"), "--synthetic", "12"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = CONFIG.format(socket="metrics.sock", listen=f"127.0.0.1:{taken.getsockname()[1]}")
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name="taken", state="taken"))
        text, count = harness.wait_for(lambda: daemon.query(f"SELECT text, count FROM alerts WHERE {HTTP_ALERT}") if daemon.status_object()["db"]["commits"]
                                       else None, "an alert of the port that is taken")[0]
        assert text.endswith(": another program listens there") and count <= 2, (text, count)
        get(daemon.status_object()["http"]["socket"], "/metrics")
        assert daemon.stop() == 0
    daemon = folder.start(harness.Daemon(folder.path, replay, harness.BUSY_CONFIG, name="none", state="taken"))
    daemon.wait_status(lambda s: s["counters"], "the session")
    harness.wait_for(lambda: not daemon.query(f"SELECT id FROM alerts WHERE {HTTP_ALERT}"), "the alert's end")
    assert daemon.status_object()["http"] is None and not os.path.exists(os.path.join(daemon.state, "metrics.sock"))
    assert daemon.stop() == 0
    with open(os.path.join(daemon.state, "own.txt"), "w", encoding="ascii"):  # which is no socket, and stays
        pass
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(socket="own.txt", listen=""), name="own", state="taken"))
    harness.wait_for(lambda: daemon.query(f"SELECT id FROM alerts WHERE {HTTP_ALERT}"), "an alert of the file")
    assert daemon.stop() == 0 and os.path.isfile(os.path.join(daemon.state, "own.txt"))


def backed_up(folder, daemon, path):
    """The last backup: its outcome, and when it ended."""
    families = exposition.parse(get(path, "/metrics"))
    assert one(families, "papertape_backup_state", state="none") == 1
    assert not families["papertape_backup_last_success_timestamp_seconds"].samples
    daemon.papertape("backup", os.path.join(folder.path, "copy.tar.zst"))
    daemon.wait_status(lambda s: s["backup"]["state"] == "ok", "the backup's outcome")
    with open(os.path.join(daemon.state, "backup.json"), encoding="utf-8") as file:
        end_ns = json.load(file)["end_ns"]
    families = exposition.parse(get(path, "/metrics"))
    assert one(families, "papertape_backup_state", state="ok") == 1
    assert abs(one(families, "papertape_backup_last_success_timestamp_seconds") - end_ns / 1e9) < 1e-3


def own_process(daemon, families):
    """What the system says of the process."""
    with open(f"/proc/{daemon.popen.pid}/limits", encoding="utf-8") as file:
        limit = next(line.split()[3] for line in file if line.startswith("Max open files"))
    assert one(families, "process_max_fds") == int(limit)
    assert 10 < one(families, "process_open_fds") < 200 and one(families, "process_cpu_seconds_total") > 0
    assert daemon.resident() / 2 < one(families, "process_resident_memory_bytes") < one(families, "process_virtual_memory_bytes")
    assert 0 < one(families, "papertape_uptime_seconds") < 3600 and abs(
        one(families, "process_start_time_seconds") - os.stat(f"/proc/{daemon.popen.pid}").st_ctime) < 60


def gone(replay, daemon, path):
    """A venue that is gone: attempts to connect fail, and are counted."""
    labels = {"venue": "binance"}
    before = one(exposition.parse(get(path, "/metrics")), "papertape_venue_connects_failed_total", **labels)
    replay.stop(signal.SIGKILL)
    daemon.wait_status(lambda s: s["venues"][0]["connects_failed"] > before + 1, "failed attempts to connect")
    assert one(exposition.parse(get(path, "/metrics")), "papertape_venue_connects_failed_total", **labels) > before + 1


def listed(where, path):
    """A list, or None where too many are being read."""
    client = connection(where)
    client.request("GET", path)
    answer = client.getresponse()
    return answer.read().decode() if answer.status == 200 else None


def refusals(path, address):
    for where in (path, address):
        get(where, "/", status=404)
        get(where, "/status", status=405, method="POST")
        assert get(where, "/metrics", method="HEAD") == ""
    for host, status in (("evil.example", 403), ("localhost", 200), (address, 200), ("127.0.0.1", 200)):
        client = connection(address)
        client.putrequest("GET", "/metrics", skip_host=True)
        client.putheader("Host", host)
        client.endheaders()
        assert client.getresponse().status == status, host


def moved(daemon, path):
    """A reload: other sockets, none; places that cannot be had refuse it by file and line, and all stays as it was."""
    def write(socket_path, listen):
        with open(daemon.config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(socket=socket_path, listen=listen))
    write("other.sock", "")
    said = daemon.papertape("reload")
    assert "[metrics] socket = other.sock (before: metrics.sock)" in said and "2 taken, 0 need" in said, said
    other = os.path.join(daemon.state, "other.sock")
    status = daemon.wait_status(lambda s: s["http"]["socket"] == other, "the other socket")
    assert status["http"]["listen"] == "" and not os.path.exists(path)
    get(other, "/metrics")
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    address = f"127.0.0.1:{taken.getsockname()[1]}"
    line = CONFIG.format(socket="", listen="").count("\n")
    own = os.path.join(daemon.state, "own.txt")
    with open(own, "w", encoding="ascii") as file:
        file.write("a file of ours")
    for socket_path, listen, at, why in (("other.sock", address, line, f"[metrics] listen: {address}: another program listens there"),
                                         ("own.txt", "", line - 1, f"[metrics] socket: {own}: another file is in its place"),
                                         (f"{daemon.state}/no/such.sock", "", line - 1, "no/such.sock: No such file or directory")):
        write(socket_path, listen)
        said = daemon.papertape("reload", status=1)
        assert f"{daemon.config}:{at}: " in said and why in said and "nothing has changed" in said, said
        assert daemon.status_object()["http"]["socket"] == other
    get(other, "/metrics")
    taken.close()
    write("", address)
    daemon.papertape("reload")
    daemon.wait_status(lambda s: s["http"]["listen"] == address, "the port, once it is free")
    get(address, "/status")
    with open(own, encoding="ascii") as file:
        assert file.read() == "a file of ours"
    write("metrics.sock", "192.0.2.7:9480")
    said = daemon.papertape("reload", status=1)
    assert f"{daemon.config}:{line}: [metrics] listen: \"192.0.2.7:9480\": an address of this machine's loopback" in said, said
    write("", "")
    daemon.papertape("reload")
    status = daemon.wait_status(lambda s: s["http"]["socket"] == s["http"]["listen"] == "", "no socket")


def numbers(folder):
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "11", "--rate", "400"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(socket="metrics.sock", listen="127.0.0.1:0")))
    daemon.wait_status(lambda s: s["counters"] and s["counters"]["fills"] > 10 and s["positions"], "fills")
    where = listening(daemon)
    path, address = where["socket"], where["listen"]
    assert path == os.path.join(daemon.state, "metrics.sock") and stat.S_IMODE(os.stat(path).st_mode) == 0o660
    assert f": {path}\n" in daemon.log_text() and f": {address}\n" in daemon.log_text()
    counts = [compare(place, daemon, moving=True)[1:] for place in (path, address)]
    refusals(path, address)
    replay.popen.send_signal(signal.SIGSTOP)  # the market stands still: so do its numbers
    frames = []
    harness.wait_for(lambda: frames.append(daemon.status_object()["feed"]["frames"]) or frames[-1:] == frames[-2:-1], "the last frame")
    harness.wait_for(lambda: daemon.status_object()["db"]["queue"] == 0, "everything stored")
    families, compared, still = compare(path, daemon)
    stored(daemon, families)
    own_process(daemon, families)
    lists(path, daemon)
    replay.popen.send_signal(signal.SIGCONT)
    backed_up(folder, daemon, path)
    size = long_list(daemon, path)
    gone(replay, daemon, path)
    moved(daemon, path)
    assert daemon.stop() == 0
    assert not [name for name in os.listdir(daemon.state) if name.endswith(".sock")]
    print(f"{len(families)} metrics; {counts[0][0]} + {counts[1][0]} counters between two statuses, {still} of {compared} of a market that "
          f"stands still equal to both; the database has the same; a curve of {size >> 10} KiB")


def main():
    with harness.Folder() as folder:
        harness.together(folder, numbers, taken_at_the_start)


if __name__ == "__main__":
    main()
