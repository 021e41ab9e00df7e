"""`papertape-trainer study`: what is refused and how it is said, two storages of one study, a file that changed, what fails, a full disk,
a device, a terminal. $PAPERTAPE_LONG: a storage that stays locked.

    study_refused.py PAPERTAPE_TRAINER GPU_MODULE     (the latter: one whose device is the CPU)
"""
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from small_study import (LONG, Run, SLOW, SMALL, Trainer, check, done, events, has_open, lines, poll, refuse, rows, same, trials, workers,
                         write, write_market)


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
    before = sorted(os.listdir(folder))
    for storage, *words in (("mysql://h/d", "mysql"), ("postgres://u:geheim@h/d", "postgresql://USER@HOST/DATABASE"),
                            ("postgresql://u@h/d?sslmod=x", "sslmod"), ("postgresql://h/d?passwrd=geheim", "passwrd"),
                            ("host=localhost user=pt password=geheim dbname=x", "postgresql://USER@HOST/DATABASE"),
                            ("postgresql//pt:geheim@h/d", "…@h/d"), ("postgresql:/pt:geheim@h/d", "…@h/d"), ("pt:geheim@h/d", "…@h/d"),
                            ("postgresql:studies", "sqlite:///FILE")):
        for arguments in (("--config", config), ("--resume",)):
            refuse(trainer, storage, ["--storage: ", *words], "a", *arguments, *where, "--storage", storage, status=2)
            ran = trainer.run("study", "a", *arguments, *where, "--storage", storage)
            check("geheim" not in ran.stdout + ran.stderr and "without --resume" not in ran.stderr and lines(ran.stdout)[-1]["cause"] == "config",
                  f"{storage}: {ran.stdout} {ran.stderr}")
    forgotten = trainer.run("study", "a", "postgresql://pt:geheim@h/d")
    check(forgotten.returncode == 2 and "pt:******@h/d" in forgotten.stderr, f"an option that was forgotten: {forgotten.stderr}")
    check(sorted(os.listdir(folder)) == before, f"no file is made: {os.listdir(folder)}")
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
    check(training["total_steps"] == 20480 and plan["seconds"] > training["seconds"] * 18 / 2 and same(plan["hours"], plan["seconds"] / 3600) and
          plan["host_bytes"] > training["host_bytes"] / 2 > 0, f"plan: {plan}")
    check(plan["cpu_seconds"] > training["cpu_seconds"] * 18 and abs(plan["cpu_seconds"] - sum(plan["cpu_parts"].values())) < 1e-6, f"plan: {plan}")
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


def test_no_device(trainer, folder):
    """A study that requires a device where there is no device is refused by the sentence of its plan, before anything of it is stored; one that is
    resumed there ends so too, with its trials untouched."""
    config = write(os.path.join(folder, "none.ini"), {"training": {"device": "cuda"}, "study": {"trials": 2, "workers": 2}})
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
    planned = trainer.run("plan", "--config", config)
    ran = trainer.run("study", "none", "--config", config, "--state", "none")
    check(ran.returncode == planned.returncode == 1 and "no GPU module" in planned.stderr and ran.stderr == planned.stderr, f"none: {ran.stderr}")
    check(lines(ran.stdout)[-1]["cause"] == "device" and not os.path.exists(os.path.join(folder, "none")), f"none: {ran.stdout}")
    trained = trainer.run("train", "--config", write(os.path.join(folder, "trained.ini"), {"training": {"device": "cuda"}, "study": None, "search": None}))
    check(trained.returncode == 1 and lines(trained.stdout)[-1]["cause"] == "device", f"none: {trained.stdout}")
    write(os.path.join(folder, "none.ini"), {"training": {"device": "auto"}, "study": {"trials": 1}})
    check(trainer.run("study", "none", "--config", config, "--state", "none").returncode == 0, "none: auto")
    write(os.path.join(folder, "none.ini"), {"training": {"device": "cuda"}, "study": {"trials": 2}})
    ran = trainer.run("study", "none", "--config", config, "--state", "none")
    check(ran.returncode == 1 and lines(ran.stdout)[-1]["cause"] == "device" and
          [state for _, state, _ in trials(folder, "none", "none")] == ["COMPLETE"], f"none: {ran.stderr} {ran.stdout}")
    del trainer.environment["PAPERTAPE_GPU_MODULE"]


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
        for test in (test_refused, test_rows, test_plan, test_two_storages, test_two_storages_at_once, test_other_file, test_failing, test_full, test_mute,
                     test_grid, test_terminal, test_no_device):
            started = time.monotonic()
            test(trainer, folder)
            print(f"{test.__name__}: {time.monotonic() - started:.1f} s")
        test_device(trainer, folder, os.path.abspath(sys.argv[2]))
    done("trainer/study/study_refused")


main()
