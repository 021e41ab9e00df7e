"""What the oracles of fills have in common: a program's tapes, run after run, against a model that reads their inputs."""

import collections
import os
import subprocess
import sys


def differences(market, reported, ended):
    """What is not the same in the program's fills and the model's, and the ids of the orders that the program ended with."""
    problems = []
    for i, (theirs, ours) in enumerate(zip(reported, market.fills)):
        if theirs != ours:
            problems.append(f"fill {i}: engine {theirs}, here {ours}")
            break
    if ended != set(market.orders):
        problems.append("other orders ended than were given")
    if len(reported) != len(market.fills):
        problems.append(f"{len(reported)} fills by the engine, {len(market.fills)} here")
    return problems


def play(short, full, seed, arguments, check, seldom):
    """Plays (runs, events) of the program that the command line names, each with arguments(run, seed, events), and checks its
    lines: check(lines) gives the problems, the number of fills and of orders, and counts of kinds. seldom(counts): what there
    was too little of. Returns the exit status."""
    name = os.path.basename(sys.argv[0]).removesuffix(".py")
    runs, events = full if "--long" in sys.argv or os.environ.get("PAPERTAPE_LONG") else short
    seed = int(os.environ.get("PAPERTAPE_SEED", str(seed)), 0)
    print(f"{name}: PAPERTAPE_SEED={seed}, {runs} runs of {events}")
    good, fills, orders, counts = True, 0, 0, collections.Counter()
    for run in range(runs):
        argv = [sys.argv[1], *map(str, arguments(run, seed + run, events))]
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode:
            problems = [f"exit status {done.returncode}\n{done.stderr}"]
        else:
            problems, n_fills, n_orders, some = check(done.stdout.splitlines())
            fills, orders = fills + n_fills, orders + n_orders
            counts.update(some)
        for problem in problems[:5]:
            print(f"{' '.join(argv[1:])}: {problem}", file=sys.stderr)
        good &= not problems
    missing = seldom(counts)
    if missing:
        print(f"too few of {missing}: {dict(counts)}", file=sys.stderr)
    print(f"{name}: {fills} fills, {orders} orders, {'equal' if good else 'DIFFERENT'}")
    return 0 if good and not missing else 1
