"""`papertape-trainer study`: a small search from beginning to end, a worker that is killed, a stop and what continues from it, what is
pruned, enqueued, refused. $PAPERTAPE_LONG: more trials and kills, and a storage that stays locked.

    study.py PAPERTAPE_TRAINER GPU_MODULE     (the latter: one whose device is the CPU)
"""
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))
from program import Trainer, check, done, events, lines, write_market  # noqa: E402

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
    """A study that runs; its lines are read as they come."""

    def __init__(self, trainer, *arguments):
        self.process, self.seen, self.left = trainer.start("study", *arguments), [], False
        self.news = threading.Condition()
        self.thread = threading.Thread(target=self.read)
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


def test_whole(trainer, folder):
    """A whole study, then the same command again: it ends at once."""
    config = write(os.path.join(folder, "whole.ini"), {"study": {"trials": 12}})
    ran = trainer.run("study", "whole", "--config", config, "--state", "st", "--workers", "2")
    seen = lines(ran.stdout)
    if not check(ran.returncode == 0 and seen[-1]["event"] == "end", f"whole: {ran.stderr}"):
        return
    start, end = events(seen, "start")[0], seen[-1]
    check(start["study"] == "whole" and start["workers"] == 2 and start["done"] == 0 and not start["resumed"], f"start: {start}")
    check(set(start["space"]) == set(SMALL["search"]) and start["config"]["study"]["validation"] == "kfold:3", f"start: {start}")
    check([event["state"] for event in events(seen, "state")] == ["loading", "searching", "proposing"], "states")
    found, states, retried = consistent(folder, "whole", "whole")
    reported = events(seen, "trial")
    check(len(found) == 12 and not retried and sorted(event["number"] for event in reported) == list(range(12)), f"whole: {found}")
    check([event["done"] for event in reported] == sorted(event["done"] for event in reported) and reported[-1]["done"] == 12, "done rises")
    check(all(states[event["number"]] == event["state"] for event in reported), "whole: reported as stored")
    values = {event["number"]: event["value"] for event in reported if event["state"] == "COMPLETE"}
    check(end["best"] == max(values.values()) and values[end["best_number"]] == end["best"], f"best: {end}")
    check(end["complete"] + end["pruned"] + end["failed"] == 12 and end["pruned"] > 0 and end["failed"] == 0, f"pruning: {end}")
    for number, state, trial in found:
        steps = rows(folder, "SELECT step, intermediate_value FROM trial_intermediate_values WHERE trial_id = ? ORDER BY step", trial)
        user = attributes(folder, "trial_user_attributes", trial)
        check(len(user["papertape:splits"]) == len(steps) and user["papertape:worker"].count(":") == 1, f"{number}: {user}")
        check([step for step, _ in steps] == list(range(1, len(steps) + 1)) and (len(steps) == 3) == (state == "COMPLETE"),
              f"{number}: {state} after {steps}")
        value, = rows(folder, "SELECT value FROM trial_values WHERE trial_id = ?", trial)
        check(value[0] == steps[-1][1], f"{number}: its value is its last report")
        params = {row[0] for row in rows(folder, "SELECT param_name FROM trial_params WHERE trial_id = ?", trial)}
        check(params == set(SMALL["search"]), f"{number}: {params}")
        check(rows(folder, "SELECT count(*) FROM trial_heartbeats WHERE trial_id = ?", trial) == [(1,)], f"{number}: a heartbeat")
        if state == "COMPLETE":
            check(os.path.exists(f"{folder}/st/studies/whole/{number}/returns.csv"), f"{number}: returns.csv")
    study = dict(rows(folder, 'SELECT "key", value_json FROM study_user_attributes'))
    with open(os.path.join(folder, config)) as file:
        text = file.read()
    with open(f"{folder}/st/studies/whole/study.ini") as file:
        check(json.loads(study["papertape:config"]) == text == file.read(), "the configuration is kept")
    check(json.loads(study["papertape:trials"]) == 12 and json.loads(study["papertape:folder"]).endswith("st/studies/whole"), f"{study}")
    proposals = events(seen, "proposal")
    if check(len(proposals) == 1 and proposals[0]["proposal"]["schema"] == "papertape.proposal/1", f"proposal: {seen[-3:]}"):
        with open(end["proposal"] if os.path.isabs(end["proposal"]) else os.path.join(folder, end["proposal"])) as file:
            check(same(json.load(file), proposals[0]["proposal"]), "the proposal is kept")
        judged(trainer, proposals[0]["proposal"], end)

    again = trainer.run("study", "whole", "--resume", "--state", "st")
    seen = lines(again.stdout)
    check(again.returncode == 0 and not events(seen, "trial") and events(seen, "start")[0]["done"] == 12 and
          events(seen, "start")[0]["resumed"] and seen[-1]["result"] == "done", f"again: {again.stderr} {seen}")
    check(len(trials(folder, "whole")) == 12 and [event["proposal"] for event in events(seen, "proposal")] ==
          [event["proposal"] for event in proposals], "again: the same proposal")
    check("loading" not in [event["state"] for event in events(seen, "state")], "again: nothing is done for it")
    # Other gates, another expiry: it is judged again; what a proposal is made by: it is made again.
    before = proposals[0]["proposal"]
    check(re.fullmatch("[0-9a-f]{16}", before["made_of"]), f"made of: {before}")
    easy = {"min_excess": -100, "max_pbo": 1, "min_deflated": 0, "max_drawdown": 1, "min_trades": 0, "expires": "2d"}
    for what, changes, made in (("judged", easy, False), ("two", {"ensemble": 2, "combine": "majority"}, True), ("as it was", {}, True)):
        ran = trainer.run("study", "whole", "--state", "st", "--config", write(os.path.join(folder, "again.ini"), {"study": {"trials": 12, **changes}}))
        seen = lines(ran.stdout)
        if not check(ran.returncode == 0 and len(events(seen, "proposal")) == 1, f"{what}: {ran.stderr}"):
            continue
        now = events(seen, "proposal")[0]["proposal"]
        with open(seen[-1]["proposal"]) as file:
            check(same(json.load(file), now), f"{what}: it is kept")
        check(("proposing" in [event["state"] for event in events(seen, "state")]) == made, f"{what}: made again: {made}")
        if what == "judged":
            check([gate["limit"] for gate in now["gates"]] == [-100, 1, 0, 1, 0] and now["expires_s"] == 172800 and now["gates"] != before["gates"] and
                  all(same(now[key], before[key]) for key in before if key not in ("gates", "admitted", "words", "expires_s")), f"judged again: {now}")
        elif what == "two":
            check(len(now["trials_proposed"]) == 2 and now["kind"] == "ensemble" and now["made_of"] != before["made_of"] and now["verdict"] in VERDICTS,
                  f"two: {now}")
        else:
            check(now["made_of"] == before["made_of"] and now["gates"] == before["gates"] and now["kind"] == "policy", f"as it was: {now}")
    more = trainer.run("study", "whole", "--resume", "--state", "st", "--trials", "14", "--workers", "2")
    check(more.returncode == 0 and len(trials(folder, "whole")) == 14 and lines(more.stdout)[-1]["done"] == 14, f"more: {more.stderr}")


