#!/usr/bin/env python3
"""Stands in for `papertape-trainer train` and `study`: counts steps, writes checkpoints that are empty files, and behaves as
$FAKE/NAME.json says. Each process adds lines to $FAKE/NAME.runs; one that is not alone says so there. It ends by
itself after a minute, whatever happens.

    {"step_ms": 10, "total": 1000000, "every": 5,      of a step's pace, the end, steps between checkpoints
     "stubborn": true,        continues without a reader and after SIGTERM
     "stay_ms": 500,          between SIGTERM and the end
     "stays": true,           between SIGTERM and the end until there is $FAKE/NAME.go
     "gate": N,               after its Nth step it waits for $FAKE/NAME.go, and reports nothing meanwhile
     "die": N, "by": 9,       ends by that signal at its Nth step; "cause": with an error of that cause instead
     "allocate_mib": N,       at its first step
     "burn": true,            uses a processor
     "full": N,               from its Nth step on no checkpoint can be written
     "hang": [N, S],          after its Nth step it sends heartbeats alone, S seconds into its update and more
     "say": [[1, "…"]]}       to stdout (1) and stderr (2) before the first step, as it is

Of a study: each step is a trial, kept in $FAKE/RUN.trials instead of checkpoints; "total" of them; "child": true has a process
of its own that burns and allocates; "proposes": the end reports that proposal.
"""
import fcntl
import json
import os
import re
import signal
import sys
import time

arguments = sys.argv[1:]
if arguments[0] == "plan": # what a start asks for of one that a device may train: nothing to say
    sys.exit("papertape-trainer: a fake plan")
config = open(arguments[arguments.index("--config") + 1]).read()


def key(name):
    return re.search(rf"^{name} *= *(.*)$", config, re.M).group(1)


