#!/usr/bin/env python3
"""Anchors of a daemon's books: a line at the start and at each clean stop, signed and stamped, which openssl verifies by itself;
`papertape ledger verify --anchor` accepts them, calls later rows unattested, and names the first one that does not hold once the
event log is deleted, a line altered, or another key or authority asked for. Places and keys that protect nothing are refused."""

import base64
import http.server
import json
import os
import shutil
import stat
import subprocess
import threading

import harness

ACCOUNTS = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 10
[engine]
latency_ms = 0
[account hand]
cash = 100000
strategy = none
"""
TSA = """[tsa]
default_tsa = it
[it]
serial = {0}/serial
signer_cert = {0}/tsa.pem
certs = {0}/ca.pem
signer_key = {0}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def at(folder, name):
    return os.path.join(folder.path, name)


def openssl(*arguments):
    return harness.run(["openssl", *arguments])


def make_key(folder, name):
    """A pair: PEM for its owner alone, and the public one."""
    key, public = at(folder, f"{name}.key"), at(folder, f"{name}.pub")
    openssl("genpkey", "-algorithm", "ed25519", "-out", key)
    os.chmod(key, 0o600)
    openssl("pkey", "-in", key, "-pubout", "-out", public)
    return key, public


class Authority:
    """openssl ts behind HTTP on the loopback, with a certificate of its own authority."""

    def __init__(self, path):
        os.mkdir(path)
        self.path, self.ca, self.answers = path, f"{path}/ca.pem", 0
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{path}/ca.key", "-out", self.ca,
                "-subj", "/CN=authority", "-days", "30")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{path}/tsa.key", "-out", f"{path}/tsa.csr", "-subj", "/CN=tsa")
        self.write("ext", "extendedKeyUsage = critical, timeStamping\n")
        openssl("x509", "-req", "-in", f"{path}/tsa.csr", "-CA", self.ca, "-CAkey", f"{path}/ca.key", "-CAcreateserial", "-days", "30", "-extfile", f"{path}/ext",
                "-out", f"{path}/tsa.pem")
        self.write("serial", "01\n")
        self.write("ts.conf", TSA.format(path))
        authority = self

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                query = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/timestamp-query"
                reply = authority.reply(query)
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/tsr"

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def reply(self, query):
        with open(f"{self.path}/query", "wb") as file:
            file.write(query)
        openssl("ts", "-reply", "-config", f"{self.path}/ts.conf", "-queryfile", f"{self.path}/query", "-out", f"{self.path}/reply")
        self.answers += 1
        with open(f"{self.path}/reply", "rb") as file:
            return file.read()


