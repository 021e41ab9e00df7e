"""Tasks that fail on purpose, for the tests: functions for mapInArrow() that pass their batches on; a first attempt fails."""

import os
import signal

from pyspark import TaskContext


def failing(batches):
    """The first attempt at partition 1 passes a batch on, then raises."""
    context = TaskContext.get()
    fails = context.partitionId() == 1 and context.attemptNumber() == 0
    for batch in batches:
        yield batch
        if fails:
            raise RuntimeError("failed on purpose")
    if fails:
        raise RuntimeError("failed on purpose")


def _executor():
    """The process of the executor that this worker belongs to."""
    pid = os.getpid()
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"CoarseGrainedExecutorBackend" in file.read():
                return pid
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            pid = int(file.read().rsplit(")", 1)[1].split()[1])
    raise RuntimeError("this worker belongs to no executor")


def killing(marker):
    """One attempt at partition 1, the first that makes the file `marker`, passes a batch on, then kills its executor. (A stage
    that is tried again counts its attempts from 0.)"""

    def kill(batches):
        kills = TaskContext.get().partitionId() == 1
        for batch in batches:
            yield batch
            if kills and not os.path.exists(marker):
                with open(marker, "x", encoding="ascii"):
                    os.kill(_executor(), signal.SIGKILL)

    return kill
