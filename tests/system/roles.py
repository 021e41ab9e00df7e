#!/usr/bin/env python3
"""Who may read, and who may operate: as other users, in a folder whose group is the readers' and in one with the ACL of
systemd/papertape.tmpfiles. Verbs, lists of the database, the two sockets and that of metrics; groups that a reload changes."""

import contextlib
import grp
import json
import os
import re
import shutil
import socket
import subprocess

import harness

READERS, OPERATORS = "games", "users"  # groups of every Debian
CONFIG = """[market]
symbols = BTCUSDT
interval = 1s
history = 10
[engine]
latency_ms = 0
[control]
readers = {readers}
operators = {operators}
[metrics]
socket = {metrics}
[account hand]
cash = 100000
strategy = none
"""


def verb(daemon, groups, *arguments, status=0):
    """What `papertape` prints as a user of no other groups."""
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", f"--groups={','.join(groups)}" if groups else "--clear-groups",
                           harness.PAPERTAPE, *arguments, "--state", daemon.state], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status, (groups, arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def ask(path, *requests):
    """Answers of a socket, as root."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(harness.PATIENCE)
        client.connect(path)
        for number, cmd in enumerate(requests):
            client.sendall(json.dumps({"id": number + 1, "cmd": cmd, "args": {}}).encode() + b"\n")
        answers, file = [], client.makefile()
        while len(answers) < len(requests):
            answers.append(json.loads(file.readline()))
        return [answer for _, answer in sorted((answer["id"], answer) for answer in answers)]


# Prints the status of an answer at a path.
SCRAPE = """import socket, sys
try:
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    client.sendall(b"GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    print(client.recv(12).decode())
except OSError as error:
    print(type(error).__name__)
"""


def scrapes(path, groups):
    """How the metrics' socket answers a user of no other groups."""
    return subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", f"--groups={','.join(groups)}" if groups else "--clear-groups",
                           "python3", "-c", SCRAPE, path], capture_output=True, text=True, timeout=harness.PATIENCE, check=True).stdout.strip()


TURNED_AWAY = ("HTTP/1.1 403", "ConnectionResetError", "BrokenPipeError")


def reads(daemon, groups, operators):
    """Lists of the daemon and of the database while it writes, and nothing else."""
    assert json.loads(verb(daemon, groups, "status", "--json"))["symbols"]
    assert "hand" in verb(daemon, groups, "account", "list")
    assert "BTCUSDT" in verb(daemon, groups, "symbol", "list")
    for name in ("orders", "fills", "positions"):
        verb(daemon, groups, name, "--json")
    assert "BTCUSDT" in verb(daemon, groups, "orders")
    assert json.loads(verb(daemon, groups, "ledger", "verify", "--json"))["ok"] is True
    assert "open_time_ms" in verb(daemon, groups, "bars", "BTCUSDT", "1s")
    assert "BTCUSDT" in verb(daemon, groups, "--once")
    assert f"it runs, pid {daemon.popen.pid}" in verb(daemon, groups, "doctor", "daemon")
    for words in (["pause"], ["order", "buy", "BTCUSDT", "0.01"], ["flatten", "--yes"], ["reload"]):
        said = verb(daemon, groups, *words, status=1)
        assert f"be a member of group {operators}" in said and "reading only" in said, said


def locks(state):
    """Its files that let one process at a time do something."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(state) for name in names if name.endswith(".lock")]


@contextlib.contextmanager
def held(daemon, groups):
    """A reader holds the locks of all that it may open, its folders and its locks' files: of those there are none."""
    folders = [folder for folder, _, _ in os.walk(daemon.state)]
    holder = subprocess.Popen(["setpriv", "--reuid", "65534", "--regid", "65534", f"--groups={','.join(groups)}", "python3", "-c",
                               "import fcntl, json, os, sys\nopened = []\nfor path in json.loads(sys.argv[1]):\n"
                               " try:\n  fd = os.open(path, os.O_RDONLY)\n except OSError:\n  continue\n opened.append(path)\n fcntl.flock(fd, fcntl.LOCK_EX)\n"
                               "print(json.dumps(opened), flush=True)\nsys.stdin.read()", json.dumps(folders + locks(daemon.state))],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    opened = json.loads(holder.stdout.readline())
    assert opened == folders, (folders, opened)
    try:
        yield
    finally:
        holder.communicate()


def is_denied(daemon, groups):
    assert "member of its group" in verb(daemon, groups, "status", status=1)


def metrics(folder, name):
    """The metrics' socket, in a folder that all may enter."""
    return os.path.join(folder.path, f"{name}-metrics.sock")


def start(folder, replay, name, prepare, readers=READERS, operators=OPERATORS):
    state = os.path.join(folder.path, name)
    os.mkdir(state, 0o750)
    prepare(state)
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(readers=readers, operators=operators, metrics=metrics(folder, name)), name=name, state=name))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
    daemon.papertape("order", "buy", "BTCUSDT", "0.01")
    return daemon


def set_gid(state):
    os.chown(state, 0, grp.getgrnam(READERS).gr_gid)
    os.chmod(state, 0o2750)


def reload(daemon, folder, **groups):
    with open(daemon.config, "w") as file:
        file.write(CONFIG.format(metrics=metrics(folder, "setgid"), **groups))
    return daemon.papertape("reload")