def verify(state, *arguments, status=0):
    done = subprocess.run([harness.PAPERTAPE, "ledger", "verify", "--state", state, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done)
    return done.stdout if status == 0 else done.stderr


def lines_of(path):
    with open(path) as file:
        return file.read().splitlines()


def parts(line):
    """The signed text, the signature, the stamped text and the stamp, without papertape."""
    body = json.loads(line)
    stamped = line.partition(',"stamp":"')[0] + "}"
    return stamped.partition(',"signature":"')[0] + "}", base64.b64decode(body["signature"]), stamped, base64.b64decode(body["stamp"])


def check_by_openssl(folder, line, public, authority):
    signed, signature, stamped, stamp = parts(line)
    names = {}
    for name, data in (("text", signed.encode()), ("signature", signature), ("stamped", stamped.encode()), ("stamp", stamp)):
        names[name] = at(folder, f"part.{name}")
        with open(names[name], "wb") as file:
            file.write(data)
    openssl("pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", names["text"], "-sigfile", names["signature"])
    openssl("ts", "-verify", "-data", names["stamped"], "-in", names["stamp"], "-CAfile", authority.ca)


def trade(daemon):
    daemon.frames("BTCUSDT", "bookTicker", 2)
    before = daemon.query("SELECT count(*) FROM fills")[0][0]
    assert harness.control(daemon, "order", {"account": "hand", "symbol": "BTCUSDT", "side": "buy", "qty": "0.01"})["ok"]
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM fills")[0][0] > before, "a fill")


def start(folder, replay, more, name="daemon", state="state", **kwargs):
    return folder.start(harness.Daemon(folder.path, replay, ACCOUNTS + "[ledger]\n" + more, name=name, state=state, **kwargs))


def test_anchored(folder, replay, authority):
    """Two runs: the books hold what every line attests."""
    key, public = make_key(folder, "own")
    path = at(folder, "logs/anchors")
    os.makedirs(os.path.dirname(path))
    config = f"anchor = {path}\nkey = {key}\ntimestamp_url = {authority.url}\n"
    for run in (1, 2):
        daemon = start(folder, replay, config, name=f"anchored{run}")
        harness.wait_for(lambda: os.path.exists(path) and len(lines_of(path)) == 2 * run - 1, "the line of the start")
        trade(daemon)
        assert daemon.stop() == 0
    lines = lines_of(path)
    assert [json.loads(line)["occasion"] for line in lines] == ["start", "stop", "start", "stop"] and authority.answers == 4
    assert stat.S_IMODE(os.stat(path).st_mode) & 0o007 == 0
    for line in lines:
        check_by_openssl(folder, line, public, authority)
    last = json.loads(lines[-1])
    fills = next(t for t in last["tables"] if t["table"] == "fills")
    assert [(fills["rows"], fills["last"])] == daemon.query("SELECT count(*), max(id) FROM fills") and last["log"]["last_seq"] >= last["event_seq"] > 0, last
    held = verify(daemon.state, "--anchor", path, "--key", public, "--tsa", authority.ca)
    assert "anchors: 4 hold" in held and "signatures are of this key; 4 stamped" in held and held.endswith("unattested: no row\n"), held
    return daemon.state, path, public, config


def test_later(folder, state, path, public):
    """Rows that are later than the newest anchor given are called so; all are without one."""
    early = at(folder, "early")
    with open(early, "w") as file:
        file.write("\n".join(lines_of(path)[:2]) + "\n")
    words = verify(state, "--anchor", early, "--key", public)
    ranges = {}
    for table in ("orders", "fills", "ledger"):
        before = next(t["last"] for t in json.loads(lines_of(early)[1])["tables"] if t["table"] == table)
        ranges[table] = (before + 1, harness.query(f"{state}/papertape.db", f"SELECT max(id) FROM {table}")[0][0])
    expected = "unattested: " + ", ".join(f"{table} {first} to {last}" for table, (first, last) in ranges.items())
    assert expected in words and ": later than the newest anchor\n" in words, (expected, words)
    assert "unattested: every row: no anchor was given (--anchor FILE)\n" in verify(state)
    found = json.loads(verify(state, "--json", "--anchor", early, "--key", public))
    assert found["ok"] and found["anchors"]["anchors"] == 2 and {"table": "fills", "first": ranges["fills"][0], "last": ranges["fills"][1]} in found["unattested"], found
    assert json.loads(verify(state, "--json"))["anchors"] is None


def copied(folder, state, name):
    to = at(folder, name)
    shutil.copytree(state, to, ignore=lambda _, names: [n for n in names if n.endswith(".sock")])
    return to


def test_broken(folder, state, path, public, authority):
    """What does not hold is named by file and line."""
    lines = lines_of(path)
    other_key, other_public = make_key(folder, "other")
    bad = at(folder, "bad")

    def refused(words, line, *arguments, state=state, file=path):
        said = verify(state, "--anchor", file, *arguments, status=1)
        assert f"papertape: ledger verify: anchor {file}:{line}" in said and words in said, said

    refused("its signature is not of this key", 1, "--key", other_public)
    refused("its stamp: ", 1, "--tsa", Authority(at(folder, "stranger")).ca)
    without_log = copied(folder, state, "without-log")
    shutil.rmtree(os.path.join(without_log, "events"))
    first = next(n for n, line in enumerate(lines, 1) if json.loads(line)["event_seq"])  # a log that had events
    refused("the event log is gone: it attests events up to", first, "--key", public, state=without_log)
    forged = copied(folder, state, "forged")
    harness.run(["python3", "-c", "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(\"UPDATE ledger SET amount = amount * 100 WHERE id = 1\"); db.commit()",
                 f"{forged}/papertape.db"])
    refused("ledger: rows 1 to ", 1, "--key", public, state=forged)
    assert "was altered" in verify(forged, status=1)
    with open(bad, "w") as file:
        file.write(f"{lines[0]}\n" + lines[1].replace('"rows":', '"rows":1') + "\n")
    refused("its signature is not of this key", 2, "--key", public, file=bad)
    with open(bad, "w") as file:
        file.write(f"{lines[1]}\n{lines[0]}\nanother line\n")
    refused("it is older than line 1 before it", 2, "--key", public, file=bad)
    with open(bad, "w") as file:
        file.write(f"{lines[1]}\nanother line\n")
    refused(": is no anchor", 2, file=bad)
    head = harness.run([harness.PAPERTAPE, "ledger", "head", "--state", state, "--sign", other_key]).stdout
    with open(bad, "w") as file:
        file.write(head)
    assert "anchors: 1 hold" in verify(state, "--anchor", bad, "--key", other_public)
    with open(bad, "w") as file:
        file.write(harness.run([harness.PAPERTAPE, "ledger", "head", "--state", state]).stdout)
    refused("it has no signature", 1, "--key", other_public, file=bad)
    os.chmod(other_key, 0o640)
    done = harness.run([harness.PAPERTAPE, "ledger", "head", "--state", state, "--sign", other_key], status=1)
    assert "others may read it (mode 0640): mode 0600 is needed" in done.stderr, done
    done = harness.run([harness.PAPERTAPE, "ledger", "verify", "--state", state, "--key", public], status=2)
    assert "--anchor" in done.stderr, done


def test_killed(folder, replay, config, state, path, public):
    """After a kill its rows are unattested, and the next start anchors them."""
    daemon = start(folder, replay, config, name="killed")
    harness.wait_for(lambda: len(lines_of(path)) == 5, "the line of the start")
    trade(daemon)
    daemon.popen.kill()
    daemon.popen.wait()
    assert "unattested: orders 3 to 3, fills " in verify(state, "--anchor", path, "--key", public)
    daemon = start(folder, replay, config, name="again")
    harness.wait_for(lambda: len(lines_of(path)) == 6, "the line of the start")
    assert daemon.stop() == 0
    assert verify(state, "--anchor", path, "--key", public).endswith("unattested: no row\n")


def test_places(folder, replay):
    """A command and the journal get the line; without an authority it has no stamp, and an alert says so."""
    got = at(folder, "got")
    daemon = start(folder, replay, f"anchor = exec:sh -c 'cat >>{got}'\ntimestamp_url = http://127.0.0.1:9/\n", name="command", state="command")
    daemon.status_object()
    alert = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'anchor'"), "the alert")
    assert alert[0][0].startswith("an anchor has no stamp: timestamp_url: "), alert
    assert daemon.stop() == 0
    assert [json.loads(line)["occasion"] for line in lines_of(got)] == ["start", "stop"]
    assert "anchors: 2 hold" in verify(daemon.state, "--anchor", got)
    entries = harness.Journal(folder.path, "journal")
    daemon = start(folder, replay, "anchor = journal\n", name="journal", state="journal", env={**os.environ, **entries.environment})
    entries.wait("anchor", "the line of the start")
    assert daemon.stop() == 0
    harness.wait_for(lambda: len(entries.of("anchor")) == 2, "the line of the stop")
    with open(got, "w") as file:
        file.write("".join(entry["MESSAGE"] + "\n" for entry in entries.of("anchor")))
    assert "anchors: 2 hold" in verify(daemon.state, "--anchor", got)


def test_refusals(folder):
    """Each in one line that says what would be right; nothing starts."""
    state, outside = at(folder, "refused"), at(folder, "outside")
    os.makedirs(f"{state}/sub")
    os.mkdir(outside)
    os.symlink(f"{state}/sub", at(folder, "link"))
    key, _ = make_key(folder, "open")
    rsa = at(folder, "rsa.key")
    openssl("genpkey", "-algorithm", "rsa", "-out", rsa)
    os.chmod(rsa, 0o600)
    os.chmod(key, 0o644)
    inside = "is inside the state directory"
    cases = [
        (f"anchor = {state}/anchors", inside), (f"anchor = {outside}/../refused/sub/anchors", inside),
        (f"anchor = {at(folder, 'link')}/anchors", inside), (f"anchor = {at(folder, 'absent')}/anchors", "its folder: No such file"),
        ("anchor = anchors", "a path that begins with a slash, journal, or exec:COMMAND is needed"),
        ("anchor = exec:", "behind exec: a program and its arguments"), (f"anchor = {outside}/", "a file is needed, not a folder"),
        (f"anchor = {outside}/a\nkey = {key}", "others may read it (mode 0644)"),
        (f"anchor = {outside}/a\nkey = {rsa}", "an Ed25519 private key in PEM"),
        (f"anchor = {outside}/a\nkey = absent", "there is no credential"),
        (f"anchor = {outside}/a\ntimestamp_url = ftp://host/", "a URL like https://HOST/PATH is needed"),
        (f"key = {key}", "anchor is empty: nothing is signed"), ("timestamp_url = http://host/", "anchor is empty: nothing is stamped"),
    ]
    for text, words in cases:
        path = at(folder, "refused.ini")
        with open(path, "w") as file:
            file.write(ACCOUNTS + f"[ledger]\n{text}\n")
        started = words in ("there is no credential", "its folder: No such file")  # what --check-config cannot know
        for more in ([], ["--check-config"])[:1 if started else 2]:
            done = subprocess.run([harness.DAEMON, "--config", path, "--state", state, *more], capture_output=True, text=True, timeout=60)
            assert done.returncode == 2 and words in done.stderr, (text, done)


def main():
    if not shutil.which("openssl"):
        harness.skip("no openssl")
    with harness.Folder() as folder:
        authority = Authority(at(folder, "authority"))
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--speed", "60"))
        state, path, public, config = test_anchored(folder, replay, authority)
        test_later(folder, state, path, public)
        test_broken(folder, state, path, public, authority)
        test_killed(folder, replay, config, state, path, public)
        test_places(folder, replay)
        test_refusals(folder)


if __name__ == "__main__":
    main()