def test_workers(trainer, folder):
    """What NAME_2 proposes is judged among the trials of NAME_1 too; those of another study do not count."""
    config = write(os.path.join(folder, "workers.ini"), {"study": {"trials": 2, "pruner": "none"}})
    reported = {}
    for name, tried in (("pair_1", 2), ("pairs_1", 2), ("pair_2", 4)):
        ran = trainer.run("study", name, "--config", config, "--state", "st", "--workers", "1")
        if not check(ran.returncode == 0, f"{name}: {ran.stderr}"):
            continue
        with open(f"{folder}/st/studies/{name}/report.html") as file:
            found = re.search(r'<td>Trials</td><td><data value="(\d+)">', file.read())
        check(found and int(found.group(1)) == tried, f"{name}: {found and found.group(1)} were tried, {tried} are right")
        seen = lines(ran.stdout)
        reported[name] = events(seen, "proposal")[0]["proposal"]
        check([event["proposal"]["study"] for event in events(seen, "judged")] == (["pair_1"] if name == "pair_2" else []), f"{name}: judged: {seen}")
        check(seen[-1]["event"] == "end" and reported[name]["tried"] == tried, f"{name}: {reported[name]}")
    # The last to end has judged what the other one proposed too, whose policy stays.
    with open(f"{folder}/st/studies/pair_1/proposal.json") as file:
        text = file.read()
    before, judged = reported["pair_1"], json.loads(text)
    check((before["tried"], judged["tried"]) == (2, 4) and judged["policy"] == before["policy"] and same(judged["holdout"], before["holdout"]) and
          judged["of_trials"] != before["of_trials"] and judged["made_of"] == before["made_of"] and
          [gate["limit"] for gate in judged["gates"]] == [gate["limit"] for gate in before["gates"]] and
          same(events(seen, "judged")[0]["proposal"], judged), f"pair_1 as pair_2 leaves it: {before} {judged}")
    check([gate["figure"] for gate in judged["gates"] if gate["gate"] in ("pbo", "deflated")] == [judged["pbo"], judged["skill"]],
          f"pair_1: its gates are of the figures of now: {judged}")
    with open(f"{folder}/st/studies/pair_1/report.html") as file:
        check('<td>Trials</td><td><data value="4">' in file.read(), "pair_1: its report is of all")
    # Nothing has changed since: it is reported again, and nothing is written.
    kept = os.stat(f"{folder}/st/studies/pair_1/proposal.json").st_ino
    again = trainer.run("study", "pair_1", "--resume", "--state", "st")
    seen = lines(again.stdout)
    check(again.returncode == 0 and not events(seen, "state") and same(events(seen, "proposal")[0]["proposal"], judged) and
          same([event["proposal"] for event in events(seen, "judged")], [reported["pair_2"]]) and
          os.stat(f"{folder}/st/studies/pair_1/proposal.json").st_ino == kept, f"pair_1 again: {again.stderr} {seen}")
    # One that is killed between its own proposal and the other's: the next run of it makes up for that.
    with open(f"{folder}/st/studies/pair_1/proposal.json", "w") as file:
        json.dump(before, file)
    again = trainer.run("study", "pair_2", "--resume", "--state", "st")
    check(same([event["proposal"] for event in events(lines(again.stdout), "judged")], [judged]), f"pair_2 again: {again.stderr}")
    with open(f"{folder}/st/studies/pair_1/proposal.json") as file:
        check(same(json.load(file), judged), "pair_1: judged again")
    # A file that is no proposal of its trials, or cannot be written, is left alone; the latter is reported.
    with open(f"{folder}/st/studies/pair_1/proposal.json", "w") as file:
        json.dump(before | {"of_chosen": "0123"}, file)
    again = trainer.run("study", "pair_2", "--resume", "--state", "st")
    check(again.returncode == 0 and not events(lines(again.stdout), "judged") and not events(lines(again.stdout), "warning"),
          f"pair_2 beside another's: {again.stdout}")
    with open(f"{folder}/st/studies/pair_1/proposal.json") as file:
        check(same(json.load(file), before | {"of_chosen": "0123"}), "another's is left alone")
    with open(f"{folder}/st/studies/pair_1/proposal.json", "w") as file:
        file.write(text)
    # One that this version cannot read is left out.
    database = sqlite3.connect(os.path.join(folder, "st", "studies.db"))
    with database:
        database.execute("UPDATE trial_params SET distribution_json = '{\"name\": \"Another\", \"attributes\": {}}' WHERE trial_id IN "
                         "(SELECT trial_id FROM trials JOIN studies USING (study_id) WHERE study_name = 'pair_2')")
    database.close()
    again = trainer.run("study", "pair_1", "--resume", "--state", "st")
    reported = [event["message"] for event in events(lines(again.stdout), "warning")]
    now = events(lines(again.stdout), "proposal")[0]["proposal"]
    check(again.returncode == 0 and len(reported) == 1 and "pair_2 is left out" in reported[0] and "Another" in reported[0] and now["tried"] == 2,
          f"pair_1 beside what cannot be read: {again.stderr} {now}")
    validated = trainer.run("validate", "--study", "pair", "--state", "st")
    check("pair_2 is left out" in validated.stderr, f"validate beside what cannot be read: {validated.stderr}")


def test_at_once(trainer, folder):
    """Workers that end at the same time, one of them killed when it proposes, or once it has: the last to end has judged all."""
    config = write(os.path.join(folder, "once.ini"), {"study": {"trials": 2, "pruner": "none"}})
    ways = ("none", "proposing", "proposed") if LONG else ("proposing",)
    for i, way in enumerate(ways * (4 if LONG else 1)):
        names = [f"once-{i}_1", f"once-{i}_2"]
        runs = [Run(trainer, name, "--config", config, "--state", "st", "--workers", "1", "--heartbeat", "20") for name in names]
        if way == "proposing":
            runs[0].until(lambda seen: any(event["state"] == "proposing" for event in events(seen, "state")), f"{way}: proposing")
        elif way == "proposed":
            runs[0].until(lambda seen: events(seen, "proposal"), f"{way}: proposed")
        if way != "none":
            runs[0].process.kill()
            runs[0].end()
            runs[0] = Run(trainer, names[0], "--resume", "--state", "st", "--heartbeat", "20")
        for run in runs:
            seen, error, status = run.end()
            check(status == 0 and len(events(seen, "proposal")) == 1, f"{way}: {status} {error} {seen[-2:]}")
        kept = []
        for name in names:
            with open(f"{folder}/st/studies/{name}/proposal.json") as file:
                kept.append(json.load(file))
            check(os.path.exists(kept[-1]["policy"]) and len(os.listdir(f"{folder}/st/studies/{name}/proposals")) == 1, f"{way}: {name}: one policy")
        check([proposal["tried"] for proposal in kept] == [4, 4], f"{way}: each is judged over all: {[proposal['tried'] for proposal in kept]}")