def in_set_gid_folder(folder, replay):
    daemon = start(folder, replay, "setgid", set_gid)
    path, read_path = (os.path.join(daemon.state, name) for name in ("control.sock", "control-read.sock"))
    reads(daemon, [READERS], OPERATORS)
    is_denied(daemon, [])
    is_denied(daemon, [OPERATORS])  # not into the folder
    scraped = metrics(folder, "setgid")
    assert os.stat(scraped).st_mode == os.stat(read_path).st_mode
    assert [scrapes(scraped, groups) for groups in ([READERS], [OPERATORS], [OPERATORS, READERS])] == ["HTTP/1.1 200"] * 3
    assert scrapes(scraped, []) in TURNED_AWAY, scrapes(scraped, [])
    verb(daemon, [READERS, OPERATORS], "pause")
    assert json.loads(verb(daemon, [READERS, OPERATORS], "status", "--json"))["trading"] == "paused"

    status, ping, pause, nothing = ask(read_path, "status", "ping", "pause", "nothing")
    assert status["ok"] and ping["ok"] and pause["error"]["code"] == "EACCES" and nothing["error"]["code"] == "ENOSYS"
    changing = re.findall(r"COMMAND\((\w+),", open(os.path.join(harness.SOURCE, "daemon/command/internal.h")).read())
    assert len(changing) > 15 and {a["error"]["code"] for a in ask(read_path, *changing)} == {"EACCES"}
    assert status["result"]["control_read"]["clients"] >= 1, status["result"]["control_read"]

    os.unlink(read_path)
    harness.wait_for(lambda: os.path.exists(read_path), "the readers' socket, made again")
    reads(daemon, [READERS], OPERATORS)
    assert "[control] operators" in reload(daemon, folder, readers=READERS, operators="")
    assert "be a member of group root" in verb(daemon, [READERS, OPERATORS], "pause", status=1)
    assert os.stat(path).st_mode & 0o777 == 0o660
    reload(daemon, folder, readers="off", operators="")
    assert not os.path.exists(read_path)
    harness.wait_for(lambda: os.path.exists(scraped) and os.stat(scraped).st_mode & 0o777 == 0o660, "the metrics' socket, for the own group alone")
    assert scrapes(scraped, [READERS]) == "PermissionError"
    verb(daemon, [READERS], "status", status=1)
    reload(daemon, folder, readers=READERS, operators="")
    harness.wait_for(lambda: scrapes(scraped, [READERS]) == "HTTP/1.1 200", "a reader's metrics again")
    reads(daemon, [READERS], "root")
    assert daemon.stop() == 0
    assert not os.path.exists(read_path)


def with_acl(folder, replay):
    """As the unit has it: the folder's group is that of its user, and an ACL lets the readers in."""
    rows = os.path.join(folder.path, "tmpfiles.conf")

    def prepare(state):
        text = open(os.path.join(harness.SOURCE, "systemd/papertape.tmpfiles")).read()
        text = text.replace("/var/lib/papertape{,-*}", state).replace("/var/lib/papertape", state).replace("papertape-read", READERS)
        with open(rows, "w") as file:
            file.write(text.replace("papertape papertape", "root root"))
        made = subprocess.run(["systemd-tmpfiles", "--create", rows], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr

    daemon = start(folder, replay, "acl", prepare, operators="")
    reads(daemon, [READERS], "root")
    is_denied(daemon, [])
    is_denied(daemon, [OPERATORS])
    names = ["papertape.db", "papertape.db-wal", "papertape.db-shm", "control.sock"]
    assert {name: oct(os.stat(os.path.join(daemon.state, name)).st_mode & 0o777) for name in names} == \
        dict.fromkeys(names[:3], "0o640") | {"control.sock": "0o660"}
    assert daemon.stop() == 0

    # Of a state that an older daemon made, without an ACL; again, it changes nothing.
    plain = os.path.join(folder.path, "older")
    shutil.copytree(daemon.state, plain, copy_function=shutil.copyfile)
    os.rename(daemon.state, daemon.state + "-before")
    os.rename(plain, daemon.state)
    prepare(daemon.state)
    prepare(daemon.state)
    assert os.stat(daemon.state).st_mode & 0o7777 == 0o750
    again = harness.Daemon(folder.path, replay, CONFIG.format(readers=READERS, operators="", metrics=metrics(folder, "acl")), name="acl", state="acl")
    for path in locks(daemon.state):
        os.chmod(path, 0o640)
    daemon = folder.start(again)
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
    reads(daemon, [READERS], "root")
    found = {os.path.relpath(path, daemon.state): oct(os.stat(path).st_mode & 0o7777) for path in locks(daemon.state)}
    assert found == dict.fromkeys(found, "0o600") and {"papertaped.lock", "events/.lock"} <= set(found), found
    assert daemon.stop() == 0
    with held(daemon, [READERS]):
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(readers=READERS, operators="", metrics=metrics(folder, "acl")), name="acl", state="acl"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        reads(daemon, [READERS], "root")
    assert daemon.stop() == 0


def main():
    if os.geteuid() != 0:
        harness.skip("root is needed to be other users")
    with harness.Folder() as folder:
        os.chmod(folder.path, 0o755)
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "6", "--rate", "100"))
        harness.together(folder, lambda f: in_set_gid_folder(f, replay), lambda f: with_acl(f, replay))
        print("readers read, operators operate, others neither: in a set-gid folder, and by an ACL")


main()
