"""A websocket client of few words, after RFC 6455, on the standard library alone: it shares no code with the server
under test nor with the daemon's client."""

import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import urllib.parse
import urllib.request


class WebSocket:
    def __init__(self, url, ca_file, timeout=120.0):
        parts = urllib.parse.urlsplit(url)
        context = ssl.create_default_context(cafile=ca_file)
        plain = socket.create_connection((parts.hostname, parts.port), timeout)
        self.socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        path = parts.path + ("?" + parts.query if parts.query else "")
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if b" 101 " not in head.split(b"\r\n")[0] + b" " or accept.lower() not in head.lower():
            raise AssertionError(f"no upgrade: {head!r}")

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError("the server closed the connection")
        self.buffer += data

    def _take(self, count):
        while len(self.buffer) < count:
            self._more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _send(self, opcode, payload):
        mask = os.urandom(4)
        head = bytes([0x80 | opcode])
        if len(payload) < 126:
            head += bytes([0x80 | len(payload)])
        else:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(payload))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def send(self, text):
        self._send(1, text.encode())

    def receive(self):
        """The next text message; pings are answered on the way."""
        message = b""
        while True:
            first, second = self._take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack(">H", self._take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self._take(8))[0]
            payload, opcode = self._take(length), first & 0x0F
            if opcode == 9:
                self._send(10, payload)
            elif opcode == 8:
                raise EOFError(f"closed with {payload!r}")
            elif opcode in (0, 1, 2):
                message += payload
                if first & 0x80:
                    return message.decode()

    def close(self):
        self.socket.close()


def get(url, ca_file):
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=ca_file), timeout=120) as reply:
        return json.load(reply)
