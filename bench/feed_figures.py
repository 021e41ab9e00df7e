"""Runs the parts of bench/feed and prints their figures: python3 bench/feed_figures.py BUILD_FOLDER."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / sys.argv[1]
os.environ["PAPERTAPE_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "fixtures"))

import feed_many  # noqa: E402
import feed_peers  # noqa: E402
import feed_programs  # noqa: E402
import figures  # noqa: E402
import programs  # noqa: E402

RECORDING = "btcusdt_2024-08-08.jsonl.gz"
CLIENTS = ["orjson==3.13.0", "cryptofeed==2.4.1"]
ASKED_FOR = 1.5e6  # frames/s a core with book, bars and indicators
MANY = (500, 100, 60)  # symbols, frames a second of each, seconds
STREAMS = {"trade": "trade", "bookTicker": "bookTicker", "depth@100ms": "depth"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(case, value, unit, peer=None, limit=None, **more):
    """peer: its name and its value."""
    name, peer_value = peer or (None, None)
    faster_is_more = unit == "frames/s"
    line = {"bench": "feed", "case": case, "value": value, "unit": unit, "peer": name, "peer_value": peer_value,
            "ratio": None, "limit": limit, "of_limit": None, **more}
    if peer_value:
        line["ratio"] = value / peer_value if faster_is_more else peer_value / value
    if limit:
        line["of_limit"] = value / limit
    print(json.dumps(line), flush=True)


def run(program, *arguments):
    """The rows of a program that prints figures between tabs."""
    done = subprocess.run([BUILD / "bench" / program, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def check_agreement(path, frames):
    """Two implementations, one market."""
    ours = subprocess.run([BUILD / "bench/feed_frames", "--state", path], stdout=subprocess.PIPE, text=True, check=True)
    theirs = feed_peers.state(feed_peers.book_bars(frames))
    for number, (our, their) in enumerate(zip(ours.stdout.splitlines() + [""], theirs + [""]), 1):
        if our != their:
            sys.exit(f"bench/feed: line {number} of the final state: ours is '{our}', Python's '{their}'")
    say(f"book and bars agree with Python's: {len(theirs)} lines")


def other_readers(path):
    """Frames a second of Python's fastest readers; None where they cannot be had."""
    python = figures.peers_python("feed", CLIENTS)
    if not python:
        return None
    done = subprocess.run([python, ROOT / "bench/feed_clients.py", path], stdout=subprocess.PIPE, text=True, check=True)
    clients = json.loads(done.stdout)
    ours = subprocess.run([BUILD / "bench/feed_frames", "--state", path], stdout=subprocess.PIPE, text=True, check=True)
    sides = collections.Counter(line.split(" ", 1)[0] for line in ours.stdout.splitlines())
    if (sides["bid"], sides["ask"]) != (clients["book"]["bids"], clients["book"]["asks"]):
        sys.exit(f"bench/feed: our book has {sides['bid']} bids and {sides['ask']} asks, cryptofeed's {clients['book']}")
    say("cryptofeed's book has as many levels as ours")
    return clients


def many():
    for case, value, unit, limit in feed_many.run(BUILD, *MANY):
        figure(case, value, unit, limit=limit)


def rates(path, frames):
    json_rate = feed_peers.rate(feed_peers.loads, frames)
    book_rate = feed_peers.rate(feed_peers.book_bars, frames)
    peers = {"parse": ("python json.loads", json_rate), "book_bars": ("python json + Decimal book", book_rate),
             "engine": ("python json + Decimal book", book_rate)}
    clients = other_readers(path)
    if clients:
        peers["book_bars_indicators"] = ("cryptofeed's handler", clients["cryptofeed"])
    for case, median, best, unit, limit in run("feed_frames", path):
        more = {"asked_for": ASKED_FOR} if case == "book_bars_indicators" else {}
        figure(case, float(median), unit, peers.get(case), float(limit), best=float(best), **more)
        if case == "parse" and clients:
            figure("parse_orjson", float(median), unit, ("python orjson.loads", clients["orjson"]), float(limit))
    for case, asked, frames_seen in run("feed_frames", "--allocations", path):
        figure(f"allocations_{case}", int(asked) / int(frames_seen), "allocations/frame", count=int(asked))
    if (BUILD / "bench/feed_simdjson").exists():
        rows = {row[0]: row for row in run("feed_simdjson", path)}
        case, median, best, unit, _ = rows["parse_pull"]
        figure(case, float(median), unit, ("simdjson on-demand", float(rows["parse_simdjson"][1])), best=float(best))
    else:
        say("simdjson (libsimdjson-dev) and a C++ compiler are not here: the readers are not compared")


def decisions(folder, path):
    for case, value, unit, limit in run("feed_decision", os.path.join(folder, "state"), *([path] if path else [])):
        figure(case, float(value), unit, limit=float(limit) if limit else None)


def main():
    recording = programs.recording(RECORDING)
    folder = tempfile.mkdtemp(prefix="papertape-feed-", dir=BUILD)  # on a real disk
    try:
        path = recording or os.path.join(folder, "synthetic.jsonl")
        if not recording:
            say("no recordings here (PAPERTAPE_SHARED): the synthetic market instead")
            subprocess.run([BUILD / "bench/feed_frames", "--synthetic", path], check=True)
        cores = os.sched_getaffinity(0)
        frames = feed_peers.read_frames(path)
        check_agreement(path, frames)
        os.sched_setaffinity(0, {max(cores)})
        rates(path, frames)
        os.sched_setaffinity(0, cores)
        decisions(folder, recording)
        many()
        kinds = collections.Counter(frame[:64].split('"')[3].split("@", 1)[-1] for frame in frames)
        for case, value, unit, limit in feed_programs.dashboard():
            figure(case, value, unit, limit=limit)
        for case, value, unit, limit in feed_programs.daemon_on(path, {STREAMS[k]: n for k, n in kinds.items()
                                                                       if k in STREAMS}):
            figure(case, value, unit, limit=limit)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
