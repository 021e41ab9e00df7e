"""What the scripts of this folder share that print figures: programs, a venv of peers, lines. The script's first argument is the
build's folder."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / sys.argv[1]


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(bench, case, value, unit, peer=None, limit=None, **more):
    """Prints a figure's line, as bench/run reads it. peer: its name and its value; of what is no rate less is better."""
    name, peer_value = peer or (None, None)
    rate = unit.endswith("/s") or unit == "B/ns"
    print(json.dumps({
        "bench": bench, "case": case, "value": value, "unit": unit, "peer": name, "peer_value": peer_value,
        "ratio": (value / peer_value if rate else peer_value / value) if peer_value else None,
        "limit": limit, "of_limit": value / limit if limit else None, **more}), flush=True)


def program(name, *arguments):
    """What a program of the build's bench folder prints."""
    return subprocess.run([BUILD / "bench" / name, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True).stdout


def peers_python(bench, packages):
    """The interpreter of a venv with the packages, which stays in the build's folder; None where they cannot be had."""
    folder = BUILD / f"{bench}-peers"
    python = folder / "bin/python"
    marker = folder / "-".join(packages)
    try:
        if not marker.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, stdout=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True, stdout=sys.stderr)
            marker.touch()
    except (subprocess.CalledProcessError, OSError) as error:
        say(f"no {', '.join(packages)}: {error}; nothing is compared")
        return None
    return python
