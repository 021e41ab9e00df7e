"""TensorBoard's event files as `trainer/telemetry/tensorboard.c` writes them, read by code of its own: framing,
checksums bit by bit, the protobuf's wire format. Standard library only; events.py FILE prints what is in one.

    events.py WRITER    runs the test
"""
import glob
import os
import struct
import subprocess
import sys
import tempfile


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        length, head = struct.unpack_from("<QI", data, at)
        assert head == masked(data[at:at + 8]), f"{path}: checksum of the length at {at}"
        body = data[at + 12:at + 12 + length]
        (tail,) = struct.unpack_from("<I", data, at + 12 + length)
        assert len(body) == length and tail == masked(body), f"{path}: checksum of the record at {at}"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif wire == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            assert wire == 2, wire
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield number, value


def read(path):
    """[(step, {tag: value})], and the steps at which a run was reported to restart."""
    scalars, starts = [], []
    for index, body in enumerate(records(path)):
        event = dict(fields(body))
        assert event[1] > 1.5e9, "wall time"
        if index == 0:
            assert event[3] == b"brain.Event:2", event
        if 7 in event:
            assert dict(fields(event[7]))[1] == 1, event
            starts.append(event[2])
        if 5 in event:
            values = [dict(fields(value)) for number, value in fields(event[5]) if number == 1]
            scalars.append((event.get(2, 0), {value[1].decode(): value[2] for value in values}))
    return scalars, starts


def test(writer):
    for resumed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([writer, folder, *(["resumed"] if resumed else [])], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            (path,) = glob.glob(os.path.join(folder, "run", "events.out.tfevents.*"))
            scalars, starts = read(path)
            assert starts == ([301] if resumed else []), starts
            assert scalars == [(step << 30, {"loss/policy": -0.125 * step, "rollout/steps_per_second": 1e6 + step})
                               for step in range(0, 400, 100)], scalars
            with open(path, "r+b") as file:
                file.seek(40)
                byte = file.read(1)
                file.seek(40)
                file.write(bytes([byte[0] ^ 1]))
            try:
                read(path)
            except AssertionError as error:
                assert "checksum" in str(error)
            else:
                raise AssertionError("the reader sees no damage")
    print("trainer/program/events: 2 files, framing, checksums and scalars as they should be")


if __name__ == "__main__":
    assert crc32c(b"123456789") == 0xE3069283 and crc32c(bytes(32)) == 0x8A9136AA
    if os.access(sys.argv[1], os.X_OK):
        test(sys.argv[1])
    else:
        print(*read(sys.argv[1])[0], sep="\n")
