#!/usr/bin/env python3
"""Debian's Prometheus on a daemon with a device and trainings: `promtool check metrics` and `check rules` say nothing, its scrapes
succeed, each rule is evaluated, and each expression of the rules and of the dashboard has data. A rule finds nothing where all is
well: it is evaluated with `bool` behind its comparison, which answers 0 or 1 for each series that it compares. What Prometheus
stored of a market that stands still is the status'."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import exposition
import harness
import metrics

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/daemon/training"))
from fake import Fake, Training  # noqa: E402

CONFIG = harness.BUSY_CONFIG + "[trainer]\nstart = never\n[gpu]\nsample_s = 1\n[metrics]\nsocket = metrics.sock\nlisten = 127.0.0.1:0\n[alerts]\ncommand = /bin/true\n"
RULES = os.path.join(harness.SOURCE, "docs/prometheus-rules.yml")
FIGURES = {"devices": 1, "temperature": 81, "utilization": 97, "memory_used": 1024, "memory_total": 16384, "power": 212000}
COMPARISON = re.compile(r" (==|>|<) (-?[\d.]+)$")
JOB = """global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: papertape
    static_configs: [{{targets: ["{address}"]}}]
"""


def promtool(*arguments, stdin=None):
    done = subprocess.run(["promtool", *arguments], input=stdin, capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Prometheus(harness.Process):
    def __init__(self, folder, address):
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(JOB.format(rules=RULES, address=address))
        assert "SUCCESS" in promtool("check", "config", config)
        super().__init__(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb", "--web.listen-address=127.0.0.1:0"],
                         os.path.join(folder, "prometheus.log"))
        self.at = harness.wait_for(self.listening, "Prometheus' port")

    def listening(self):
        assert self.alive(), self.log_text()
        found = re.search(r'msg="Listening on" address=(127\.0\.0\.1:\d+)', self.log_text())
        return found and "Server is ready to receive web requests" in self.log_text() and found[1]

    def api(self, path, **query):
        with urllib.request.urlopen(f"http://{self.at}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=harness.PATIENCE) as answer:
            reply = json.load(answer)
        assert reply["status"] == "success", reply
        return reply["data"]

    def query(self, expression, **query):
        return self.api("query", query=expression, **query)["result"]

    def rules(self):
        group, = self.api("rules")["groups"]
        return group["rules"]


def trainings(fake):
    """One that updates on the device, and one that failed."""
    works, failed = Training("ppo"), Training("lost")
    works.reported.update(device="0", state="update", steps_per_second=1000.0, steps=4096, memory_mib=300)
    works.step()
    failed.reported.update(state="failed", reason="nan", cause="nan", ended_ns=time.time_ns())
    with fake.lock:
        fake.trainings.update(ppo=works, lost=failed)


def start(folder):
    figures, state = os.path.join(folder.path, "gpu"), os.path.join(os.path.realpath(folder.path), "state")
    with open(figures, "w", encoding="utf-8") as file:
        file.write("".join(f"{key}={value}\n" for key, value in FIGURES.items()))
    os.mkdir(state, 0o750)
    trainings(Fake(state))
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "11", "--rate", "400"))
    environment = dict(os.environ, PAPERTAPE_NVML=harness.FAKE_NVML, PAPERTAPE_FAKE_NVML=figures)
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=environment))
    daemon.wait_status(lambda s: s["counters"] and s["counters"]["fills"] > 10 and s["positions"] and s["gpu"]["devices"]
                       and len(s["trainings"]) == 2, "fills, a device, trainings")
    daemon.papertape("backup", os.path.join(folder.path, "copy.tar.zst"))
    daemon.wait_status(lambda s: s["backup"]["state"] == "ok" and s["alerts_by_code"], "a backup's outcome, an alert")
    return replay, daemon


def inputs(expression):
    """The expression of a rule, that has an answer where its comparison does not hold too."""
    assert len(COMPARISON.findall(expression)) == 1, expression
    return COMPARISON.sub(r" \1 bool \2", expression)


def has_data(prometheus, name, expression):
    result = harness.wait_for(lambda: prometheus.query(expression), f"data of {name}: {expression}")
    assert all(row["value"][1] != "NaN" for row in result), (name, expression, result)
    return len(result)


def evaluated(prometheus):
    """Each rule, by Prometheus itself and by its inputs. How many, and how many series."""
    rules = harness.wait_for(lambda: (lambda rules: rules if all(rule["health"] != "unknown" for rule in rules) else None)(prometheus.rules()),
                             "every rule evaluated")
    assert all(rule["health"] == "ok" for rule in rules), rules
    with open(RULES, encoding="utf-8") as file:
        text = file.read()
    series = 0
    for name, expression in re.findall(r"- alert: (\w+)\n\s+expr: (.+)\n", text):
        series += has_data(prometheus, name, inputs(expression))
        assert name in {rule["name"] for rule in rules}
    assert len(rules) == text.count("- alert: ") == len(re.findall(r"summary: ", text)) == len(re.findall(r"remedy: ", text))
    harness.wait_for(lambda: [rule for rule in prometheus.rules() if rule["name"] == "PapertapeTrainingFailed" and rule["state"] == "firing"],
                     "the alert of a failed training")
    return len(rules), series


def drawn(prometheus):
    expressions = exposition.dashboard()
    return len(expressions), sum(has_data(prometheus, title, expression) for title, expression in expressions)


def same(prometheus, daemon):
    """Of a market that stands still: what Prometheus has of each metric is the status' number. How many."""
    status, compared = daemon.status_object(), 0
    for row in exposition.rows():
        if row.name not in ("papertape_fills_total", "papertape_orders_total", "papertape_venue_frames_total", "papertape_account_equity",
                            "papertape_position_quantity", "papertape_symbol_bars_total", "papertape_stream_frames_total",
                            "papertape_device_temperature_celsius", "papertape_training_steps"):
            continue
        wanted = exposition.values(row, status)

        def stored(row=row):
            return {tuple((name, sample["metric"].get(name, "")) for name in row.labels): float(sample["value"][1])
                    for sample in prometheus.query(row.name)}
        assert wanted
        harness.wait_for(lambda w=wanted: {k: round(v, 9) for k, v in stored().items()} == {k: round(v, 9) for k, v in w.items()}, f"{row.name}: {wanted}, not {stored()}")
        compared += len(wanted)
    return compared


