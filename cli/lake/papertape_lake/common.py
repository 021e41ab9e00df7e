"""What the modules of this folder have in common: their answers, what they refuse, and how files are read."""

import hashlib
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq

HAS_CHECKSUMS = int(pa.__version__.split(".")[0]) >= 15  # of pages: 14 has none


class Refused(Exception):
    """A sentence for the user."""


def answer(**fields):
    print(json.dumps(fields), flush=True)


def words_of(error):
    """The first line of an error of pyarrow's."""
    return str(error).splitlines()[0]


def visible(name):
    """Is it data, by its name?"""
    return not name.startswith((".", "_"))


def files_below(folder):
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(filter(visible, folders))
        found += [os.path.join(here, name) for name in sorted(names) if visible(name) and name.endswith(".parquet")]
    return found


def open_parquet(path):
    """pyarrow's file, which verifies the checksums of the pages that it reads."""
    return pq.ParquetFile(path, **({"page_checksum_verification": True} if HAS_CHECKSUMS else {}))


def hash_of(path):
    """The SHA-256 of a file's bytes."""
    content = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            content.update(block)
    return content.hexdigest()
