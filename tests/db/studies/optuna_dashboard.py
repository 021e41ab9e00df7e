#!/usr/bin/env python3
"""optuna-dashboard serves a file that ours made: what its REST interface says of every study and trial is what ours says.
optuna_dashboard.py TEST-DB-STUDIES-WORKER TEST-DB-STUDIES-EXCHANGE"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv

oracle_venv.enter("optuna-dashboard")
WORKER, EXCHANGE = sys.argv[1:3]
TRIALS = 24
ATTEMPTS = 3  # a free port may be somebody else's a moment later
DASHBOARD = os.path.join(sys.prefix, "bin/optuna-dashboard")
if not os.path.exists(DASHBOARD):
    oracle_venv.skip("the venv has no optuna-dashboard")


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as reply:
        return json.load(reply)


def serve(url):
    """The process and its port, once it answers."""
    for _ in range(ATTEMPTS):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([DASHBOARD, "--host", "127.0.0.1", "--port", str(port), "--server", "wsgiref", "--quiet", url],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            try:
                get(port, "/api/meta")
                return process, port
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        print(process.stderr.read(), file=sys.stderr)
    sys.exit("optuna-dashboard does not start")


def compare(port, ours):
    studies = {study["study_name"]: study["study_id"] for study in get(port, "/api/studies")["study_summaries"]}
    assert studies.keys() == ours.keys()
    compared = 0
    for name, study_id in studies.items():
        shown = get(port, f"/api/studies/{study_id}")
        assert shown["directions"] == [d.lower() for d in ours[name]["directions"]]
        assert {a["key"]: a["value"] for a in shown["user_attrs"]} == {k: str(json.loads(v)) for k, v in ours[name]["user"].items()}
        assert len(shown["trials"]) == len(ours[name]["trials"])
        for theirs, our in zip(shown["trials"], ours[name]["trials"]):
            assert theirs["number"] == our["number"] and theirs["state"].upper() == our["state"]
            assert theirs.get("values") == (our["values"] and [float(v) for v in our["values"]])
            params = {p["name"]: p for p in theirs["params"]}
            assert params.keys() == our["params"].keys()
            for key, param in our["params"].items():
                assert params[key]["param_internal_value"] == float(param["internal"])
                attributes = json.loads(param["distribution"])["attributes"]
                assert {k: params[key]["distribution"][k] for k in attributes} == attributes
            assert [[v["step"], float(v["value"])] for v in theirs["intermediate_values"]] == [
                [step, float(value)] for step, value in our["reports"]]
            assert {a["key"]: a["value"] for a in theirs["user_attrs"]} == {k: str(json.loads(v)) for k, v in our["user"].items()}
            compared += 1
        if any(t["state"] == "COMPLETE" for t in ours[name]["trials"]):
            assert [t["number"] for t in shown["best_trials"]] == [ours[name]["best"]]
    return compared


def main():
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/studies.db"
        for name, trials in (("search_1", TRIALS), ("search_2", TRIALS // 2), ("empty", 0)):
            subprocess.run([WORKER, url, name, str(trials), "60", "0"], check=True)
        ours = json.loads(subprocess.run([EXCHANGE, "dump", url], check=True, stdout=subprocess.PIPE, text=True).stdout)
        process, port = serve(url)
        try:
            compared = compare(port, ours)
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()
    print(f"counts: {len(ours)} studies, {compared} trials")


main()
