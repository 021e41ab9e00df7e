#!/usr/bin/python3
"""Whether the commands of README.md and docs/ print what the pages show: examples.py SOURCE_ROOT BUILD_ROOT [PAGE…] (standard library only).

Each fence that shows an output has a mark in a line of its own before it:

    <!-- run -->                its commands are run by bash, and print this; both streams, exit status 0
    <!-- run: sample bars -->   with the sample data's bars files in the folder; left out where there are none
    <!-- file: NAME -->         it is written to NAME, for the commands after it
    <!-- transcript: WHAT -->   not run: of which run it is, and why it cannot be run here
    <!-- form: WHAT -->         not of a run: which JSON it explains; its keys are words of the product's sources

An output is: what stands below a line "$ COMMAND"; a screen of the dashboard; JSON; in a fence without a language any line that is
neither a command (its first word is a program's, or one of TOOLS) nor a comment, unless the fence is a configuration, which begins
with "[section]"; and a fence of the language `text`, which formulas and drawings have, where the sentence before it ends with a
colon and has a program's command in backticks.

A line "…" stands for any lines, "…" in a line for any text. The fences of a page are run in its order, in one folder that is
empty at first, with the built programs in PATH; port 9443 stands for a free one.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

FENCE = re.compile(r"^(?P<mark><!-- [^\n]* -->\n)?\n?```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
MARK = re.compile(r"<!-- (run|file|transcript|form)(?:: (.+))? -->\n")
SCREEN = re.compile(r"^(─|PAPER  )", re.M)
PROGRAM = re.compile(r"papertape(d|-trainer|-replay)?\b|(\./|bench/|build/|tests/)[\w./-]+")
TOOLS = set("adduser cd chown cp curl echo export git meson mkdir ninja pip python3 printf sqlite3 sync systemctl systemd-sysusers umask".split())
SAMPLES = "sample bars"
LIMIT_S = 240
TRAINED_STEPS = None if os.environ.get("PAPERTAPE_LONG") else 200000  # a training that the page shows is cut to these
stopping, running = threading.Event(), set()  # whether to end; the sessions of all pages
ROOMS = "cli daemon db engine exchange indicators_gpu record strategy trainer tui".split()


SPECIMENS = [  # (fence, its language, the page before it, whether it has an output)
    ("papertape fees\nbinance  vip0\n", "", "", True), ("papertape fees   # all\n./check\nsudo cp a b\n", "", "", False),
    ("papertape order buy X 1 \\\n    --limit 3\n", "", "", False), ("binance  vip0\n", "", "`papertape fees` prints:\n\n", True),
    ("binance  vip0\n", "text", "More.\n\n`papertape fees` prints:\n\n", True), ("a = b\n", "text", "The formula:\n\n", False),
    ("[market]\nsymbols = X\n", "", "", False), ('{"ok":true}\n', "json", "", True), ("$ true\n", "sh", "", False), ("$ echo 1\n1\n", "sh", "", True),
]


class Wrong(Exception):
    """A difference, as it is printed."""


def commands(text):
    """(command, expected output) of each "$ " of a fence; a line that ends with a backslash continues in the next."""
    found = []
    more = False
    for line in text.splitlines():
        if more:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
        else:
            raise Wrong(f"its first line is no command: {line}")
        more = (more or line.startswith("$ ")) and line.endswith("\\")
    return found


def shows_output(text):
    return any(expected for _, expected in commands(text)) if text.startswith("$ ") else "\n$ " in text


def is_command(line):
    words = [word for word in line.split() if word != "sudo"]
    return not words or line.startswith("#") or re.match(r"\w+=", words[0]) is not None or words[0] in TOOLS or PROGRAM.match(words[0]) is not None


def needs_mark(text, language, before):
    """Is it an output, or has one? `before` is the page up to the fence."""
    if shows_output(text) or SCREEN.search(text) or language == "json" or text.startswith(("{", "[{")):
        return True
    if language == "text":
        sentence = before.rstrip().rpartition("\n\n")[2]
        return sentence.endswith(":") and any(PROGRAM.match(code) and " " in code for code in re.findall(r"`([^`]+)`", sentence))
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return not language and not re.match(r"\[[\w ]+\]", text) and not all(map(is_command, lines))


def words_of_sources(source):
    """Those of the product's C outside comments."""
    text = "".join(path.read_text(encoding="utf-8") for room in ROOMS for path in (source / room).rglob("*.[ch]"))
    return set(re.findall(r"\w+", re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)))


def pattern(expected):
    lines = (r"(?:[^\n]*\n)*?" if line == "…" else re.escape(line.rstrip()).replace("…", r"[^\n]*?") + r"\n" for line in expected)
    return "".join(lines)


def compare(command, expected, printed):
    if re.fullmatch(pattern(expected), printed):
        return
    good = 0  # lines of the page that the output starts with
    while good < len(expected) and re.match(pattern(expected[: good + 1]), printed):
        good += 1
    shown = expected[good] if good < len(expected) else "(no more)"
    raise Wrong(f"$ {command}\n  the page has, in its line {good + 1}: {shown}\n  it printed:\n" + re.sub("^", "    ", printed, flags=re.M))


