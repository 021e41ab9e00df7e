"""A PostgreSQL server of a test's own, in a temporary folder: on 127.0.0.1 and on a socket in that folder. Root, which the server
does not run as, starts it as the user postgres. Without the server's programs the test is skipped."""

import contextlib
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

SKIPPED = 77
USER = "pt"
ATTEMPTS = 5  # a free port may be somebody else's a moment later


def programs():
    """The folder of initdb and postgres, the newest version's."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    path = found[-1] if found else shutil.which("initdb")
    if not path:
        print("skipped: PostgreSQL's server is missing: on Debian, postgresql")
        sys.exit(SKIPPED)
    return os.path.dirname(os.path.realpath(path))


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    def __init__(self, settings=()):
        self.bin = programs()
        self.folder = tempfile.mkdtemp(prefix="papertape-pg-", dir="/tmp")  # a socket's path is short
        self.data, self.settings, self.port = os.path.join(self.folder, "d"), list(settings), 0
        os.chmod(self.folder, 0o711)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C")

    def run(self, program, *arguments, check=True, text=None):
        command = [os.path.join(self.bin, program), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        done = subprocess.run(command, env={"PATH": f"{self.bin}:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}, input=text,
                              stdin=None if text else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, cwd="/")
        assert not check or done.returncode == 0, f"{command}: {done.stdout}"
        return done

    def start(self):
        """On the same port, once it has one."""
        for attempt in range(ATTEMPTS):
            port = self.port or free_port()
            options = ["listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={self.folder}", "fsync=off",
                       "max_connections=250", *self.settings]
            done = self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.folder, "log"), "-o",
                            " ".join(f"-c {option}" for option in options), "start", check=False)
            if done.returncode == 0:
                self.port = port
                return self
            assert not self.port and attempt + 1 < ATTEMPTS, done.stdout + self.log()
        return self

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop", check=False)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def url(self, database="postgres", query="", scheme="postgresql", user=USER, host="127.0.0.1", port=None):
        return f"{scheme}://{user}@{host}:{port or self.port}/{database}{'?' + query if query else ''}"

    def sql(self, database, text):
        """All rows, each a tuple of texts."""
        done = self.run("psql", "-h", self.folder, "-p", str(self.port), "-U", USER, "-d", database, "-qAtX", "-F", "\t", "-v",
                        "ON_ERROR_STOP=1", text=text)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    def rows(self, database, query):
        """Likewise, of one query, with numbers as numbers: floats to the bit."""
        text = self.sql(database, f"SET extra_float_digits = 3; SELECT coalesce(json_agg(q), '[]') FROM ({query}) AS q")
        return [tuple(row.values()) for row in json.loads("".join(line[0] for line in text))]

    def create(self, *names):
        self.sql("postgres", "".join(f'CREATE DATABASE "{name}" TEMPLATE template0;\n' for name in names))

    def schema(self, database):
        done = self.run("pg_dump", "-h", self.folder, "-p", str(self.port), "-U", USER, "--schema-only", database)
        return [line for line in done.stdout.splitlines() if line and not line.startswith(("--", "\\"))]

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def running(settings=(), databases=()):
    server = Server(settings)
    try:
        server.start()
        if databases:
            server.create(*databases)
        yield server
    finally:
        server.remove()
