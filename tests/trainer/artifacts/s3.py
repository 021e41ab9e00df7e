#!/usr/bin/env python3
"""The S3-compatible artifact store against moto's server behind a proxy that checks signatures and checksums (checking_proxy.py): signatures
are botocore's for random requests, keys with blanks, signs and other scripts, empty files, queries, sessions; put, get, list, delete;
a store that says 503, is cut off, sends or keeps other bytes; wrong keys; TLS; nothing secret in any sentence.

    s3.py ARTIFACT_CALLS
"""
import concurrent.futures
import errno
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../program"), os.path.join(HERE, "../../oracle")]
from oracle_venv import imports  # noqa: E402

with imports("moto"):
    from checking_proxy import BUCKET, EMPTY, KEY_ID, REGION, SECRET, TOKEN, Proxy, checksum
from program import check, done  # noqa: E402

LETTERS = "abcXYZ019-_.~" + " +%&=?#@:;,!$'()*\"<>[]{}|^`\\" + "äßéПж中日🎉\u0301"
REQUESTS = 60


class Store:
    """A process of ARTIFACT_CALLS, or none where it refused to start (`failed`: its two lines)."""

    def __init__(self, calls, url, **environment):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_") and name != "CREDENTIALS_DIRECTORY"}
        self.process = subprocess.Popen([calls, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**kept, "HOME": "/nonexistent",
                                        "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, **environment})

    def __call__(self, call, **more):
        self.process.stdin.write(json.dumps({"call": call, **more}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        secret_free(reply["error"], call)
        return reply

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def secret_free(text, what):
    check(SECRET not in text and TOKEN not in text, f"{what}: a secret in {text}")


def digest(data):
    return {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def key_of(chance):
    parts = ["".join(chance.choice(LETTERS) for _ in range(chance.randint(1, 12))) for _ in range(chance.randint(1, 4))]
    return "/".join(part if part.strip(".") else "d" + part for part in parts)


def url_of(proxy, prefix="", **options):
    return f"s3://{BUCKET}{'/' + urllib.parse.quote(prefix) if prefix else ''}?" + urllib.parse.urlencode({"endpoint": proxy.endpoint,
                                                                                                         "region": REGION, **options})


def test_signatures(calls, proxy, folder):
    """Random requests of all kinds; what is stored and comes back is what was sent."""
    chance, path, back = random.Random(31), os.path.join(folder, "file"), os.path.join(folder, "back")
    prefix = "a b/ü+%"
    stores = [Store(calls, url_of(proxy, prefix)), Store(calls, url_of(proxy), AWS_SESSION_TOKEN=TOKEN)]
    kept, before = {}, len(proxy.seen)
    for i in range(REQUESTS):
        which = i % 2
        store, call = stores[which], ["put", "get", "list", "delete", "put"][i // 2 % 5] if kept.get(which) else "put"
        mine = kept.setdefault(which, {})
        key = key_of(chance) if call == "put" or not mine else chance.choice(sorted(mine))
        whole = f"{prefix}/{key}" if which == 0 else key
        if call == "put":
            data = chance.randbytes(chance.choice((0, 1, 1000, 70000)))
            with open(path, "wb") as file:
                file.write(data)
            reply, mine[key] = store("put", key=key, path=path), data
            check(reply["r"] == 0 and proxy.object(whole) == data, f"put {key!r}: {reply}")
        elif call == "get":
            reply = store("get", key=key, path=back, **digest(mine[key]))
            with open(back, "rb") as file:
                check(reply["r"] == 0 and file.read() == mine[key], f"get {key!r}: {reply}")
        elif call == "list":
            begins = key[:chance.randint(0, len(key))]
            reply = store("list", prefix=begins)
            wanted = sorted(([name, len(data)] for name, data in mine.items() if name.startswith(begins)), key=lambda row: row[0].encode())
            listed = [row for row in reply["keys"] if which == 0 or not row[0].startswith(prefix)]
            check(reply["r"] == 0 and listed == wanted, f"list {begins!r}: {reply} is not {wanted}")
        else:
            reply = store("delete", key=key)
            check(reply["r"] == 0 and proxy.object(whole) is None and mine.pop(key) is not None, f"delete {key!r}: {reply}")
        seen = proxy.seen[-1] if len(proxy.seen) == before + i + 1 else check(False, f"request {i} did not pass: {proxy.refused[-1:]}") or {}
        headers = {name.lower(): value for name, value in seen.get("headers", {}).items()}
        check(headers.get("x-amz-content-sha256") == hashlib.sha256(seen.get("body", b"")).hexdigest(), f"{call}: x-amz-content-sha256")
        check(which == 0 or "x-amz-security-token" in seen.get("signed", []), f"{call}: the session's token is signed")
        if call != "list":
            check(seen.get("path") == urllib.parse.quote(f"/{BUCKET}/{whole}", safe="/-_.~"), f"{call} {whole!r}: {seen.get('path')}")
    check(not proxy.refused and len(proxy.seen) == before + REQUESTS, f"all signatures are botocore's: {proxy.refused}")
    check({one["method"] for one in proxy.seen} == {"GET", "PUT", "DELETE"} and any(one["query"] for one in proxy.seen), "of all kinds")
    check(any(one["headers"].get("x-amz-content-sha256") == EMPTY and one["method"] == "PUT" for one in proxy.seen), "an empty body")
    check(proxy.connections == len(stores), f"a connection each, kept: {proxy.connections}")
    check([store.close() for store in stores] == [0, 0], "they end well")


# What is done to a call's replies, one after the other, and how it ends: stores wait between attempts, so all run at once.
FAULTS = [("put", ["503", "slow down"], 0), ("put", ["damage body"], 0), ("put", ["other checksum"], 0), ("put", ["503"] * 4, 0),
          ("get", ["503", "cut"], 0), ("get", ["other bytes", "short"], 0), ("get", ["other checksum"], 0), ("get", ["cut"] * 4, 0),
          ("put", ["503"] * 6, errno.EHOSTDOWN), ("put", ["damage body"] * 6, errno.EHOSTDOWN), ("get", ["slow down"] * 6, errno.EHOSTDOWN),
          ("get", ["cut"] * 6, errno.EHOSTDOWN), ("get", ["short"] * 6, errno.EBADMSG), ("get", ["other bytes"] * 6, errno.EBADMSG),
          ("get", ["other checksum"] * 6, errno.EBADMSG), ("list", ["503"] * 6, errno.EHOSTDOWN),
          ("delete", ["503"] * 6, errno.EHOSTDOWN)]


def fault(calls, proxy, folder, data, number):
    """One of them, with an object, files and a process of its own."""
    call, faults, wanted = FAULTS[number]
    key, own = f"k{number:02d}", os.path.join(folder, str(number))
    os.mkdir(own)
    path, back = os.path.join(own, "file"), os.path.join(own, "back")
    with open(path, "wb") as file:
        file.write(data)
    store = Store(calls, url_of(proxy, "faults"))
    if call != "put":
        check(store("put", key=key, path=path)["r"] == 0, f"{number}: put")
    proxy.faults[key] = list(faults)
    reply = store(call, key=key, prefix=key, path=path if call == "put" else back, **digest(data))
    check(reply["r"] == -wanted, f"{call} with {faults}: {reply}")
    check(len(proxy.faults[key]) == (1 if wanted else 0), f"{call} with {faults}: {proxy.faults[key]} left of its attempts")
    check(proxy.object(f"faults/{key}") == (data if call != "put" or not wanted else None), f"{call} with {faults}: what is stored")
    check((names := sorted(os.listdir(own))) == (["back", "file"] if call == "get" and not wanted else ["file"]), f"{call} with {faults}: nothing half: {names}")
    if call == "get" and not wanted:
        with open(back, "rb") as file:
            check(file.read() == data, f"{call} with {faults}: other bytes")
    store.close()


def no_server(calls):
    store = Store(calls, f"s3://{BUCKET}?endpoint=http://127.0.0.1:1")
    reply = store("delete", key="k")
    check(reply["r"] == -errno.EHOSTDOWN and "127.0.0.1" in reply["error"], f"no server: {reply}")
    store.close()


def replaced(calls, proxy, folder):
    """An object that another process replaced in the bucket, with a checksum of its own, is found by the study's digest."""
    data, path, back = b"timestamp_ns,path_1\n1,0.5\n", os.path.join(folder, "ours"), os.path.join(folder, "theirs")
    store = Store(calls, url_of(proxy))
    with open(path, "wb") as file:
        file.write(data)
    check(store("put", key="ours", path=path)["r"] == 0, "put")
    proxy.forward("PUT", f"/{BUCKET}/ours", {"x-amz-checksum-sha256": checksum(data.upper())}, data.upper())
    reply = store("get", key="ours", path=back, **digest(data))
    check(reply["r"] == -errno.EBADMSG and not os.path.exists(back), f"replaced: {reply}")
    check(store("put", key="ours", path=path)["r"] == 0 and proxy.object("ours") == data, "and stored again")
    store.close()


def test_faults(calls, proxy, folder):
    """Repeated where that helps: 503, SlowDown, bodies and replies that are cut off or damaged; then an error, and nothing half."""
    data, path, back = os.urandom(100000), os.path.join(folder, "file"), os.path.join(folder, "new")
    with open(path, "wb") as file:
        file.write(data)
    with concurrent.futures.ThreadPoolExecutor(len(FAULTS) + 2) as pool:
        others = [pool.submit(no_server, calls), pool.submit(replaced, calls, proxy, folder)]
        list(pool.map(lambda number: fault(calls, proxy, folder, data, number), range(len(FAULTS))))
        [other.result() for other in others]
    proxy.refused.clear()
    store = Store(calls, url_of(proxy, "faults"))
    check(store("put", key="k", path=path)["r"] == 0, "put")
    reply = store("get", key="k", path=back, **digest(data[:-1]))
    check(reply["r"] == -errno.EBADMSG and "the study has 99999" in reply["error"] and not os.path.exists(back), f"another object: {reply}")
    before = len(proxy.seen)
    reply = store("get", key="absent", path=back, **digest(data))
    check(reply["r"] == -errno.ENOENT and len(proxy.seen) == before + 1, f"absent: once, {reply}")
    check(store("delete", key="absent")["r"] == 0, "absent")
    check(store("put", key="a/../b", path=path)["r"] == -errno.EINVAL, "a key that is none")
    store.close()


def test_refused(calls, proxy, folder):
    """Wrong keys, region and bucket: one attempt, a sentence that says what, and never a secret."""
    path = os.path.join(folder, "file")
    for what, more, said, error in (("the secret", {"AWS_SECRET_ACCESS_KEY": SECRET[:-1] + "x"}, "SignatureDoesNotMatch", errno.EACCES),
                                    ("the id", {"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, "InvalidAccessKeyId", errno.EACCES)):
        before, store = len(proxy.refused), Store(calls, url_of(proxy), **more)
        reply = store("put", key="k", path=path)
        check(reply["r"] == -error and said in reply["error"] and "clock" in reply["error"], f"{what}: {reply}")
        check(len(proxy.refused) == before + 1 and proxy.object("k") is None, f"{what}: it is not tried again")
        check(more.get("AWS_SECRET_ACCESS_KEY", "?") not in reply["error"], f"{what} is not shown")
        store.close()
    store = Store(calls, url_of(proxy, region="us-west-2"))
    reply = store("put", key="k", path=path)
    check(reply["r"] < 0 and "AuthorizationHeaderMalformed" in reply["error"], f"the region: {reply}")
    store.close()
    store = Store(calls, url_of(proxy).replace(BUCKET, "no-such-bucket"))
    reply = store("put", key="k", path=path)
    check(reply["r"] == -errno.ENOENT and "NoSuchBucket" in reply["error"], f"the bucket: {reply}")
    store.close()


def test_pages(calls, proxy, folder):
    store, many = Store(calls, url_of(proxy)), [f"many/{i:04d}" for i in range(8)]
    for key in many:
        proxy.forward("PUT", f"/{BUCKET}/{key}", {}, b"x")
    proxy.page, before = 3, len(proxy.seen)
    reply = store("list", prefix="many/")
    check(reply["r"] == 0 and [key for key, _ in reply["keys"]] == many and len(proxy.seen) == before + 3, f"a list of three pages: {reply}")
    proxy.page = None
    store.close()


def certificate(folder, name, address):
    """(certificate, key), its own authority."""
    made = [os.path.join(folder, f"{name}.{ending}") for ending in ("crt", "key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName=IP:{address}", "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made


def test_tls(calls, folder):
    """Verified: by AWS_CA_BUNDLE, else the system's; another host's certificate is refused, once."""
    ours, other = certificate(folder, "ours", "127.0.0.1"), certificate(folder, "other", "127.0.0.2")
    for made, tries in ((ours, ((ours[0], True), (None, False), (other[0], False))), (other, ((other[0], False),))):
        proxy = Proxy(tls=made)
        for trusted, good in tries:
            before, store = len(proxy.seen), Store(calls, url_of(proxy), **({"AWS_CA_BUNDLE": trusted} if trusted else {}))
            reply = store("put", key="k", path=made[0])
            check(reply["r"] == (0 if good else -errno.EPROTO) and ("certificate" in reply["error"] or "host name" in reply["error"]) != good,
                  f"{made[0]} with {trusted}: {reply}")
            check(len(proxy.seen) == before + good, f"{made[0]} with {trusted}: nothing was sent")
            store.close()
        proxy.close()


def main():
    calls = os.path.abspath(sys.argv[1])
    proxy = Proxy()
    try:
        with tempfile.TemporaryDirectory(prefix="papertape-s3-") as folder:
            for test in (test_signatures, test_faults, test_refused, test_pages):
                test(calls, proxy, folder)
            test_tls(calls, folder)
    finally:
        proxy.close()
    done("artifacts/s3")


main()
