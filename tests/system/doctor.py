#!/usr/bin/env python3
"""papertape doctor: finds nothing on a healthy machine, with a daemon, after one and before the first; names each fault that
is made here; writes nothing. Faults that need a mount or root are skipped where those are not to be had."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import harness
import trained_three_ways as trained

CHECKS = ["versions", "clock", "space", "disk", "permissions", "daemon", "sinks", "gpu", "network", "certificates", "unit", "database",
          "ledger", "events", "backup", "configuration", "symbols"]
CONFIG = """[market]
symbols = {symbols}
interval = 1s
history = 5
ws_url = {ws_url}
rest_url = {rest_url}
ca_file = {ca_file}
[account main]
strategy = {strategy}
{more}"""
UNREACHABLE = {"ws_url": "wss://127.0.0.1:1", "rest_url": "https://127.0.0.1:1"}
skipped = []


def doctor(state, *arguments, status=0, prefix=()):
    """Its checks and what it skipped; the exit status is 1 exactly with an error."""
    done = subprocess.run([*prefix, harness.PAPERTAPE, "doctor", "--json", "--state", state, *arguments], capture_output=True,
                          text=True, timeout=harness.PATIENCE)
    report = json.loads(done.stdout)
    status = done.returncode if status is None else status
    assert done.returncode == status in (0, 1), (arguments, done.returncode, done.stdout, done.stderr)
    assert report["schema"] == "papertape.doctor/1" and not done.stderr, report
    assert any(c["state"] == "error" for c in report["checks"]) == (status == 1), report
    for check in report["checks"]:
        assert check.keys() == {"name", "state", "text", "remedy"} and check["text"], check
        assert check["state"] in ("ok", "warning", "error") and check["name"] in CHECKS, check
        assert (check["remedy"] is not None) == (check["state"] != "ok"), check
    return report


def finds(state, check, severity, words, *arguments, prefix=()):
    """One check of it: the finding that has these words; no other name comes. A check that a busy machine kept from its answer is
    made again."""
    reports = []

    def answered():
        report = doctor(state, check, *arguments, status=None, prefix=prefix)
        reports.append(report)
        return not any("no answer within" in c["text"] for c in report["checks"]) or "no answer" in words
    harness.wait_for(answered, "an answer of the check")
    report = reports[-1]
    assert any(c["state"] == "error" for c in report["checks"]) == (severity == "error"), report
    found = [c for c in report["checks"] if c["state"] != "ok"]
    assert all(c["name"] == check for c in report["checks"] + report["skipped"]), report
    match = [c for c in found if c["state"] == severity and re.search(words, c["text"])]
    assert match, (check, severity, words, report)
    return match[0]


def write_config(folder, name, replay, **changes):
    path = os.path.join(folder, f"{name}.ini")
    values = {"symbols": "BTCUSDT", "strategy": "none", "more": "", "ca_file": replay.ca} | replay.urls | changes
    with open(path, "w") as file:
        file.write(CONFIG.format(**values))
    return path


@contextlib.contextmanager
def copied(state, name):
    """The state again, to be damaged."""
    copy = f"{state}-{name}"
    shutil.copytree(state, copy, symlinks=True)
    os.chmod(copy, 0o750)
    yield copy
    shutil.rmtree(copy)


def contents(state):
    """Every file with its size and time, except what SQLite's readers share."""
    found = {}
    for folder, _, names in os.walk(state):
        for name in names:
            if not name.endswith("-shm"):
                info = os.lstat(os.path.join(folder, name))
                found[os.path.relpath(os.path.join(folder, name), state)] = (info.st_size, info.st_mtime_ns)
    return found


def measured_slow(check):
    """A disk that other processes keep busy meanwhile: by the check's own numbers, which must be past its limits as shown."""
    found = re.search(r": writes (\d+) MiB/s, syncs in ([\d.]+) ms \(median ", check["text"])
    return check["name"] == "disk" and check["state"] == "warning" and (int(found[1]) <= 2 or float(found[2]) >= 200)


def healthy(report):
    """Nothing but ok, as far as this machine's disk has time."""
    for check in report["checks"]:
        if check["name"] == "clock" and check["text"].startswith("not synchronised by NTP"):  # fine where a venue's clock is known
            assert check["state"] == "ok" or any(s["name"] == "clock" for s in report["skipped"]), report
        else:
            assert check["state"] == "ok" or measured_slow(check), check


