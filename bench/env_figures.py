"""Runs the parts of bench/env and prints their figures: python3 bench/env_figures.py BUILD_FOLDER.

Predicted before the first measurement, of a step of one copy, 5 assets, double cash, every option on. Bytes: of an asset 6
columns read and 5 written, its action and its price, 4 bytes each: 5 x 52; of the copy itself some 110 read and 80 written: 450
in all, of a state of 250 a copy, which lies in a cache of 1 MB up to 4,096 copies. At 32 bytes a cycle that is 14 cycles.
Operations, of 16 copies with AVX-512: an asset takes some 70 of float32 and, twice over, 50 of float64, of which 5 divisions at 9
cycles; the copy's reward some 100 and 12 divisions: 5 x 170 + 300 at two a cycle, and the divisions half beside them: about 1,100
cycles, 69 a step: 65 M steps/s at 4.5 GHz.

An observation of 36 floats reads 120 bytes that cannot be prefetched and writes 144: 5 lines of 64, and 29 for 216 floats (840
and 864 bytes), at some 4 cycles a line from and to the third-level cache: 20 and 116 cycles, so 45 M and 24 M steps/s.

Measured is more, 49 cycles a step: most divisions are float32. What binds then is the chain of purchases, each of which
waits for the cash that the one before has left; two blocks of copies go through it side by side.

With execution market a step of one copy and asset reads 10 columns of doubles and writes 8: 720 bytes for five assets, and 200 of
the copy's own, of a state of 600 a copy: beyond 1,600 copies it comes from the third-level cache. Operations, of 8 copies: some 95
of the decision, 55 of the fill, 20 of the worth and 45 loads and stores, 215 for each asset, and 100 for the rest: 1,180, or 150 a
step. At 1.4 vector operations a cycle, where a 64-byte one takes two turns, that is 105 cycles: 37 M steps/s at 3.9 GHz."""

import os
import subprocess
import sys
from functools import partial

import figures
from figures import BUILD, ROOT

PEERS = ("gymnasium==1.4.0", "numpy==2.4.6")
PEER = "NumPy through Gymnasium"
SECONDS = 1.0
SCALING = (64, 1024, 4096, 16384)
ALL_OPTIONS = ("trailing_stop_pct=0.02", "max_position_pct=0.3", "min_cash_reserve=0.1", "concentration_penalty=0.05",
               "forced_exit_bars=48", "forced_exit_pct=0.05", "cooldown_bars=5", "time_decay_floor=0.2", "slippage_pct=0.0005")
RANDOM = ("random_start=true",)

program = partial(figures.program, "env_steps")


def figure(case, value, peer_value=None, limit=None, **more):
    """load: how many others wanted the processor, too, in the last minute."""
    peer = (PEER, peer_value) if peer_value else None
    figures.figure("env", case, value, "steps/s", peer, limit, load=round(os.getloadavg()[0], 1), **more)


def rates(copies, *keys, backend="best", threads=1, features=0, observe=False):
    """Steps a second of wall time and of processor time."""
    return map(float, program(backend, threads, copies, SECONDS, features, *(["observe"] if observe else []), *keys).split())


def steps(copies, *keys, **options):
    """Of one core, whatever else runs."""
    return list(rates(copies, *keys, **options))[1]


def two_cores(case, copies, *keys, **options):
    """Wall time, which others disturb; steps of two cores' processor time beside it."""
    wall, processor = rates(copies, *keys, threads=2, **options)
    figure(case, wall, threads=2, by_processor_time=processor)


def gymnasium(python, which, features):
    """What bench/env_gymnasium.py prints of 4,096 copies: steps/s without observations, and with."""
    library = BUILD / "trainer/env/installed/libpapertape-env.so"
    done = subprocess.run([python, ROOT / "bench/env_gymnasium.py", which, "4096", str(features), "3", "2"],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "trainer/python"), "PAPERTAPE_ENV_LIBRARY": str(library)})
    return tuple(map(float, done.stdout.split()))


def main():
    backends = program("backends").split()
    python = figures.peers_python("env", PEERS)
    others = {features: gymnasium(python, "numpy", features) for features in (10, 70)} if python else {}
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
            figure(f"python_observe_{floats}_4096", gymnasium(python, "papertape", features)[0], others[features][1])
    figure("market_4096", steps(4096, "execution=market"))
    for copies in SCALING[:3]:
        figure(f"market_all_options_{copies}", steps(copies, *ALL_OPTIONS, "execution=market"), limit=30e6)
    for copies in (4096, 16384):
        two_cores(f"two_cores_{copies}", copies, *ALL_OPTIONS)
    two_cores("two_cores_observe_216_4096", 4096, *ALL_OPTIONS, *RANDOM, features=70, observe=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