def test_runs(trainer, folder):
    """A study that is started again on the same bars is judged among the trials of its earlier runs; on other bars it is not."""
    def begin(name, tried, **changes):
        config = write(os.path.join(folder, "runs.ini"), {"study": {"trials": 2, "pruner": "none", "sampler": "random", **changes.pop("study", {})}}, changes)
        ran = trainer.run("study", name, "--config", config, "--state", "runs", "--workers", "1")
        if check(ran.returncode == 0, f"{name}: {ran.stderr}"):
            with open(f"{folder}/runs/studies/{name}/proposal.json") as file:
                proposal = json.load(file)
            validated = trainer.run("validate", "--study", name, "--state", "runs")
            deflated = json.loads(validated.stdout)["deflated"]
            check((proposal["tried"], deflated["trials"], proposal["trials"]) == (tried, tried, 2) and deflated["name"].endswith(f"trial {proposal['trial']}") and
                  same(deflated["skill"], proposal["skill"]) and (tried == 2 or deflated["name"].startswith(f"{name} ")),
                  f"{name}: {tried} were tried: {proposal} {validated.stdout[-600:]}")
            return proposal
        return None

    first = begin("again", 2)
    begin("again@2026-11-22T14:00:00Z", 4, study={"seed": 1, "holdout": 0.3})
    begin("again@2026-11-22T15:00:00Z", 2, data={"train_to": "2024-01-25T00:00:00Z"})
    begin("another@2026-11-22T15:00:00Z", 2)
    last = begin("again@2026-11-22T16:00:00Z", 6, study={"seed": 2}, data={"bars": "BBBUSDT_1h.csv, AAAUSDT_1h.csv"})
    kept = {name: json.loads(text) for name, text in rows(folder, "SELECT study_name, value_json FROM study_user_attributes JOIN studies USING (study_id) "
                                                          "WHERE \"key\" = 'papertape:bars'", state="runs")}
    check(len(kept) == 5 and kept["again"] == kept["again@2026-11-22T16:00:00Z"] == kept["another@2026-11-22T15:00:00Z"]
          and kept["again"] != kept["again@2026-11-22T15:00:00Z"], f"runs: bars {kept}")
    check(first and last and last["of_trials"] != first["of_trials"], "runs: trials")
    with open(f"{folder}/runs/studies/again/proposal.json") as file:
        check(json.load(file) == first, "runs: what an earlier one proposed stays judged as it was")
    trainer.run("study", "again", "--resume", "--state", "runs")
    with open(f"{folder}/runs/studies/again/proposal.json") as file:
        check(json.load(file)["tried"] == 6, "runs: until it is run again")


def test_ended(trainer, folder):
    """Where a symbol has no bars any more the study ends, and says so."""
    with open(os.path.join(folder, "BBBUSDT_1h.csv")) as file:
        kept = file.readlines()[:601]
    with open(os.path.join(folder, "CCCUSDT_1h.csv"), "w") as file:
        file.writelines(kept)
    config = write(os.path.join(folder, "ended.ini"), {"study": {"trials": 1, "pruner": "none"}, "data": {"bars": "AAAUSDT_1h.csv, CCCUSDT_1h.csv"}})
    ran = trainer.run("study", "ended", "--config", config, "--state", "st", "--workers", "1")
    reported = [event["message"] for event in events(lines(ran.stdout), "warning") if "CCCUSDT" in event["message"]]
    check(ran.returncode == 0 and len(reported) == 1 and "none after 2024-01-25T23:00:00Z" in reported[0] and "last 100 of 700 rows" in reported[0], f"ended: {ran.stderr} {reported}")
    with open(f"{folder}/st/studies/ended/proposal.json") as file:
        to_ns = json.load(file)["holdout"]["to_ns"]
    check(to_ns <= 1706227200 * 10**9, f"ended: the holdout too {to_ns}")


def test_other_trials(trainer, folder):
    """A proposal of other trials, as many of the same name and settings, is not this study's."""
    kept, texts = f"{folder}/other/studies/twin/proposal.json", []
    for seed in (1, 2):
        config = write(os.path.join(folder, "twin.ini"), {"study": {"trials": 3, "pruner": "none", "sampler": "random", "seed": seed}})
        ran = trainer.run("study", "twin", "--config", config, "--state", "other", "--workers", "1")
        with open(kept) as file:
            texts.append(file.read())
        if seed == 1:
            os.remove(os.path.join(folder, "other", "studies.db"))
        check(ran.returncode == 0, f"twin: {ran.stderr}")
    old, new = map(json.loads, texts)
    check(old["value"] != new["value"] and all(old[key] == new[key] for key in ("made_of", "trials", "complete", "tried")), f"twin: {old} {new}")
    with open(kept, "w") as file:
        file.write(texts[0])
    ran = trainer.run("study", "twin", "--config", config, "--state", "other")
    reported = events(lines(ran.stdout), "proposal")[0]["proposal"]
    check(ran.returncode == 0 and same(reported["value"], new["value"]) and reported["of_trials"] == new["of_trials"], f"twin again: {reported} {new}")


SLOW = {"training": {"total_steps": 40000}}


