#!/usr/bin/env python3
"""`papertape export --parquet`: every column of every table equals what the lists print and the database has, to the digit; types,
compression and metadata; a second run writes nothing; a corrected bar, a bar that was withdrawn, new rows are of their day's file
alone; what was pruned or thinned stays; the manifest has each file's rows and SHA-256, and a torn line of it costs one file; another
database, another schema, a foreign file are refused in words."""

import csv
import datetime
import hashlib
import io
import json
import os
import subprocess
import sys
from decimal import Decimal

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq

VERBS = {"fills": ("fills",), "orders": ("orders",), "ledger": ("ledger", "list"), "equity": ("equity",)}
NANOSECONDS = pa.timestamp("ns", tz="UTC")


def rows_of(path, table):
    """All rows of a table, day by day, times as nanoseconds; every file is looked at."""
    rows = []
    for date in sorted(os.listdir(os.path.join(path, table))):
        for name in sorted(os.listdir(os.path.join(path, table, date))):
            file = pq.ParquetFile(os.path.join(path, table, date, name))
            for row in with_numbers(file.read()).to_pylist():
                rows.append(row | {"date": date.removeprefix("date=")})
    return rows


def with_numbers(table):
    for i, field in enumerate(table.schema):
        if field.type == NANOSECONDS:
            table = table.set_column(i, field.name, table.column(i).cast(pa.int64()))
    return table


def day(ns):
    return datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d")


def same(text, value):
    if text == "" or value is None:
        return text == "" and value is None
    if isinstance(value, bool):
        return text == ("1" if value else "0")
    if isinstance(value, Decimal):
        return Decimal(text) == value
    return (float(text) == value if isinstance(value, float) else text == str(value))


def compare_list(state, path, table, time):
    """A table with the verb that lists it: CSV, and what JSON alone has."""
    run = [harness.PAPERTAPE, *VERBS[table], "--state", state]
    texts = list(csv.DictReader(io.StringIO(harness.run([*run, "--csv"]).stdout)))
    objects = next(value for value in json.loads(harness.run([*run, "--json"]).stdout, parse_float=Decimal).values() if isinstance(value, list))
    rows = rows_of(path, table)
    assert len(rows) == len(texts) == len(objects) > 0, (table, len(rows), len(texts))
    compared = 0
    for row, text, more in zip(rows, texts, objects):
        named = {name.removesuffix("_ns"): value for name, value in text.items() if not name.endswith("_iso")}
        alone = {name.removesuffix("_ns"): "" if value is None else str(value) for name, value in more.items() if name not in text}
        assert row.keys() - {"date"} == named.keys() | alone.keys(), (table, row.keys() ^ (named.keys() | alone.keys()))
        assert row["date"] == day(row[time]), row
        if table == "equity":  # which CSV has with fewer digits
            assert abs(float(named.pop("drawdown_share")) - row["drawdown_share"]) < 1e-9
        wrong = {name: (value, row[name]) for name, value in (alone | named).items() if not same(value, row[name])}
        assert not wrong, (table, wrong)
        compared += len(named) + len(alone)
    return compared


def compare_bars(state, path):
    """Bars with the database's own integers and scales."""
    expected = {}
    for row in harness.query(os.path.join(state, "papertape.db"),
                             "SELECT s.name, s.venue, interval_ns, source, open_ns, open, high, low, close, volume, quote_volume, trades, "
                             "first_trade_id, last_trade_id, session, price_scale, qty_scale FROM bars b JOIN symbols s ON s.id = b.symbol"):
        price, qty = row[15:]
        minutes = row[2] // (60 * 10**9)
        scales = (price, price, price, price, qty, price + qty)
        numbers = [Decimal(value).scaleb(-scale) for value, scale in zip(map(Decimal, row[5:11]), scales)]
        known = (value or None if numbers[4] else value for value in (numbers[5], row[11]))  # a volume has both
        trade_ids = (i if i >= 0 else None for i in row[12:14])
        expected[row[0], row[1], f"{minutes}m", row[3], row[4]] = (*numbers[:5], *known, *trade_ids, row[14] or "none")
    rows = rows_of(path, "bars")
    found = {}
    for row in rows:
        assert row["date"] == day(row["open_time"]), row
        found[row["symbol"], row["venue"], row["interval"], row["source"], row["open_time"]] = tuple(
            row[name] for name in ("open", "high", "low", "close", "volume", "quote_volume", "trades", "first_trade_id", "last_trade_id", "session"))
    assert len(rows) == len(found) and found == expected, (len(rows), len(expected))
    return 15 * len(rows)


