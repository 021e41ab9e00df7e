"""`papertape-trainer study`: a small search from beginning to end, workers that are killed, a stop and what continues from it, what is
pruned, enqueued, proposed. $PAPERTAPE_LONG: more trials and kills.

    study.py PAPERTAPE_TRAINER
"""
import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import time

from small_study import (FINISHED, LONG, Run, SLOW, SMALL, Trainer, VERDICTS, attributes, check, consistent, done, events, judged, lines,
                         lives, poll, rows, same, trials, workers, write, write_market)


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        for test in (test_whole, test_workers, test_at_once, test_runs, test_ended, test_other_trials, test_killed, test_stopped, test_proposing):
            started = time.monotonic()
            test(trainer, folder)
            print(f"{test.__name__}: {time.monotonic() - started:.1f} s")
    done("trainer/study/study")


main()
