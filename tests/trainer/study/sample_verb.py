"""papertape-trainer sample, as a user runs it: on a study that our store wrote, on nothing, and wrong.

usage: sample_verb.py PAPERTAPE-TRAINER STORED-STUDY
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

TRAINER, WRITER = sys.argv[1:]


def run(*args):
    return subprocess.run([TRAINER, "sample", *args], capture_output=True, text=True)


def samples(*args):
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["params"] for line in done.stdout.splitlines()]


def refused(status, words, *args):
    done = run(*args)
    lines = done.stderr.splitlines()
    assert done.returncode == status and not done.stdout, (args, done)
    assert len(lines) == 1 and lines[0].startswith("papertape-trainer: ") and words in lines[0], (args, done.stderr)


def in_space(params):
    return (
        sorted(params) == ["gamma", "layers", "rate", "width"]
        and params["gamma"] in (0.9, "auto", None)
        and 1 <= params["layers"] <= 3
        and isinstance(params["layers"], int)
        and 1e-6 <= params["rate"] <= 1e-3
        and params["width"] % 64 == 0
        and 512 <= params["width"] <= 1536
    )


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "studies.db")
        subprocess.run([WRITER, path], check=True)
        before = hashlib.sha256(open(path, "rb").read()).hexdigest()
        where = ("--storage", f"sqlite:///{path}", "--study", "search")
        for sampler in "tpe", "random", "grid", "mcmc":
            drawn = samples(*where, "--n", "20", "--sampler", sampler)
            assert len(drawn) == 20 and all(in_space(params) for params in drawn), (sampler, drawn)
            assert drawn == samples(*where, "--n", "20", "--sampler", sampler), sampler
            assert len({json.dumps(params) for params in drawn}) > 10, sampler
            if sampler != "grid":
                assert drawn != samples(*where, "--n", "20", "--sampler", sampler, "--seed", "1"), sampler
        # the next points of a grid, each once, until there are no more
        points = run(*where, "--n", "1000000", "--sampler", "grid")
        drawn = points.stdout.splitlines()
        assert points.returncode == 1 and 1000 > len(drawn) == len(set(drawn)) > 20, points.stderr
        assert points.stderr == f"papertape-trainer: no points left: search: the grid has no more than these {len(drawn)}\n", points.stderr
        assert [json.dumps(p) for p in samples(*where, "--n", "20", "--sampler", "grid")] == [json.dumps(json.loads(line)["params"]) for line in drawn[:20]]
        # the study is best at a high rate: TPE has seen it, random has not
        rates = {s: sorted(p["rate"] for p in samples(*where, "--n", "101", "--sampler", s))[50] for s in ("tpe", "random")}
        assert rates["tpe"] > 3 * rates["random"], rates
        assert len(samples("--storage", path, "--study", "search")) == 1
        assert samples(*where[:2], "--study", "two", "--n", "3")
        refused(1, "several objectives", *where[:2], "--study", "two", "--sampler", "mcmc")
        refused(1, "no parameters", *where[:2], "--study", "empty")
        for sampler in "tpe", "random", "grid", "mcmc":
            for name, words in ("endless", "parameter x: a range without an end"), ("wide", "parameter x: a range wider than"):
                refused(1, words, *where[:2], "--study", name, "--sampler", sampler)
        refused(1, "a grid of 1e+20", *where[:2], "--study", "fine", "--sampler", "grid")
        refused(1, "search", *where[:2], "--study", "serach")
        refused(1, "nowhere.db", "--storage", os.path.join(folder, "nowhere.db"), "--study", "search")
        assert not os.path.exists(os.path.join(folder, "nowhere.db"))
        refused(2, "mysql", "--storage", "mysql://host/name", "--study", "search")
        refused(2, "one of tpe|random|grid|mcmc", *where, "--sampler", "tpa")
        refused(2, "whole number", *where, "--n", "0")
        refused(2, "--study STUDY", *where[:2])
        refused(2, "--storage URL", *where[2:])
        refused(2, "extra", *where, "extra")
        assert before == hashlib.sha256(open(path, "rb").read()).hexdigest(), "it wrote"
        assert sorted(os.listdir(folder)) == ["studies.db"], os.listdir(folder)


if __name__ == "__main__":
    main()