def round_trip(state, path):
    answer = lake.export(state, path)
    assert tuple(answer) == lake.TABLES and all(row["files"] == row["written"] > 0 and row["kept_rows"] == 0 for row in answer.values()), answer
    assert answer["bars"]["files"] == 4, answer  # three days of 15m, one of 1m
    compared = compare_bars(state, path) + sum(compare_list(state, path, table, time) for table, time in
                                               (("fills", "ts"), ("orders", "created"), ("ledger", "ts"), ("equity", "ts")))
    file = pq.ParquetFile(os.path.join(path, "bars/date=2024-08-07/15m.parquet"))
    schema, group = file.schema_arrow, file.metadata.row_group(0)
    assert schema.field("close").type == pa.decimal128(38, 18) and schema.field("open_time").type == NANOSECONDS, schema
    assert {group.column(i).compression for i in range(group.num_columns)} == {"ZSTD"}
    assert "RLE_DICTIONARY" in group.column(schema.get_field_index("symbol")).encodings
    metadata = {key.decode(): value.decode() for key, value in schema.metadata.items() if key.startswith(b"papertape.")}
    first = harness.query(os.path.join(state, "papertape.db"), "SELECT lower(hex(hash)) FROM ledger WHERE id = 1")[0][0]
    version = harness.run([harness.PAPERTAPE, "--version"]).stdout.split()[1]
    assert metadata == {"papertape.version": version, "papertape.layout": "papertape.lake/1 bars", "papertape.source": first}, metadata
    print(f"round trip: {compared} values")


def check_manifest(path):
    content = lake.tree(path)
    head, *rows = map(json.loads, content["_manifest.jsonl"].decode().splitlines())
    assert head["schema"] == "papertape.lake/1", head
    assert [row["file"] for row in rows] == sorted(name for name in content if name.endswith(".parquet"))
    for row in rows:
        data = content[row["file"]]
        assert row["sha256"] == hashlib.sha256(data).hexdigest() and row["bytes"] == len(data), row
        assert row["rows"] == pq.ParquetFile(io.BytesIO(data)).metadata.num_rows >= row["source_rows"], row


def inodes(path):
    return {os.path.relpath(os.path.join(here, name), path): os.stat(os.path.join(here, name)).st_ino
            for here, _, names in os.walk(path) for name in names if name.endswith(".parquet")}


def changes(state, path):
    before, files = lake.tree(path), inodes(path)
    assert lake.written(lake.export(state, path)) == {} and lake.tree(path) == before and inodes(path) == files
    at = (lake.BEGIN + 2 * lake.DAY) * 10**6 + 60 * 15 * 10**9 * 4
    of = "symbol = (SELECT id FROM symbols WHERE name = 'BTCUSDT') AND interval_ns = 900000000000 AND open_ns = ?"
    lake.change(state, (f"UPDATE bars SET close = close - 1, low = low - 1 WHERE {of}", (at,)),     # corrected
                (f"DELETE FROM bars WHERE {of}", (at + 900 * 10**9,)),                              # withdrawn
                ("INSERT INTO equity (account, ts_ns, equity, cash, peak, day_equity, hash) SELECT account, ts_ns + 1, equity + 1, cash, peak, "
                 "day_equity, hash FROM equity ORDER BY ts_ns LIMIT 1", ()))
    assert lake.written(lake.export(state, path)) == {"bars": 1, "equity": 1}
    compare_bars(state, path)
    compare_list(state, path, "equity", "ts")
    changed = {name for name, inode in inodes(path).items() if inode != files[name]}
    assert changed == {"bars/date=2024-08-09/15m.parquet", "equity/date=2024-08-07/equity.parquet"}, changed
    check_manifest(path)
    print("one corrected bar, one withdrawn, one new row:", *sorted(changed))


