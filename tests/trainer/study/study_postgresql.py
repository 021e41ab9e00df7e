"""`papertape-trainer study` on PostgreSQL: with one worker its trials are SQLite's, one after the other; what reads a study reads it:
`study list`, `show`, `sample`, `validate`, the proposal. No password is shown: not in events, the folder, the database, `ps`.

    study_postgresql.py PAPERTAPE_TRAINER PAPERTAPE
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

from small_study import Run, SLOW, SMALL, Trainer, check, done, events, lines, write, write_market

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fixtures"))
import postgresql_server  # noqa: E402

PASSWORD = "geheim"
TRIALS = 8
QUERIES = {
    "trials": "SELECT number, state::TEXT AS s FROM trials ORDER BY number",
    "values": "SELECT number, objective, value FROM trial_values JOIN trials USING (trial_id) ORDER BY number",
    "params": "SELECT number, param_name, param_value, distribution_json FROM trial_params JOIN trials USING (trial_id) "
              "ORDER BY number, param_name",
    "reports": "SELECT number, step, intermediate_value FROM trial_intermediate_values JOIN trials USING (trial_id) "
               "ORDER BY number, step",
    "system": "SELECT number, \"key\", value_json FROM trial_system_attributes JOIN trials USING (trial_id) ORDER BY number, \"key\"",
}


def of_file(path):
    rows = sqlite3.connect(path)
    return {name: rows.execute(query.replace("::TEXT", "")).fetchall() for name, query in QUERIES.items()}


def compare(trainer, server, folder):
    config = write(os.path.join(folder, "same.ini"), {"study": {"trials": TRIALS}})
    ends = []
    for state, storage in (("file", f"sqlite:///{folder}/file.db"), ("server", server.url("studies", user=f"pt:{PASSWORD}"))):
        ran = trainer.run("study", "same", "--config", config, "--state", state, "--workers", "1", "--storage", storage)
        check(ran.returncode == 0 and PASSWORD not in ran.stdout + ran.stderr, f"{state}: {ran.stderr}")
        ends.append(lines(ran.stdout))
    first, second = of_file(os.path.join(folder, "file.db")), {name: server.rows("studies", query) for name, query in QUERIES.items()}
    for name in QUERIES:
        check(len(first[name]) > 0 and first[name] == second[name], f"{name}: {first[name]} {second[name]}")
    check(any(key.startswith("tpe:relative_params") for _, key, _ in second["system"]), "TPE drew none of them")
    proposals = [events(seen, "proposal")[0]["proposal"] for seen in ends]
    check(proposals[0]["trial"] == proposals[1]["trial"] and proposals[0]["verdict_figures"] == proposals[1]["verdict_figures"],
          f"{proposals}")
    start = events(ends[1], "start")[0]
    check(start["storage"] == server.url("studies"), f"storage: {start['storage']}")
    with open(os.path.join(folder, "server", "studies", "same", "storage")) as file:
        check(file.read() == server.url("studies") + "\n", "the folder's storage")
    check(PASSWORD not in server.run("pg_dump", "-h", server.folder, "-p", str(server.port), "-U", "pt", "studies").stdout, "the database")
    check(PASSWORD not in server.log(), "the server's log")


def read(trainer, papertape, server, folder):
    url = server.url("studies", user=f"pt:{PASSWORD}")
    listed = subprocess.run([papertape, "--state", os.path.join(folder, "none"), "study", "list", "--studies", url, "--json"],
                            capture_output=True, text=True, check=False)
    if check(listed.returncode == 0, f"study list: {listed.stderr}"):
        study, = json.loads(listed.stdout)["studies"]
        check(study["name"] == "same", f"study list: {study}")
    for arguments in (("--studies", f"host=localhost user=pt password={PASSWORD} dbname=x"), ("--studies", f"pt:{PASSWORD}@h/d"), (url,)):
        ran = subprocess.run([papertape, "--state", os.path.join(folder, "none"), "study", "list", *arguments], capture_output=True, text=True,
                             check=False)
        check(ran.returncode == 2 and PASSWORD not in ran.stdout + ran.stderr, f"{arguments}: {ran.returncode} {ran.stderr}")
    shown = subprocess.run([papertape, "--state", os.path.join(folder, "none"), "study", "show", "same", "--studies", url, "--json"],
                           capture_output=True, text=True, check=False)
    if check(shown.returncode == 0, f"study show: {shown.stderr}"):
        check(json.loads(shown.stdout)["trials"] == TRIALS, "study show: its trials")
    for verb in (("sample", "--storage", url, "--study", "same", "--n", "3"), ("validate", "--storage", url, "--study", "same", "--state",
                                                                          "server", "--blocks", "4")):
        ran, from_file = trainer.run(*verb), trainer.run(*(f"sqlite:///{folder}/file.db" if word == url else "file" if word == "server" else
                                                         word for word in verb))
        check(ran.returncode == 0 and ran.stdout == from_file.stdout, f"{verb[0]}: {ran.stderr} {ran.stdout} {from_file.stdout}")


def other_storage(trainer, server, folder):
    """A folder is of one storage: that of the server is found by what the folder has."""
    config = write(os.path.join(folder, "other.ini"), {"study": {"trials": 1}})
    url = server.url("studies", user=f"pt:{PASSWORD}")
    ran = trainer.run("study", "none", "--config", config, "--state", "server", "--storage", url, "--resume")
    check(ran.returncode == 1 and server.url("studies") in ran.stderr and PASSWORD not in ran.stderr, f"{ran.stderr}")
    ran = trainer.run("study", "same", "--config", config, "--state", "server", "--storage", f"sqlite:///{folder}/other.db")
    check(ran.returncode == 1 and "another study's folder" in ran.stderr and server.url("studies") in ran.stderr, f"{ran.stderr}")


def away(trainer, folder):
    """A server that is not there is no disk: the cause says so, and another start may find it (status 1)."""
    config = write(os.path.join(folder, "away.ini"), {"study": {"trials": 1}})
    ran = trainer.run("study", "away", "--config", config, "--state", "away", "--storage",
                      f"postgresql://pt:{PASSWORD}@127.0.0.1:{postgresql_server.free_port()}/studies?timeout=1")
    check(ran.returncode == 1 and lines(ran.stdout)[-1]["cause"] == "storage" and PASSWORD not in ran.stdout + ran.stderr, f"away: {ran.stdout} {ran.stderr}")


def hidden(trainer, server, folder):
    config = write(os.path.join(folder, "hidden.ini"), SLOW)
    url = server.url("studies", "password=" + PASSWORD, user="pt:*" + urllib.parse.quote(PASSWORD + " @"))
    run = Run(trainer, "hidden", "--config", config, "--state", "hidden", "--workers", "1", "--storage", url)
    run.until(lambda seen: events(seen, "start"), "start")
    with open(f"/proc/{run.process.pid}/cmdline") as file:
        words = file.read()
    check(PASSWORD not in words and "pt:****" in words and "password=****" in words, words)
    run.process.terminate()
    _, error, status = run.end()
    check(status in (0, 1) and PASSWORD not in error, f"{status}: {error}")


def restarted(trainer, server, folder):
    """The server is restarted while two workers train: nothing is lost, and no trial fails."""
    config = write(os.path.join(folder, "restarted.ini"), SLOW, {"study": {"trials": 6}})
    run = Run(trainer, "restarted", "--config", config, "--state", "restarted", "--workers", "2", "--storage", server.url("restarted"))
    run.until(lambda seen: events(seen, "trial"), "the first trial")
    server.stop()
    server.start()
    seen, error, status = run.end()
    check(status == 0 and seen[-1]["event"] == "end" and not events(seen, "error"), f"{status}: {error} {seen[-2:]}")
    states = server.rows("restarted", QUERIES["trials"])
    check([number for number, _ in states] == list(range(6)) and all(state in ("COMPLETE", "PRUNED") for _, state in states), f"{states}")


def unlocked(trainer, server, folder):
    """Without a pruner a report has nothing to compare with: of the study's lock the server hears at a suggestion alone."""
    trials = 4
    server.sql("postgres", "ALTER DATABASE unlocked SET log_statement = 'all'")
    config = write(os.path.join(folder, "unlocked.ini"), {"study": {"trials": trials, "pruner": "none"}})
    ran = trainer.run("study", "unlocked", "--config", config, "--state", "unlocked", "--workers", "1", "--no-proposal", "--storage", server.url("unlocked"))
    check(ran.returncode == 0, f"without a pruner: {ran.stderr}")
    (reports,), = server.rows("unlocked", "SELECT count(*) FROM trial_intermediate_values")
    locks = sum("FROM studies WHERE study_id = $1 FOR UPDATE" in line for line in server.log().splitlines())
    check(reports == 3 * trials and trials <= locks < reports, f"{locks} locks of the study, {reports} reports")


def main():
    with postgresql_server.running(databases=["studies", "restarted", "unlocked"]) as server, tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        compare(trainer, server, folder)
        read(trainer, sys.argv[2], server, folder)
        other_storage(trainer, server, folder)
        away(trainer, folder)
        hidden(trainer, server, folder)
        restarted(trainer, server, folder)
        unlocked(trainer, server, folder)
    done("trainer/study/study_postgresql")


main()
