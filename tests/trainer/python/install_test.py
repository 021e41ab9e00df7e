"""pip installs the module from the source tree into a new venv, with nothing but gcc and what pip fetches for the build:
python3 install_test.py; it is then imported from there, trains a few steps, and checks itself with Gymnasium."""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import ready
from ready import SOURCE, check, done

PROGRAM = """
import sys
import numpy as np
from gymnasium.utils.env_checker import check_env
import papertape.env
from papertape.env import LIBRARY_PATH, Market, PapertapeEnv, PapertapeVectorEnv, VERSION, backends
assert str(LIBRARY_PATH).startswith(sys.prefix), LIBRARY_PATH
closes = 100 + np.cumsum(np.random.default_rng(1).normal(0, 1, (200, 2)), axis=0).clip(-50)
market = Market({"close": closes, "volume": np.ones_like(closes)}, names=["A", "B"])
check_env(PapertapeEnv(market, preset="reference"), skip_render_check=True)
envs = PapertapeVectorEnv(market, 64, preset="reference", random_start=True, episode_bars=50, threads=2)
envs.reset(seed=1)
for _ in range(100):
    envs.step(envs.action_space.sample())
print(VERSION, *backends())
"""


def run(command, **options):
    finished = subprocess.run(command, capture_output=True, text=True, **options)
    check(finished.returncode == 0, f"{command}: exit {finished.returncode}\n{finished.stdout}{finished.stderr}")
    return finished.stdout


# Kernels for each instruction set take half a minute to compile: the long run has all.
BASELINE = [] if "PAPERTAPE_LONG" in os.environ else ["--config-settings=setup-args=-Dinstruction_sets=baseline"]
if BASELINE:
    print("counts: kernels of one instruction set (PAPERTAPE_LONG: of all)")

# As a user has it: not our library, and not the sanitizers' or ccache's settings of a test run.
clean = {key: value for key, value in os.environ.items() if not key.startswith(("PAPERTAPE_", "PYTHON", "CFLAGS"))}
with tempfile.TemporaryDirectory() as scratch:
    run([sys.executable, "-m", "venv", "--without-pip", scratch])  # this venv's pip works on it: to install another takes 5 s of CPU
    python = f"{scratch}/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-input"]
    wheels = Path(scratch, "wheels")
    run([*pip, "wheel", "--no-deps", "--retries", "5", "--wheel-dir", str(wheels), *BASELINE, str(SOURCE)], env=clean, cwd=scratch)
    (wheel,) = wheels.glob("papertape-*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    package = SOURCE / "trainer/python/papertape"
    ours = {str(path.relative_to(package.parent)) for path in package.rglob("*") if path.suffix == ".py"}
    ours |= {"papertape/py.typed", "papertape/env/libpapertape-env.so"}
    packed = {name for name in files if not name.split("/")[0].endswith(".dist-info")}
    check(packed == ours, f"the wheel's files: {sorted(packed ^ ours)}")
    # What it depends on is this venv's; only ours is installed.
    run([*pip, "install", "--no-deps", "--no-index", str(wheel)], env=clean)
    (site,) = Path(scratch, "lib").glob("python*/site-packages")
    (site / "oracles.pth").write_text(sysconfig.get_path("purelib") + "\n")
    reported = run([python, "-W", "ignore", "-c", PROGRAM], env=clean, cwd=scratch)
    print(f"{wheel.name}: {reported.strip()}")
    check("scalar" in reported, f"backends: {reported!r}")
    run([*pip, "check"], env=clean)
    # A strategy needs nothing else of the package.
    example = SOURCE / "trainer/python/examples/sma_cross_rsi_risk.py"
    described = run([python, example], env=clean, cwd=scratch, input='{"type":"describe"}\n')
    check(json.loads(described)["name"] == "sma-cross-rsi-risk", f"the example describes itself: {described!r}")

assert ready.checked() > 0
done("trainer/python/install")