def test_killed(trainer, folder):
    """kill -9 of a worker within a trial: another takes its place, and the trial's values."""
    kills = 6 if LONG else 2
    config = write(os.path.join(folder, "killed.ini"), SLOW, {"study": {"trials": 100000, "pruner": "none", "retries": 99}})
    run = Run(trainer, "killed", "--config", config, "--state", "st", "--workers", "2", "--heartbeat", "10")
    run.until(lambda seen: events(seen, "start"), "killed: start")
    run.until(lambda seen: any(event["state"] == "searching" and event["rss_bytes"] > 0 for event in events(seen, "heartbeat")),
              "killed: a sign of life")

    def at_work():
        """{pid: its trial's number}, by what is stored."""
        found = rows(folder, "SELECT json_extract(value_json, '$'), number FROM trial_user_attributes JOIN trials USING (trial_id) WHERE "
                             "\"key\" = 'papertape:worker' AND state = 'RUNNING'", patience=0.2)
        of = {int(name.split(":")[1]): number for name, number in found}
        return {pid: number for pid, number in of.items() if pid in workers(run.process)}

    def held():
        """One that is stopped within a trial, (pid, number): so it stays until it is killed."""
        try:
            pid = max(at_work(), default=None)
            if pid is None:
                return None
            os.kill(pid, signal.SIGSTOP)
        except (sqlite3.OperationalError, ProcessLookupError):
            return None
        try:
            if pid in (found := at_work()):
                return pid, found[pid]
        except sqlite3.OperationalError: # it has the file to itself
            pass
        os.kill(pid, signal.SIGCONT)
        return None

    victims = []
    for kill in range(kills):
        victim = poll(held, "killed: a running worker")
        if not victim:
            break
        os.kill(victim[0], signal.SIGKILL)
        victims.append(victim)
        run.until(lambda seen, n=kill + 1: len(events(seen, "warning")) >= n, f"killed: a warning of {victim}")
    run.process.terminate() # as many trials as that took; now for the end
    seen, error, status = run.end()
    check(status == 0 and seen[-1]["result"] == "stopped", f"killed: {error} {seen[-1]}")
    for event in events(seen, "trial"): # one that is tried again is not failed
        check(event["complete"] + event["pruned"] + event["failed"] == event["done"] and event["failed"] == 0 and event["retried"] <= kills + 2,
              f"killed: the numbers add up: {event}")
    reported = [event["message"] for event in events(seen, "warning") if "ended by signal 9" in event["message"]]
    check(len(reported) == kills and all("is tried again" in words for words in reported), f"killed: {reported}")
    found, states, retried = consistent(folder, "killed", "killed")
    stopped = {number for number, state, _ in found if state == "FAIL"} - {number for _, number in victims}
    check(all(states[number] == "FAIL" and number in retried for _, number in victims) and stopped <= retried and len(stopped) <= 2,
          f"killed: {victims} {found}")
    wanted = list(states.values()).count("COMPLETE") + 2
    ran = trainer.run("study", "killed", "--resume", "--state", "st", "--trials", str(wanted), "--workers", "2")
    end = lines(ran.stdout)[-1]
    found, states, again = consistent(folder, "killed", "killed")
    check(ran.returncode == 0 and end["result"] == "done" and end["done"] == end["complete"] == wanted and end["failed"] == 0 and
          end["retried"] == kills + len(stopped) and again == retried, f"killed: {ran.stderr} {end}")
    check(all(state in FINISHED for state in states.values()) and sum(state == "COMPLETE" for state in states.values()) == wanted,
          f"killed: {found}")
    for number, state, trial in found:
        history = attributes(folder, "trial_system_attributes", trial).get("retry_history")
        if history:
            values = "SELECT param_name, param_value FROM trial_params WHERE trial_id = ? ORDER BY 1"
            check(rows(folder, values, trial) == rows(folder, values, found[history[0]][2]), f"killed: the values of {number}")


def test_stopped(trainer, folder):
    """SIGTERM: within seconds, what ran waits, and the next run does it; and so a killed study's workers."""
    config = write(os.path.join(folder, "stopped.ini"), {"training": {"total_steps": 4000000}},
                   {"study": {"trials": 2, "pruner": "none", "retries": 0}, "data": {"train_from": "now-9000d"}})
    for number, what in ((signal.SIGTERM, "stopped"), (signal.SIGKILL, "its parent was killed")):
        run = Run(trainer, "stopped", "--config", config, "--state", "st", "--workers", "2")
        run.until(lambda seen: events(seen, "start"), f"{what}: start")
        check(events(run.seen, "start")[0]["workers"] == 2, f"{what}: two workers")
        poll(lambda: sum(state == "RUNNING" for _, state, _ in trials(folder, "stopped")) == 2, f"{what}: two trials run")
        children = poll(lambda: workers(run.process), "workers")
        started = time.monotonic()
        run.process.send_signal(number)
        seen, error, status = run.end()
        if number == signal.SIGTERM:
            check(status == 0 and seen[-1]["result"] == "stopped" and error == "", f"{what}: {status} {error} {seen[-1]}")
        poll(lambda: not any(map(lives, children)), f"{what}: no worker is left")
        check(time.monotonic() - started < 60, f"{what}: within seconds")
        found, states, retried = consistent(folder, "stopped", what)
        check(sum(state == "WAITING" for state in states.values()) == 2 and "RUNNING" not in states.values(), f"{what}: {found}")
    now = rows(folder, 'SELECT value_json FROM study_user_attributes WHERE "key" = \'papertape:now_ns\' AND study_id = '
                       "(SELECT study_id FROM studies WHERE study_name = 'stopped')")
    # The same bars as at the beginning, also by another configuration; and both trials, however often they were put back.
    short = write(os.path.join(folder, "short.ini"), {"study": {"trials": 2, "pruner": "none", "retries": 0}, "data": {"train_from": "now-9000d"}})
    ran = trainer.run("study", "stopped", "--config", short, "--state", "st", "--resume", "--workers", "2")
    found, states, retried = consistent(folder, "stopped", "resumed")
    check(ran.returncode == 0 and list(states.values()).count("COMPLETE") == 2 and len(found) == 6 and len(retried) == 4,
          f"resumed: {ran.stderr} {found}")
    start = events(lines(ran.stdout), "start")[0]
    began = int(now[0][0]) // 10**9 - 9000 * 86400
    check(start["config"]["data"]["train_from"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)), "resumed: the same now")


def proposes_for_ever(trainer, folder, name, *arguments):
    """A study whose trial is done, and whose proposal trains for longer than the test waits; returns the run while it proposes."""
    def steps(most):
        return write(os.path.join(folder, f"{name}.ini"), {"study": {"trials": 1, "pruner": "none"}, "search": {"total_steps": f"2048..{most}"}})

    ran = trainer.run("study", name, "--config", steps(2049), "--state", "st", "--workers", "1")
    check(ran.returncode == 0, f"{name}: {ran.stderr}")
    before = os.listdir(f"{folder}/st/studies/{name}/proposals")
    os.remove(f"{folder}/st/studies/{name}/proposal.json")
    database = sqlite3.connect(os.path.join(folder, "st", "studies.db"))
    with database:
        database.execute("UPDATE trial_params SET param_value = 4e9, distribution_json = replace(distribution_json, '2049', '4000000000') "
                         "WHERE param_name = 'total_steps' AND trial_id IN (SELECT trial_id FROM trials JOIN studies USING (study_id) "
                         "WHERE study_name = ?)", (name,))
    database.close()
    run = Run(trainer, name, "--config", steps(4 * 10**9), "--state", "st", "--heartbeat", "50")
    run.until(lambda seen: any(event["state"] == "proposing" for event in events(seen, "heartbeat")), f"{name}: proposing")
    return run, before


