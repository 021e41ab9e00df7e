#!/usr/bin/env python3
"""A study whose artifacts are in an S3-compatible store (checking_proxy.py): a second machine validates it; Optuna's own artifact stores find
the same objects; a store that is down for a while, or does not answer at all, whose files are uploaded when the study continues; keys that are wrong are found before the
first trial; no key is in any output, argument or file.

    study_s3.py PAPERTAPE_TRAINER
"""
import glob
import hashlib
import os
import signal
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../oracle")]
from oracle_venv import imports  # noqa: E402

with imports("moto"):
    import boto3
    import optuna
    from checking_proxy import BUCKET, KEY_ID, REGION, SECRET, TOKEN, Proxy
    from optuna.artifacts import Boto3ArtifactStore, FileSystemArtifactStore, download_artifact, get_all_artifact_meta
from shared_study import (SHARED, TRIALS, Trainer, arguments, artifacts, check, content, done, events, is_of, lines, returns,  # noqa: E402
                          storage, validate, write, write_market)

MORE = 2


def test_whole(trainer, proxy, url):
    """One machine makes it, another reads it."""
    ran = trainer.run(*arguments(trainer.folder, "st1", "--artifacts", url))
    check(ran.returncode == 0 and ran.stderr == "", f"whole: {ran.stderr}")
    found = artifacts(trainer.folder)
    check(len(found) == TRIALS and all(is_of(proxy.object(files["returns.csv"]["key"]), files["returns.csv"]) for files in found.values()), f"whole: {found}")
    check(not proxy.refused and any("x-amz-security-token" in one["signed"] for one in proxy.seen), f"signed: {proxy.refused}")
    first, _ = validate(trainer, "st1")
    second, error = validate(trainer, "st2")
    check(first is not None and first == second and error == "", f"validate: {error}")
    return ran.stdout + ran.stderr


def test_optuna(folder, proxy):
    """Optuna lists and downloads them by its own means."""
    client = boto3.client("s3", endpoint_url="http://%s:%d" % proxy.behind, region_name=REGION, aws_access_key_id="any", aws_secret_access_key="any")
    store, kept = Boto3ArtifactStore(BUCKET, client=client), optuna.storages.RDBStorage(storage(folder))
    study, found = optuna.load_study(study_name="shared", storage=kept), artifacts(folder)
    for trial in study.trials:
        meta = get_all_artifact_meta(trial, storage=kept)
        check([(one.artifact_id, one.filename) for one in meta] == [(found[trial.number]["returns.csv"]["key"], "returns.csv")], f"{trial.number}: {meta}")
        download_artifact(artifact_store=store, artifact_id=meta[0].artifact_id, file_path=f"{folder}/downloaded-{trial.number}")
        check(is_of(content(f"{folder}/downloaded-{trial.number}"), found[trial.number]["returns.csv"]), f"{trial.number}: downloaded")
    check({one.filename for one in get_all_artifact_meta(study)} >= {"policy.safetensors", "proposal.json"}, "and those of the study")


def test_optuna_folder(trainer, folder):
    """Likewise those in a directory."""
    ran = trainer.run("study", "folder", "--config", "shared.ini", "--storage", storage(folder), "--state", "st6", "--workers", "1", "--trials", "2",
                      "--artifacts", f"{folder}/objects")
    check(ran.returncode == 0, f"a directory: {ran.stderr}")
    kept, store = optuna.storages.RDBStorage(storage(folder)), FileSystemArtifactStore(f"{folder}/objects")
    for trial in optuna.load_study(study_name="folder", storage=kept).trials:
        path = f"{folder}/from-folder-{trial.number}"
        for one in get_all_artifact_meta(trial, storage=kept):
            download_artifact(artifact_store=store, artifact_id=one.artifact_id, file_path=path)
        check(content(path) is not None and content(path) == content(f"{folder}/st6/studies/folder/{trial.number}/returns.csv"), f"{trial.number}: downloaded")


