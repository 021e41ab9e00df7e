#!/usr/bin/env python3
"""The storage's own tests on PostgreSQL instead of a file; the schema, created by several workers at once; times in UTC whatever
the server's time zone is; numbers that no two workers have. postgresql_store.py WORKER TEST..."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures"))
import postgresql_server  # noqa: E402

WORKER, TESTS = sys.argv[1], sys.argv[2:]
WORKERS, TRIALS = 6, 8


def run_tests(server):
    psql = f"{server.bin}/psql -qX -v ON_ERROR_STOP=1 -h {server.folder} -p {server.port} -U {postgresql_server.USER} -d postgres"
    environment = {**os.environ, "PAPERTAPE_STUDIES": server.url("postgres", "options=-csearch_path%3D"), "PAPERTAPE_PSQL": psql}
    for test in TESTS:
        subprocess.run([test], env=environment, check=True)


def check_at_once(server):
    """All of them find an empty database."""
    url = server.url("at_once", scheme="postgresql+psycopg2")
    workers = [subprocess.Popen([WORKER, url, "at_once", str(WORKERS * TRIALS), "60", "0"]) for _ in range(WORKERS)]
    assert [worker.wait() for worker in workers] == [0] * WORKERS
    numbers = [number for number, in server.rows("at_once", "SELECT number FROM trials ORDER BY trial_id")]
    assert numbers == list(range(WORKERS * TRIALS)), numbers
    assert server.rows("at_once", "SELECT schema_version, library_version, (SELECT version_num FROM alembic_version) "
                       "FROM version_info") == [(12, "5.0.0", "v3.2.0.a")]
    by = server.rows("at_once", "SELECT count(DISTINCT value_json) FROM trial_user_attributes WHERE key = 'papertape:worker'")
    assert by[0][0] > 1, "one worker did all of it"


def check_times(server):
    """Within a minute of the server's clock, in UTC."""
    late, = server.rows("at_once", "SELECT count(*) FROM trials JOIN trial_heartbeats USING (trial_id) WHERE abs(extract(epoch FROM "
                        "clock_timestamp() AT TIME ZONE 'UTC' - heartbeat)) > 60 OR abs(extract(epoch FROM "
                        "clock_timestamp() AT TIME ZONE 'UTC' - datetime_start)) > 60 OR datetime_complete < datetime_start")
    assert late == (0,), late


with postgresql_server.running(["timezone=Asia/Kolkata"], ["at_once"]) as running:
    run_tests(running)
    check_at_once(running)
    check_times(running)
print(f"counts: {len(TESTS)} tests of the storage, {WORKERS} workers at once, {WORKERS * TRIALS} trials")