def test_proposing(trainer, folder):
    """A stop, and a reader that is gone, end it there too; nothing of it stays. What kill -9 leaves goes with the next proposal."""
    for name in ("asked", "unread"):
        run, before = proposes_for_ever(trainer, folder, name)
        if name == "asked":
            folders = f"{folder}/st/studies/{name}/proposals"
            run.until(lambda seen: len(os.listdir(folders)) > len(before), f"{name}: a folder of its own")
            run.process.kill()
            run.end()
            left = set(os.listdir(folders)) - set(before)
            check(len(left) == 1, f"{name}: killed: {left}")
            left = os.path.join(folders, left.pop(), "left")
            open(left, "w").close()
            run = Run(trainer, name, "--resume", "--state", "st", "--heartbeat", "50")
            run.until(lambda seen: not os.path.exists(left), f"{name}: what was left goes")
            run.process.terminate()
            seen, error, status = run.end()
            check(status == 0 and error == "" and seen[-1]["result"] == "stopped", f"{name}: {status} {error} {seen[-1]}")
        else:
            run.leave()
            error = run.process.stderr.read()
            run.process.stderr.close()
            status = run.process.wait(timeout=120)
            check(status == 1 and error.count("\n") == 1 and "cannot write: stdout" in error, f"{name}: {status} {error}")
        check(os.listdir(f"{folder}/st/studies/{name}/proposals") == before, f"{name}: the folder of a failed proposal")


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


def test_refused(trainer, folder):
    config = write(os.path.join(folder, "good.ini"), {"study": {"trials": 1}})
    for what, words, *arguments in (
            ("no name", ["STUDY is needed"],), ("no configuration", ["--config FILE"], "x"),
            ("a bad name", ["a/b", "letters"], "a/b", "--config", config), ("two names", ["one argument too many"], "a", "b"),
            ("a dot", [".a"], ".a", "--config", config), ("trials", ["1 to"], "a", "--config", config, "--trials", "0"),
            ("workers", ["0 to"], "a", "--config", config, "--workers", "9999"),
            ("an option", ["--trails"], "a", "--config", config, "--trails", "3")):
        refuse(trainer, what, words, *arguments, status=2)
    where = ("--state", "st")
    for what, section, key, value, words in (
            ("low above high", "search", "gamma", "0.99..0.9", ["[search] gamma", "lower number first"]),
            ("an unknown key", "search", "gama", "0.9..0.99", ["[search] gama", "did you mean gamma?"]),
            ("an unknown key of study", "study", "trails", "3", ["[study] trails", "did you mean trials?"])):
        bad = write(os.path.join(folder, "bad.ini"), {section: {key: value}})
        number = 1 + open(os.path.join(folder, "bad.ini")).read().split("\n").index(f"{key} = {value}")
        refuse(trainer, what, [f"bad.ini:{number}: ", *words], "bad", "--config", bad, *where)
    bad = write(os.path.join(folder, "bad.ini"), {"search": {"gamma": "0.99..0.9"}, "study": {"trails": 3, "heartbeat_s": 40, "grace_s": 30}})
    ran, checked = trainer.run("study", "bad", "--config", bad, *where), trainer.run("train", "--check", "--config", bad)
    check(ran.returncode == 1 and ran.stderr == checked.stderr and ran.stderr.count("\n") == 3 and len(events(lines(ran.stdout), "error")) == 1,
          f"all lines: {ran.stderr} {checked.stderr}")
    cartpole = write(os.path.join(folder, "cartpole.ini"), {"training": {"world": "cartpole"}, "environment": None, "data": None,
                                                            "study": None, "search": None})
    refuse(trainer, "no market", ["cartpole", "a market is right"], "pole", "--config", cartpole, *where)
    refuse(trainer, "nothing to resume", ["no study to resume", "fresh"], "fresh", "--resume", "--config", config, *where)
    refuse(trainer, "a file that is not there", ["none.ini"], "fresh", "--config", "none.ini", *where)
    none = write(os.path.join(folder, "none_bars.ini"), {"data": {"bars": "NONE_1h.csv"}})
    refuse(trainer, "bars that are not there", ["NONE_1h.csv"], "bars", "--config", none, *where)
    few = write(os.path.join(folder, "few.ini"), {"data": {"train_to": "2024-01-01T20:00:00Z"}})
    refuse(trainer, "too few bars", ["rows"], "few", "--config", few, *where)

    ran = trainer.run("study", "good", "--config", config, *where)
    check(ran.returncode == 0, f"good: {ran.stderr}")
    other = write(os.path.join(folder, "other.ini"), {"search": {"gamma": "0.9 | 0.99"}})
    refuse(trainer, "another space", ["good", "[search] gamma", "FloatDistribution", "another name"], "good", "--config", other, *where)
    wider = write(os.path.join(folder, "wider.ini"), {"search": {"gamma": "0.8..0.99"}, "study": {"trials": 2}})
    ran = trainer.run("study", "good", "--config", wider, *where)
    check(ran.returncode == 0 and "[search] gamma" in ran.stderr and len(trials(folder, "good")) == 2, f"a wider range: {ran.stderr}")
    database = sqlite3.connect(os.path.join(folder, "st", "studies.db"))
    with database:
        database.execute("INSERT INTO studies (study_name) VALUES ('taken')")
        database.execute("INSERT INTO study_directions (direction, study_id, objective) SELECT 'MINIMIZE', study_id, 0 FROM studies "
                         "WHERE study_name = 'taken'")
    database.close()
    refuse(trainer, "other directions", ["taken", "MINIMIZE"], "taken", "--config", config, *where)
    with open(os.path.join(folder, "text.db"), "w") as file:
        file.write("no database\n" * 100)
    refuse(trainer, "no database", ["text.db"], "a", "--config", config, *where, "--storage", "text.db")
    refuse(trainer, "another scheme", ["mysql"], "a", "--config", config, *where, "--storage", "mysql://h/d")
    refuse(trainer, "a folder that cannot be made", ["/dev/null/st"], "a", "--config", config, "--state", "/dev/null/st")
    refuse(trainer, "a folder that is no UTF-8", ["--state", "UTF-8"], "a", "--config", config, "--storage", "other.db", "--state",
           os.fsdecode(b"\xff"))
    if os.geteuid() != 0:
        os.chmod(os.path.join(folder, "st", "studies.db"), 0o400)
        refuse(trainer, "read-only", ["studies.db", "read-only"], "good", "--config", config, *where, "--trials", "9")
        os.chmod(os.path.join(folder, "st", "studies.db"), 0o600)
    if LONG:
        database = sqlite3.connect(os.path.join(folder, "st", "studies.db"), isolation_level=None)
        database.execute("BEGIN EXCLUSIVE")
        refuse(trainer, "locked", ["locked"], "good", "--config", config, *where, "--trials", "9")
        database.close()


