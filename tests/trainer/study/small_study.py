"""A small study by `papertape-trainer study`, for tests: its configuration, a run that is watched, its storage."""
import atexit
import json
import os
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))
from program import Trainer, check, done, events, lines, write_market  # noqa: E402,F401: of the tests too

LONG = bool(os.environ.get("PAPERTAPE_LONG"))
SMALL = {
    "training": {"total_steps": 2048, "device": "cpu"},
    "network": {"policy_layers": 8, "value_layers": 8},
    "ppo": {"copies": 4, "steps": 64, "minibatch": 64, "epochs": 1},
    "environment": {"initial_capital": 100000, "norm_action": 10, "lookback": 3},
    "data": {"bars": "AAAUSDT_1h.csv, BBBUSDT_1h.csv"},
    "study": {"trials": 8, "validation": "kfold:3", "heartbeat_s": 0.2, "grace_s": 30, "pruner_n_startup_trials": 2,
              "tpe_n_startup_trials": 3},
    "search": {"learning_rate": "1e-5..1e-2 log", "epochs": "1..3", "minibatch": "32 | 64 | 128", "gamma": "0.9..0.99",
               "lr_schedule": "constant | linear"},
}
SLOW = {"training": {"total_steps": 40000}}
FINISHED = ("COMPLETE", "PRUNED", "FAIL")


def write(path, *changes):
    """SMALL with changes, {section: {key: value}}; None leaves a key, or a whole section, out."""
    sections = {name: dict(keys) for name, keys in SMALL.items()}
    for change in changes:
        for name, keys in change.items():
            if keys is None:
                sections.pop(name)
            else:
                sections.setdefault(name, {}).update(keys)
    with open(path, "w") as file:
        for name, keys in sections.items():
            file.write(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None))
    return os.path.basename(path)


def rows(folder, query, *values, state="st", patience=30):
    database = sqlite3.connect(f"file:{folder}/{state}/studies.db?mode=ro", uri=True, timeout=patience)
    try:
        return database.execute(query, values).fetchall()
    finally:
        database.close()


def same(a, b):
    """Equal, except digits beyond those that lines have."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and abs(a - b) <= 1e-9 * max(1, abs(b))
    return a == b


def trials(folder, name, state="st"):
    return rows(folder, "SELECT number, state, trial_id FROM trials JOIN studies USING (study_id) WHERE study_name = ? ORDER BY trial_id", name,
                state=state)


def attributes(folder, table, trial):
    return {key: json.loads(value) for key, value in rows(folder, f'SELECT "key", value_json FROM {table} WHERE trial_id = ?', trial)}


def consistent(folder, name, what):
    """Numbers follow one another; each retry is of a FAIL, and of each FAIL whose worker died there is one."""
    found = trials(folder, name)
    check([number for number, _, _ in found] == list(range(len(found))), f"{what}: numbers {found}")
    check(rows(folder, "PRAGMA integrity_check") == [("ok",)], f"{what}: integrity")
    states, retried = {number: state for number, state, _ in found}, []
    for number, state, trial in found:
        history = attributes(folder, "trial_system_attributes", trial).get("retry_history", [])
        retried += history[-1:]
        check(all(states[other] == "FAIL" for other in history), f"{what}: trial {number} after {history}")
    check(len(retried) == len(set(retried)), f"{what}: each tried again once: {retried}")
    return found, states, set(retried)


class Run:
    """A study that runs; its lines are read as they come. It does not outlive the test, whose failure would wait for it."""

    def __init__(self, trainer, *arguments):
        self.process, self.seen, self.left = trainer.start("study", *arguments), [], False
        atexit.register(self.process.kill)
        self.news = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in iter(self.process.stdout.readline, ""):
            if self.left:
                break
            with self.news:
                self.seen.append(json.loads(line))
                self.news.notify_all()
        with self.news:
            self.seen.append({"event": "eof"})
            self.news.notify_all()

    def until(self, condition, what):
        """Waits for lines that make condition(lines) true."""
        with self.news:
            held = self.news.wait_for(lambda: condition(self.seen) or events(self.seen, "eof"), timeout=120)
            check(held and condition(self.seen), f"{what}: {self.seen[-2:]}")

    def leave(self):
        """Reads no further than the next line."""
        self.left = True
        self.thread.join()
        self.process.stdout.close()

    def end(self):
        status = self.process.wait(timeout=120)
        self.thread.join()
        error = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.seen[:-1], error, status


def poll(condition, what):
    """Until condition() gives something true."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    check(False, f"{what}: it did not come about")
    return None


def workers(process):
    """Its children, by /proc."""
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def lives(pid):
    """Not a zombie that was not waited for yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def has_open(pid, module):
    """Is that file mapped into the process?"""
    try:
        with open(f"/proc/{pid}/maps") as file:
            return any(line.rstrip().endswith(module) for line in file)
    except OSError:
        return False


VERDICTS = ("no_trades", "only_holds", "fees_exceed_gain", "below_holding", "within_luck", "better")


def judged(trainer, proposal, end):
    """It ends with the verdict on the holdout, which `eval` of the policy on these rows has too; the policy's file keeps it."""
    of, hours = proposal["holdout"], 3600 * 10**9
    check(proposal["verdict"] in VERDICTS and proposal["verdict_text"] and proposal["verdict_figures"]["steps"] == of["rows"] and
          all(same(end[key], proposal[key]) for key in ("verdict", "verdict_text", "verdict_figures")), f"verdict: {proposal} {end}")
    ran = trainer.run("eval", proposal["policy"], "--bars", "AAAUSDT_1h.csv,BBBUSDT_1h.csv", "--from", str(of["from_ns"] - 3 * hours), "--to",
                      str(of["to_ns"] + 3 * hours), "--json")
    if check(ran.returncode == 0, f"eval: {ran.stderr}"):
        found = json.loads(ran.stdout)
        check(found["verdict"] == proposal["verdict"] and same(found["verdict_figures"], proposal["verdict_figures"]) and
              found["verdict_text"] == proposal["verdict_text"], f"eval: {found} {proposal}")
        check(same(found["verdict_figures"]["return_pct"], of["return_pct"]), f"eval: {found['verdict_figures']} {of}")


def refuse(trainer, what, words, *arguments, status=1):
    ran = trainer.run("study", *arguments)
    check(ran.returncode == status and ran.stderr.count("\n") == 1 and ran.stderr.startswith("papertape-trainer: ") and
          all(word in ran.stderr for word in words), f"{what}: {ran.returncode} {ran.stderr}")
    if "\udcff" in arguments: # a folder that no line can name
        end = lines(ran.stdout)[-1]
        check(end["event"] == "end" and end["cause"] == "config" and end["output"] is None, f"{what}: {end}")
    elif status == 1 and ran.stdout:
        seen = lines(ran.stdout)
        check(seen[-1]["event"] == "end" and seen[-1]["result"] == "failed" and events(seen, "error") and os.path.isabs(seen[-1]["output"]),
              f"{what}: {seen}")
