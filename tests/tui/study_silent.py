"""tests/tui/study_silent.c over servers that do not answer: one that accepts connections and says nothing, one that stops answering
after a first reading. Whatever waits for them, waits for a day. study_silent.py TEST WORKER"""
import contextlib
import os
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../db/studies"), os.path.join(HERE, "../../fixtures")]
import postgresql_server  # noqa: E402
from cutting_proxy import Proxy  # noqa: E402

TEST, WORKER = sys.argv[1:3]
CONNECTIONS = 2  # the reader's and the listener's
LONG = "connect_timeout=86400"


def start(*arguments):
    return subprocess.Popen([TEST, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(program, word):
    line = program.stdout.readline()
    assert line == word + "\n", line


def goes_on(program):
    program.stdin.write("\n")
    program.stdin.flush()


def ends(program):
    goes_on(program)
    out, _ = program.communicate()
    print(out, end="")
    assert program.returncode == 0, program.returncode


def mute():
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = start(f"postgresql://pt@127.0.0.1:{server.getsockname()[1]}/none?{LONG}")
        said(program, "waits")
        kept = [server.accept()[0] for _ in range(CONNECTIONS)]
        ends(program)
        for connection in kept:
            connection.close()


def silenced():
    with postgresql_server.running(databases=["studies"]) as server, contextlib.closing(Proxy(server.port)) as proxy:
        subprocess.run([WORKER, server.url("studies"), "s", "2", "60", "0"], check=True)
        program = start(server.url("studies", LONG, port=proxy.port), "read")
        said(program, "read")
        proxy.holds = True
        goes_on(program)
        said(program, "waits")
        proxy.held.wait()
        ends(program)


mute()
silenced()
