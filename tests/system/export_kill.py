#!/usr/bin/env python3
"""`papertape export --parquet` that ends in the middle: killed 20 times (400 with --long) after a random number of files, papertape, its
Python or both, over rows that change in between: afterwards the lake is byte for byte that of a run that nothing ended, without a
temporary file. A disk that is full says so, leaves whole files, and the same command continues; a stdout that is full says so. Two
exports at once: one is refused. No Python, a Python without pyarrow, a program that is no Python: a sentence that says what to
install, and exit status 1."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import pyarrow.parquet as pq

os.environ["PAPERTAPE_PYTHON"] = sys.executable
KILLS = 400 if harness.LONG else 10
TOGETHER = 2  # lakes that are written side by side


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def ended(pid):
    """Or not yet waited for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def files(path):
    return sum(name.endswith(".parquet") for _, _, names in os.walk(path) for name in names)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_and_kill(state, path, chance, most):
    """One run, which is killed once it wrote so many files more, or while Python starts."""
    before, wanted = files(path), chance.randrange(0, most)
    run = subprocess.Popen(lake.command(state, path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    harness.wait_for(lambda: run.poll() is not None or (files(path) - before >= wanted and (wanted or children(run.pid))), "files")
    if run.poll() is not None:
        return False
    python = children(run.pid)
    victims = chance.choice(([run.pid], python, [run.pid, *python]))
    for pid in victims:
        kill(pid)
    status = run.wait(harness.PATIENCE)
    assert status == -signal.SIGKILL if run.pid in victims else status in (0, 1), status
    harness.wait_for(lambda: all(map(ended, python)), "the end of Python")
    return status != 0


def forget(path, chance):
    """So that there is something to write: files that are gone, as a user may remove them."""
    shutil.rmtree(os.path.join(path, chance.choice(lake.TABLES)), ignore_errors=True)


def killed_often(state, expected, path, seed, kills, failures):
    chance, done = random.Random(seed), 0
    try:
        while done < kills:
            done += run_and_kill(state, path, chance, 12)
            for _, _, names in os.walk(path):
                for name in names:
                    assert name.startswith((".tmp-", "_")) or name.endswith(".parquet"), name
            if files(path) > len(expected) // 2:
                forget(path, chance)
        lake.export(state, path)
        found = lake.tree(path)
        assert found == expected, (seed, found.keys() ^ expected.keys(), [name for name in found if found[name] != expected.get(name)])
    except BaseException as error:
        failures.append((seed, error))
        raise


def kills(state, folder):
    whole = os.path.join(folder, "whole")
    lake.export(state, whole)
    expected = lake.tree(whole)
    seed = int(os.environ.get("PAPERTAPE_SEED", "31"))
    failures = []
    threads = [threading.Thread(target=killed_often, args=(state, expected, os.path.join(folder, f"killed-{i}"), seed + i, KILLS // TOGETHER, failures))
               for i in range(TOGETHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    harness.run([harness.PAPERTAPE, "export", "--parquet", os.path.join(folder, "killed-0"), "--verify"])
    print(f"counts: {KILLS} kills (400 with PAPERTAPE_LONG; PAPERTAPE_SEED={seed}): {TOGETHER} times the same {len(expected)} files")


def full_disk(state, folder):
    """A file system with room for some of the files, then for all."""
    disk, out = os.path.join(folder, "disk"), os.path.join(folder, "out")
    os.mkdir(disk)
    mounted = harness.with_mounts(f"mount -t tmpfs -o size=96k papertape {disk}")
    if not harness.works(mounted):
        print("full disk: skipped: no mounts here")
        return
    line = " ".join(lake.command(state, os.path.join(disk, "lake")))
    script = f"""if {line}; then exit 9; else test $? = 1; fi; test -z "$(find {disk} -name '.tmp-*')"; cp -r {disk}/lake {out}
        mount -o remount,size=64m {disk}; {line} >/dev/null; rm -rf {out}.whole; cp -r {disk}/lake {out}.whole"""
    done = harness.run([*mounted, "sh", "-ec", script])
    assert "No space left on device: the files that were written stay, and the same command continues" in done.stderr, done
    some = [name for name in lake.tree(out) if name.endswith(".parquet")]
    for name in some:
        assert pq.ParquetFile(os.path.join(out, name)).read().num_rows > 0
    assert lake.tree(out + ".whole") == lake.tree(os.path.join(folder, "whole")) and 0 < len(some) < len(lake.tree(out + ".whole"))
    print(f"full disk: {len(some)} files, then all")


def full_stdout(state, folder):
    """The files are whole all the same."""
    path = os.path.join(folder, "unsaid")
    for form in ((), ("--json",)):
        with open("/dev/full", "w") as full:
            done = subprocess.run(lake.command(state, path, *form), stdout=full, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE)
        assert done.returncode == 1 and "stdout: No space left on device\n" in done.stderr, done
    assert lake.tree(path) == lake.tree(os.path.join(folder, "whole"))


def two_at_once(state, folder):
    path = os.path.join(folder, "two")
    holder = subprocess.Popen([sys.executable, lake.SCRIPTS, "write", path, "x", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    holder.stdin.write(b'{"table": "fills", "name": "fills", "date": "2024-08-08", "rows": 1, "bytes": 9, "sha256": "x"}\n')
    holder.stdin.flush()
    assert holder.stdout.readline() == b'{"send": true}\n'
    assert "another papertape export writes there: wait until it has ended" in lake.export(state, path, "--table", "fills", status=1)
    holder.stdin.close()
    assert holder.wait(harness.PATIENCE) == 1
    lake.export(state, path, "--table", "fills")


def no_python(state, folder):
    empty = os.path.join(folder, "empty")
    harness.run([sys.executable, "-m", "venv", "--without-pip", empty])
    lacking = os.path.join(empty, "bin/python")
    path = os.path.join(folder, "none")
    install = "install python3 and, for example in a virtual environment, pip install pyarrow"
    for more, environment, words in (
            (("--python", "/nonexistent/python3"), {}, ("/nonexistent/python3: there is no such program", install)),
            ((), {"PAPERTAPE_PYTHON": "", "PATH": folder}, ("export: python3: there is no such program", install)),
            ((), {"PAPERTAPE_PYTHON": lacking}, (f"{lacking} (Python {sys.version.split()[0]}) lacks the package pyarrow",
                                                 f"{lacking} -m pip install pyarrow")),
            (("--python", "/bin/echo"), {}, ("/bin/echo: its answer is no line of JSON",)),
            (("--python", "/bin/true"), {}, ("/bin/true: it ended with status 0",)),
            (("--python", folder), {}, (f"{folder}: Permission denied",))):
        error = lake.export(state, path, *more, status=1, **environment)
        assert all(word in error for word in words) and error.count("\n") == 1, (words, error)
    assert not os.path.exists(path)
    print("no Python, none with pyarrow, none at all: refused in words")


def main():
    with harness.Folder() as folder:
        state, _ = lake.make_state(folder.path)
        kills(state, folder.path)
        full_disk(state, folder.path)
        full_stdout(state, folder.path)
        two_at_once(state, folder.path)
        no_python(state, folder.path)


if __name__ == "__main__":
    main()