def test_down(trainer, proxy):
    """It says 503 while trials end: they count, their files wait; later all is there."""
    folder, notes = trainer.folder, f"{trainer.folder}/st1/studies/shared/spool"
    proxy.down = True
    ran = trainer.run(*arguments(folder, "st1", "--trials", str(TRIALS + MORE)))
    seen, found = lines(ran.stdout), artifacts(folder)
    check(ran.returncode == 5 and (seen[-1]["result"], seen[-1]["cause"]) == ("done", "artifacts") and seen[-1]["complete"] == TRIALS + MORE == len(found), f"down: {ran.stderr} {seen[-1]}")
    said = [event["message"] for event in events(seen, "warning")]
    check(len(said) == len(set(said)), f"each cause once: {said}")
    check(any("HTTP 503" in words for words in said) and any("not uploaded yet" in words for words in said), f"it says so: {said}")
    late = [number for number in found if number >= TRIALS]
    check(all(proxy.object(found[number]["returns.csv"]["key"]) is None for number in late) and len(os.listdir(notes)) >= MORE, "they wait")
    proxy.down = False
    _, error = validate(trainer, "st3")
    check(f"the returns of {MORE} of {TRIALS + MORE} trials are not here" in error and "NoSuchKey" in error, f"meanwhile: {error}")
    ran = trainer.run(*arguments(folder, "st1", "--trials", str(TRIALS + MORE)))
    check(ran.returncode == 0 and ran.stderr == "" and not os.path.exists(notes), f"again: {ran.stderr}")
    check(all(is_of(proxy.object(files["returns.csv"]["key"]), files["returns.csv"]) for files in found.values()), "now they are there")
    third, error = validate(trainer, "st3")
    check(third is not None and third["left_out"] == 0 and third == validate(trainer, "st1")[0] and error == "", f"and found: {error}")
    check(all(is_of(data, found[number]["returns.csv"]) for number, data in returns(folder, "st3").items()), "all of them")
    return "".join(said)


def test_stopped(trainer, proxy, url):
    """SIGTERM while an upload gets no answer: it ends, the trial counts, and its file is uploaded when the study continues."""
    command = ("study", "hung", "--config", "shared.ini", "--state", "st5", "--workers", "1", "--trials", "1", "--artifacts", url)
    notes, place = f"{trainer.folder}/st5/studies/hung/spool", f"{trainer.folder}/st5/studies/hung/0/returns.csv"
    proxy.hangs = "-returns.csv"
    process = trainer.start(*command)
    check(proxy.hung.wait(120), "an upload hangs")
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=120)
    check(process.returncode == 0 and lines(out)[-1]["complete"] == 1 and "stopped" in out, f"stopped: {error} {lines(out)[-1]}")
    check(len(os.listdir(notes)) == 1 and os.path.exists(place), "its file waits")
    proxy.hangs = None
    proxy.release.set()
    ran = trainer.run(*command)
    check(ran.returncode == 0 and lines(ran.stdout)[-1]["result"] == "done" and not os.path.exists(notes), f"continued: {ran.stderr}")
    sha256 = hashlib.sha256(content(place)).hexdigest()
    check(proxy.object(f"hung/0/{sha256}-returns.csv") == content(place), "and it is there")


def test_keys(trainer, url):
    """Wrong or no keys: no trial runs."""
    said = ""
    for what, more, words in (("wrong", {"AWS_SECRET_ACCESS_KEY": SECRET[::-1]}, "SignatureDoesNotMatch"), ("none", {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "no credentials")):
        before, trainer.environment = trainer.environment, {**trainer.environment, **more}
        ran = trainer.run("study", what, "--config", "shared.ini", "--state", "st4", "--artifacts", url)
        trainer.environment = before
        check(ran.returncode == 1 and words in ran.stderr and lines(ran.stdout)[-1]["cause"] == "config", f"{what}: {ran.stderr}")
        check(not events(lines(ran.stdout), "trial") and SECRET[::-1] not in ran.stdout + ran.stderr, f"{what}: no trial")
        said += ran.stdout + ran.stderr
    return said


def main():
    program, proxy = sys.argv[1], Proxy()
    try:
        with tempfile.TemporaryDirectory(prefix="papertape-artifacts-") as folder:
            folder = os.path.realpath(folder)
            trainer = Trainer(program, folder)
            trainer.environment = {name: value for name, value in trainer.environment.items() if not name.startswith("AWS_")}
            trainer.environment.update(AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET, AWS_SESSION_TOKEN=TOKEN, HOME=folder)
            write_market(folder)
            write(os.path.join(folder, "shared.ini"), SHARED)
            url = f"s3://{BUCKET}?" + urllib.parse.urlencode({"endpoint": proxy.endpoint, "region": REGION})
            said = test_whole(trainer, proxy, url)
            test_optuna(folder, proxy)
            test_stopped(trainer, proxy, url)
            test_optuna_folder(trainer, folder)
            said += test_down(trainer, proxy) + test_keys(trainer, url)
            files = [path for path in glob.glob(f"{folder}/**", recursive=True, include_hidden=True) if os.path.isfile(path)]
            kept = b"".join(content(path) for path in files)
            check(len(files) > 40 and not any(secret in kept or secret.decode() in said for secret in (SECRET.encode(), TOKEN.encode())), "no key is kept or said")
    finally:
        proxy.close()
    done("artifacts/study_s3")


main()
