#!/usr/bin/env python3
"""A study of two machines, each with a folder of its own, and one artifact store in a directory: trials' returns and the proposal are found on
a third and a fourth; what is damaged in the store, or another locally, is found by its digest.

    study.py PAPERTAPE_TRAINER
"""
import json
import os
import shutil
import sys
import tempfile

from shared_study import (SHARED, TRIALS, Trainer, arguments, artifacts, check, content, done, events, is_of, lines, returns, rows,
                          storage, study_attribute, validate, write, write_market)


def test_two(trainer, folder):
    """Two machines at once; each has all returns in the end, for its proposal."""
    url = f"file://{folder}/store"
    running = [trainer.start(*arguments(folder, state, "--artifacts", url)) for state in ("st1", "st2")]
    ended = [process.communicate(timeout=300) + (process.returncode,) for process in running]
    check(all(status == 0 for _, _, status in ended), f"two: {[(error, status) for _, error, status in ended]}")
    found = artifacts(folder)
    check(len(found) == TRIALS and study_attribute(folder, "papertape:artifacts") == url, f"two: {found}")
    for number, files in found.items():
        said = files["returns.csv"]
        check(said["key"] == f"shared/{number}/{said['sha256']}-returns.csv" and is_of(content(f"{folder}/store/{said['key']}"), said), f"{number}: {said}")
        meta = rows(folder, """SELECT value_json FROM trial_system_attributes JOIN trials USING (trial_id) WHERE number = ? AND "key" = ?""",
                    number, f"artifacts:{said['key']}")
        check(json.loads(json.loads(meta[0][0])) == {"artifact_id": said["key"], "filename": "returns.csv", "mimetype": "text/csv", "encoding": None},
              f"{number}: as Optuna's: {meta}")
    workers = {value for value, in rows(folder, """SELECT value_json FROM trial_user_attributes WHERE "key" = 'papertape:worker'""")}
    check(len(workers) >= 2, f"both machines worked: {workers}")
    for state in ("st1", "st2"):
        check(all(is_of(data, found[number]["returns.csv"]) for number, data in returns(folder, state).items()), f"{state} has all returns")
        check(not os.path.exists(f"{folder}/{state}/studies/shared/spool"), f"{state}: nothing is left to upload")
    return [events(lines(out), "proposal")[0]["proposal"] for out, _, _ in ended]


def test_validate(trainer, folder):
    """On a third machine, whose folder is empty: the same figures."""
    first, error = validate(trainer, "st1")
    third, other = validate(trainer, "st3")
    check(first is not None and error == other == "" and first == third and first["left_out"] == 0, f"validate: {error} {other}")
    found = artifacts(folder)
    check(all(is_of(data, found[number]["returns.csv"]) for number, data in returns(folder, "st3").items()), "st3 has all returns")
    check(sorted(os.listdir(f"{folder}/st3/studies/shared")) == sorted(str(number) for number in found), "and nothing else")


def test_proposal(trainer, folder, proposals):
    """A fourth machine has the proposal without training again, in its own folder."""
    ran = trainer.run(*arguments(folder, "st4"))
    seen = lines(ran.stdout)
    check(ran.returncode == 0 and ran.stderr == "", f"proposal: {ran.stderr}")
    check([event["state"] for event in events(seen, "state")] == [], f"nothing is loaded, nor trained: {events(seen, 'state')}")
    proposal = events(seen, "proposal")[0]["proposal"]
    place = os.path.realpath(f"{folder}/st4/studies/shared/proposals")
    check(proposal["policy"].startswith(place + "/") and os.path.exists(proposal["policy"]), f"its policy: {proposal['policy']}")
    same = [one for one in proposals if {**one, "policy": ""} == {**proposal, "policy": ""} and content(one["policy"]) == content(proposal["policy"])]
    check(same, f"it is one of theirs: {proposal}")
    files = study_attribute(folder, "papertape:proposal")
    policy = f"{proposal['trial']}/policy.safetensors"
    check(set(files) >= {"proposal.json", policy} and is_of(content(proposal["policy"]), files[policy]), f"files: {files}")
    with open(f"{folder}/st4/studies/shared/proposal.json") as file:
        check(json.load(file)["policy"] == proposal["policy"], "proposal.json names the policy here")


def test_damaged(trainer, folder):
    """One object cut off, one replaced, one gone: they are left out, with a sentence; a local file that is another is put aside."""
    found = artifacts(folder)
    cut, other, gone, here = (found[number]["returns.csv"]["key"] for number in sorted(found)[:4])
    for key, change in ((cut, lambda data: data[:-10]), (other, lambda data: data.replace(b"0", b"1", 50)), (gone, None)):
        path = f"{folder}/store/{key}"
        shutil.copy(path, f"{folder}/{os.path.basename(path)}")
        data = content(path)
        if change:
            with open(path, "wb") as file:
                file.write(change(data))
        else:
            os.unlink(path)
    number = sorted(found)[3]
    os.makedirs(f"{folder}/st5/studies/shared/{number}")
    with open(f"{folder}/st5/studies/shared/{number}/returns.csv", "w") as file:
        file.write("of another study\n")
    fifth, error = validate(trainer, "st5")
    check(fifth is not None and fifth["left_out"] == 3, f"damaged: {fifth}")
    check(f"the returns of 3 of {TRIALS} trials are not here" in error and "SHA-256" in error and len(error.splitlines()) == 1, f"damaged: {error}")
    check(sorted(number for number, data in returns(folder, "st5").items() if data is None) == sorted(found)[:3], "they are not here")
    check(content(f"{folder}/st5/studies/shared/{number}/returns.csv.differs") == b"of another study\n" and
          is_of(content(f"{folder}/st5/studies/shared/{number}/returns.csv"), found[number]["returns.csv"]), "the local one is put aside")
    for key in (cut, other, gone):
        shutil.copy(f"{folder}/{os.path.basename(key)}", f"{folder}/store/{key}")
    fifth, error = validate(trainer, "st5")
    check(fifth == validate(trainer, "st1")[0] and error == "", f"once they are there again: {error}")