def test_rows(trainer, folder):
    """Rows too few are refused before anything is stored, with how many more are needed, and so many more are enough; without a key
    the split is the first that fits, and a study that continues keeps it."""
    def begin(name, n, state, **study):
        write_market(os.path.join(folder, "rows"), n=n)
        config = write(os.path.join(folder, "rows", "rows.ini"), {"environment": {"episode_bars": 60, "random_start": "true", "forced_exit_bars": 0}, "data": {**SMALL["data"], "features": ""},
                       "study": {"trials": 1, "pruner": "none", "workers": 1, "validation": None, **study}})
        return trainer.run("study", name, "--config", config, "--state", state, cwd=os.path.join(folder, "rows"))

    os.mkdir(os.path.join(folder, "rows"))
    few = begin("few", 260, "empty", validation="cpcv:5,2")
    error = events(lines(few.stdout), "error")
    found = re.search(r"papertape-trainer: \[study\] validation: cpcv:5,2: split \d+ trains on blocks of at most \d+ rows, and an episode needs 60 "
                      r"\(episode_bars\): \d+ too few; .*: (\d+) rows more, validation = (\S+), episode_bars of at most (\d+): one of these would", few.stderr)
    if not check(few.returncode == 1 and found and error and error[0]["cause"] == "config" and few.stderr.count("\n") == 1, f"few: {few.stderr}"):
        return
    check(not os.path.exists(os.path.join(folder, "rows", "empty")), "few: nothing is stored")
    for what, n, study, right in (("exactly enough", 260 + int(found[1]), {"validation": "cpcv:5,2"}, True),
                                  ("one row less", 259 + int(found[1]), {"validation": "cpcv:5,2"}, False),
                                  ("what it names", 260, {"validation": found[2]}, True), ("auto", 260, {}, True)):
        ran = begin(what.replace(" ", "-"), n, "rows", **study)
        check((ran.returncode == 0) == right and (not right or events(lines(ran.stdout), "trial")[0]["state"] == "COMPLETE"), f"{what}: {ran.stderr}")
    check(events(lines(ran.stdout), "start")[0]["config"]["study"]["validation"] == found[2], f"auto: {ran.stdout}")
    again = begin("auto", 260, "rows", trials=2, ensemble=1)
    check(again.returncode == 0 and events(lines(again.stdout), "start")[0]["config"]["study"]["validation"] == found[2] and
          lines(again.stdout)[-1]["done"] == 2, f"auto continues: {again.stderr}")


def test_plan(trainer, folder):
    """`plan` of a study says what it will do, writes nothing, and refuses as the study does; its time is printed beside the study's."""
    config = write(os.path.join(folder, "plan.ini"), {"training": {"total_steps": 20480}, "study": {"trials": 6, "pruner": "none", "workers": 2}})
    ran = trainer.run("plan", "--config", config, "--json")
    if not check(ran.returncode == 0 and not ran.stderr, f"plan: {ran.stderr}"):
        return
    plan = json.loads(ran.stdout)
    check(plan["schema"] == "papertape.study-plan/1" and (plan["trials"], plan["splits"], plan["paths"], plan["trainings"], plan["workers"]) == (6, 3, 1, 18, 2) and
          plan["validation"] == "kfold:3" and plan["searched"] == len(SMALL["search"]), f"plan: {plan}")
    of, training = plan["rows"], plan["training"]
    check(of["rows"] == 700 and of["search"] + of["holdout"] + of["between"] + of["warm_up"] + 2 * of["lookback"] == 700 and
          of["train_block"]["least"] <= of["episode_has"] <= of["train_block"]["most"] <= of["train"]["most"] and of["episode_has"] >= of["episode_needs"],
          f"plan: its rows {of}")
    check(training["total_steps"] == 20480 and same(plan["seconds"], training["seconds"] * 18 / 2) and same(plan["hours"], plan["seconds"] / 3600) and
          plan["host_bytes"] > training["host_bytes"] / 2 > 0, f"plan: {plan}")
    text = trainer.run("plan", "--config", config).stdout
    check(all(word in text for word in ("a study of 6 trials, kfold:3: 3 splits, 1 path", "700 rows", "an episode needs", "18 trainings, 2 workers", "memory: ")),
          f"plan: {text}")
    check(not os.path.exists(os.path.join(folder, "state")) and not os.path.exists(os.path.join(folder, "st", "studies", "plan")), "plan: it writes nothing")
    started = time.monotonic()
    ran = trainer.run("study", "plan", "--config", config, "--state", "st")
    check(ran.returncode == 0, f"plan: {ran.stderr}")
    print(f"predicted {plan['seconds']:.2f} s for trainings on two workers, the study took {time.monotonic() - started:.2f} s")
    few = write(os.path.join(folder, "plan.ini"), {"data": {"train_to": "2024-01-02T20:00:00Z"}})
    texts = [trainer.run(*arguments, "--config", few).stderr for arguments in (("plan",), ("plan", "--json"), ("study", "plan-few", "--state", "st"))]
    check(texts[0] == texts[1] == texts[2] and "[data] bars: 44 rows: in no row do all features have a value" in texts[0], f"plan: {texts}")


def test_two_storages(trainer, folder):
    """A folder is of one storage: another with a study of that name is refused, unless the first has gone or has it elsewhere."""
    config = write(os.path.join(folder, "two.ini"), {"study": {"trials": 1}})
    where = ("two", "--config", config, "--state", "both")
    kept = os.path.join(folder, "both", "studies", "two")
    for first, other in ((None, "b.db"), ("sqlite:///b.db", None)):
        storage = lambda url: ("--storage", url) if url else ()
        shutil.rmtree(os.path.join(folder, "both"), ignore_errors=True)
        ran = trainer.run("study", *where, *storage(first))
        check(ran.returncode == 0, f"two: {first}: {ran.stderr}")
        if not first:
            os.unlink(os.path.join(kept, "storage"))  # as an older state is: its own studies.db is looked into
        named = os.path.join(folder, "b.db" if first else "both/studies.db")
        with open(os.path.join(kept, "0", "returns.csv"), "rb") as file:
            before = file.read()
        refuse(trainer, "another storage", ["another study's folder", kept, named, "--storage"], *where, *storage(other), "--seed", "9")
        with open(os.path.join(kept, "0", "returns.csv"), "rb") as file:
            check(file.read() == before, f"two: {first}: the first one's files are as they were")
        ran = trainer.run("study", "two", "--resume", "--state", "both", *storage(first))
        check(ran.returncode == 0, f"two: {first}: the first again: {ran.stderr}")
        with open(os.path.join(kept, "storage")) as file:
            check(file.read() == named + "\n", f"two: {first}: the folder says whose it is")
    os.rename(named, os.path.join(folder, "moved.db"))
    ran = trainer.run("study", "two", "--resume", "--state", "both", "--storage", "moved.db")
    check(ran.returncode == 0, f"two: a storage that was moved: {ran.stderr}")


def has_open_or_ended(child, path):
    """Has that process the file or folder open, or has it ended?"""
    try:
        names = [os.readlink(f"/proc/{child.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{child.pid}/fd")]
    except OSError:
        return child.poll() is not None
    return path in names or child.poll() is not None