# ---- healthy ----

def before_the_first(folder, config):
    """No state: what needs one is skipped, with the reason, and nothing is made."""
    state = os.path.join(folder, "absent")
    report = doctor(state, "--config", config)
    healthy(report)
    reasons = {s["name"]: s["text"] for s in report["skipped"]}
    assert reasons["permissions"] == "there is no state yet" and reasons["ledger"] == "there is no database yet", reasons
    assert not os.path.exists(state)


def beside_a_daemon(daemon):
    report = doctor(daemon.state)
    healthy(report)
    texts = {c["name"]: c["text"] for c in report["checks"]}
    assert texts["daemon"].startswith(f"it runs, pid {daemon.popen.pid},"), texts
    assert texts["configuration"] == f"{daemon.config}, that of the running daemon", texts
    assert "the daemon's stream is ok" in " ".join(c["text"] for c in report["checks"] if c["name"] == "network")
    assert {c["name"] for c in report["checks"]} | {"unit", "backup"} == set(CHECKS), texts
    assert texts["sinks"] == "no sink is configured: no alert leaves the machine", texts
    assert report["system"]["papertape"] and report["system"]["daemon"] == report["system"]["papertape"], report["system"]
    assert "SQLite" in report["system"]["libraries"] and report["system"]["kernel"].startswith("Linux"), report["system"]


def says_of_itself(daemon):
    """A sink that fails; a place of [metrics] that another program has refuses the reload."""
    with open(daemon.config) as file:
        before = file.read()

    def reload(more, status=0):
        with open(daemon.config, "w") as file:
            file.write(before + more)
        daemon.papertape("reload", status=status)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        sink = "[alerts]\nwebhook = http://127.0.0.1:1/\n"
        reload(sink)
        reload(f"{sink}[metrics]\nlisten = {place}\n", status=1)
        daemon.wait_status(lambda s: [sink["state"] for sink in s["alert_sinks"]["sinks"]] == ["failing"], "a notice that is not accepted")
        found = finds(daemon.state, "sinks", "warning", r"^webhook: fails for \d+ s: .*; [1-9]\d* notices wait$")
        assert found["remedy"] == "papertape alerts test webhook", found
    reload("")


def after_one(daemon):
    """Nothing is written; every check is in the text, too."""
    before = contents(daemon.state)
    healthy(doctor(daemon.state, "--config", daemon.config))
    assert contents(daemon.state) == before
    text = daemon.papertape("doctor", "--offline", "--config", daemon.config)
    assert re.search(r"^skipped  network +--offline$", text, re.M), text
    assert re.search(r"^ok \d+, warning \d+, error 0, skipped \d+$", text, re.M), text


def names_of_checks(state):
    done = subprocess.run([harness.PAPERTAPE, "doctor", "spcae", "--state", state], capture_output=True, text=True)
    assert done.returncode == 2 and "did you mean space?" in done.stderr, done.stderr


def descriptors_on(state, pids):
    """Files without a name below the state, which these processes have open."""
    found = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    target = os.readlink(f"/proc/{pid}/fd/{fd}")
                    if target.startswith(state + "/") and target.endswith("(deleted)"):
                        found.append(target)
    return found


def children_of(pid):
    with contextlib.suppress(FileNotFoundError):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    return []