def test_given(trainer, folder):
    """Another mount of the same store; one that is not there; URLs that are none, before anything is stored."""
    os.symlink("store", f"{folder}/mounted")
    ran = trainer.run(*arguments(folder, "st1", "--artifacts", f"{folder}/mounted"))
    check(ran.returncode == 0 and "another name of the same store is right" in ran.stderr, f"another name: {ran.stderr}")
    check(study_attribute(folder, "papertape:artifacts") == f"file://{folder}/mounted", "the last one given counts")
    check(trainer.run(*arguments(folder, "st1", "--artifacts", f"{folder}/store")).returncode == 0, "and back")
    sixth, error = validate(trainer, "st6", "--artifacts", f"{folder}/mounted")
    check(sixth == validate(trainer, "st1")[0] and error == "", f"another mount: {error}")
    seventh, error = validate(trainer, "st7", "--artifacts", f"{folder}/shared.db")
    check(seventh is None and "a folder is right" in error, f"no folder: {error}")
    os.makedirs(f"{folder}/taken")
    with open(f"{folder}/taken/new", "w"): # its own folder is none: no object can be made
        pass
    for url, words in (("gs://bucket", "another kind of store"), ("s3://id:hunter2@bucket", "credentials come from"), (f"{folder}/shared.db", "a folder is right"),
                       (f"{folder}/not/mounted", "is it mounted?"), (f"{folder}/taken", "Not a directory")):
        ran = trainer.run("study", "new", "--config", "shared.ini", "--state", "st8", "--artifacts", url)
        check(ran.returncode == 1 and words in ran.stderr and "hunter2" not in ran.stderr + ran.stdout, f"{url}: {ran.returncode} {ran.stderr}")
        check(not os.path.exists(f"{folder}/st8/studies.db") and not os.path.exists(f"{folder}/not"), f"{url}: nothing is stored")
        check(lines(ran.stdout)[-1]["result"] == "failed" and lines(ran.stdout)[-1]["cause"] == "config", f"{url}: its end")


def test_joined(trainer, folder):
    """A worker of a scheduler, without configuration and options, knows the store from the storage, and leaves the study as it is."""
    before = rows(folder, 'SELECT "key", value_json FROM study_user_attributes ORDER BY "key"')
    ran = trainer.run("study", "shared", "--resume", "--no-proposal", "--storage", storage(folder), "--state", "pod", "--workers", "1",
                      "--trials", str(TRIALS + 1))
    check(ran.returncode == 0 and ran.stderr == "", f"joined: {ran.stderr}")
    check(rows(folder, 'SELECT "key", value_json FROM study_user_attributes ORDER BY "key"') == before, "it changes nothing of the study")
    said = artifacts(folder)[TRIALS]["returns.csv"]
    check(is_of(content(f"{folder}/store/{said['key']}"), said) and sorted(os.listdir(f"{folder}/pod/studies/shared")).count(str(TRIALS)) == 1, f"joined: {said}")
    check(not os.path.exists(f"{folder}/pod/studies/shared/0"), "it fetches nothing")
    first, error = validate(trainer, "st1")
    check(first["trials"] == TRIALS + 1 and first["left_out"] == 0 and error == "", f"and st1 finds it: {error}")


def test_refused(trainer, folder):
    """The key artifacts; a store that takes nothing ends the study before a trial runs, and it continues with one that does."""
    store, away = f"{folder}/late", f"{folder}/away"
    config = write(os.path.join(folder, "late.ini"), SHARED, {"study": {"trials": 2, "artifacts": store}})
    command = ("study", "late", "--config", config, "--storage", storage(folder), "--workers", "1")
    check(trainer.run(*command, "--state", "st9", "--trials", "1").returncode == 0, "the key artifacts")
    os.rename(store, away)
    with open(store, "w"): # no folder
        pass
    ran = trainer.run(*command, "--state", "st9")
    check(ran.returncode == 1 and "a folder is right" in ran.stderr, f"no folder: {ran.stderr}")
    os.unlink(store)
    os.rename(away, store)
    os.rename(f"{store}/late", away)
    with open(f"{store}/late", "w"): # the study's own folder is none: no object can be made
        pass
    ran = trainer.run(*command, "--state", "st9")
    check(ran.returncode == 1 and "Not a directory" in ran.stderr, f"it takes no files: {ran.stderr}")
    os.unlink(f"{store}/late")
    os.rename(away, f"{store}/late")
    check(trainer.run(*command, "--state", "st9").returncode == 0, "it continues")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="papertape-artifacts-") as folder:
        folder = os.path.realpath(folder)
        trainer = Trainer(program, folder)
        write_market(folder)
        write(os.path.join(folder, "shared.ini"), SHARED)
        proposals = test_two(trainer, folder)
        test_validate(trainer, folder)
        test_proposal(trainer, folder, proposals)
        test_damaged(trainer, folder)
        test_given(trainer, folder)
        test_joined(trainer, folder)
        test_refused(trainer, folder)
    done("artifacts/study")


main()
