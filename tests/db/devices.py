"""Samples of devices and processes as the database keeps them, computed once more by NumPy from all samples that were
put: after nine days, and after kills at random moments of the writing, where it then continues. Nothing is lost or
counted twice, to the row. devices.py DEVICE_WRITER

Wants NumPy from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seed."""

import csv
import io
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("NumPy"):
    import numpy as np

WRITER = sys.argv[1]
SEED = os.environ.get("PAPERTAPE_SEED", "20261124")
KILLS = 40 if os.environ.get("PAPERTAPE_LONG") else 3
SECOND = 10**9
KEPT = {0: (2 * 3600, 60), 60: (48 * 3600, 600), 600: (8 * 86400, 600)}  # seconds, in whole periods of
NAMES = {"device_samples": ("devices", "device"), "process_samples": ("processes", "role")}


def samples():
    """{table: (keys, times, figures)} of all samples, in the order in which they are put."""
    text = subprocess.run([WRITER, "list", SEED], check=True, capture_output=True, text=True).stdout
    found = {table: [] for table in NAMES}
    for table, key, ts_ns, *figures in csv.reader(io.StringIO(text)):
        found[table].append((key, int(ts_ns), [float(f) if f else np.nan for f in figures]))
    return {table: (np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), np.array([r[2] for r in rows]))
            for table, rows in found.items()}


def sums_of(figures, firsts):
    """{statistic: a row for each of the periods that begin at those samples}, without what is not known."""
    known = ~np.isnan(figures)
    with np.errstate(invalid="ignore"):  # a figure that no sample of a period has
        mean = np.add.reduceat(np.where(known, figures, 0), firsts) / np.add.reduceat(known.astype(float), firsts)
    return {"min": np.fmin.reduceat(figures, firsts), "max": np.fmax.reduceat(figures, firsts), "mean": mean}


def expected(keys, times, figures):
    """{(key, period, statistic, ts): (n, figures)} once these samples were put."""
    now = times[-1]
    def floor(t, s):
        return t // (s * SECOND) * s * SECOND
    cut = {period: floor(now - kept * SECOND, whole) for period, (kept, whole) in KEPT.items()}
    rows = {}
    for key in np.unique(keys):
        own = keys == key
        if times[own][-1] < cut[600]:
            continue
        for t, f in zip(times[own], figures[own]):
            if t >= cut[0]:
                rows[key, 0, "sample", int(t)] = (1, f)
        for period in (60, 600):
            starts, firsts, n = np.unique(floor(times[own], period), return_index=True, return_counts=True)
            for statistic, sums in sums_of(figures[own], firsts).items():
                for i, start in enumerate(starts):
                    if cut[period] <= start < floor(now, period):
                        rows[key, period, statistic, int(start)] = (n[i], sums[i])
    return rows


def stored(path, table):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        key = NAMES[table][1]
        rows = db.execute(f"SELECT * FROM {table} ORDER BY {key}, period_s, statistic, ts_ns").fetchall()
        keys = {row[0] for row in db.execute(f"SELECT {key} FROM {NAMES[table][0]}")}
    assert keys == {row[0] for row in rows}, (table, keys)
    return {row[:4]: (row[4], [np.nan if f is None else f for f in row[5:]]) for row in rows}


def last_stored(path):
    """The newest sample of any table; none before the database is there."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return max((db.execute(f"SELECT max(ts_ns) FROM {table} WHERE period_s = 0").fetchone()[0] or 0)
                       for table in NAMES)
    except sqlite3.OperationalError:
        return 0


def check(path, everything, until):
    """Compares both tables with what the samples up to `until` make."""
    counted = 0
    for table, (keys, times, figures) in everything.items():
        put = times <= until
        if not put.any():
            continue
        want, got = expected(keys[put], times[put], figures[put]), stored(path, table)
        assert want.keys() == got.keys(), (table, sorted(want.keys() ^ got.keys())[:5])
        order = list(want)
        assert [got[row][0] for row in order] == [want[row][0] for row in order], table
        np.testing.assert_allclose(np.array([got[row][1] for row in order]), np.array([want[row][1] for row in order]),
                                   rtol=1e-12, atol=0, err_msg=table)
        counted += len(got)
    return counted


def start(path, after):
    process = subprocess.Popen([WRITER, "write", SEED, path, str(after)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "open\n"
    return process


def main():
    print(f"PAPERTAPE_SEED={SEED}")
    rng = random.Random(int(SEED))
    everything = samples()
    folder = tempfile.mkdtemp()
    try:
        path = os.path.join(folder, "papertape.db")
        last, killed = -1, 0
        for _ in range(KILLS):
            process = start(path, last)
            before = last_stored(path)
            while last_stored(path) == before and process.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.15))
            process.kill()
            killed += process.wait() < 0
            process.stdout.close()
            last = last_stored(path)
            print(f"killed: {check(path, everything, last)} rows")
        process = start(path, last)
        assert process.wait() == 0
        process.stdout.close()
        rows = check(path, everything, last_stored(path))
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        total = sum(len(times) for _, times, _ in everything.values())
        assert last_stored(path) == max(times[-1] for _, times, _ in everything.values())
        print(f"{total} samples put, {killed} kills, {rows} rows kept: as NumPy has them")
        assert killed > 0
    finally:
        shutil.rmtree(folder)


main()
