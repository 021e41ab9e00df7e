#!/usr/bin/env python3
"""A state of which a part is missing, or something else is in its place: what `papertape doctor` says before a start, what the
start does, and that `restore` finds its way to a new state. And programs that are started without stdin, stdout or stderr."""

import glob
import json
import os
import resource
import shutil
import subprocess

import harness

CONFIG = """
[market]
symbols = BTCUSDT
interval = 1s
history = 5
[trainer]
start = never
[account hand]
strategy = none
"""


def start(folder, replay, state, **kwargs):
    return folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state, **kwargs))


def papertape(*arguments, status=0, **kwargs):
    done = subprocess.run([harness.PAPERTAPE, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE, **kwargs)
    assert done.returncode == status, (arguments, done)
    return done.stdout + done.stderr


def doctor(state, check, severity, words):
    """One of the findings of that check says so, with a remedy."""
    report = json.loads(papertape("doctor", check, "--offline", "--json", "--state", state, status=int(severity == "error")))
    assert any(c["state"] == severity and words in c["text"] and c["remedy"] for c in report["checks"]), (words, report)
    return report


def descriptors(process):
    return [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)]


def without_streams(daemon):
    """Nothing else takes their numbers: the lock has the pid alone, and a stop is one."""
    for name, closes in (("no-stderr", "2>&-"), ("no-stream", "<&- >&- 2>&-")):
        state = f"{daemon.state}-{name}"
        argv = [state if word == daemon.state else word for word in daemon.argv]
        process = subprocess.Popen(["sh", "-c", f'exec "$@" {closes}', "sh", *argv])
        try:
            harness.wait_for(lambda: os.path.exists(f"{state}/control.sock"), "a daemon without streams")
            found = descriptors(process)
            assert found[2] == "/dev/null" and (name == "no-stderr" or found == ["/dev/null"] * 3), found
            with open(f"{state}/papertaped.lock") as file:
                assert file.read() == f"{process.pid}\n"
            second = subprocess.run(argv, capture_output=True, text=True, timeout=harness.PATIENCE)
            assert second.returncode == 1 and f"pid {process.pid}" in second.stderr, second
        finally:
            process.terminate()
            assert process.wait(harness.PATIENCE) == 0
    shell = 'exec "$0" doctor --help >&-'  # an output that is not there is an error, as ever
    done = subprocess.run(["sh", "-c", shell, harness.PAPERTAPE], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 1 and "stdout: Bad file descriptor" in done.stderr, done


def failing(daemon):
    """While nothing can be stored, status, doctor and an alert say so; then no longer."""
    daemon.wait_status(lambda s: s["trading"] == "on" and s["symbols"] and s["symbols"][0]["last"], "a price")
    before = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    status = daemon.wait_status(lambda s: s["trading"] == "halted", "that nothing is stored")
    assert status["trading_reason"].startswith("storing fails"), status["trading_reason"]
    assert any(alert["code"] == "storage" for alert in status["alerts_unstored"]), status["alerts_unstored"]
    doctor(daemon.state, "daemon", "error", "no new positions until it works again")
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, before)
    daemon.wait_status(lambda s: s["trading"] == "on", "that it is stored again")


def copied(state, name):
    copy = f"{state}-{name}"
    shutil.copytree(state, copy)
    os.chmod(copy, 0o750)
    return copy


