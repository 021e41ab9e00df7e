"""The job for spark-submit: bars or trades in, Parquet out, a file a symbol.

    spark-submit job.py indicators --input /history/bars --output /history/sma --specs sma:20,rsi:14
    python -m papertape_spark.job backtest --input … --output … --strategy sma-cross --set fast=5

`--help` has the arguments, docs/spark.md what it promises.
"""

import argparse
import json
import sys
import uuid

EXIT_ERROR, EXIT_USAGE = 1, 2
MANIFEST = "_papertape.json"
SCHEMA = "papertape.spark/1"


def pair(word):
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"{word!r}: KEY=VALUE is needed")
    return key, value


def parser():
    top = argparse.ArgumentParser(prog="papertape_spark.job", description="Papertape's columns, bars and backtests over a folder of bars or trades, into Parquet: a file a symbol. The same command again continues: what is complete is not written again.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, about):
        one = commands.add_parser(name, help=about, description=about)
        one.add_argument("--input", required=True, nargs="+", metavar="PATH", help="files or folders of bars, or of trades for bars; symbols by their column, folder or file's name")
        one.add_argument("--format", choices=("parquet", "csv"), help="of the input; by its name where it is left out, else parquet")
        one.add_argument("--source", metavar="S", help="of a lake's bars: venue or trades; left out, the venue's where there are both")
        one.add_argument("--venue", metavar="V", help="of a lake's bars, where several venues have a symbol")
        one.add_argument("--input-interval", metavar="5m", help="of the input's bars, where it has several; left out, --interval (not of bars, where that is the longer one)")
        one.add_argument("--output", required=True, metavar="FOLDER", help="a path, or a URI (file, hdfs, s3, gs), which all executors reach")
        one.add_argument("--symbols", metavar="A,B", help="these alone; all where it is left out")
        one.add_argument("--partitions", type=int, metavar="N", help="tasks at most; spark.sql.shuffle.partitions where it is left out")
        one.add_argument("--replace", action="store_true", help="the output may hold another job's rows, which go")
        one.add_argument("--quiet", action="store_true", help="no progress on stderr")
        return one

    def trading(one):
        one.add_argument("--strategy", required=True, metavar="S", help="a name, or NAME:key=value,key=value")
        one.add_argument("--set", action="append", type=pair, default=[], metavar="KEY=VALUE", help="a parameter of the strategy")
        one.add_argument("--option", action="append", type=pair, default=[], metavar="KEY=VALUE", help="as backtest() takes them: cash=5000, fee_taker=0.0005, risk.drawdown=0.2, from=2024-01-01, errors=rows …")
        one.add_argument("--interval", help="of the bars, where their times leave it open")
        one.add_argument("--cut", choices=("symbol", "time"), default="symbol", help="symbol: a backtest is never cut by time")

    one = command("indicators", "columns of indicators")
    one.add_argument("--specs", required=True, help="sma:20,macd:12,26,9")
    one.add_argument("--interval", help="of the bars: then a missing one is an error")
    one.add_argument("--backend", choices=("cpu", "gpu"), default="cpu", help="gpu: Papertape's GPU module, in executors with a device")
    one = command("features", "columns of a feature set")
    one.add_argument("--set", required=True, metavar="SET", help="a fitted set's file, or a built-in's name")
    one.add_argument("--interval", help="of the bars, where features have timeframes, or the set is fitted here")
    one.add_argument("--fit-until", metavar="T", help="fit a built-in on each symbol's bars before T, an ISO time")
    one.add_argument("--errors", choices=("raise", "rows"), default="raise", help="rows: a symbol that cannot be fitted on has nulls, and why in a column error; else it ends the job")
    one.add_argument("--backend", choices=("cpu",), default="cpu", help="the only one that features have")
    one = command("bars", "bars of a longer interval, from shorter ones or from trades")
    one.add_argument("--interval", required=True, help="5m, 1h, 1d …")
    one = command("backtest", "a strategy on each symbol's bars")
    trading(one)
    one.add_argument("--rows", choices=("figures", "trades", "rounds", "equity"), default="figures", help="what is written: figures, a row a symbol, where it is left out")
    one = command("sweep", "a strategy with every combination of a grid on each symbol's bars")
    trading(one)
    one.add_argument("--grid", action="append", type=pair, required=True, metavar="KEY=LO:HI:STEP", help="or KEY=a,b,c")
    one.add_argument("--metric", help="ranks a symbol's runs; sharpe where it is left out")
    one.add_argument("--top", type=int, metavar="N", help="only so many of each symbol")
    return top


def set_text(word):
    """A file's text, or the word, a built-in's name."""
    import os

    if not os.path.exists(word):
        return word
    with open(word, encoding="utf-8") as file:
        return file.read()


def fitted_set(args, bars):
    """The set, or fitted here each symbol's own."""
    from . import fit
    from .library import BadBars

    if not args.fit_until:
        return args.set
    if not args.interval:
        raise BadBars("--fit-until goes with --interval, the bars' own")
    return fit(bars, args.set, args.interval, until=args.fit_until, errors=args.errors)


def made(args, bars):
    """The DataFrame that is written: each symbol's rows together, in order."""
    from . import backtest, features, indicators, sweep
    from . import bars as longer

    if args.command == "indicators":
        return indicators(bars, args.specs, gaps=args.interval, partitions=args.partitions, backend=args.backend)
    if args.command == "features":
        return features(bars, args.fitted, args.interval, partitions=args.partitions, errors=args.errors)
    if args.command == "bars":
        return longer(bars, args.interval, partitions=args.partitions)
    options = {"interval": args.interval, **dict(args.option)}
    if args.command == "backtest":
        what = {} if args.rows == "figures" else {args.rows: True}
        return backtest(bars, args.strategy, dict(args.set), cut=args.cut, partitions=args.partitions, **what, **options)
    return sweep(bars, args.strategy, dict(args.grid), dict(args.set), args.metric, args.top, cut=args.cut, partitions=args.partitions, **options)


def described(args):
    """What the rows follow from, apart from the input."""
    from . import library

    fixed = {"schema": SCHEMA, "library": library.VERSION, "command": args.command}
    apart = ("backend", "command", "fitted", "input", "output", "symbols", "partitions", "replace", "quiet")
    asked = {key: value for key, value in vars(args).items() if key not in apart}
    return json.dumps({**fixed, "asked": asked, "input": [place_of(path) for path in args.input]}, sort_keys=True)


def place_of(path):
    """The same text for the same path, from wherever it is named."""
    import os

    return path if ":" in path.split("/", 1)[0] else os.path.abspath(path)


def other(before, description):
    """What another job there was, in words."""
    try:
        was, now = json.loads(before), json.loads(description)
        apart = [key for key in sorted({*was, *now}) if was.get(key) != now.get(key)]
    except ValueError:
        return before[:200]
    if apart == ["input"] and was.get("input"):
        return f"of the input {', '.join(was['input'])}"
    return before[:200]


def claim(place, description, replace):
    """The output is this job's, or becomes it: else raises."""
    from .commit import SUFFIX
    from .library import BadBars

    place.make()
    names = place.names()
    if MANIFEST in names:
        with place.system.open_input_stream(place.at(MANIFEST)) as file:
            before = file.read().decode()
        if before == description:
            return names
    elif not any(name.endswith(SUFFIX) for name in names):
        before = None
    else:
        before = "files of another program"
    if before is not None and not replace:
        raise BadBars(f"--output: {place.path} holds the rows of another job ({other(before, description)}): an empty folder is needed, or --replace")
    for name in names:
        if before is not None and (name.endswith(SUFFIX) or name == MANIFEST):
            place.delete(name)
    unfinished = f".{MANIFEST}.{uuid.uuid4().hex}"
    with place.system.open_output_stream(place.at(unfinished)) as file:
        file.write(description.encode())
    place.commit(unfinished, MANIFEST)
    return place.names()


def only(bars, symbols):
    """The rows of these symbols."""
    from pyspark.sql import functions as F

    from . import tasks

    rows, own = bars.where(F.col("symbol").isin(symbols)), tasks.of(bars)
    return tasks.attached(rows, own.only(symbols)) if own else rows


def keys_of(bars):
    """{symbol: key} by the files that its rows are in: their paths, sizes and times of change."""
    from . import tasks
    from .commit import key_of

    own = tasks.of(bars)
    found = own.stated() if own else stated(bars)
    return {symbol: key_of(*(f"{path} {size} {changed.isoformat()}" for path, size, changed in files)) for symbol, files in found.items()}


def stated(bars):
    """{symbol: [(path, size, time of change)]}, by Spark, which goes through all rows for it."""
    from pyspark.sql import functions as F

    files = bars.select("symbol", "_metadata.file_path", "_metadata.file_size", "_metadata.file_modification_time").distinct()
    grouped = files.groupBy("symbol").agg(F.sort_array(F.collect_list(F.struct("file_path", "file_size", "file_modification_time"))).alias("files"))
    return {row.symbol: row.files for row in grouped.collect()}


def written(spark, args, place, names, bars):
    """Writes what is not there, and removes what is no longer of the input. Returns the summary."""
    from .library import BadBars
    from .commit import UNFINISHED, file_name, gone_files, stale_files, write, write_empty
    from .progress import Progress
    from .tasks import arrow_schema

    keys = keys_of(bars)
    if not keys and not args.symbols:
        raise BadBars(f"{' '.join(args.input)}: there are no rows: bars or trades are needed")
    gone = [] if args.symbols else gone_files(names, keys)
    there = set(names)
    todo = {symbol: key for symbol, key in keys.items() if file_name(symbol, key) not in there}
    stale = stale_files(names, keys)
    report, counter = [], spark.sparkContext.accumulator(0)
    frame = made(args, only(bars, list(todo)) if len(todo) < len(keys) else bars)
    if todo:
        group = f"papertape {uuid.uuid4().hex}"
        spark.sparkContext.setJobGroup(group, f"papertape {args.command}", interruptOnCancel=True)
        schema = arrow_schema(frame.schema)
        with Progress(spark.sparkContext, group, counter, args.quiet):
            report = write(frame, args.output, todo, stale, schema, counter).collect()
        for symbol in sorted(set(todo) - {row.symbol for row in report}):  # without a row, as one that never traded
            write_empty(place, file_name(symbol, todo[symbol]), schema, stale.get(symbol, ()))
    finals = {file_name(symbol, key) for symbol, key in keys.items()}
    for name in place.names():
        if name.endswith(UNFINISHED) and name[1:].split(".parquet.")[0] + ".parquet" in finals:
            place.delete(name)
    for name in gone:
        place.delete(name)
    new = [row for row in report if row.written]
    return {
        "schema": SCHEMA,
        "command": args.command,
        "output": place.path,
        "symbols": len(keys),
        "written": len(todo) - (len(report) - len(new)),
        "kept": len(keys) - len(todo) + len(report) - len(new),
        "removed": len(gone),
        "rows": sum(row.rows for row in new),
    }


def run(args, beside):
    from pyspark.sql import SparkSession

    from . import read
    from .commit import Place
    from .library import BadBars

    if getattr(args, "cut", "symbol") == "time":
        from .trading import CUT_BY_TIME

        raise BadBars("--cut time: " + CUT_BY_TIME)
    builder = SparkSession.builder.appName(f"papertape {args.command}")
    if beside:
        builder = builder.config("spark.executorEnv.PYTHONPATH", beside)
    spark = builder.getOrCreate()
    interval = args.input_interval or (args.interval if args.command != "bars" else None)
    bars = read(spark, args.input, args.format, source=args.source, interval=interval, venue=args.venue)
    if args.symbols:
        bars = only(bars, args.symbols.split(","))
    if args.command == "features":
        args.set = set_text(args.set)
        args.fitted = fitted_set(args, bars)
    place = Place(args.output)
    made(args, bars)  # raises for what cannot be computed, before the output is touched
    names = claim(place, described(args), args.replace)
    return written(spark, args, place, names, bars)


def main(words=None, beside=None):
    """`beside`: a folder that tasks find the package in, where they have not installed it."""
    args = parser().parse_args(words)
    from .library import BadBars

    try:
        summary = run(args, beside)
    except BadBars as refused:
        print(f"papertape: {args.command}: {refused}", file=sys.stderr)
        return EXIT_USAGE
    except Exception as failed:  # noqa: BLE001 - Spark wraps what a task raises
        sentence = said(failed)
        print(f"papertape: {args.command}: {sentence}", file=sys.stderr)
        return EXIT_ERROR
    print(json.dumps(summary))
    return 0


def said(failed):
    """The sentence of BadBars within what Spark made of it, or all."""
    text = str(failed)
    mark = "BadBars: "
    at = text.rfind(mark)
    if at >= 0:
        return text[at + len(mark) :].split("\n", 1)[0]
    return text or type(failed).__name__


def as_script():
    """spark-submit runs this file by its path: the package is found beside its folder, and not in it."""
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    sys.path.insert(0, os.path.dirname(here))
    from papertape_spark import job

    return job.main(beside=os.path.dirname(here))


if __name__ == "__main__":
    sys.exit(main() if __package__ else as_script())