name, output = key("name"), key("output")
study = arguments[1] if arguments[0] == "study" else None
folder = os.environ["FAKE"]
path = os.path.join(folder, name + ".json")
how = json.load(open(path)) if os.path.exists(path) else {}
runs = os.open(os.path.join(folder, name + ".runs"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
asked = stays = None


def note(kind, **more):
    os.write(runs, (json.dumps({"kind": kind, "pid": os.getpid(), "at": time.monotonic(), **more}) + "\n").encode())


def write(fd, text):
    """All of it: a process that is stopped and continued has written a part."""
    while text:
        text = text[os.write(fd, text):]


def opened():
    """Has the test let it continue?"""
    return os.path.exists(os.path.join(folder, name + ".go"))


def ends(file):
    """Is the process that wrote its pid there ending, and closing its files one after the other? It may be reported as gone by then."""
    file.seek(0)
    try:
        with open(f"/proc/{int(file.read())}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    except ValueError: # it has just started
        return False
    return fields[0] in "ZX" or int(fields[6]) & 4 != 0 # PF_EXITING


def ask(number, frame):
    global asked, stays
    note("asked")
    asked = time.monotonic()


def emit(event, **fields):
    """As the worker does: without a reader it ends."""
    global asked
    line = json.dumps({"schema": "papertape.training/1", "event": event, "seconds_since_start": 0, **fields}) + "\n"
    try:
        write(1, line.encode())
    except BrokenPipeError:
        if not how.get("stubborn") and asked is None:
            note("unheard")
            asked = time.monotonic()


def trials_done():
    path = os.path.join(folder, study + ".trials")
    return os.path.getsize(path) if os.path.exists(path) else 0


def search():
    """One trial after the other, each a byte of a file; the rest is as of a training."""
    total, started, child = how.get("total", 1000000), time.monotonic(), None
    if how.get("child"):
        child = os.fork()
        if child == 0:
            kept = bytearray(how.get("allocate_mib", 1) << 20)
            kept[::4096] = b"x" * len(kept[::4096])
            while time.monotonic() - started < 60 and os.getppid() != 1:
                pass
            os._exit(0)
    emit("state", state="loading", steps=0)
    emit("start", steps=trials_done(), trials=total, study=study, backend="fake")
    emit("state", state="searching", steps=trials_done())
    done_here = 0
    while trials_done() < total and asked is None and time.monotonic() - started < 60:
        time.sleep(how.get("step_ms", 10) / 1e3)
        with open(os.path.join(folder, study + ".trials"), "ab") as file:
            file.write(b".")
        done_here += 1
        emit("trial", number=trials_done() - 1, state="COMPLETE", value=0.5, best=trials_done() / 10, best_number=0, done=trials_done(),
             trials=total, trials_per_hour=1.0, eta_s=1.0)
        if done_here == how.get("die"):
            if "cause" in how:
                emit("error", message="it had to be", cause=how["cause"])
                emit("end", result="failed", cause=how["cause"], steps=trials_done())
                sys.exit(1)
            os.kill(os.getpid(), 9)
    if child:
        os.kill(child, 9)
        os.waitpid(child, 0)
    full = trials_done() >= total
    if full and "proposes" in how:
        emit("proposal", proposal={"schema": "papertape.proposal/1", "study": study, "name": name, **how["proposes"]})
    emit("end", result="done" if full else "stopped", steps=trials_done(), cause=None)
    note("ended", steps=trials_done())
    sys.exit(0)


def checkpoint():
    if count >= how.get("full", 1 << 60):
        emit("warning", message="cannot write out/x: No space left on device", cause="disk")
        return
    for old in checkpoints():
        if how.get("keep_one"):
            os.unlink(os.path.join(output, f"{name}-{old}.ckpt"))
    open(os.path.join(output, f"{name}-{steps}.ckpt"), "w").close()
    emit("checkpoint", steps=steps, path=os.path.join(output, f"{name}-{steps}.ckpt"))


def checkpoints():
    return sorted(int(m.group(1)) for m in (re.fullmatch(re.escape(name) + r"-(\d+)\.ckpt", f) for f in os.listdir(output)) if m)


signal.signal(signal.SIGTERM, ask)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
alone = open(os.path.join(folder, name + ".alone"), "a+")
while True:
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if ends(alone):
            time.sleep(0.001)
            continue
        note("doubled")
    else:
        alone.truncate(0)
        print(os.getpid(), file=alone, flush=True)
    break
steps = trials_done() if study else checkpoints()[-1] if "--resume" in arguments else 0
note("started", arguments=arguments, steps=steps, device=os.environ.get("CUDA_VISIBLE_DEVICES"), directory=os.getcwd(),
     notify=os.environ.get("NOTIFY_SOCKET"), session=os.getsid(0) == os.getpid())
for fd, text in how.get("say", []):
    write(fd, text.encode("latin1"))
if study:
    search()
emit("state", state="loading", steps=0)
emit("start", steps=steps, backend="fake", config={"training": {"total_steps": str(how.get("total", 1000000))}})
started, count, kept = time.monotonic(), 0, []
while steps < how.get("total", 1000000) and time.monotonic() - started < 60:
    if (asked is not None and not how.get("stubborn") and time.monotonic() - asked >= how.get("stay_ms", 0) / 1e3 and
            (opened() or not how.get("stays"))):
        break
    emit("state", state="rollout", steps=steps)
    until = time.monotonic() + how.get("step_ms", 10) / 1e3
    while how.get("burn") and time.monotonic() < until:
        pass
    time.sleep(max(0, until - time.monotonic()))
    if count == 0 and "allocate_mib" in how:
        try:
            kept = bytearray(how["allocate_mib"] << 20)
            kept[::4096] = b"x" * len(kept[::4096])
        except MemoryError:
            emit("error", message="out of memory: a big thing", cause="memory")
            emit("end", result="failed", cause="memory", steps=0)
            sys.exit(1)
    count += 1
    steps += 1
    emit("update", steps=steps, iteration=steps, episode_return=steps / 10, steps_per_second=100.0, rollout_seconds=0.01,
         advantages_seconds=0.0, update_seconds=0.01, cpu_utilisation=1.0, device_utilisation=None)
    if steps % how.get("every", 5) == 0:
        checkpoint()
    hung = time.monotonic()
    while [count] == how.get("hang", [])[:1] and asked is None and time.monotonic() - started < 60:
        emit("heartbeat", state="update", steps=steps, state_seconds=how["hang"][1] + time.monotonic() - hung, rss_bytes=1 << 20)
        time.sleep(0.1)
    while count == how.get("gate") and not opened() and asked is None and time.monotonic() - started < 60:
        time.sleep(0.005)
    if count == how.get("die"):
        if "cause" in how:
            emit("error", message="it had to be", cause=how["cause"])
            emit("end", result="failed", cause=how["cause"], steps=steps)
            sys.exit(1)
        note("died")
        signal.signal(how.get("by", 9), signal.SIG_DFL) if how.get("by", 9) != 9 else None
        os.kill(os.getpid(), how.get("by", 9))
checkpoint()
full = count >= how.get("full", 1 << 60)
emit("end", result="done" if steps >= how.get("total", 1000000) else "stopped", steps=steps, cause="disk" if full else None)
note("ended", steps=steps)
sys.exit(full)
