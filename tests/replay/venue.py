"""Starts papertape-replay and talks to it with nothing but Python's standard library."""

import base64
import collections
import http.client
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import time

DEADLINE = 60.0

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
Frame = collections.namedtuple("Frame", "op data first", defaults=(0x80,))


class Closed(Exception):
    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code} {reason}")
        self.code = code


class Refused(AssertionError):
    def __init__(self, head, body):
        super().__init__(head)
        self.status = int(head.split()[1])
        self.headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        self.body = json.loads(body) if body else None


class Venue:
    """One run of the program; a context manager."""

    def __init__(self, program, *args):
        self.folder = tempfile.TemporaryDirectory(prefix="papertape-venue-")
        self.ca = os.path.join(self.folder.name, "ca.pem")
        self.process = subprocess.Popen([program, *args, "--ca-out", self.ca], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        if not self.line:
            raise RuntimeError(f"did not start: {self.process.communicate()[1]}")
        self.info = json.loads(self.line)
        self.port = int(self.info["rest_url"].rsplit(":", 1)[1])
        self.context = ssl.create_default_context(cafile=self.ca)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop(signal.SIGKILL)
        self.folder.cleanup()

    def stop(self, number=signal.SIGTERM):
        """Ends the program; its exit status and what it wrote to stderr."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        err = self.process.communicate(timeout=DEADLINE)[1]
        return self.process.returncode, err

    def get(self, path, method="GET", connection=None, headers=None):
        """(status, headers, body as JSON)"""
        c = connection or http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=DEADLINE)
        c.request(method, path, headers=headers or {})
        r = c.getresponse()
        body = json.loads(r.read())
        if not connection:
            c.close()
        return r.status, r.headers, body

    def rest(self, path):
        status, _, body = self.get(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body}")
        return body

    def posted(self, text):
        """(status, answer) of a fault that is posted."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=DEADLINE)
        connection.request("POST", "/_control", text)
        r = connection.getresponse()
        answer = r.read().decode()
        connection.close()
        return r.status, answer

    def fault(self, text):
        """As --fault, from now on."""
        answer = self.posted(text)
        if answer != (200, "ok\n"):
            raise AssertionError(f"{text}: {answer}")

    def socket(self, path, headers=None):
        return Socket(self, path, headers)

    def streams(self, *names):
        return Socket(self, "/stream?streams=" + "/".join(names))


class Socket:
    """A websocket client that shows every frame and answers pings only when asked to."""

    whole = True  # fragments and flags of extensions are errors

    def __init__(self, venue, path, headers=None):
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        raw = socket.create_connection(("127.0.0.1", venue.port), timeout=DEADLINE)
        self.tls = venue.context.wrap_socket(raw, server_hostname="127.0.0.1")
        key = base64.b64encode(os.urandom(16)).decode()
        self.tls.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{more}\r\n").encode())
        self.buffer = bytearray()
        self.at = 0
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            try:
                while True:
                    self._more()
            except (Closed, OSError):
                pass
            raise Refused(head.decode(), bytes(self.buffer).partition(b"\r\n\r\n")[2])
        if b"permessage-deflate" in head.lower():
            raise AssertionError("compression was not asked for")
        self.buffer = bytearray(rest)

    def _more(self):
        data = self.tls.recv(1 << 16)
        if not data:
            raise Closed(None, "without a close frame")
        if self.at > 1 << 20:
            del self.buffer[:self.at]
            self.at = 0
        self.buffer += data

    def _need(self, n):
        while len(self.buffer) - self.at < n:
            self._more()

    def frame(self):
        """The next frame, whatever it is."""
        self._need(2)
        first, length = self.buffer[self.at], self.buffer[self.at + 1] & 127
        head = 2
        if length == 126:
            self._need(4)
            length, head = struct.unpack_from(">H", self.buffer, self.at + 2)[0], 4
        elif length == 127:
            self._need(10)
            length, head = struct.unpack_from(">Q", self.buffer, self.at + 2)[0], 10
        self._need(head + length)
        data = bytes(self.buffer[self.at + head:self.at + head + length])
        self.at += head + length
        if self.whole and first & 0xf0 != 0x80:
            raise AssertionError("a fragmented message, or one of an extension")
        return Frame(first & 15, data, first & 0xf0)

    def text(self):
        """The next text message; pings are answered, a close frame raises Closed."""
        return self.data(TEXT)

    def data(self, *ops):
        """The next message of one of these kinds; the rest as text()."""
        while True:
            f = self.frame()
            if f.op in ops:
                return f.data
            if f.op == PING:
                self.send(PONG, f.data)
            elif f.op == CLOSE:
                code = struct.unpack(">H", f.data[:2])[0] if len(f.data) >= 2 else None
                raise Closed(code, f.data[2:].decode())

    def message(self):
        return json.loads(self.text())

    def send(self, op, data, final=True):
        self.tls.sendall(self.masked(op, data, final))

    def burst(self, op, *data):
        """Frames that come at once, wherever this process is stopped."""
        self.tls.sendall(b"".join(self.masked(op, one) for one in data))

    @staticmethod
    def masked(op, data, final=True):
        first = 0x80 * final | op
        mask = os.urandom(4)
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        if len(data) < 126:
            head = struct.pack(">BB", first, 0x80 | len(data))
        else:
            head = struct.pack(">BBH", first, 0x80 | 126, len(data))
        return head + mask + masked

    def say(self, value):
        self.send(TEXT, value.encode() if isinstance(value, str) else json.dumps(value).encode())

    def ask(self, method, params=None, id=1):
        """Sends a request and returns the answer, with the messages that came before it."""
        request = {"method": method, "id": id}
        if params is not None:
            request["params"] = params
        self.say(request)
        before = []
        while True:
            m = self.message()
            if "id" in m or "code" in m:
                return m, before
            before.append(m)

    def close(self):
        self.tls.close()


def until(condition, what):
    """Polls a condition up to a deadline."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"not in {DEADLINE:g} s: {what}")


def run_tests(names):
    """A file's functions test_*, in their order."""
    for name, test in list(names.items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: ok", flush=True)
