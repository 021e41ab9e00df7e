#!/usr/bin/env python3
"""Where alerts are delivered: `papertape alerts test` through each kind of sink, with what each format is sent and no secret in a
log; what a sink that is down receives once it is back; answers without an end; a kill -9 in between."""

import collections
import json
import os
import random
import re
import signal
import subprocess
import time

import harness
import receivers

SECRETS = {"slack": "T0/B0/sesame", "telegram": "12:sesame-t", "ntfy": "sesame-n", "mail": "sesame m&m"}


def write_secret(folder, name):
    path = os.path.join(folder, name + ".secret")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(SECRETS[name] + "\n")
    return path


def tested(daemon, *arguments, status=0):
    """`papertape alerts test`, as lines by sink."""
    done = subprocess.run([harness.PAPERTAPE, "alerts", "test", *arguments, "--state", daemon.state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr, daemon.log_text()[-3000:])
    return dict(line.split(": ", 1) for line in done.stdout.splitlines()), done.stderr


def lines(path):
    """The objects of a file that a command appends to: whole lines, since it may be writing the next one."""
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def kinds(folder):
    """Each kind and format, against receivers of this machine, of which one then fails."""
    pair = receivers.certificate(folder.path)
    refuses = []
    web = receivers.Web(lambda path, headers, body: (
        (503, {"Retry-After": "7"}, "." * 150 + path.removeprefix("/services/")) if path in refuses else (204, {})))
    secure = receivers.Web(pair=pair)
    mail = receivers.Mail(pair, "me", SECRETS["mail"])
    smtps = receivers.Mail(pair, "me", SECRETS["mail"], smtps=True)
    took = os.path.join(folder.path, "took")
    url, files = f"http://127.0.0.1:{web.port}", {name: write_secret(folder.path, name) for name in SECRETS}
    address = f"mail_to{{0}} = ops@example.org, me@example.org\nmail_from{{0}} = papertape@example.org\nmail_user{{0}} = me\n" \
              f"mail_password{{0}} = {files['mail']}\n"
    daemon = folder.start(harness.Daemon(folder.path, None, f"""[alerts]
command = /bin/sh -c 'cat >>"$1"; echo "done" >&2' sh {took}
ca_file = {pair[1]}
webhook = https://localhost:{secure.port}/json
webhook.slack = {url}/services/{{token}}
webhook_format.slack = slack
webhook_token.slack = {files['slack']}
webhook.discord = {url}/discord
webhook_format.discord = discord
webhook.telegram = {url}/bot{{token}}/sendMessage
webhook_format.telegram = telegram
webhook_token.telegram = {files['telegram']}
webhook_chat.telegram = -100
webhook.ntfy = {url}/topic
webhook_format.ntfy = ntfy
webhook_token.ntfy = {files['ntfy']}
mail = smtp://localhost:{mail.port}
{address.format('')}mail.tls = smtps://localhost:{smtps.port}
{address.format('.tls')}""", arguments=("--venue-url", "wss://127.0.0.1:1", "--rest-url", "https://127.0.0.1:1")))
    daemon.wait_status(lambda s: len(s["alert_sinks"]["sinks"]) == 8, "all sinks")
    said, _ = tested(daemon)
    assert len(said) == 8 and all(line.startswith("ok: ") for line in said.values()), said

    alert = next(alert for alert in lines(took) if alert["rule"] == "test")
    assert alert["schema"] == "papertape.alert/1" and alert["id"] == 0 and alert["state"] == "raised", alert
    assert alert["severity"] == "info" and alert["text"] and alert["host"] and alert["raised_at"].endswith("Z"), alert
    by_path = {path: (headers, body) for path, headers, body in web.taken + secure.taken if "test" in headers["Idempotency-Key"]}
    assert json.loads(by_path["/json"][1])["rule"] == "test"
    assert by_path["/json"][0]["Content-Type"] == "application/json"
    assert "test" in json.loads(by_path[f"/services/{SECRETS['slack']}"][1])["text"]
    assert "test" in json.loads(by_path["/discord"][1])["content"]
    telegram = json.loads(by_path[f"/bot{SECRETS['telegram']}/sendMessage"][1])
    assert telegram["chat_id"] == "-100" and "test" in telegram["text"], telegram
    headers, body = by_path["/topic"]
    assert "a test of the sink webhook.ntfy" in body and headers["Authorization"] == f"Bearer {SECRETS['ntfy']}", headers
    assert headers["Title"] and headers["Priority"] == "default" and headers["Tags"], headers
    for server in (mail, smtps):
        sender, to, text = next(m for m in server.taken if "rule test" in m[2])
        assert sender == "papertape@example.org" and to == ["ops@example.org", "me@example.org"], (sender, to)
        assert re.search(r"^Subject: \[papertape\] info: test on ", text, re.M) and re.search(r"^Date: \w{3}, ", text, re.M), text
    assert tested(daemon, "mail")[0].keys() == {"mail"}

    assert "given to command, " in daemon.papertape("report", "--send")
    harness.wait_for(lambda: [a for a in lines(took) if a["rule"] == "report" and a["severity"] == "info"], "a report at the command")
    assert daemon.papertape("report", "--send", "--sink", "webhook.discord") == "given to webhook.discord\n"
    harness.wait_for(lambda: sum(path == "/discord" and "report" in h["Idempotency-Key"] for path, h, _ in web.taken) == 2, "two of Discord")
    assert sum(a["rule"] == "report" for a in lines(took)) == 1
    assert "there is no sink" in daemon.papertape("report", "--send", "--sink", "pigeon", status=1)
    long = harness.control(daemon, "report_send", {"text": 513 * "x", "sink": "webhook.discord"})
    assert long["error"]["code"] == "EINVAL" and "513 bytes, 512 are the most" in long["error"]["message"], long

    refuses.append("/discord")
    said, _ = tested(daemon, "webhook.discord", status=1)
    assert said["webhook.discord"].startswith("failed: HTTP 503"), said
    refuses.append(f"/services/{SECRETS['slack']}")  # what it says has the token, which is cut where a reply is
    said, _ = tested(daemon, "webhook.slack", status=1)
    assert said["webhook.slack"].startswith("failed: HTTP 503: ...") and "T0/B" not in said["webhook.slack"], said
    said, error = tested(daemon, "pigeon", status=1)
    assert 'there is no sink "pigeon": command, webhook' in error, error
    answer = json.loads(daemon.papertape("alerts", "test", "mail.tls", "--json"))
    assert answer["schema"] == "papertape.alerts-test/1" and answer["sinks"][0]["ok"] is True, answer

    shown = json.dumps(daemon.status_object()) + daemon.log_text()
    assert "sesame" not in shown, re.findall(".{80}sesame.{20}", shown)
    for server in (web, secure, mail, smtps):
        server.close()


def endless(folder):
    """Sinks whose answer never ends: it is read as far as an answer goes, and no further."""
    answers = {"webhook.body": receivers.Endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
               "webhook.refusal": receivers.Endless(b"HTTP/1.1 500 No\r\nRetry-After: 7\r\n\r\nno: ", b"x"),
               "webhook.headers": receivers.Endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
               "webhook.header": receivers.Endless(b"HTTP/1.1 200 OK\r\nX: ", b"y"),
               "mail.lines": receivers.Endless(b"220-a mail server\r\n", b"220-and more\r\n", greets=True),
               "mail.line": receivers.Endless(b"220 a mail server", b"x", greets=True)}
    sinks = []
    for name, server in answers.items():
        kind, which = name.split(".")
        sinks += [f"{name} = {'http' if kind == 'webhook' else 'smtp'}://127.0.0.1:{server.port}/"]
        if kind == "mail":
            sinks += [f"mail_tls.{which} = off", f"mail_to.{which} = ops@example.org", f"mail_from.{which} = papertape@example.org"]
    daemon = folder.start(harness.Daemon(folder.path, None, "\n".join(
        ["[alerts]", *sinks, "command.loud = /bin/sh -c 'exec yes'", "command = /bin/sh -c 'head -c 60000 /dev/zero'"]) + "\n",
        name="endless", state="endless", arguments=("--venue-url", "wss://127.0.0.1:1", "--rest-url", "https://127.0.0.1:1")))
    daemon.wait_status(lambda s: len(s["alert_sinks"]["sinks"]) == 8, "all sinks")
    said, _ = tested(daemon, status=1)
    said = {name: line.rpartition(", ")[0] for name, line in said.items()}  # without its time
    assert said["webhook.body"] == "ok: HTTP 200" and said["command"] == "ok: exit 0", said
    assert said["webhook.refusal"].startswith("failed: HTTP 500: no: xxx"), said
    assert said["command.loud"] == "failed: it wrote more than 64 KiB", said
    assert all(said[name].startswith("failed: ") and "imed out" not in said[name]
               for name in ("webhook.headers", "webhook.header", "mail.lines", "mail.line")), said
    for name, server in answers.items():
        harness.wait_for(lambda: server.sent, f"the end of {name}")
        assert server.sent < 64 << 20, (name, server.sent)  # as much as lies in the sockets, not what ten seconds have room for
    assert daemon.stop() == 0
    print("endless:", {name: server.sent for name, server in answers.items()}, flush=True)
    for server in answers.values():
        server.close()


# Thresholds that everything passes: a rule a line, or with what the test does.
PROVOKED = {"DISK", "BACKUP_FAILED", "ORDERS_REFUSED", "CONCENTRATION", "DRAWDOWN", "DRAWDOWN_LIMIT", "DAILY_LOSS", "NO_TRADES",
            "CLOCK_OFFSET", "SINK_FAILING", "reload-refused", "feed", "GPU_TEMPERATURE"}
TOUCHY = """[market]
symbols = BTCUSDT
interval = 1s
history = 30
[risk]
drawdown = 0.5
[alerts]
disk = 0.0001%
disk_critical = off
orders_refused = 1
concentration = 0.0001%
drawdown = 0.000001%
drawdown_critical = off
drawdown_of_limit = 0.000001%
daily_loss_of_limit = 0.000001%
no_trades_for = 0.1s
clock_offset = 1s
sink_failing_for = 0.5s
{sinks}
[account main]
cash = 100000
strategy = sma-cross
strategy.slow = 400
[account hand]
cash = 100000
strategy = none
"""


def closed_port():
    """A port of this machine on which nothing listens."""
    web = receivers.Web()
    web.close()
    return web.port


def numbered(requests):
    """(alert, state, severity) of each."""
    alerts = [json.loads(body) for _, _, body in requests]
    return [(a["id"], a["state"], a["severity"]) for a in alerts]


def provoke(daemon, replay):
    """Raises all of PROVOKED."""
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"] and s["symbols"][0]["book"] == "synced", "prices, and a book")
    raised = "SELECT code FROM alerts"
    daemon.papertape("order", "buy", "BTCUSDT", "0.1", "--account", "hand")
    harness.wait_for(lambda: ("DRAWDOWN",) in daemon.query(raised), "a look at the account")  # what was refused before counts not
    daemon.papertape("order", "buy", "BTCUSDT", "1000", "--account", "hand", "--limit", "1", status=1)
    with open(daemon.config) as file:
        good = file.read()
    with open(daemon.config, "w") as file:
        file.write(good + "cash = many\n")
    daemon.papertape("reload", status=1)
    with open(daemon.config, "w") as file:
        file.write(good)
    harness.wait_for(lambda: PROVOKED - {"feed"} <= {code for code, in daemon.query(raised)}, "all but the feed's alert")
    replay.stop()
    harness.wait_for(lambda: PROVOKED <= {code for code, in daemon.query(raised)}, "the feed's alert")


def down(folder):
    """A sink that is down, then fails twice, receives the alerts of each of twelve rules once; another one has them meanwhile."""
    port, refuse, took = closed_port(), [503, 500], os.path.join(folder.path, "down-took")
    retry = "" if harness.LONG else "retry_s = 0.3\n"
    sinks = f"""{retry}webhook.down = http://127.0.0.1:{port}/
command = /bin/sh -c 'cat >>"$1"' sh {took}"""
    state = folder.within("down")
    with open(os.path.join(state, "backup.json"), "w") as file:
        json.dump({"ok": False, "error": "no room", "end_ns": 1}, file)
    os.chmod(state, 0o750)
    replay = folder.start(harness.Replay(folder.within("down-venue"), "--synthetic", "11", "--symbols", "1", "--rate", "50", "--fault", "clock:+3s"))
    figures = os.path.join(folder.path, "gpu")
    with open(figures, "w") as file:
        file.write("devices=1\ntemperature=81\n")
    environment = dict(os.environ, PAPERTAPE_NVML=harness.FAKE_NVML, PAPERTAPE_FAKE_NVML=figures)
    daemon = folder.start(harness.Daemon(folder.path, replay, TOUCHY.format(sinks=sinks), name="down", state="down", env=environment))
    from_s = time.monotonic()
    provoke(daemon, replay)
    def failing(status):
        sink = status["alert_sinks"]["sinks"][0]
        return sink["failed"] >= 3 and sink["pending"] >= len(PROVOKED) - 1  # SINK_FAILING goes to the others
    shown = daemon.wait_status(failing, "attempts that failed, with all notices waiting")["alert_sinks"]["sinks"][0]
    assert shown["state"] == "failing" and "onnect" in shown["detail"], shown
    while harness.LONG and time.monotonic() - from_s < 600:
        time.sleep(1)
        assert daemon.alive()

    def answer(path, headers, body):
        return (refuse.pop(0), {}) if refuse else (200, {})
    back_s = time.monotonic()
    web = receivers.Web(answer, port=port)
    harness.wait_for(lambda: daemon.status_object()["alert_sinks"]["sinks"][0]["pending"] == 0, "the sink's queue is empty")
    took_s = time.monotonic() - back_s
    assert not harness.LONG or took_s < 10, took_s
    got, rules = numbered(web.taken), {json.loads(body)["rule"] for _, _, body in web.taken}
    assert len(got) == len(set(got)) and not refuse and len(web.seen) == len(web.taken) + 2, got
    assert rules >= PROVOKED - {"SINK_FAILING"} and "SINK_FAILING" not in rules, rules
    keys = [headers["Idempotency-Key"] for _, headers, _ in web.taken]
    assert len(keys) == len(set(keys)), keys
    harness.wait_for(lambda: {a["rule"] for a in lines(took) if a["state"] == "raised"} >= PROVOKED, "all of them at the command")
    harness.wait_for(lambda: ("SINK_FAILING", "recovered") in {(a["rule"], a["state"]) for a in lines(took)},
                     "the notice that the sink accepts again")
    assert daemon.stop() == 0
    web.close()
    print(f"down: {len(got)} notices of {len(rules)} rules, each once, {took_s:.1f} s after the sink was back", flush=True)


def still_failing(folder):
    """The alert of a sink that fails stays the same one over a stop and a kill -9, and is over once it accepts."""
    path = folder.within("still-failing")
    fails = os.path.join(path, "fails")
    open(fails, "w").close()
    replay = folder.start(harness.Replay(path, "--synthetic", "5", "--symbols", "1", "--rate", "20"))
    config = f"""[market]
symbols = BTCUSDT
interval = 1s
history = 5
[alerts]
retry_s = 0.2
sink_failing_for = 1s
disk = 0.0001%
command = /bin/sh -c "cat >/dev/null; test ! -e {fails}"
"""
    query = "SELECT id, closed_ns FROM alerts WHERE code = 'SINK_FAILING'"
    known = None
    for end in (signal.SIGTERM, signal.SIGKILL, None):
        daemon = folder.start(harness.Daemon(path, replay, config))
        daemon.wait_status(lambda s: s["alert_sinks"]["sinks"] and s["alert_sinks"]["sinks"][0]["failed"] >= 5, "attempts that fail")
        found = harness.wait_for(lambda: daemon.query(query), "the alert")
        known = known or found
        assert found == known and found[0][1] is None, (found, known)
        if end:
            daemon.stop(end)
    os.unlink(fails)
    harness.wait_for(lambda: daemon.query(query)[0][1], "its end")
    assert len(daemon.query(query)) == 1 and daemon.stop() == 0
    print("still failing: one alert over three runs", flush=True)


def without(folder):
    """`alerts list` while the database is gone is the daemon's; a failed backup's alert is over in a state without its outcome."""
    path = folder.within("without")
    replay = folder.start(harness.Replay(path, "--synthetic", "5", "--symbols", "1", "--rate", "20"))
    config = "[market]\nsymbols = BTCUSDT\ninterval = 1s\nhistory = 5\n[alerts]\ndisk = 0.0001%\n"
    daemon = folder.start(harness.Daemon(path, replay, config))
    daemon.wait_status(lambda s: s["alerts_open"] > 0, "an alert")
    harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts"), "an alert that is stored")  # the status has only what is not
    database = os.path.join(daemon.state, "papertape.db")
    os.rename(database, database + ".away")
    shown = daemon.papertape("alerts", "list", status=1)
    assert "cannot be read" in shown and "more are open" in shown and "alert" in shown.split("\n")[0], shown
    assert "makes it" not in shown + daemon.papertape("orders", status=1), shown
    os.rename(database + ".away", database)
    outcome = os.path.join(daemon.state, "backup.json")
    with open(outcome, "w") as file:
        json.dump({"schema": "papertape.backup_outcome/1", "ok": False, "error": "no room", "end_ns": 1}, file)
    query = "SELECT closed_ns FROM alerts WHERE code = 'BACKUP_FAILED'"
    harness.wait_for(lambda: daemon.query(query), "the alert of the backup")
    assert daemon.stop() == 0
    os.unlink(outcome)
    daemon = folder.start(harness.Daemon(path, replay, config))
    daemon.status_object()
    harness.wait_for(lambda: daemon.query(query)[0][0], "its end")
    assert daemon.stop() == 0
    print("without: the database, and an outcome", flush=True)


def write(daemon, text):
    with open(daemon.config, "w") as file:
        file.write(text)


def quiet(folder):
    """Quiet hours hold what is no error, until they end: here by a reload, which also adds and removes sinks."""
    web = receivers.Web()
    now = time.localtime()
    start = (60 * now.tm_hour + now.tm_min - 5) % 1440
    end = (start + 120) % 1440
    plain = f"[market]\nsymbols = BTCUSDT\n[alerts]\nretry_s = 0.3\nclock_offset = 1s\ndisk = 0.0001%\ndisk_critical = {{critical}}\nwebhook = http://127.0.0.1:{web.port}/one\n"
    held = plain + f"quiet = {start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}\n"
    replay = folder.start(harness.Replay(folder.within("quiet-venue"), "--synthetic", "5", "--symbols", "1", "--rate", "5", "--fault", "clock:+3s"))
    daemon = folder.start(harness.Daemon(folder.path, replay, held.format(critical="off"), name="quiet", state="quiet"))
    daemon.wait_status(lambda s: s["symbols"] and s["alert_sinks"]["sinks"] and s["alert_sinks"]["sinks"][0]["held"] >= 2, "notices that are held")
    assert not web.taken, web.taken
    return web, daemon, plain, held


def released(folder):
    web, daemon, plain, held = quiet(folder)
    other = f"webhook.two = http://127.0.0.1:{web.port}/two\nwebhook_severity.two = error\n"
    write(daemon, held.format(critical="0.001%") + other)
    said = daemon.papertape("reload")
    assert "webhook.two = http://127.0.0.1" in said and "/two" not in said, said
    harness.wait_for(lambda: {path for path, _, _ in web.taken} == {"/one", "/two"}, "the error, at both sinks")
    assert all(json.loads(body)["severity"] == "error" for _, _, body in web.taken), web.taken
    write(daemon, plain.format(critical="0.001%"))
    assert "webhook.two" in daemon.papertape("reload")
    status = daemon.wait_status(lambda s: [x["pending"] for x in s["alert_sinks"]["sinks"]] == [0], "one sink, and nothing pending")
    assert status["alert_sinks"]["sinks"][0]["held"] == 0
    got = numbered(request for request in web.taken if request[0] == "/one")
    assert len(got) == len(set(got)) and {severity for _, _, severity in got} >= {"warning", "error"}, got
    assert daemon.stop() == 0
    web.close()


def killed(folder):
    """A kill -9 again and again while notices are delivered: each is, and at most one a kill twice, with the same key."""
    rounds, generator = (60 if harness.LONG else 5), random.Random(int(os.environ.get("PAPERTAPE_SEED", "7")))
    web = receivers.Web(lambda path, headers, body: (time.sleep(0.004), (200, {}))[1])
    good = f"""[alerts]
retry_s = 0.3
disk = off
webhook = http://127.0.0.1:{web.port}/
"""
    replay = folder.start(harness.Replay(folder.within("killed-venue"), "--synthetic", "5", "--symbols", "1", "--rate", "20"))
    for turn in range(rounds):
        daemon = folder.start(harness.Daemon(folder.path, replay, good + "[market]\nsymbols = BTCUSDT\ninterval = 1s\nhistory = 5\n",
                                             name="killed", state="killed"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"], "prices")
        with open(daemon.config) as file:
            text = file.read()
        for _ in range(generator.randrange(1, 6)):
            write(daemon, text + "nonsense = 1\n")
            daemon.papertape("reload", status=1)
            write(daemon, text)
            daemon.papertape("reload")
        time.sleep(generator.random() * 0.02)
        if turn < rounds - 1:
            daemon.popen.kill()
            daemon.popen.wait()
    daemon.wait_status(lambda s: s["alert_sinks"]["sinks"][0]["pending"] == 0, "the queue is empty")
    assert daemon.stop() == 0
    got = numbered(web.taken)
    counts = collections.Counter(headers["Idempotency-Key"] for _, headers, _ in web.taken)
    twice = sum(n - 1 for n in counts.values())
    stored = daemon.query("SELECT id FROM alerts WHERE code = 'reload-refused' AND closed_ns IS NOT NULL")
    missing = [number for number, in stored if not {"raised", "recovered"} <= {state for a, state, _ in got if a == number}]
    assert not missing and twice <= rounds - 1, (missing, twice, rounds)
    assert len(set(counts)) == len(set(got)), "a key for each notice"
    web.close()
    print(f"killed: {rounds - 1} kills, {len(set(got))} notices, {twice} of them twice", flush=True)


def summary(folder):
    """A daily summary once its minute begins, by this machine's clock, and not again after a restart."""
    web = receivers.Web()
    at = time.localtime(time.time() + 60 if time.localtime().tm_sec < 50 else time.time() + 120)
    replay = folder.start(harness.Replay(folder.within("summary-venue"), "--synthetic", "5", "--symbols", "1", "--rate", "5"))
    config = f"[market]\nsymbols = BTCUSDT\n[alerts]\nwebhook = http://127.0.0.1:{web.port}/\nsummary = daily\nsummary_at = {at.tm_hour:02}:{at.tm_min:02}\n"
    for _ in range(2):
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name="summary", state="summary"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"], "prices")
        harness.wait_for(lambda: any(json.loads(body)["rule"] == "summary" for _, _, body in web.taken), "the summary")
        assert daemon.stop() == 0
    said = [json.loads(body) for _, _, body in web.taken if json.loads(body)["rule"] == "summary"]
    assert len(said) == 1 and re.match(r"main 10000.00 USDT \(\+0.00 today, 0.0 % below its highest\); \d+ fills since the start, ", said[0]["text"]), said
    assert said[0]["id"] == 0 and said[0]["severity"] == "info", said
    web.close()
    print("summary:", said[0]["text"], flush=True)


def main():
    with harness.Folder() as folder:
        harness.together(folder, kinds, endless, down, still_failing, without, killed, released, *([summary] if harness.LONG else []))


if __name__ == "__main__":
    main()
