#!/usr/bin/env python3
"""The terminal is as it was before, whichever way the dashboard ends: modes of the line (termios), alternate screen, cursor, mouse
reports, bracketed paste and keypad, on a pseudo-terminal. Also while Ctrl-Z has stopped it, and after fg they are the dashboard's again: in
a shell with jobs that leaves the terminal alone, since the kernel stops no session's first."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

import harness

MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])|\x1b([=>])")
ENDS = "HUP INT QUIT TERM USR1 USR2 ALRM VTALRM PROF IO PWR XCPU ABRT SEGV BUS FPE ILL SYS".split()
KEYS = b"\x03", b"\x1c"  # Ctrl-C, Ctrl-backslash


class Terminal:
    def __init__(self, state, *arguments, program=(harness.PAPERTAPE, "--state"), **environment):
        self.main, self.program = pty.openpty()
        fcntl.ioctl(self.program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.program)
        self.written = b""
        self.process = subprocess.Popen([*program, state, *arguments], stdin=self.program, stdout=self.program, stderr=self.program,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env=os.environ | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": state} | environment)

    def read(self, what, condition):
        deadline = time.monotonic() + harness.PATIENCE
        while not condition():
            assert time.monotonic() < deadline, (what, self.written[-2000:])
            if select.select([self.main], [], [], 0.02)[0]:
                self.written += os.read(self.main, 1 << 16)

    def drain(self):
        while select.select([self.main], [], [], 0)[0]:
            self.written += os.read(self.main, 1 << 16)

    def modes(self):
        """The last state of each mode that was written."""
        self.drain()
        now = {}
        for numbers, way, keypad in MODE.findall(self.written):
            now |= {number: way == b"h" for number in numbers.split(b";")} if numbers else {b"keypad": keypad == b"="}
        return now

    def on(self):
        """What is on of them; cursor, its blinking and the line's wrapping are so without the dashboard too."""
        return {name for name, is_on in self.modes().items() if is_on} - {b"25", b"12", b"7"}

    def open(self):
        self.read("the first screen", lambda: b"flatten" in self.written and self.modes().get(b"1049"))
        assert termios.tcgetattr(self.program) != self.before

    def restored(self, way):
        modes = self.modes()
        assert termios.tcgetattr(self.program) == self.before, (way, "termios")
        assert {b"1049", b"1000", b"2004"} <= modes.keys() and not self.on(), (way, modes)
        assert modes.get(b"25", True), (way, "no cursor")

    def ended(self, way):
        self.read(f"{way}: the end", lambda: self.process.poll() is not None)
        self.restored(way)
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.program)


def by_key(terminal, key):
    os.write(terminal.main, key)
    status = terminal.ended(key)
    assert status == (0 if key == b"q" else -signal.SIGINT if key == b"\x03" else -signal.SIGQUIT), (key, status)


def by_signal(terminal, name):
    number = getattr(signal, "SIG" + name)
    os.kill(terminal.process.pid, number)
    status = terminal.ended(name)
    assert status == -number, (name, status)


def by_library(state):
    """What copying a page needs is not there: the end is reported on the restored terminal, in one line."""
    with open(os.path.join(state, "libcrypto.so.3"), "w", encoding="ascii") as file:
        file.write("no library\n")
    terminal = Terminal(state, "--open", "order:1", LD_LIBRARY_PATH=state)
    try:
        terminal.open()
        os.write(terminal.main, b"y")
        status = terminal.ended("a library")
        said = terminal.written.rpartition(b"\x1b[?1049l")[2]
        assert status == 2 and re.search(rb"libcrypto\.so\.3 is needed: [^\n]*\r\n$", said) and said.count(b"\n") == 1, (status, said)
    finally:
        terminal.close()


def by_stop(state):
    """Ctrl-Z, fg and q, twice. The shell has no line editing: what is set of the line is as the dashboard left it."""
    terminal = Terminal(state, program=("sh", "-m", "-i", "-c", '"$0" --state "$1"; while read -r line; do eval "$line"; done', harness.PAPERTAPE))
    try:
        terminal.open()
        line, on, dashboard = termios.tcgetattr(terminal.program), terminal.on(), os.tcgetpgrp(terminal.main)
        assert dashboard != terminal.process.pid and {b"1049", b"1000", b"2004"} <= on, on
        for _ in range(2):
            os.write(terminal.main, b"\x1a")
            terminal.read("the stop", lambda: state_of(dashboard) == "T")
            terminal.restored("Ctrl-Z")
            seen = len(terminal.written)
            os.write(terminal.main, b"fg\n")
            terminal.read("the screen again", lambda seen=seen: b"flatten" in terminal.written[seen:] and terminal.on() == on)
            assert termios.tcgetattr(terminal.program) == line, "termios after fg"
        os.write(terminal.main, b"q")
        terminal.read("the shell", lambda: os.tcgetpgrp(terminal.main) == terminal.process.pid)
        terminal.restored("q after fg")
    finally:
        terminal.close()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def main():
    ways = [(by_key, b"q"), *((by_key, key) for key in KEYS), *((by_signal, name) for name in ENDS)]
    with tempfile.TemporaryDirectory() as state:
        for way, how in ways:
            terminal = Terminal(state)
            try:
                terminal.open()
                way(terminal, how)
            finally:
                terminal.close()
        by_stop(state)
        by_library(state)
    print(f"dashboard_terminal: {len(ways) + 2} ways out")


if __name__ == "__main__":
    main()