def main():
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        harness.skip("prometheus is not installed")
    said = promtool("check", "rules", RULES)
    assert re.search(r"SUCCESS: \d+ rules found", said), said
    with harness.Folder() as folder:
        replay, daemon = start(folder)
        where = metrics.listening(daemon)
        text = metrics.get(where["socket"], "/metrics")
        complaints = promtool("check", "metrics", stdin=text)
        assert complaints == "", complaints
        exposition.parse(text)
        prometheus = folder.start(Prometheus(folder.within("prometheus"), where["listen"]))
        harness.wait_for(lambda: [t for t in prometheus.api("targets")["activeTargets"] if t["health"] == "up"], "a scrape")
        n_rules, of_rules = evaluated(prometheus)
        n_drawn, of_drawn = drawn(prometheus)
        replay.popen.send_signal(signal.SIGSTOP)
        frames = []
        harness.wait_for(lambda: frames.append(daemon.status_object()["feed"]["frames"]) or frames[-1:] == frames[-2:-1], "the last frame")
        compared = same(prometheus, daemon)
        assert not prometheus.query("papertape_metrics_left_out > 0")
        stored = prometheus.query('count({__name__=~"papertape_.*"})')[0]["value"][1]
        replay.popen.send_signal(signal.SIGCONT)
        assert prometheus.stop() == 0 and daemon.stop() == 0
        print(f"promtool check metrics: clean; check rules: {said.strip().splitlines()[-1].strip()}")
        print(f"Prometheus: {stored} series; {n_rules} rules with {of_rules} series, {n_drawn} expressions of the dashboard with {of_drawn}; "
              f"{compared} numbers as the status has them")


if __name__ == "__main__":
    main()