def refused(copy, config, words):
    done = subprocess.run([harness.DAEMON, "--config", config, "--state", copy], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 2 and words in done.stderr, done


def in_its_place(state, config):
    """What is something else: an error of doctor's, and status 2 of a start."""
    copy = copied(state, "link")
    os.rename(f"{copy}/papertape.db", f"{copy}/elsewhere.db")
    os.symlink("elsewhere.db", f"{copy}/papertape.db")
    doctor(copy, "permissions", "error", "papertape.db: is a symbolic link, and a start refuses it")
    refused(copy, config, "is a symbolic link")
    for name in ("papertaped.lock", "control.sock"):
        copy = copied(state, name)
        if os.path.lexists(f"{copy}/{name}"):
            os.remove(f"{copy}/{name}")
        os.mkdir(f"{copy}/{name}")
        doctor(copy, "permissions", "error", f"{name}: is a directory, and a start refuses it")
        refused(copy, config, f"{name}: is a directory")
    copy = copied(state, "nowhere")
    shutil.rmtree(f"{copy}/events")
    os.symlink("/nowhere/events", f"{copy}/events")
    for check in ("permissions", "events"):
        doctor(copy, check, "error", "events: is a symbolic link that leads nowhere")
    refused(copy, config, "leads nowhere")
    copy = copied(state, "plain")
    shutil.rmtree(f"{copy}/events")
    with open(f"{copy}/events", "w"):
        pass
    report = doctor(copy, "permissions", "error", "events: is a file, and a start refuses it")
    assert "denied" not in json.dumps(report), report


def missing(folder, replay, state):
    """What is not there, though another part shows that it was."""
    copy = copied(state, "no-log")
    shutil.rmtree(f"{copy}/events")
    doctor(copy, "events", "warning", "no event log is there, and the database holds rows")
    os.mkdir(f"{copy}/events")
    doctor(copy, "events", "warning", "no event log is there, and the database holds rows")

    copy = copied(state, "no-database")
    os.remove(f"{copy}/papertape.db")
    with open(f"{copy}/papertape.db-wal", "wb") as file:  # as of a file that was removed while it was open
        file.write(b"left")
    doctor(copy, "database", "warning", "it is not there, and the event log is")
    daemon = start(folder, replay, os.path.basename(copy))
    daemon.wait_status(lambda s: s["rebuilt"], "a database that is built again")
    assert not glob.glob(f"{copy}/papertape.db.former-*"), os.listdir(copy)
    assert daemon.stop() == 0

    copy = copied(state, "emptied")
    shutil.rmtree(f"{copy}/events")
    open(f"{copy}/papertape.db", "w").close()
    open(f"{copy}/notify.db", "a").close()
    daemon = start(folder, replay, os.path.basename(copy))
    daemon.wait_status(lambda s: s["trading"] == "on", "a new state")
    harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts WHERE code = 'event-log' AND text LIKE '%begins afresh%'"), "the alert")
    assert daemon.stop() == 0


def foreign(folder, replay, state):
    """A database of another program is moved aside, and the log of the start says so."""
    copy = copied(state, "foreign")
    os.remove(f"{copy}/papertape.db")
    subprocess.run(["sqlite3", f"{copy}/papertape.db", "PRAGMA application_id = 7; CREATE TABLE t (x)"], check=True)
    daemon = start(folder, replay, os.path.basename(copy))
    daemon.wait_status(lambda s: s["rebuilt"], "a database that is built again")
    text = daemon.log_text()
    assert "another program" in text and "this file is moved aside" in text and "leaves it alone" not in text, text
    assert glob.glob(f"{copy}/papertape.db.former-*Z") and daemon.stop() == 0


def restored(folder, state):
    """Into a state whose parents are not there, and into one that is a link to an empty folder."""
    backup = os.path.join(folder.path, "backup.tar.zst")
    papertape("backup", backup, "--state", state)
    home = os.path.join(folder.path, "fresh/.local/state")
    environment = {key: value for key, value in os.environ.items() if key != "STATE_DIRECTORY"} | {"XDG_STATE_HOME": home}
    papertape("restore", backup, env=environment)
    assert os.path.exists(f"{home}/papertape/papertape.db") and os.stat(home).st_mode & 0o027 == 0, os.stat(home)
    place, link = folder.within("place"), os.path.join(folder.path, "link")
    os.symlink("place", link)
    papertape("restore", backup, "--state", link)
    assert os.path.islink(link) and os.path.exists(f"{place}/papertape.db")
    assert "it is not empty" in papertape("restore", backup, "--state", link, status=1)
    other = folder.within("other")
    os.chmod(other, 0o757)
    os.symlink("other", f"{link}-other")
    assert "mode 0750, is right" in papertape("restore", backup, "--state", f"{link}-other", status=1)


def main():
    with harness.Folder() as folder:
        os.umask(0o022)
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--rate", "4"))
        daemon = start(folder, replay, "state")
        failing(daemon)
        assert daemon.stop() == 0
        without_streams(daemon)
        in_its_place(daemon.state, daemon.config)
        missing(folder, replay, daemon.state)
        foreign(folder, replay, daemon.state)
        restored(folder, daemon.state)
    print("misplaced: ok")


if __name__ == "__main__":
    main()
