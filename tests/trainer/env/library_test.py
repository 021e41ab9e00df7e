"""The environment's library as another program has it: installed, found by pkg-config, compiled against, run.

    python3 library_test.py BUILD SOURCE CC...

The program of docs/environment.md is compiled as it stands there, as C and as C++, against the shared and the static
library, and its accounts are computed again here. Standard library only."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from installed_library import InstalledLibrary, check, compilers, done, examples, functions, run  # noqa: E402

BUILD, SOURCE, CC = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
HEADERS = ["abi.h", "config_key.h", "env.h", "limits.h", "market.h", "params.h", "symbol.h", "trade.h"]


def declared(headers):
    """The functions that a program can call: those between the pragmas."""
    public = re.compile(r"^#pragma GCC visibility push.*?^#pragma GCC visibility pop", re.M | re.S)
    parts = [part for header in headers for part in public.findall(header.read_text())]
    return set().union(*map(functions, parts))


def bars(n):
    """Closes that float32 holds, so that what is expected here is exact."""
    state, price, rows = 1, 100.0, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        price += ((state >> 40) % 65 - 32) / 64
        rows.append((price, 1 + state % 1000))
    return rows


def expected(closes, hundredths, capital=1000.0, fee=0.0025, lookback=3):
    """The result of buying for hundredths of the capital in every step; nothing is sold before 48 bars."""
    cash, qty, buys = capital, 0.0, 0
    for close in closes[lookback : len(closes) - lookback]:
        wanted = hundredths * capital / (closes[0] * 100)
        bought = min(wanted, max(0, cash) / (1 + fee) / close * 0.99)
        cash, qty, buys = cash - bought * close * (1 + fee), qty + bought, buys + 1
    last = closes[len(closes) - lookback - 1]
    return buys, cash + qty * last, capital / closes[0] / (1 + fee) * last


def main():
    scratch = tempfile.TemporaryDirectory()
    library = InstalledLibrary("papertape-env", BUILD, Path(scratch.name))
    headers = sorted((library.include / "papertape/env").iterdir())
    check([header.name for header in headers] == HEADERS, f"headers {headers}")
    public = declared(headers)
    check({"env_create", "env_step", "env_market_create", "env_params_set", "env_version"} <= public, f"{sorted(public)}")
    library.check_symbols(public)
    found = compilers(CC)
    library.compile_headers(headers, found)

    ((name, source),) = examples(SOURCE / "docs/environment.md").items()
    rows = bars(40)
    text = "".join(f"{close!r},{volume}\n" for close, volume in rows)
    printed = set()
    for what, program, environment in library.programs(name, source, found):
        printed.add(run([program], input=text, env=environment))
        for given, part in (
            (["lookbak", "3"], "did you mean lookback?"),
            (["lookback", "0"], 'lookback: "0": '),
            (["lookback", "30"], "rows"),
        ):
            bad = subprocess.run([program, *given], input=text, env=environment, capture_output=True, text=True)
            check(bad.returncode == 1 and part in bad.stderr, f"{what}: {given}: {bad.stderr!r}")
        bad = text.replace(f"{rows[7][0]!r},", "-1,", 1)
        bad = subprocess.run([program], input=bad, env=environment, capture_output=True, text=True)
        check(bad.returncode == 1 and "BTC" in bad.stderr and "7" in bad.stderr, f"{what}: {bad.stderr!r}")
    check(len(printed) == 1, f"what was printed differs: {printed}")
    accounts = re.findall(r"^(\d+) purchases, equity (\S+), benchmark (\S+)$", printed.pop(), re.M)
    check(len(accounts) == 4, f"accounts {accounts}")
    for copy, account in enumerate(accounts):
        buys, *money = expected([close for close, _ in rows], copy + 1)
        check(int(account[0]) == buys, f"copy {copy}: {account[0]} purchases, not {buys}")
        for value, known in zip(account[1:], money, strict=True):
            check(abs(float(value) - known) <= 1e-6 * known, f"copy {copy}: {value}, not {known}")

    scratch.cleanup()
    return done(f"trainer/env/library: {len(public)} functions")


if __name__ == "__main__":
    sys.exit(main())
