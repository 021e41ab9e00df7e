"""What 5,000 symbols x 10 years of bars of 1m on Spark, and 100,000 trials on 100 machines, cost: the formulas of docs/scale.md.

    scale_model.py check PAGE       does the page's plan follow from its table of measured costs?
    scale_model.py write PAGE       writes the plan from that table; bench/scale --write renews the table first
"""

import re
import sys
from pathlib import Path

YEAR_BARS, SHARE_BARS = 525_600, 98_280  # minutes of a coin's year; of a US share's 252 regular sessions of 390
SYMBOLS, YEARS = 5000, 10
SPARK_MACHINES, SPARK_CORES = 20, 16
DISK_B_S = 1e9  # of a machine: an NVMe disk
TRIALS, MACHINES, CORES, SPLITS = 100_000, 100, 4, 10
HEARTBEAT_S = 10
LONG_S = 600  # a training of ten minutes
LOOKS_A_SECOND = 4  # of a machine's supervisor at the study (trainer/study/supervise.c, LOOK_MS)
ROUND_TRIP_S = 0.2e-3  # between two machines of one network
HOUR_S = 3600
STAGES = ("indicators", "wide110", "backtest", "sweep")
GROUPS = {"costs": "<!-- costs: bench/scale -->", "plan": "<!-- plan: bench/scale_model.py -->"}

ASK_SYNCS = 2  # how often an ask looks at the study; a report does for a pruner alone, and is not under the lock without one
ASK_AND_END = 2  # a trial's transactions that write, apart from its reports


# ---- Spark. ----


def stage(costs, name, symbols, bars):
    """Of a job over so many symbols, of so many bars each."""
    total = symbols * bars
    return {
        "cpu_s": costs[f"{name}_job_s"] + costs[f"{name}_us"] * 1e-6 * total,
        "written_bytes": costs[f"{name}_written_b"] * total,
        "read_bytes": costs["lake_b"] * total,
    }


def limits(one, machines, cores):
    """Hours of what could be the limit: processors, disks (the lake, the result)."""
    return {
        "processors": one["cpu_s"] / (machines * cores) / HOUR_S,
        "disks": (one["read_bytes"] + one["written_bytes"]) / machines / DISK_B_S / HOUR_S,
    }


# ---- Trials. ----


def search(costs, trials=TRIALS, machines=MACHINES, cores=CORES, splits=SPLITS, reread=True, tpe=True):
    """Of a study of which as many trials run as there are cores. reread: each look at the study reads all that run again;
    tpe: a draw goes over all that have ended."""
    workers = machines * cores
    running = workers if reread else 0
    of_running_s = (costs["running_client_us"] + costs["running_server_us"]) * 1e-6
    draw_s = costs["finished_us"] * 1e-6 * trials / 2 if tpe else 0
    lock_s = ASK_SYNCS * running * of_running_s + draw_s + costs["trial_round_trips"] * ROUND_TRIP_S + costs["trial_server_s"]
    training_s = costs["planned_s"]
    beside_s = ASK_SYNCS * running * costs["running_client_us"] * 1e-6 + draw_s
    per_trial_s = max((training_s + beside_s) / workers, lock_s)
    looks = machines * LOOKS_A_SECOND
    return {
        "training_hours": trials * training_s / workers / HOUR_S,
        "lock_ms": lock_s * 1e3,
        "lock_hours": trials * lock_s / HOUR_S,
        "hours": trials * per_trial_s / HOUR_S,
        "trials_s": 1 / per_trial_s,
        "commits_s": (splits + ASK_AND_END) / per_trial_s + workers / HEARTBEAT_S,
        "even_s": lock_s * workers - beside_s,
        "long_hours": trials * max((LONG_S + beside_s) / workers, lock_s) / HOUR_S,
        "look_cores": looks * running * costs["running_server_us"] * 1e-6,
        "look_b_s": looks * running * costs["running_b"],
        "server_cores": looks * running * costs["running_server_us"] * 1e-6
        + (ASK_SYNCS * running * costs["running_server_us"] * 1e-6 + costs["trial_server_s"]) / per_trial_s,
        "joined_b": costs["join_b"] * trials / 2,
        "worker_bytes": costs["finished_b"] * trials,
        "database_bytes": costs["stored_b"] * trials,
        "artifact_bytes": costs["artifact_b"] * trials,
    }


# ---- The page. ----


def section(text, name):
    """(what is before the group's table, the table, what is behind it)"""
    head = text.index(GROUPS[name]) + len(GROUPS[name])
    end = text.index("<!-- end -->", head)
    return text[:head], text[head:end], text[end:]


