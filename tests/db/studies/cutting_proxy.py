"""A proxy before a PostgreSQL server that cuts a connection at a chosen message of the client: before the server has it, or after the
server has done it, so that only the answer is lost; or that passes nothing on any more, as a server that does not answer."""

import contextlib
import math
import socket
import struct
import threading

STARTUP = 8  # the first message has no type


class Proxy:
    """`cuts` are (TEXT, COUNT, "before" | "after"): at the COUNT-th message that has TEXT in it, of all connections. After the first
    `answered` connections no other is."""

    def __init__(self, port):
        self.server, self.cuts, self.seen, self.done = port, [], {}, []
        self.lock, self.refuses = threading.Lock(), False
        self.accepted, self.answered = 0, math.inf
        self.holds, self.held, self.closed = False, threading.Event(), threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.threads, self.sockets = [threading.Thread(target=self.accept, daemon=True)], set()
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            thread = threading.Thread(target=self.serve, args=(client, self.accepted >= self.answered), daemon=True)
            self.accepted += 1
            with self.lock:
                self.threads.append(thread)
            thread.start()

    def serve(self, client, mute):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server)) as server, client:
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets |= {client, server}
            if self.holds or mute:
                self.held.set()
                self.closed.wait()
            first = self.startup(client)
            server.sendall(first)
            muted, answered = threading.Event(), threading.Event()
            answers = threading.Thread(target=self.answer, args=(server, client, muted, answered), daemon=True)
            answers.start()
            while True:
                message = self.message(client)
                if self.holds:
                    self.held.set()
                    self.closed.wait()
                cut = self.matches(message)
                if cut == "before":
                    break
                if cut == "after":
                    muted.set()
                server.sendall(message)
                if cut == "after":
                    assert answered.wait(30), "the server does not answer"  # once it has, it is done there
                    break
            with self.lock:
                self.sockets -= {client, server}
            for end in (client, server):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            answers.join()

    @staticmethod
    def answer(server, client, muted, answered):
        with contextlib.suppress(OSError):
            while True:
                data = server.recv(65536)
                if muted.is_set():
                    answered.set()
                elif data:
                    client.sendall(data)
                if not data:
                    break
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_WR)

    @staticmethod
    def exactly(sock, n):
        data = b""
        while len(data) < n:
            more = sock.recv(n - len(data))
            if not more:
                raise OSError("it ended")
            data += more
        return data

    def startup(self, client):
        """Without TLS: a request for it is refused here."""
        while True:
            head = self.exactly(client, STARTUP)
            length, code = struct.unpack("!II", head)
            if code in (80877103, 80877104):
                client.sendall(b"N")
                continue
            return head + self.exactly(client, length - STARTUP)

    def message(self, client):
        head = self.exactly(client, 5)
        return head + self.exactly(client, struct.unpack("!I", head[1:])[0] - 4)

    def matches(self, message):
        with self.lock:
            for text, count, when in list(self.cuts):
                if text.encode() not in message:
                    continue
                self.seen[text] = self.seen.get(text, 0) + 1
                if self.seen[text] == count:
                    self.cuts.remove((text, count, when))
                    self.seen[text] = 0
                    self.done.append((text, when))
                    return when
        return None

    def cut(self, text, count, when):
        with self.lock:
            self.seen[text] = 0
            self.cuts.append((text, count, when))

    def close(self):
        self.closed.set()
        self.listening.close()
        with self.lock:
            sockets = list(self.sockets)
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
