"""Runs the parts of bench/env and prints their figures: python3 bench/env_figures.py BUILD_FOLDER.

What to expect of a step of one copy, 5 assets, double cash, every option on. Bytes: of an asset 6 columns read and 5 written, 4
bytes each, its action and its price 4 each: 5 x 52; of the copy itself some 110 read and 80 written: 450 in all, of a state of 250
a copy, which lies in a cache of 1 MB up to 4,096 copies. At 32 bytes a cycle that is 14 cycles. Operations, of 16 copies with
AVX-512: an asset takes some 70 of float32 and, twice over, 50 of float64, of which 5 divisions at 9 cycles; the copy's reward some
100 and 12 divisions: 5 x (170 + 90) + 300 + 220 at two a cycle, divisions at none beside: about 1,100 cycles, 69 a step. At
4.5 GHz that is 65 M steps/s. Where nothing is bought, sold or stopped in any of the 16 it is skipped.

An observation of 36 floats reads 120 bytes that nobody could foresee and writes 144: 5 lines of 64, and 29 for 216 floats (840 and
864 bytes), at some 4 cycles a line from and to the third-level cache: 20 and 116 cycles, so 45 M and 24 M steps/s."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / sys.argv[1]
PEERS = ("gymnasium==1.2.3", "numpy==2.4.6")
PEER = "NumPy through Gymnasium"
SECONDS = 1.0
SCALING = (64, 1024, 4096, 16384)
ALL_OPTIONS = ("trailing_stop_pct=0.02", "max_position_pct=0.3", "min_cash_reserve=0.1", "concentration_penalty=0.05",
               "forced_exit_bars=48", "forced_exit_pct=0.05", "cooldown_bars=5", "time_decay_floor=0.2", "slippage_pct=0.0005")
RANDOM = ("random_start=true",)


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(case, value, peer_value=None, limit=None, **more):
    """load: how many others wanted the processor, too, in the last minute."""
    print(json.dumps({
        "bench": "env", "case": case, "value": value, "unit": "steps/s", "peer": PEER if peer_value else None,
        "peer_value": peer_value, "ratio": value / peer_value if peer_value else None, "limit": limit,
        "of_limit": value / limit if limit else None, "load": round(os.getloadavg()[0], 1), **more}), flush=True)


def program(*arguments):
    done = subprocess.run([BUILD / "bench/env_steps", *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def steps(copies, *keys, backend="best", threads=1, features=0, observe=False):
    return float(program(backend, threads, copies, SECONDS, features, *(["observe"] if observe else []), *keys))


def peers():
    """{features: (steps/s without observations, with)} of 4,096 copies; empty where they cannot be had."""
    folder = BUILD / "env-peers"
    python = folder / "bin/python"
    marker = folder / "-".join(PEERS)
    try:
        if not marker.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, stdout=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True, stdout=sys.stderr)
            marker.touch()
    except (subprocess.CalledProcessError, OSError) as error:
        say(f"no {', '.join(PEERS)}: {error}; nothing is compared")
        return {}
    rates = {}
    for features in (10, 70):
        rates[features] = gymnasium("numpy", features)
    return rates


def gymnasium(which, features):
    """What bench/env_gymnasium.py prints."""
    library = BUILD / "trainer/env/installed/libpapertape-env.so"
    done = subprocess.run([BUILD / "env-peers/bin/python", ROOT / "bench/env_gymnasium.py", which, "4096", str(features), "3", "2"],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "trainer/python"), "PAPERTAPE_ENV_LIBRARY": str(library)})
    return tuple(map(float, done.stdout.split()))


def main():
    backends = program("backends").split()
    others = peers()
    plain = others[10][0] if others else None
    for copies in SCALING:
        limit = 60e6 if copies <= 4096 else None
        figure(f"reference_{copies}", steps(copies), limit=limit)
        figure(f"reference_all_options_{copies}", steps(copies, *ALL_OPTIONS), plain if copies == 4096 else None, limit)
    for backend in backends:
        figure(f"reference_all_options_4096_{backend}", steps(4096, *ALL_OPTIONS, backend=backend), plain)
    figure("reference_float32_4096", steps(4096, *ALL_OPTIONS, "float32=true"), plain)
    figure("reference_random_starts_4096", steps(4096, *ALL_OPTIONS, *RANDOM), plain)
    for features, floats, limit in ((10, 36, 30e6), (70, 216, 15e6)):
        figure(f"observe_{floats}_4096", steps(4096, *ALL_OPTIONS, *RANDOM, features=features, observe=True),
               others[features][1] if others else None, limit)
        if others:
            figure(f"python_observe_{floats}_4096", gymnasium("papertape", features)[0], others[features][1])
    figure("market_4096", steps(4096, *ALL_OPTIONS, "execution=market"), limit=30e6)
    for copies in (4096, 16384):
        figure(f"two_cores_{copies}", steps(copies, *ALL_OPTIONS, threads=2), threads=2)
    figure("two_cores_observe_216_4096", steps(4096, *ALL_OPTIONS, *RANDOM, features=70, observe=True, threads=2), threads=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
