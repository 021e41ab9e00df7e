"""verify DIR: compares a lake's files with its manifest, and writes nothing.

It is asked nothing, and answers {"files": how many the manifest has, "wrong": [{"file", "why"}, …], "unlisted": [names]}."""

import fcntl
import os

from papertape_lake.common import Refused, answer, files_below, hash_of
from papertape_lake.manifest import LOCK, MANIFEST, TABLES, read_manifest

MENDED = ("move it aside, and papertape export writes it again of what the database has; what only the lake has of it ([retention]) is in a "
          "copy of the lake alone")


def wrong_with(path, row):
    """None: it is as the manifest says."""
    if not os.path.exists(path):
        return "it is missing: papertape export writes it again"
    size = os.path.getsize(path)
    if size != row["bytes"]:
        return f"it has {size} bytes, and had {row['bytes']}: {MENDED}"
    found = hash_of(path)
    return None if found == row["sha256"] else f"its SHA-256 is {found[:12]}…, and was {row['sha256'][:12]}…: {MENDED}"


def compare(root):
    """The answer."""
    listed = read_manifest(os.path.join(root, MANIFEST))[1]
    found = {name: wrong_with(os.path.join(root, name), row) for name, row in sorted(listed.items())}
    here = [os.path.relpath(path, root) for table in sorted(TABLES) for path in files_below(os.path.join(root, table))]
    return {"files": len(listed), "wrong": [{"file": name, "why": why} for name, why in found.items() if why],
            "unlisted": [name for name in here if name not in listed]}


def verify(root):
    path, lock = os.path.join(root, MANIFEST), os.path.join(root, LOCK)
    if not os.path.exists(path):
        raise Refused(f"{root}: it has no {MANIFEST}: a folder that papertape export wrote is needed")
    with open(lock if os.path.exists(lock) else path, "rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"{root}: a papertape export writes there: wait until it has ended") from None
        return compare(root)


def main(root):
    try:
        answer(**verify(os.path.normpath(root)))
    except Refused as error:
        answer(error=str(error))
    except OSError as error:
        answer(error=f"{error.filename or root}: {error.strerror or error}")
    else:
        return 0
    return 1