def shortened(command):
    """The command; a training has fewer steps in its configuration by then, whose output "…" stands for."""
    config = re.match(r"papertape-trainer train --config (\S+)", command)
    return f"sed -i 's/^total_steps = .*/total_steps = {TRAINED_STEPS}/' {config[1]}\n{command}" if config and TRAINED_STEPS else command


def run_fence(text, folder, environment, sessions):
    """Runs a fence's commands in one shell, whose session goes to `sessions`: processes may remain in it. Compares their outputs."""
    separator = f"examples.py {os.urandom(8).hex()}"
    pairs = commands(text)
    script = "".join(f"{shortened(command)}\nprintf '%s\\n' \"{separator} $?\"\n" for command, _ in pairs)
    with tempfile.TemporaryFile() as output:  # a pipe would end only with the last process that has it
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        sessions.add(shell.pid)
        running.add(shell.pid)
        if stopping.is_set():
            kill(sessions)
        try:
            shell.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Wrong(f"not done after {LIMIT_S} s") from None
        output.seek(0)
        printed = re.sub(r"[ \t]+$", "", output.read().decode(), flags=re.M)
    parts = re.split(rf"{separator} (\d+)\n", printed)
    if len(parts) != 2 * len(pairs) + 1:
        raise Wrong(f"the shell ended early:\n{printed}")
    for (command, expected), output, status in zip(pairs, parts[0::2], parts[1::2]):
        if status != "0":
            raise Wrong(f"$ {command}\n  exit status {status}:\n{output}")
        compare(command, expected, output)


def kill(sessions):
    for session in sessions:
        try:
            os.killpg(session, signal.SIGKILL)
        except ProcessLookupError:
            pass
    running.difference_update(sessions)


def stop(number, frame):
    """Meson's timeout, or a terminal's interrupt: the shells' sessions are their own, and would live on."""
    stopping.set()
    kill(set(running))


def page_environment(build, folder):
    programs = [str(build / room) for room in ("tui", "trainer", "daemon", "exchange/replay")]
    home = folder.parent / "home"
    home.mkdir()
    return {"PATH": ":".join([*programs, os.environ["PATH"]]), "HOME": str(home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def check_page(page, name, build, samples, words, counts):
    """The faults of one page, each with its place."""
    text = page.read_text(encoding="utf-8")
    faults = []
    sessions = set()
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as end:
        end.callback(kill, sessions)
        folder = pathlib.Path(scratch) / "work"
        folder.mkdir()
        environment = page_environment(build, folder)
        port = free_port()
        for fence in FENCE.finditer(text):
            place = f"{name}:{text.count(chr(10), 0, fence.start('text'))}"
            mark = MARK.fullmatch(fence["mark"] or "")
            kind, about = mark.groups() if mark else (None, None)
            body = fence["text"].replace("9443", port)
            try:
                if not kind:
                    if needs_mark(body, fence["info"], text[: fence.start()]):
                        raise Wrong("an output without a mark before the fence: <!-- run --> or <!-- transcript: of which run -->, of JSON "
                                    "<!-- form: … -->; a formula or drawing is ```text")
                    continue
                if kind != "run" and not about:
                    raise Wrong(f"the mark {kind} needs a text: <!-- {kind}: … -->")
                if kind == "run" and about not in (None, SAMPLES):
                    raise Wrong(f"{about}: known is <!-- run: {SAMPLES} -->")
                counts[kind] += 1
                if kind == "form" and (unknown := {key for key in re.findall(r'"(\w+)":', body) if not {key, re.sub(r"_\d+$", "", key)} & words}):
                    raise Wrong(f"no source has these keys: {' '.join(sorted(unknown))}")
                if kind == "file":
                    (folder / about).write_text(body, encoding="utf-8")
                if kind != "run":
                    continue
                if about == SAMPLES:
                    if not samples.is_dir():
                        counts["without its data"] += 1
                        continue
                    for file in samples.iterdir():
                        if not (folder / file.name).exists():
                            (folder / file.name).symlink_to(file)
                run_fence(body, folder, environment, sessions)
            except Wrong as fault:
                faults.append(f"{place}: {fault}")
    return faults


def main():
    source, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    pages = [pathlib.Path(page).resolve() for page in sys.argv[3:]] or [source / "README.md", *sorted((source / "docs").rglob("*.md"))]
    samples = pathlib.Path(os.environ.get("PAPERTAPE_SHARED", source.parent / "shared")).resolve() / "data" / "bars"
    counts = {"run": 0, "file": 0, "transcript": 0, "form": 0, "without its data": 0}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    words = words_of_sources(source)
    faults = [f"{text!r}: seen as {not output}" for text, language, before, output in SPECIMENS if needs_mark(text, language, before) != output]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda page: check_page(page, os.path.relpath(page, source), build, samples, words, counts), pages):
            faults += found
    if TRAINED_STEPS:
        print(f"counts: a page's training of {TRAINED_STEPS} steps (PAPERTAPE_LONG: as the page has it)")
    print(*faults, sep="\n", end="\n" if faults else "")
    print("fences: " + ", ".join(f"{number} {kind}" for kind, number in counts.items()) + f"; {len(faults)} faults")
    if faults:
        print("If the program is right, put what it prints into the page; text that differs between runs is …")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