def ended_by_a_signal(state, folder):
    """While it writes its scratch file, which is slow here: nothing is left, of files or processes."""
    slow = os.path.join(folder, "slow-sync")
    with open(slow, "w") as file:
        file.write("100 (deleted)")
    before = contents(state)
    env = os.environ | {"LD_PRELOAD": harness.SLOW_SYNC, "SLOW_SYNC": slow,
                        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    for number in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen([harness.PAPERTAPE, "doctor", "disk", "--state", state], env=env, stdout=subprocess.DEVNULL)
        harness.wait_for(lambda: descriptors_on(state, children_of(process.pid)), "the scratch file")
        children = children_of(process.pid)
        process.send_signal(number)
        assert process.wait(harness.PATIENCE) == -number
        harness.wait_for(lambda: not descriptors_on(state, children), "the end of its check")
        assert contents(state) == before


# ---- faults of the state ----

def loose_modes(state, folder, replay):
    with copied(state, "loose") as copy:
        os.chmod(copy, 0o777)
        assert finds(copy, "permissions", "error", r"every user may write in it \(mode 0777\)")["remedy"] == f"chmod 0750 {copy}"
        os.chmod(copy, 0o750)
        os.chmod(f"{copy}/papertape.db", 0o666)
        finds(copy, "permissions", "error", r"papertape\.db: every user may write in it")
        os.chmod(f"{copy}/papertape.db", 0o640)
        keys = harness.write_keys(folder, "loose-keys", "a-secret-of-mine")
        os.chmod(keys, 0o644)
        config = write_config(folder, "keys", replay, more=f"[venue binance]\nkeys = {keys}\n")
        found = finds(copy, "permissions", "error", r"loose-keys: others may read it \(mode 0644\)", "--config", config)
        assert "a-secret-of-mine" not in json.dumps(found)


def wrong_owner(state):
    if os.geteuid() != 0:
        skipped.append("wrong owner: not root")
        return
    with copied(state, "owner") as copy:
        os.chown(f"{copy}/papertape.db", 12345, -1)
        found = finds(copy, "permissions", "error", r"papertape\.db: belongs to 12345, the state to ")
        assert found["remedy"].startswith("chown -hR "), found


def others_secrets(state, folder, replay):
    """Root beside the service: what is another user's to read is no fault of the configuration."""
    if os.geteuid() != 0:
        skipped.append("the secrets of another user: not root")
        return
    token = os.path.join(folder, "token")
    with open(token, "w") as file:
        file.write("a-secret-of-mine\n")
    os.chmod(token, 0o600)
    config = write_config(folder, "token", replay, more=f"[alerts]\nwebhook.ops = https://example.org/\nwebhook_token.ops = {token}\n")
    with copied(state, "secrets") as copy:
        subprocess.run(["chown", "-R", "12345", copy, token], check=True)
        report = doctor(copy, "configuration", "permissions", "--config", config)
        assert [c["state"] for c in report["checks"]] == ["ok", "ok"] and not report["skipped"], report
        os.chmod(token, 0o644)
        finds(copy, "permissions", "error", r"^\[alerts\] webhook_token\.ops: .*/token: others may read it \(mode 0644\)$", "--config", config)
        os.unlink(token)
        finds(copy, "permissions", "error", r"^\[alerts\] webhook_token\.ops: .*/token: No such file", "--config", config)


def eyes_of_the_service(state, folder, replay):
    """Root sees what the state's owner may not read: the configuration, certificates, a policy, the state itself."""
    if os.geteuid() != 0:
        skipped.append("what the daemon's user may read: not root")
        return
    closed = os.path.join(folder, "closed")
    os.mkdir(closed, 0o700)
    ca, policy = os.path.join(closed, "ca.pem"), os.path.join(closed, "p.safetensors")
    shutil.copy(replay.ca, ca)
    shutil.copy(trained.policy(os.path.join(folder, "own.safetensors"), "eyes", interval="1s", symbols=trained.SYMBOLS[:1]), policy)
    more = f"[account other]\npolicy = {policy}\n[alerts]\nca_file = {ca}\n"
    config = write_config(folder, "eyes", replay, ca_file=ca, more=more)
    with copied(state, "eyes") as copy:
        subprocess.run(["chown", "-R", "12345:12345", copy], check=True)
        os.chown(f"{copy}/policies", 0, 0)
        os.chmod(f"{copy}/policies", 0o755)
        for words in (r"^\[market\] ca_file: .*/closed/ca\.pem: the daemon's user 12345 may not read it: Permission denied$",
                      r"^\[alerts\] ca_file: ", r"^\[account other\] policy: .*/closed/p\.safetensors: the daemon's user 12345 may not read it",
                      r"/policies: the daemon's user 12345 may not write in it"):
            assert "namei -l " in finds(copy, "permissions", "error", words, "--config", config)["remedy"]


def credentials(state, folder, replay):
    """A running unit that was started without the one that is named; a unit that does not run and will not find it."""
    config = write_config(folder, "credential", replay, more="[venue binance]\nkeys = hush\n")
    empty = os.path.join(folder, "credentials")
    os.mkdir(empty)
    words = r"^\[venue binance\] keys = hush: "
    finds(state, "permissions", "error", words + "the unit was started without such a credential$", "--config", config,
          prefix=["env", f"CREDENTIALS_DIRECTORY={empty}"])
    if os.geteuid() == 0:
        found = finds(state, "permissions", "warning", words + "there is no such credential", "--config", config)
        assert found["remedy"] == ("install -m 0600 /dev/stdin /etc/credstore/hush: two lines, id and secret; "
                                   "systemctl edit papertaped: [Service], LoadCredential=hush; systemctl restart papertaped"), found


def places_taken(state, folder, replay):
    """Another process at a place of [metrics], named; a file that is no socket."""
    with copied(state, "places") as copy, socket.socket() as taken, socket.socket(socket.AF_UNIX) as other:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        other.bind(f"{copy}/m.sock")
        other.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        config = write_config(folder, "taken", replay, more=f"[metrics]\nsocket = m.sock\nlisten = {where}\n")
        who = rf"process {os.getpid()} \(.*\) listens there$"
        finds(copy, "daemon", "error", rf"^\[metrics\] listen = {re.escape(where)}: {who}", "--config", config)
        finds(copy, "daemon", "error", rf"^\[metrics\] socket = m\.sock: {who}", "--config", config)
        config = write_config(folder, "nosocket", replay, more="[metrics]\nsocket = papertape.db\n")
        finds(copy, "daemon", "error", r"papertape\.db is no socket, and is not replaced$", "--config", config)


def not_seen(state, folder, replay):
    """A process at the control socket that says nothing is a daemon that hangs, also to who may not open the lock; and one at a place
    of [metrics] whose /proc/PID/fd this user may not see may be that daemon."""
    proc = os.path.join(folder, "proc")
    os.makedirs(os.path.join(proc, "net"))
    prefix = ["env", f"PAPERTAPE_PROCFS={proc}"]
    words = r"m\.sock: a process that cannot be seen listens there"
    with copied(state, "silent") as copy, socket.socket(socket.AF_UNIX) as hangs, socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{copy}/m.sock")
        other.listen()
        shutil.copyfile("/proc/net/unix", os.path.join(proc, "net/unix"))
        config = write_config(folder, "silent", replay, more="[metrics]\nsocket = m.sock\n")
        finds(copy, "daemon", "error", words + "$", "--config", config, prefix=prefix)
        hangs.bind(f"{copy}/control.sock")
        hangs.listen()
        report = doctor(copy, "daemon", "--config", config, status=1, prefix=prefix)
        assert len(report["checks"]) == 1 and re.search(r"^a process is there, but does not answer: .* did not answer in 2 s$",
                                                        report["checks"][0]["text"]), report
        assert len(report["skipped"]) == 1 and re.search(words + ": is it the daemon\\?$", report["skipped"][0]["text"]), report
    config = write_config(folder, "six", replay, more="[metrics]\nlisten = 127.0.0.1:9480\n")
    for last, status in ((1, 0), (0, 1)):  # ::1 is another address, :: all of them
        with open(os.path.join(proc, "net/tcp6"), "w") as file:
            address = "0" * 24 + f"{int.from_bytes(bytes([0, 0, 0, last]), sys.byteorder):08X}"
            file.write(f"   0: {address}:{9480:04X} {'0' * 32}:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1\n")
        doctor(state, "daemon", "--config", config, status=status, prefix=prefix)


def wrong_clock(state, folder, behind, ahead):
    """By five seconds of the venue's."""
    for replay, words in ((behind, r"this clock is [45]\.\d+ s ahead"), (ahead, r"this clock is [45]\.\d+ s behind")):
        config = write_config(folder, "clock", replay)
        assert finds(state, "clock", "error", words, "--config", config)["remedy"]


def standing_clock(state, folder, standing, once):
    """A market that no process plays says nothing of this machine's clock; one that answers once is not known to stand."""
    config, reports = write_config(folder, "standing", standing), []

    def answered():
        reports.append(doctor(state, "clock", "--config", config))
        return not any("no answer within" in c["text"] for c in reports[-1]["checks"])
    harness.wait_for(answered, "an answer of the check")
    report = reports[-1]
    assert [s["text"] for s in report["skipped"]] == ["binance: its clock stands still: a replay that is not played?"], report
    finds(state, "clock", "error", r"this clock is \d+\.\d+ s ahead", "--config", write_config(folder, "once", once))


def stale_socket(state):
    with copied(state, "socket") as copy:
        for name in ("control.sock", "control-read.sock"):
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(f"{copy}/{name}")
            found = finds(copy, "daemon", "warning", rf"/{re.escape(name)}: a stale socket")
            assert found["remedy"].startswith(f"rm {copy}/{name}"), found


def backups(state, folder, replay):
    """None yet, one, an old one, one that failed, an outcome that is none."""
    with copied(state, "backup") as copy:
        assert [s["text"] for s in doctor(copy, "backup")["skipped"]] == ["there is no backup yet"]
        subprocess.run([harness.PAPERTAPE, "backup", f"{copy}.tar.zst", "--state", copy], check=True, capture_output=True)
        assert re.match(r"the last one succeeded, 20.*Z, 0\.0 days ago", doctor(copy, "backup")["checks"][0]["text"])
        with open(f"{copy}/backup.json") as file:
            outcome = json.load(file)

        def wrote(text):
            with open(f"{copy}/backup.json", "w") as file:
                file.write(text)

        wrote(json.dumps(outcome | {"end_ns": outcome["end_ns"] - 2 * 86400 * 10**9}))
        assert "2.0 days ago" in doctor(copy, "backup")["checks"][0]["text"]
        config = write_config(folder, "backup_for", replay, more="[alerts]\nbackup_for = 36h\n")
        finds(copy, "backup", "warning", r"2\.0 days ago: expected within 1\.5 days$", "--config", config)
        wrote(json.dumps(outcome | {"end_ns": outcome["end_ns"] - 8 * 86400 * 10**9}))
        finds(copy, "backup", "warning", r"8\.0 days ago: expected within 7\.0 days$")
        wrote(json.dumps(outcome | {"ok": False, "error": "/srv: No space left on device"}))
        finds(copy, "backup", "error", "^the last one failed: /srv: No space left on device$")
        wrote("{")
        finds(copy, "backup", "warning", r"backup\.json: it does not say what became of the last one$")


def damaged_segment(state):
    with copied(state, "segment") as copy:
        oldest = sorted(name for name in os.listdir(f"{copy}/events") if name.endswith(".journal"))[0]
        with open(f"{copy}/events/{oldest}", "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size // 2)
            byte = file.read(1)
            file.seek(size // 2)
            file.write(bytes([byte[0] ^ 0x10]))
        finds(copy, "events", "error", re.escape(oldest))


def newer_schema(state):
    with copied(state, "schema") as copy:
        subprocess.run(["sqlite3", f"{copy}/papertape.db", "PRAGMA user_version = 9999"], check=True)
        finds(copy, "database", "error", "9999 is newer than")
        assert [s["name"] for s in doctor(copy, "ledger")["skipped"]] == ["ledger"]


def altered_row(state):
    with copied(state, "row") as copy:
        subprocess.run(["sqlite3", f"{copy}/papertape.db", "UPDATE ledger SET amount = amount + 1"], check=True)
        finds(copy, "database", "error", "ledger: row 1")
        finds(copy, "ledger", "error", "ledger: row 1")


def in_namespace(state, script, check, severity, words):
    """The check with mounts of its own, which end with it."""
    prefix = harness.with_mounts(script)
    if not harness.works(prefix):
        skipped.append(f"{check} ({words}): no mount is allowed here")
        return None
    return finds(state, check, severity, words, prefix=prefix)


def mounts(state, folder):
    small = os.path.join(folder, "small")
    os.mkdir(small)
    in_namespace(small, f"mount -t tmpfs -o size=16m none {small}", "space", "error", r"small: 0\.0 GiB free")
    in_namespace(small, f"mount -t tmpfs -o size=16g,nr_inodes=40 none {small}; for i in $(seq 38); do : >{small}/$i; done",
                 "space", "error", "of its inodes are used")
    in_namespace(state, harness.read_only(state), "disk", "error", "the file system is read-only")
    unit = os.path.join(harness.BUILD, "systemd/papertaped.service")
    place = "mount -t tmpfs none /etc/systemd/system"
    if shutil.which("systemd-analyze") and os.path.isdir("/etc/systemd/system"):
        in_namespace(state, f"{place}; printf '[Service]\\nExecStart=/bin/true\\n' >/etc/systemd/system/papertaped.service", "unit",
                     "error", r"exposure 9\.\d, expected at most 1\.6")
        report = doctor(state, "unit", prefix=harness.with_mounts(f"{place}; cp {unit} /etc/systemd/system/"))
        assert "exposure 1.6" in report["checks"][0]["text"], report


def instance(folder, replay):
    """Of papertaped@x: its unit in remedies, its configuration, its credentials; a candidate for it need not be readable yet."""
    file = re.search(r"\S+/papertaped\.ini", subprocess.run([harness.PAPERTAPE, "backup", "--help"], capture_output=True, text=True).stdout)[0]
    etc = os.path.dirname(os.path.dirname(file))
    if etc == "/etc" or not os.path.isdir(etc):
        skipped.append(f"an instance: nothing can be mounted on {etc}")
        return
    script = f"""mount -t tmpfs none /var/lib; mkdir -m 750 /var/lib/papertape-x; echo nonsense >/var/lib/papertape-x/papertape.db
        mount -t tmpfs none {etc}; mkdir {etc}/papertape; printf '[market]\\nnonsense = 1\\n' >{etc}/papertape/papertaped-x.ini"""
    found = in_namespace("@x", script, "database", "error", r"/papertape-x/papertape\.db: ")
    assert not found or found["remedy"].startswith("systemctl stop papertaped@x && "), found
    if not found:
        return
    within = harness.with_mounts(script)
    units = [s["text"] for s in doctor("@x", "unit", prefix=within)["skipped"]]
    assert len(units) == 4 and all(re.search(r"^papertape.*@x\.service is not installed$", text) for text in units), units
    finds("@x", "configuration", "error", rf"^{re.escape(etc)}/papertape/papertaped-x\.ini:2: ", prefix=within)
    config = write_config(folder, "candidate", replay, more="[venue binance]\nkeys = keys\n[alerts]\nwebhook = http://127.0.0.1:1/\n"
                          "webhook_token = slack\n")
    report = doctor("@x", "permissions", "--config", config, prefix=within)
    restart, remedies = "systemctl restart papertaped@x", [c["remedy"] for c in report["checks"]]
    assert f"install -m 0600 /dev/stdin /etc/credstore/papertape-x.keys: two lines, id and secret; {restart}" in remedies, report
    assert (f"install -m 0600 /dev/stdin /etc/credstore/slack: one line; systemctl edit papertaped@x: [Service], "
            f"LoadCredential=slack; {restart}") in remedies, report
    hidden = [c["text"] for c in report["checks"] if "the unit does not see it" in c["text"]]
    assert len(hidden) == folder.startswith("/tmp/") and not any("the configuration" in text for text in hidden), report


def devices(state, folder):
    """Two devices, and a module that uses one; a module that is none; a driver that has lost them; one that hangs."""
    settings = os.path.join(folder, "devices")
    nvml = {"PAPERTAPE_NVML": harness.FAKE_NVML, "PAPERTAPE_FAKE_NVML": settings}

    def found(setting="", module=harness.GPU_ON_CPU):
        with open(settings, "w") as file:
            file.write(setting)
        names = [f"{name}={value}" for name, value in (nvml | {"PAPERTAPE_GPU_MODULE": module}).items()]
        return {c["text"]: c["state"] for c in doctor(state, "gpu", prefix=["env", *names])["checks"]}

    assert found() == {"Fake 0, driver 999.42.01": "ok", "Fake 1, driver 999.42.01": "ok", "the GPU module uses the CPU": "ok"}
    assert [state for text, state in found(module="/dev/null").items() if "the CPU does the work" in text] == ["warning"]
    assert "warning" in found("fails=1\n").values()
    if harness.LONG:
        assert found("hang=1\n") == {"no answer within 7 s: a driver or a file system hangs": "warning"}


# ---- faults of the venue and of the configuration ----

def bad_configuration(state, folder, replay):
    config = write_config(folder, "unknown", replay, symbols="BTCUSDT, BTCUSDX")
    finds(state, "symbols", "error", rf"^{re.escape(config)}:2: \[market\] symbols: BTCUSDX: binance does not list it",
          "--config", config)
    config = write_config(folder, "strategy", replay, strategy="sma-corss")
    finds(state, "configuration", "error", rf"^{re.escape(config)}:9: \[account main\] strategy", "--config", config)
    reasons = {s["name"]: s["text"] for s in doctor(state, "network", "--config", config)["skipped"]}
    assert reasons == {"network": "the configuration has errors"}, reasons
    config = write_config(folder, "policy", replay, strategy="none", more="[account other]\npolicy = /nowhere.safetensors\n")
    finds(state, "configuration", "error", r":\d+: \[account other\] policy: /nowhere\.safetensors", "--config", config)
    slower = trained.policy(os.path.join(folder, "slower.safetensors"), "doctor", interval="5m", symbols=trained.SYMBOLS[:1])
    config = write_config(folder, "interval", replay, more=f"[account other]\npolicy = {slower}\n")
    finds(state, "configuration", "error", r":\d+: \[account other\] policy: .*slower.*5m", "--config", config)
    config = write_config(folder, "currency", replay, more="currency = USDC\n")
    finds(state, "configuration", "error", r"currency: USDC, but the database has this account in USDT", "--config", config)


def bad_venue(state, folder, replay, expired):
    config = write_config(folder, "unreachable", replay, **UNREACHABLE)
    for severity, words in (("error", "https://127.0.0.1:1: "), ("error", "wss://127.0.0.1:1: ")):
        finds(state, "network", severity, words, "--config", config)
    assert {s["name"] for s in doctor(state, "certificates", "symbols", "--config", config)["skipped"]} == {
        "certificates", "symbols"}
    done = subprocess.run([harness.PAPERTAPE, "doctor", "network", "--json", "--state", state, "--config", config],
                          env=os.environ | {"https_proxy": "http://127.0.0.1:3128"}, capture_output=True, text=True)
    assert "$https_proxy is set: papertape connects directly" in done.stdout, done.stdout
    config = write_config(folder, "expired", expired)
    finds(state, "certificates", "error", "its certificate expired at 20", "--config", config)
    finds(state, "network", "error", "expired", "--config", config)
    config = write_config(folder, "other-ca", replay, ca_file=expired.ca)
    finds(state, "certificates", "error", "is not trusted: ", "--config", config)


def main():
    with harness.Folder() as f:
        os.chmod(f.path, 0o711)  # other users' files are in it
        standing = f.start(harness.Replay(f.within("standing"), "--synthetic", "1", "--from", str(int(time.time()))))
        replay = f.start(harness.Replay(f.path, "--synthetic", "1"))
        expired = f.start(harness.Replay(f.within("expired"), "--synthetic", "1", "--fault", "tls-expired"))
        behind = f.start(harness.Replay(f.within("behind"), "--synthetic", "1", "--fault", "clock:-5s"))
        ahead = f.start(harness.Replay(f.within("ahead"), "--synthetic", "1", "--fault", "clock:+5s"))
        once = f.start(harness.Replay(f.within("once"), "--synthetic", "1", "--fault", "clock:-60s", "--fault", "ban@2+600s"))
        with open(write_config(f.path, "config", replay)) as file:
            daemon = f.start(harness.Daemon(f.path, None, file.read()))
        daemon.wait_status(lambda status: status["feed"]["state"] == "ok", "the stream")
        beside_a_daemon(daemon)
        says_of_itself(daemon)
        daemon.popen.send_signal(signal.SIGSTOP)
        finds(daemon.state, "daemon", "error", f"process {daemon.popen.pid} holds .*, but does not answer")
        daemon.popen.send_signal(signal.SIGCONT)
        assert daemon.stop() == 0
        state = daemon.state
        after_one(daemon)
        places_taken(state, f.path, replay)  # alone: until its exec, a child of another thread has these sockets too
        harness.together(
            f.path, lambda folder: before_the_first(folder, daemon.config),
            lambda folder: names_of_checks(state),
            lambda folder: eyes_of_the_service(state, folder, replay), lambda folder: credentials(state, folder, replay),
            lambda folder: not_seen(state, folder, replay), lambda folder: standing_clock(state, folder, standing, once),
            lambda folder: wrong_clock(state, folder, behind, ahead),
            lambda folder: ended_by_a_signal(state, folder), lambda folder: loose_modes(state, folder, replay),
            lambda folder: wrong_owner(state), lambda folder: stale_socket(state), lambda folder: damaged_segment(state),
            lambda folder: others_secrets(state, folder, replay), lambda folder: backups(state, folder, replay),
            lambda folder: newer_schema(state), lambda folder: altered_row(state), lambda folder: mounts(state, folder),
            lambda folder: instance(folder, replay), lambda folder: devices(state, folder),
            lambda folder: bad_configuration(state, folder, replay),
            lambda folder: bad_venue(state, folder, replay, expired))
    print("doctor: ok" + "".join(f"; skipped {reason}" for reason in skipped))


main()
