"""The build backend of pyproject.toml: meson-python, whose wheel is tagged here as what it is. Its library is loaded by ctypes,
so that any Python 3 takes it, and auditwheel puts the libraries beside it that are not every Linux's own, and finds the oldest
glibc that it runs with: py3-none-manylinux_2_34_x86_64 on Debian 12."""

import subprocess
import sys
import tempfile
from pathlib import Path

import mesonpy
from mesonpy import build_editable, build_sdist, get_requires_for_build_editable, get_requires_for_build_sdist, get_requires_for_build_wheel

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable", "get_requires_for_build_sdist",
           "get_requires_for_build_wheel"]


def _module(*words):
    return subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True)


def _repaired(wheel, folder):
    """The wheel in a folder of its own, with its libraries; None where auditwheel knows no such platform, or none old enough."""
    done = _module("auditwheel", "repair", "--wheel-dir", folder, wheel)
    if done.returncode == 0:
        (made,) = folder.glob("*.whl")
        return made
    reason = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
    print(f"{wheel.name} is for this system alone: auditwheel: {reason[0]}", file=sys.stderr)
    return None


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch, mesonpy.build_wheel(scratch, config_settings, metadata_directory))
        tagged = _module("wheel", "tags", "--remove", "--python-tag", "py3", "--abi-tag", "none", built)
        if tagged.returncode != 0:
            raise RuntimeError(f"wheel tags: {tagged.stderr}")
        wheel = Path(scratch, tagged.stdout.split()[-1])
        wheel = _repaired(wheel, Path(scratch, "repaired")) or wheel
        Path(wheel_directory, wheel.name).write_bytes(wheel.read_bytes())
        return wheel.name
