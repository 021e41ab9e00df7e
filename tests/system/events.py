#!/usr/bin/env python3
"""`papertape events`: a recording into a log and back, what is listed and shown of it, and how an altered one is named.

usage: events.py PAPERTAPE

Standard library only; the recording is made here, the reading of the log by docs/journal.md's words too."""

import gzip
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

PAPERTAPE = sys.argv[1]
START_NS = 1723161253937085768
failures = checks = 0


def check(holds, *words):
    global failures, checks
    checks += 1
    if not holds:
        failures += 1
        print("FAILED:", *words, file=sys.stderr)


def run(*args, status=0):
    done = subprocess.run([PAPERTAPE, "events", *args], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, args, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def lines(seed, n):
    chance = random.Random(seed)
    ns = START_NS
    for i in range(n):
        ns += chance.randrange(1, 5_000_000)
        if i == 3:
            yield ns, json.dumps({"lastUpdateId": 7, "bids": [["100.0", "1.0"]], "asks": [["101.0", "1.0"]]})
        else:
            trade = {"e": "trade", "E": ns // 1_000_000, "s": "BTCUSDT", "t": i, "p": f"{chance.uniform(99, 102):.8f}",
                     "q": f"{chance.uniform(0, 1):.8f}", "T": ns // 1_000_000, "m": chance.random() < 0.5, "M": True}
            yield ns, json.dumps({"stream": "btcusdt@trade", "data": trade}, separators=(",", ":"))


def check_chain(path):
    """An independent reading of one segment: every hash, by what docs/journal.md says."""
    data = open(path, "rb").read()
    check(data[:8] == b"\x89PTJ\r\n\x1a\n" and struct.unpack_from("<II", data, 8) == (1, 128), "file header")
    chain = hashlib.sha256(data[:96]).digest()
    check(chain == data[96:128], "file header's hash")
    at, blocks, records = 128, 0, 0
    while at < len(data):
        header = data[at:at + 72]
        magic, number, put, kinds, first, last, first_ns, last_ns, size, raw, n = struct.unpack_from("<4sIIIQQqqIII", header)
        check(magic == b"PTBK" and number == blocks and header[64:] == hashlib.sha256(header[:64]).digest()[:8], "block", number)
        end = at + 72 + size
        chain = hashlib.sha256(chain + data[at:end]).digest()
        check(chain == data[end:end + 32] and data[end + 32:end + 36] == b"END\n", "block's hash", number)
        at, blocks, records = end + 36, blocks + 1, records + n
    check(at == len(data), "ends whole")
    return blocks, records


def main():
    with tempfile.TemporaryDirectory() as folder:
        text, log, back = (os.path.join(folder, name) for name in ("a.jsonl.gz", "log", "b.jsonl"))
        made = list(lines(1, 500))
        with gzip.open(text, "wt") as f:
            f.writelines(f"{ns} {frame}\n" for ns, frame in made)
        run("import", text, "-o", log)
        run("export", log, "-o", back)
        check(open(back).read() == gzip.open(text, "rt").read(), "there and back")
        run("export", log, "-o", back + ".gz")
        check(gzip.open(back + ".gz", "rt").read() == open(back).read(), "packed")

        listed = json.loads(run("list", "--json", log))
        check(listed["schema"] == "papertape.events/1", listed)
        [segment] = listed["segments"]
        check(segment["records"] == 501 and segment["kinds"] == ["states", "frames", "replies"], segment)
        check(segment["first_ns"] == made[0][0] and segment["last_ns"] == made[-1][0], segment)
        check(segment["name"] in run("list", log), "list")
        path = os.path.join(log, segment["name"])
        check(check_chain(path) == (segment["blocks"], segment["records"]), "blocks")

        verified = json.loads(run("verify", "--json", log))
        check(verified["ok"] and verified["frames"] == 499 and verified["replies"] == 1, verified)
        check(run("verify", log).startswith("events ok: 1 segments"), "verify")

        shown = json.loads(run("show", "--at", str(made[10][0]), "--n", "5", "--json", log))["events"]
        check([e["recv_ns"] for e in shown] == [ns for ns, _ in made[10:15]], shown)
        check(len(run("show", "--seq", "0", log).splitlines()) == 20, "show")
        check("--seq 999: the log holds no events" in run("show", "--seq", "999", log, status=1), "beyond the end")
        state = os.path.join(folder, "state")
        os.mkdir(state)
        os.rename(log, os.path.join(state, "events"))
        check(json.loads(run("verify", "--json", state)) == verified, "a state directory")
        check(segment["name"] in run("list", state), "list of a state directory")
        run("export", state, "-o", back)
        check(open(back).read() == gzip.open(text, "rt").read(), "export of a state directory")
        os.rename(os.path.join(state, "events"), log)
        os.rmdir(state)
        check(json.loads(run("show", "--at", "2030-01-01", "--json", log))["events"] == [], "after the end")

        whole = open(path, "rb").read()
        chance = random.Random(2)
        for _ in range(40):
            data, at = bytearray(whole), chance.randrange(len(whole))
            data[at] ^= 1 << chance.randrange(8)
            open(path, "wb").write(data)
            why = run("verify", log, status=1)
            check(segment["name"] in why and " at byte " in why and why.count("\n") == 1, at, why)
        open(path, "wb").write(whole[:-5])
        check("torn" in run("verify", log), "torn")
        open(path, "wb").write(whole)

        refused = [("frobnicate",), ("show", log), ("show", "--at", "x", log), ("show", "--seq", "-1", log), ("list", "a", "b"),
                   ("import", text), ("export", log), ("list", "--n", "4", log), ("list", "--state", folder, log)]
        for args in refused:
            why = run(*args, status=2)
            check(why.startswith("papertape: events") and why.count("\n") == 1, args, why)
        check("No such file" in run("verify", os.path.join(folder, "none"), status=1), "absent")
        check("no segment" in run("list", folder, status=1), "empty")
        bad, into = os.path.join(folder, "empty"), os.path.join(folder, "into")
        open(bad, "w").close()
        run("import", bad, "-o", into, status=1)
        check(not os.path.exists(into), "a failed import leaves nothing")
        replies = os.path.join(folder, "replies.http")
        line = 'https://api.binance.com/api/v3/ping?x=1 -> 1723161253.937085768: {"a":1}\n'
        open(replies, "w").write(line)
        run("import", replies, "-o", os.path.join(folder, "replies"))
        run("export", os.path.join(folder, "replies"), "-o", back)
        check(open(back).read() == line, "a reply's line", open(back).read())
        check("already" in run("import", text, "-o", log, status=1), "import twice")
        check("no journal" in run("export", text, "-o", back, status=1), "export of a text")


if __name__ == "__main__":
    main()
    print(f"events: {checks} checks, {failures} failed")
    sys.exit(failures > 0)
