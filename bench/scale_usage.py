"""Processor time of programs with all of their descendants, for bench/scale and its tests: those that lose their parent are given
to this process, which waits for them, too."""

import contextlib
import ctypes
import os
import resource
import subprocess

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")


def adopt():
    """From now on this process is the parent of what its descendants leave behind."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def ended_s():
    """Processor time of all descendants that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(words, **options):
    """(what it printed, processor seconds, the largest of its processes' memory in bytes); raises where it fails. Waits for every
    process that it left behind: this process has no other children meanwhile."""
    before = ended_s()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, **options)
    with process.stdout:
        printed = process.stdout.read()
    largest = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait4(-1, 0)
            largest = max(largest, usage.ru_maxrss * 1024)
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, words, printed)
    return printed, ended_s() - before, largest


def stat_of(pid):
    """(its parent, ticks of it and of those that it waited for); None: it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return int(fields[1]), sum(map(int, fields[11:15]))


def running_s(pid):
    """Processor time of a process that runs, of its children, and of those that it waited for."""
    own, found = stat_of(pid), 0
    for entry in filter(str.isdigit, os.listdir("/proc")):
        stat = stat_of(entry)
        if stat and stat[0] == pid:
            found += stat[1]
    return (own[1] + found) / TICKS
