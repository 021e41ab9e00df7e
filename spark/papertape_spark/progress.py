"""Lines on stderr while Spark works: rows, tasks and stages done of all."""

import sys
import threading
import time

EVERY_S = 2.0


class Progress:
    """In a `with`: watches the jobs of a group and prints a line when their state changed."""

    def __init__(self, context, group, counter, quiet=False, out=sys.stderr):
        self.context, self.group, self.counter, self.quiet, self.out = context, group, counter, quiet, out
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.started = time.monotonic()
        self.last = None

    def __enter__(self):
        if not self.quiet:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if not self.quiet:
            self.thread.join()
            self._print()

    def state(self):
        """(stages done, all; tasks done, failed, all) of the group's jobs."""
        tracker = self.context.statusTracker()
        infos = []
        for job in filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(self.group))):
            found = filter(None, map(tracker.getStageInfo, job.stageIds))
            # A job that ended left out the stages whose rows an earlier job had made.
            infos += [info for info in found if info.numCompletedTasks > 0 or job.status not in ("SUCCEEDED", "FAILED")]
        done = sum(info.numCompletedTasks >= info.numTasks for info in infos)
        return done, len(infos), *(sum(getattr(info, name) for info in infos) for name in ("numCompletedTasks", "numFailedTasks", "numTasks"))

    def _print(self):
        state = self.state()
        if state == self.last or not state[1]:
            return
        self.last = state
        done, stages, completed, failed, tasks = state
        again = f", {failed} failed and run again" if failed else ""
        print(
            f"papertape: {self.counter.value:,} rows, {completed} of {tasks} tasks{again}, {done} of {stages} stages, "
            f"{time.monotonic() - self.started:.0f} s",
            file=self.out,
            flush=True,
        )

    def _watch(self):
        while not self.ended.wait(EVERY_S):
            self._print()
