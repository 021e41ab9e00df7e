"""`pip wheel ./spark` in a clean environment, installed apart from the source: the package finds the library in it, and computes:
python3 install_test.py"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from ready import SOURCE, check, done, scratch

place = Path(scratch.name)
environment = {key: value for key, value in os.environ.items() if not key.startswith(("PAPERTAPE", "PYTHONPATH"))}
pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "-w", place, SOURCE / "spark"], env=environment, check=True)
(wheel,) = place.glob("*.whl")
names = zipfile.ZipFile(wheel).namelist()
modules = {f"papertape_spark/{path.name}" for path in (SOURCE / "spark/papertape_spark").glob("*.py")}
check(modules <= set(names), f"not in the wheel: {modules - set(names)}")
check("papertape_spark/libpapertape-spark.so" in names, f"the library is in {names}")
subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", place / "installed", wheel], env=environment, check=True)
printed = subprocess.run([sys.executable, "-c", """
import pyarrow, papertape_spark
from papertape_spark.asked import Indicators
rows = {"symbol": ["A"] * 4, "timestamp": [60, 120, 180, 240], "volume": [1.0] * 4}
batch = pyarrow.RecordBatch.from_pydict(rows | {name: [1.0, 2.0, 4.0, 8.0] for name in ("open", "high", "low", "close")})
with Indicators(("sma:2",)).open() as run:
    print(papertape_spark.__file__, run.update(batch).to_pydict())
"""], cwd=place, env={**environment, "PYTHONPATH": str(place / "installed")}, capture_output=True, text=True, check=True).stdout
check(printed == f"{place}/installed/papertape_spark/__init__.py {{'sma_2': [None, 1.5, 3.0, 6.0]}}\n", printed)
done("spark/install")