def costs_of(text):
    return {key: float(value.replace(",", "")) for key, value in re.findall(r"^\| `(\w+)` \| ([\d.,e-]+) \|", section(text, "costs")[1], re.M)}


def number(value):
    """Three digits; thousands apart."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{float(f'{value:.3g}'):g}"


def spark_rows(costs):
    yield "| stage | CPU hours | of them reading and computing | on 20 machines of 16 cores | disks | result, TB | limit |"
    yield "|---|---|---|---|---|---|---|"
    for name in STAGES:
        one = stage(costs, name, SYMBOLS, YEARS * YEAR_BARS)
        hours = limits(one, SPARK_MACHINES, SPARK_CORES)
        computing_hours = (costs["read_us"] + costs[f"{name}_computing_us"]) * 1e-6 * SYMBOLS * YEARS * YEAR_BARS / HOUR_S
        yield (f"| {name} | {number(one['cpu_s'] / HOUR_S)} | {number(computing_hours)} | {number(hours['processors'])} h | {number(hours['disks'])} h | "
               f"{number(one['written_bytes'] / 1e12)} | {max(hours, key=hours.get)} |")


def year_rows(costs):
    """Of one symbol and year, without the job's beginning."""
    yield "| a symbol-year of 1m | processor s, coin | US share | result, MB |"
    yield "|---|---|---|---|"
    for name in ("lake", *STAGES):
        written = costs["lake_b" if name == "lake" else f"{name}_written_b"] * YEAR_BARS / 1e6
        cells = (costs[f"{name}_us"] * YEAR_BARS / 1e6, costs[f"{name}_us"] * SHARE_BARS / 1e6, written)
        yield f"| {name} | " + " | ".join(map(number, cells)) + " |"


SEARCHES = {"as it is": {}, "running trials read once": {"reread": False}, "and draws over a bounded number": {"reread": False, "tpe": False}}
FIGURES = {  # words, and what their unit is of the figure's
    "lock_ms": ("the study's lock, ms a trial", 1),
    "lock_hours": ("hours of it, one trial after the other", 1),
    "training_hours": ("hours of training on all cores", 1),
    "hours": ("hours of the search", 1),
    "trials_s": ("asks, ends and artifacts a second, each", 1),
    "commits_s": ("commits a second", 1),
    "even_s": ("processor seconds of a trial from which on the lock is no limit", 1),
    "long_hours": ("hours of the search with trials of ten minutes", 1),
    "look_cores": ("the server's cores for supervisors alone", 1),
    "look_b_s": ("MB a second from the server to supervisors", 1e6),
    "server_cores": ("the server's cores in all", 1),
    "worker_bytes": ("memory of each process at the end, GB", 1e9),
    "joined_b": ("GB that a machine more reads when it joins halfway", 1e9),
    "database_bytes": ("database, GB", 1e9),
    "artifact_bytes": ("artifacts, GB", 1e9),
}


def trial_rows(costs):
    found = {name: search(costs, **options) for name, options in SEARCHES.items()}
    yield "| | " + " | ".join(found) + " |"
    yield "|---" * (len(found) + 1) + "|"
    for key, (words, unit) in FIGURES.items():
        yield f"| {words} | " + " | ".join(number(one[key] / unit) for one in found.values()) + " |"


def machine_rows(costs):
    numbers = (1, 2, 5, 10, 20, 50, 100)
    found = [search(costs, machines=n) for n in numbers]
    yield "| machines of 4 cores | " + " | ".join(map(str, numbers)) + " |"
    yield "|---" * (len(numbers) + 1) + "|"
    for key, words in (("lock_ms", "the study's lock, ms a trial"), ("hours", "hours of 100,000 of the planned trials"),
                       ("long_hours", "hours with trials of ten minutes")):
        yield f"| {words} | " + " | ".join(number(one[key]) for one in found) + " |"


def plan(costs):
    return "\n\n" + "\n\n".join("\n".join(rows(costs)) for rows in (year_rows, spark_rows, trial_rows, machine_rows)) + "\n\n"


def main(what, page):
    text = Path(page).read_text(encoding="utf-8")
    head, old, tail = section(text, "plan")
    new = plan(costs_of(text))
    if what == "write":
        Path(page).write_text(head + new + tail, encoding="utf-8")
    elif old != new:
        print(f"{page}: its plan does not follow from its costs: python3 bench/scale_model.py write {page}", file=sys.stderr)
        return 1
    else:
        print(f"{page}: its plan follows from {len(costs_of(text))} costs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