def pruned(state, path):
    """[retention] deletes a series' oldest bars, in the middle of a day, and the daemon thins equity."""
    kept = {table: rows_of(path, table) for table in ("bars", "equity")}
    noon = (lake.BEGIN + lake.DAY + lake.DAY // 2) * 10**6
    lake.change(state, ("DELETE FROM bars WHERE symbol = (SELECT id FROM symbols WHERE name = 'ETHUSDT') AND interval_ns = 900000000000 AND open_ns < ?", (noon,)),
                ("DELETE FROM bars WHERE interval_ns = 60000000000", ()),
                ("DELETE FROM equity WHERE ts_ns % 7 <> 0 OR ts_ns < ?", (noon,)))
    answer = lake.export(state, path)
    # Of the day before noon BTCUSDT is there still: its file's rows are fewer in the database, and the same in the lake.
    assert lake.written(answer) == {} and answer["bars"]["kept_rows"] > 0 and lake.export(state, path) == answer, answer
    assert {table: rows_of(path, table) for table in kept} == kept
    lake.change(state, ("UPDATE bars SET volume = '1' WHERE open_ns = ? AND interval_ns = 900000000000", (noon,)))
    assert lake.written(lake.export(state, path)) == {"bars": 1}
    now = rows_of(path, "bars")
    differ = [(a, b) for a, b in zip(kept["bars"], now) if a != b]
    assert len(now) == len(kept["bars"]) and len(differ) == 2 and all(b["volume"] == Decimal("1E-8") for _, b in differ), differ
    check_manifest(path)
    print("pruned: every row stays, two corrected beside them are new")


def options(state, folder):
    path = os.path.join(folder, "some")
    answer = lake.export(state, path, "--table", "fills,equity", "--from", "2024-08-08T13:00:00Z", "--to", "2024-08-08")
    assert set(answer) == {"fills", "equity"} and {name for name in lake.tree(path) if name.endswith("parquet")} == {
        "fills/date=2024-08-08/fills.parquet", "equity/date=2024-08-08/equity.parquet"}, answer
    for more, words in ((("--table", "fills,trades"), '"trades": bars, fills, orders, ledger, equity'), (("--from", "yesterday"), "a time as"),
                        (("--from", "2024-08-08", "--to", "2024-08-07"), "--to: its day is before that of --from")):
        assert words in lake.export(state, path, *more, status=2)
    for inside in ("bars", "bars/date=2024-08-08", "new/deep"):
        error = lake.export(state, os.path.join(folder, "lake", inside), status=1)
        assert f"{folder}/lake/{inside}: it is within the lake {os.path.realpath(folder)}/lake, whose tables" in error and error.count("\n") == 1, error
    assert not os.path.exists(os.path.join(folder, "lake/new"))
    database = os.path.join(state, "papertape.db")
    assert lake.export(state, database, status=1) == f"papertape: export: {database}: it is no folder\n"
    shown = harness.run(lake.command(state, path, "--table", "fills")).stdout
    assert shown.startswith(f"written by {sys.executable} (Python {sys.version.split()[0]}, pyarrow {pa.__version__})\n"), shown


def damaged(state, path, name, content, before):
    """A file that cannot be read is set aside, its rows are written again, and so are the other tables."""
    with open(name, "rb") as file:
        wrong = file.read()
    other = os.path.join(path, "ledger/date=2024-08-08/ledger.parquet")
    os.unlink(other)
    done = subprocess.run([*lake.command(state, path), "--json"], capture_output=True, text=True, timeout=harness.PATIENCE)
    totals = {row["table"]: row for row in json.loads(done.stdout)["tables"]}
    assert done.returncode == 0 and (totals["fills"]["damaged"], totals["fills"]["written"], totals["ledger"]["damaged"]) == (1, 1, 0), totals
    aside = os.path.join(os.path.dirname(name), "_damaged-fills.parquet")
    assert f"note: {name}: it could not be read (" in done.stderr and done.stderr.endswith(f"the damaged file is {aside}\n") and done.stderr.count("\n") == 1, done
    with open(name, "rb") as file, open(aside, "rb") as kept:
        assert file.read() == content and kept.read() == wrong and os.path.exists(other)
    os.unlink(aside)
    assert lake.tree(path).keys() == before.keys()


def flipped(state, path):
    """A bit of a page: no value of it is read."""
    name = os.path.join(path, "bars/date=2024-08-08/15m.parquet")
    with open(name, "rb") as file:
        content = bytearray(file.read())
    column = pq.ParquetFile(name).metadata.row_group(0).column(8)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 4
    verified = [harness.PAPERTAPE, "export", "--parquet", path, "--verify"]
    rows = len(lake.tree(path)["_manifest.jsonl"].splitlines()) - 1
    assert harness.run(verified).stdout == f"{rows} files of the manifest, 0 wrong\n"
    with open(name, "wb") as file:
        file.write(content)
    if lake.script("common").HAS_CHECKSUMS:
        done = harness.run([harness.PAPERTAPE, "backtest", "--strategy", "buy-and-hold", "--no-cache", "--interval", "15m", "--bars", path], status=1)
        assert f"{name}: it cannot be read as Parquet (" in done.stderr and "CRC" in done.stderr, done
    gone, more = os.path.join(path, "fills/date=2024-08-08/fills.parquet"), os.path.join(path, "fills/date=2024-08-08/more.parquet")
    os.rename(gone, more)
    done = harness.run([*verified, "--json"], status=1)
    answer = json.loads(done.stdout)
    assert (answer["schema"], answer["files"], answer["unlisted"]) == ("papertape.export_verify/1", rows, [os.path.relpath(more, path)]), answer
    assert [row["file"] for row in answer["wrong"]] == [os.path.relpath(name, path), os.path.relpath(gone, path)] and done.stderr.count("\n") == 2, done
    assert f"papertape: export: {name}: its SHA-256 is " in done.stderr and ": move it aside, and papertape export writes it again" in done.stderr, done
    assert f"{gone}: it is missing: papertape export writes it again" in done.stderr, done
    os.unlink(more)
    os.unlink(name)
    lake.export(state, path)
    harness.run(verified)
    assert "it has no _manifest.jsonl" in harness.run([*verified[:-2], state, "--verify"], status=1).stderr
    print("one bit: found by the page's checksum and by --verify, and mended")


def refused(state, path):
    """What is not ours is neither read as ours nor replaced."""
    script = lake.script("write")
    name, listed = os.path.join(path, "fills/date=2024-08-08/fills.parquet"), os.path.join(path, "_manifest.jsonl")
    whole = pq.ParquetFile(name).read()
    with open(listed, "rb") as file, open(name, "rb") as fills:
        manifest, content = file.read(), fills.read()
    head, *rows = manifest.splitlines(keepends=True)

    def put(data, at=listed):
        with open(at, "wb") as file:
            file.write(data)

    def refusal(words, call):
        try:
            call()
        except script.Refused as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"not refused: {words}")

    def read():
        return script.read_old(name, whole.schema)

    price = whole.schema.get_field_index("price")
    pq.write_table(whole.set_column(price, "price", whole.column("price").cast(pa.float64())), name)
    refusal("fills.parquet: its column price is double, and decimal128(38, 18) is expected: it was written by", read)
    pq.write_table(whole.append_column("venue_id", whole.column("fill")), name)
    refusal("its column venue_id is int64, and no column of that name is known", read)
    for wrong, words in ((head + b"nonsense\n", "_manifest.jsonl:2: no line of a file"),
                         (manifest.replace(b"lake/1", b"lake/9"), "it is of papertape.lake/9, and this program writes papertape.lake/1")):
        put(wrong)
        refusal(words, lambda: script.Manifest(path, ""))
    put(head + b"".join(row for row in rows if b"fills/date=2024-08-08" not in row) + rows[-1][:40])  # cut off by a kill
    put(b"PAR1 and no more", name)
    before = lake.tree(path)
    damaged(state, path, name, content, before)
    pq.write_table(whole.drop_columns(["by", "fee_base"]), name)  # as of a version that did not have them
    assert lake.written(lake.export(state, path)) == {"fills": 1}
    with open(name, "rb") as file:
        assert file.read() == content
    check_manifest(path)
    put(manifest.replace(json.loads(head)["source"].encode(), b"0" * 64))
    error = lake.export(state, path, status=1)
    assert f"{path}: it holds the rows of another database (its ledger began with 000000000000, and this one's with" in error, error


def main():
    with harness.Folder() as folder, lake.OnePython(os.path.join(folder.path, "python")) as python:
        os.environ["PAPERTAPE_PYTHON"] = python.path
        state, _ = lake.make_state(folder.path)
        path = os.path.join(folder.path, "lake")
        round_trip(state, path)
        check_manifest(path)
        changes(state, path)
        flipped(state, path)
        options(state, folder.path)
        pruned(state, path)
        refused(state, path)


if __name__ == "__main__":
    main()