def test_two_storages_at_once(trainer, folder):
    """Of two that start at once, with a storage each, one has the folder, though its study is not stored before the other looks."""
    config = write(os.path.join(folder, "two.ini"), {"study": {"trials": 1}})
    for turn in range(4):
        state, slow = f"once{turn}", f"slow{turn}.db"
        kept = os.path.join(folder, state, "studies", "two")
        start = lambda storage: trainer.start("study", "two", "--config", config, "--state", state, "--storage", storage)
        database = sqlite3.connect(os.path.join(folder, slow), isolation_level=None)
        if turn % 2 == 0:
            database.execute("BEGIN IMMEDIATE")  # others read it, and wait until they can write
        first = start(slow)
        while turn % 2 == 0 and not os.path.exists(os.path.join(kept, "storage")) and first.poll() is None:
            time.sleep(0.005)
        second = start("fast.db")
        while turn % 2 == 0 and not has_open_or_ended(second, kept):
            time.sleep(0.005)
        database.close()
        ended = [(child.communicate()[1], child.returncode) for child in (first, second)]
        won = [at for at, (_, status) in enumerate(ended) if status == 0]
        check(len(won) == 1 and (turn % 2 or won == [0]), f"at once: one has the folder: {ended}")
        with open(os.path.join(kept, "storage")) as file:
            named = file.read().strip()
        check(named == os.path.join(folder, "fast.db" if won == [1] else slow), f"at once: the folder names it: {named}")
        check(all(word in ended[1 - won[0]][0] for word in ("another study's folder", kept, named)), f"at once: the other says where: {ended}")
        if os.path.exists(os.path.join(folder, "fast.db")):
            os.unlink(os.path.join(folder, "fast.db"))


def copy_bars(folder, to, count):
    """The market's first lines."""
    for name in ("AAAUSDT_1h.csv", "BBBUSDT_1h.csv"):
        with open(os.path.join(folder, name)) as whole, open(os.path.join(folder, to, name), "w") as part:
            part.writelines(whole.readlines()[:count])


def test_other_file(trainer, folder):
    """A study continues with what its trials were: what was chosen on some rows is not tested on them; the rest may change."""
    where = ("--state", "st")
    os.mkdir(os.path.join(folder, "grow"))
    copy_bars(folder, "grow", 600)
    base = {"study": {"trials": 2, "pruner": "none"}, "data": {"bars": "grow/AAAUSDT_1h.csv, grow/BBBUSDT_1h.csv"}}
    config = write(os.path.join(folder, "bound.ini"), base)
    ran = trainer.run("study", "bound", "--config", config, *where)
    check(ran.returncode == 0, f"other: {ran.stderr}")
    more = {"study": {"trials": 3}}
    for section, key, value, was in (
            ("study", "holdout", "0.05", "0.2"), ("study", "validation", "kfold:4", "kfold:3"), ("study", "purge_bars", "0", "auto"),
            ("study", "embargo_bars", "0", "auto"), ("study", "deviation_weight", "0", "0.1"), ("study", "drawdown_penalty", "1", "0"),
            ("study", "volatility_penalty", "1", "0"), ("data", "train_to", "2024-01-10T00:00:00Z", ""), ("data", "bars", "AAAUSDT_1h.csv", "grow/A"),
            ("training", "total_steps", "1024", "2048"), ("ppo", "copies", "8", "4"), ("environment", "norm_action", "20", "10"),
            ("search", "epochs", None, "searched"), ("search", "steps", "64..128", "64"), ("search", "lookback", "1..3", "")):
        other = write(os.path.join(folder, "other.ini"), base, more, {section: {key: value}})
        named = key if section == "search" else f"[{section}] {key}"
        refuse(trainer, f"other: {key}", ["another study: bound", f"{named}: it was", was, "now it is", "another name"], "bound", "--config",
               other, *where)
    with open(os.path.join(folder, config)) as file, open(f"{folder}/st/studies/bound/study.ini") as kept:
        check(file.read() == kept.read(), "other: what was refused is not kept")
    copy_bars(folder, "grow", 650)
    refuse(trainer, "other: more bars", ["another study: bound", "rows: ", "it was", "now it is"], "bound", "--resume", "--trials", "3", *where)
    copy_bars(folder, "grow", 600)
    other = write(os.path.join(folder, "other.ini"), base, more, {
        "training": {"seed": 7, "threads": 1, "checkpoint_every": 3}, "serve": {"priority": 5},
        "study": {"trials": 3, "workers": 1, "sampler": "random", "seed": 3, "pruner": "median", "heartbeat_s": 1, "retries": 0, "min_excess": 0,
                  "expires": "3d", "every": "1d", "combine": "majority"}})
    ran = trainer.run("study", "bound", "--config", other, *where)
    check(ran.returncode == 0 and len(trials(folder, "bound")) == 3, f"other: what may change: {ran.stderr}")
    database = sqlite3.connect(os.path.join(folder, "st", "studies.db"))
    with database: # as a study of Optuna's, which says nothing of it
        database.execute("DELETE FROM study_user_attributes WHERE \"key\" IN ('papertape:trial', 'papertape:rows')")
    database.close()
    other = write(os.path.join(folder, "other.ini"), base, {"study": {"trials": 4, "holdout": 0.1}})
    ran = trainer.run("study", "bound", "--config", other, *where)
    kept = dict(rows(folder, 'SELECT "key", value_json FROM study_user_attributes JOIN studies USING (study_id) WHERE study_name = ?', "bound"))
    check(ran.returncode == 0 and json.loads(kept["papertape:trial"])["[study] holdout"] == "0.1" and
          json.loads(kept["papertape:rows"])["holdout_rows"] > 0, f"other: without attributes: {ran.stderr} {kept}")


def test_failing(trainer, folder):
    """Trials whose values do not fit together are FAIL and say why; a study of nothing else has no proposal."""
    config = write(os.path.join(folder, "failing.ini"), {"study": {"trials": 3}, "search": {
        **{key: None for key in SMALL["search"]}, "log_std_init": "-5..-4.5", "log_std_min": "-4..0"}})
    ran = trainer.run("study", "failing", "--config", config, "--state", "st", "--workers", "2")
    seen = lines(ran.stdout)
    reported = events(seen, "trial")
    check(ran.returncode == 1 and [event["state"] for event in reported] == ["FAIL"] * 3 and
          all("log_std_init" in event["failure"] for event in reported), f"failing: {reported} {ran.stderr}")
    check(seen[-1]["result"] == "failed" and seen[-1]["cause"] == "config" and seen[-1]["best"] is None and seen[-1]["proposal"] is None and
          any(event["failure"][:200] in events(seen, "error")[0]["message"] for event in reported), f"failing: {seen[-1]}")
    again = trainer.run("study", "failing", "--resume", "--state", "st")
    check(again.returncode == 1 and lines(again.stdout)[-1]["cause"] == "config", f"failing: again: {again.stderr}")
    # None of them has a value: the file may be mended.
    config = write(os.path.join(folder, "mended.ini"), {"study": {"trials": 5}})
    ran = trainer.run("study", "failing", "--config", config, "--state", "st")
    check(ran.returncode == 0 and lines(ran.stdout)[-1]["result"] == "done", f"failing: mended: {ran.stderr}")


