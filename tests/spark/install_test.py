"""`pip wheel ./spark` in a clean environment: the wheel's tag, and whether it has what its library needs; installed apart from the
source, for this Python and for one of another minor version, where there is one, the package finds the library and computes:
python3 install_test.py"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from checks import SOURCE, check, done
from ready import scratch

place = Path(scratch.name)
environment = {key: value for key, value in os.environ.items() if not key.startswith(("PAPERTAPE", "PYTHONPATH"))}
PIP = ["-m", "pip", "--disable-pip-version-check"]
COMPUTE = """
import pyarrow, papertape_spark
from papertape_spark.asked import Indicators
rows = {"symbol": ["A"] * 4, "timestamp": [60, 120, 180, 240], "volume": [1.0] * 4}
batch = pyarrow.RecordBatch.from_pydict(rows | {name: [1.0, 2.0, 4.0, 8.0] for name in ("open", "high", "low", "close")})
with Indicators(("sma:2",)).open() as run:
    print(papertape_spark.__file__, run.update(batch).to_pydict())
"""
# Of what every Linux of that glibc has (PEP 600), what the library may need.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libz.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*words, **settings):
    return subprocess.run(words, cwd=place, env={**environment, **settings}, capture_output=True, text=True)


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", path).stdout))


def made():
    """The wheel, unpacked in `place`/wheel."""
    build = run(sys.executable, *PIP, "wheel", "--quiet", "--no-deps", "-w", place, SOURCE / "spark")
    check(build.returncode == 0, f"pip wheel: {build.stderr}")
    (wheel,) = place.glob("*.whl")
    check(re.fullmatch(r"papertape_spark-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name), f"the wheel is {wheel.name}")
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    modules = {f"papertape_spark/{path.name}" for path in (SOURCE / "spark/papertape_spark").glob("*.py")}
    check(modules <= set(names), f"not in the wheel: {modules - set(names)}")
    check("papertape_spark/libpapertape-spark.so" in names, f"the library is in {names}")
    (tags,) = [archive.read(name).decode() for name in names if name.endswith(".dist-info/WHEEL")]
    check(f"Tag: {wheel.stem.split('-', 2)[2]}\n" in tags and tags.count("Tag: ") == 1, f"its tags: {tags}")
    archive.extractall(place / "wheel")
    return wheel


def whole():
    """What the library needs and not every Linux has is beside it."""
    library = place / "wheel/papertape_spark/libpapertape-spark.so"
    beside = {path.name for path in (place / "wheel").glob("*.libs/*")}
    for path in (library, *(place / "wheel").glob("*.libs/*")):
        check(needed(path) and needed(path) <= EVERYWHERE | beside, f"{path.name} needs {needed(path)}, beside it are {beside}")


def computes(python, wheel, folder):
    install = run(python, *PIP, "install", "--quiet", "--no-deps", "--target", folder, wheel)
    check(install.returncode == 0, f"{python}: {install.stderr}")
    ran = run(python, "-c", COMPUTE, PYTHONPATH=str(folder))
    check(ran.stdout == f"{folder}/papertape_spark/__init__.py {{'sma_2': [None, 1.5, 3.0, 6.0]}}\n", f"{python}: {ran.stdout}{ran.stderr}")


def another():
    """A Python that the package takes, of another minor version; None where there is none."""
    for minor in range(10, 20):
        path = shutil.which(f"python3.{minor}") if minor != sys.version_info.minor else None
        if path and run(path, "-c", "import ensurepip, venv").returncode == 0:
            return path
    return None


wheel = made()
whole()
computes(sys.executable, wheel, place / "installed")
other = another()
if other:
    run(other, "-m", "venv", place / "venv")
    install = run(place / "venv/bin/python", *PIP, "install", "--quiet", "--only-binary", ":all:", "numpy", "pyarrow")
    check(install.returncode == 0, f"{other}: {install.stderr}")
    computes(place / "venv/bin/python", wheel, place / "installed-there")
    print(f"spark/install: in {other} too")
else:
    print(f"spark/install: no Python but {sys.version.split()[0]} is here: not run in another")
done("spark/install")
