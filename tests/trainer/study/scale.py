"""The plan of docs/scale.md, at 1/1,000: 100 trials of a machine with two workers on PostgreSQL with an artifact store, predicted from
trials of the same study in the same run. Rows, artifacts and transactions are exact; bytes of an artifact, which depend on what was
traded, within ARTIFACT; round trips and bytes to the server within COUNTED, as a look at the study may or may not find something new;
processor time, of the trainer and of the server, within TIMES in both directions.

    scale.py PAPERTAPE_TRAINER SOURCE_ROOT

PAPERTAPE_SCALE_TRIALS=1000 is 1/100.
"""
import os
import sys
import tempfile

from small_study import check, done

sys.path.append(os.path.join(sys.argv[2], "bench"))
import scale_model  # noqa: E402
import scale_trials  # noqa: E402
import scale_trials_costs  # noqa: E402
from scale_trials import SEARCH, SMALL  # noqa: E402

TRIALS, WORKERS, FEW, MORE = int(os.environ.get("PAPERTAPE_SCALE_TRIALS", "100")), 2, 10, 40
ARTIFACT, COUNTED, TIMES = 0.2, 0.25, 2.5
SPLITS = SMALL["splits"]


def exact(place, database, found):
    """What one trial stores, times their number."""
    rows, trials = scale_trials.rows_of(place.server, database), TRIALS + scale_trials_costs.FIRST
    each = {"trials": 1, "trial_params": len(SEARCH), "trial_values": 1, "trial_intermediate_values": SPLITS, "trial_heartbeats": 1}
    for table, n in each.items():
        check(rows[table] == n * trials, f"{table}: {rows[table]} rows, not {n} for each of {trials} trials")
    (small, small_size), (artifacts, size) = place.files("small"), place.files(database)
    check(artifacts == TRIALS, f"{artifacts} artifacts of {TRIALS} trials")
    near(size / TRIALS, small_size / small, "bytes of an artifact", 1 - ARTIFACT, 1 + ARTIFACT)
    states = place.server.rows(database, "SELECT state::text AS s, count(*) AS n FROM trials GROUP BY state")
    check(states == [("COMPLETE", trials)], f"{states}")
    # Of an ask, each report and the end; two when the machine joins, and each worker's last ask, which finds no trial left.
    wanted = TRIALS * (scale_model.ASK_AND_END + SPLITS)
    check(wanted + 2 <= found["transactions"] <= wanted + 2 + WORKERS, f"{found['transactions']} transactions wrote, not {wanted} and few more")


def near(found, predicted, what, least, most):
    print(f"{what}: predicted {predicted:,.2f}, measured {found:,.2f}: {found / predicted:.2f}")
    check(least <= found / predicted <= most, f"{what}: {found}, predicted {predicted}")


def main():
    with scale_trials.postgresql_server.running(scale_trials.SETTINGS) as server, tempfile.TemporaryDirectory() as folder:
        place = scale_trials_costs.Place(os.path.abspath(sys.argv[1]), server, folder)
        each, start, _ = place.each(place.copy("small"), FEW, MORE)
        found = place.search(place.copy("large"), TRIALS, WORKERS)
        exact(place, "large", found)
        for key in ("round_trips", "sent_bytes", "wal_bytes"):
            near(found[key], start[key] + TRIALS * each[key], key, 1 - COUNTED, 1 + COUNTED)
        for key in ("client_s", "server_s"):
            near(found[key], start[key] + TRIALS * each[key], f"{key}, processor seconds", 1 / TIMES, TIMES)
        check(each["transactions"] == scale_model.ASK_AND_END + SPLITS, f"{each['transactions']} transactions of a trial")
    done("trainer/study/scale")


main()