def test_full(trainer, folder):
    """A disk without room is no trial's fault: the study ends, and its trial is done once there is room."""
    os.mkdir(os.path.join(folder, "long"))
    write_market(os.path.join(folder, "long"), n=9000)
    config = write(os.path.join(folder, "full.ini"), {"study": {"trials": 3, "pruner": "none", "retries": 0},
                                                      "data": {"bars": "long/AAAUSDT_1h.csv, long/BBBUSDT_1h.csv"}})
    room = 300_000 # for studies.db, and not for a file of returns
    ran = trainer.run("study", "full", "--config", config, "--state", "small", "--workers", "1",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY)))
    end, found = lines(ran.stdout)[-1], trials(folder, "full", "small")
    check(ran.returncode == 1 and end["result"] == "failed" and end["cause"] == "disk" and "cannot write" in ran.stderr and "returns.csv" in ran.stderr,
          f"full: {ran.stderr} {end}")
    check([state for _, state, _ in found] == ["FAIL", "WAITING"] and end["done"] == 0, f"full: {found} {end}")
    check(os.listdir(os.path.join(folder, "small", "studies", "full", "0")) == [], "full: nothing of it is left")
    ran = trainer.run("study", "full", "--resume", "--state", "small", "--workers", "1")
    found = trials(folder, "full", "small")
    check(ran.returncode == 0 and [state for _, state, _ in found] == ["FAIL"] + ["COMPLETE"] * 3, f"full: with room: {ran.stderr} {found}")
    size = os.path.getsize(os.path.join(folder, "small", "studies", "full", "1", "returns.csv"))
    check(size > room, f"full: {size} bytes would not have fitted")


def test_device(trainer, folder, module):
    """A device's context does not survive a fork: each worker opens the module, and their parent does not before."""
    config = write(os.path.join(folder, "device.ini"), SLOW, {"training": {"device": "auto"}, "study": {"trials": 100}})
    trainer.environment.update(PAPERTAPE_GPU_MODULE=module, CUDA_VISIBLE_DEVICES="0,1")
    run = Run(trainer, "device", "--config", config, "--state", "st", "--workers", "2")
    del trainer.environment["PAPERTAPE_GPU_MODULE"], trainer.environment["CUDA_VISIBLE_DEVICES"]
    run.until(lambda seen: events(seen, "start"), "device: it starts")
    poll(lambda: sum(has_open(pid, module) for pid in workers(run.process)) == 2, "device: both workers have it")
    check(not has_open(run.process.pid, module), "device: their parent has none")
    run.process.terminate()
    seen, error, status = run.end()
    check(status == 0 and seen[-1]["result"] == "stopped" and events(seen, "start")[0]["devices"] == 2, f"device: {error} {seen[-1]}")


def test_mute(trainer, folder):
    """A trial of Optuna's whose worker died, which cannot be seen, does not hold the study."""
    config = write(os.path.join(folder, "mute.ini"), {"study": {"trials": 1, "pruner": "none"}})
    check(trainer.run("study", "mute", "--config", config, "--state", "st").returncode == 0, "mute: the first")
    database = sqlite3.connect(os.path.join(folder, "st", "studies.db"))
    with database:
        database.execute("INSERT INTO trials (number, study_id, state, datetime_start) SELECT 1, study_id, 'RUNNING', '2026-01-01 00:00:00.000000' "
                         "FROM studies WHERE study_name = 'mute'")
    database.close()
    for wanted, others in ((2, 2), (3, 3)):
        ran = trainer.run("study", "mute", "--resume", "--state", "st", "--trials", str(wanted), "--workers", "1")
        seen, found = lines(ran.stdout), trials(folder, "mute")
        reported = [event["message"] for event in events(seen, "warning") if "sign of life" in event["message"]]
        check(ran.returncode == 0 and seen[-1]["done"] == wanted and events(seen, "proposal") and len(reported) == 1 and "trial 1 " in reported[0],
              f"mute: {ran.stderr} {seen[-1]} {reported}")
        check([state for _, state, _ in found] == ["COMPLETE", "RUNNING"] + ["COMPLETE"] * (others - 1), f"mute: {found}")


def test_grid(trainer, folder):
    """A grid ends when its points are tried, however many are wanted."""
    config = write(os.path.join(folder, "grid.ini"), {"study": {"trials": 50, "sampler": "grid", "pruner": "none"}, "search": {
        **{key: None for key in SMALL["search"]}, "epochs": "1..2", "lr_schedule": "constant | linear"}})
    ran = trainer.run("study", "grid", "--config", config, "--state", "st", "--workers", "2")
    points = rows(folder, "SELECT group_concat(param_value) FROM (SELECT trial_id, param_value FROM trial_params JOIN trials USING (trial_id) "
                          "JOIN studies USING (study_id) WHERE study_name = 'grid' ORDER BY trial_id, param_name) GROUP BY trial_id")
    check(ran.returncode == 0 and sorted(points) == [("1.0,0.0",), ("1.0,1.0",), ("2.0,0.0",), ("2.0,1.0",)], f"grid: {ran.stderr} {points}")


def test_terminal(trainer, folder):
    """Where stdout is no terminal there are lines; the words of an end stand on one alone."""
    config = write(os.path.join(folder, "terminal.ini"), {"study": {"trials": 3}})
    script = f"{trainer.program} study terminal --config {config} --state st --workers 2"
    ran = subprocess.run(["script", "-qec", script, "/dev/null"], capture_output=True, text=True, cwd=folder, env=trainer.environment,
                         stdin=subprocess.DEVNULL, timeout=120)
    check(ran.returncode == 0 and "/3 trials" in ran.stdout and re.search(r"terminal: done after 3 of 3 trials: \d complete", ran.stdout)
          and '"event"' not in ran.stdout, f"terminal: {ran.stdout}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        for test in (test_whole, test_workers, test_at_once, test_runs, test_ended, test_other_trials, test_killed, test_stopped, test_proposing, test_refused, test_rows, test_plan, test_two_storages, test_two_storages_at_once, test_other_file, test_failing, test_full, test_mute, test_grid, test_terminal):
            started = time.monotonic()
            test(trainer, folder)
            print(f"{test.__name__}: {time.monotonic() - started:.1f} s")
        test_device(trainer, folder, os.path.abspath(sys.argv[2]))
    done("trainer/study/study")


main()
