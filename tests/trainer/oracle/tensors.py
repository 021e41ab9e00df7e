"""safetensors files into NumPy: the format's eight lines of it, read without the package."""
import json

import numpy as np

TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}


def read(path):
    """(tensors by name, metadata)"""
    with open(path, "rb") as file:
        data = file.read()
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + n])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, of in header.items():
        begin, end = of["data_offsets"]
        values = np.frombuffer(data[8 + n + begin : 8 + n + end], TYPES[of["dtype"]])
        tensors[name] = values.reshape(of["shape"])
    return tensors, metadata
