"""The queue of `papertape-trainer serve`: order, pauses, devices, budgets, restarts, ends; with a fake worker.

    queue.py PAPERTAPE_TRAINER [sanitizers] [no-systemd]
"""
import os
import resource
import signal
import socket
import sys
import threading

from co_process import PATIENCE, RUNS, CoProcess, check, config, done, market, until


def alone(co, *names):
    for name in names:
        check(not co.runs(name, "doubled"), f"{name}: one process at a time")


def test_priority(program):
    """The older first; one of higher priority has the other paused, with a checkpoint, and that continues by itself."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("a", step_ms=5)
        co.how("c", step_ms=5, total=20, gate=10)
        co.how("d", step_ms=5, total=20)
        co.ask("start", name="a", config=config())
        check(co.ask("start", name="b", config=config("priority = 5"), priority=0)["state"] == "queued", "b waits")
        co.wait("a", "rollout")
        co.ask("start", name="d", config=config(), priority=-1)
        until(lambda: co.training("a")["steps"] > 5, "a trains")
        check(co.ask("start", name="c", config=config("priority = 5"))["state"] == "queued", "c waits for a's end")
        paused = co.wait("a", "paused")
        check("priority" in paused["reason"] and paused["pid"] is None and paused["checkpoint_steps"] == paused["steps"] > 0, f"paused: {paused}")
        co.let_go("c")
        co.wait("c", "done")
        again = co.wait("a", "rollout")
        run = co.runs("a", "started")[-1]
        check(run["steps"] == paused["steps"] and again["restarts"] == 0 and again["attempts"] == 2, f"continues: {run}")
        check(co.training("b")["state"] == co.training("d")["state"] == "queued", "equal and lower priorities wait")
        check([event["state"] for event in co.events("a") if event["event"] == "state" and event["state"] not in RUNS] == ["queued", "paused"], "reported")
        co.refused("EALREADY", ["waits"], "resume", name="b")
        check(co.ask("stop", name="b")["state"] == "stopped", "one that waits is stopped at once")
        co.ask("stop", name="a")
        co.wait("a", "stopped")
        co.wait("d", "done")
        alone(co, "a", "c", "d")


def test_devices(program):
    """One process a device, all used, none twice; the CPU also."""
    with CoProcess(program, "--idle-s", "0", "--devices", "0,GPU-1", "--memory-mib", "4000", "--worker-memory-mib", "1000").begin() as co:
        check(co.ask("hello", protocol=1, client="t")["devices"] == ["0", "GPU-1"], "devices")
        for name in ("a", "b", "c"):
            co.how(name, step_ms=5)
            co.ask("start", name=name, config=market())
        co.how("d", step_ms=5)
        co.ask("start", name="d", config=market("cpu"))
        for name in ("a", "b", "d"):
            co.wait(name, "rollout")
        seen = {name: (co.training(name)["device"], co.runs(name, "started")[0]["device"]) for name in ("a", "b", "d")}
        check(seen == {"a": ("0", "0"), "b": ("GPU-1", "GPU-1"), "d": ("cpu", "")}, f"devices: {seen}")
        check(co.training("c")["state"] == "queued" and co.ask("list")["memory_mib"]["promised"] == 3000, "c waits")
        co.ask("stop", name="b")
        check(co.wait("c", "rollout")["device"] == "GPU-1", "the device that is free")
        co.ask("restart", name="a", config=market("cuda"))
        check(co.wait("a", "rollout", attempts=2)["device"] == "0", "its own again")
        for name in ("a", "c", "d"):
            co.ask("stop", name=name)
        alone(co, "a", "b", "c", "d")


def test_memory(program, sanitizers):
    """One over its memory is killed and says so; one that does not fit waits."""
    with CoProcess(program, "--idle-s", "0", "--cpu-slots", "3", "--memory-mib", "500", "--worker-memory-mib", "300").begin() as co:
        co.how("big", step_ms=5, allocate_mib=150)
        co.how("usual", step_ms=5)
        co.ask("start", name="usual", config=config())
        co.ask("start", name="big", config=config("memory_mib = 100"))
        co.ask("start", name="waits", config=config("memory_mib = 200"))
        failed = co.wait("big", "failed")
        check(failed["cause"] == "memory_budget" and "100 MiB" in failed["reason"] and failed["restarts"] == 0 and failed["attempts"] == 1, f"memory: {failed}")
        check(co.wait("usual", "rollout")["memory_limit_mib"] == 300, "others continue")
        co.wait("waits", "rollout")
        co.ask("stop", name="waits")
        co.wait("waits", "stopped")
        if not sanitizers: # no allocation far beyond it succeeds
            co.how("huge", step_ms=5, allocate_mib=6000)
            co.ask("start", name="huge", config=config("memory_mib = 100"))
            failed = co.wait("huge", "failed")
            check(failed["cause"] == "memory" and "out of memory" in failed["reason"], f"allocation: {failed}")
        co.ask("stop", name="usual")
        co.wait("usual", "stopped")


def test_cpu_time(program):
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("a", step_ms=20, burn=True)
        co.ask("start", name="a", config=config(f"cpu_hours = {0.3 / 3600:.6f}"))
        failed = co.wait("a", "failed")
        check(failed["cause"] == "cpu_budget" and failed["cpu_s"] > failed["cpu_limit_s"] > 0.29 and failed["checkpoint_steps"] == failed["steps"],
              f"processor time: {failed}")
        co.ask("restart", name="a", config=config("cpu_hours = 1"))
        check(co.wait("a", "rollout")["cpu_s"] >= failed["cpu_s"], "of all its processes")
        co.ask("stop", name="a")
        co.wait("a", "stopped")


def test_restarts(program):
    """Killed, crashed, a lost device: started again, with pauses that double, so many times without a checkpoint in between."""
    with CoProcess(program, "--idle-s", "0", "--retry-ms", "40", "--cpu-slots", "8").begin() as co:
        for name, how in {"killed": {"by": 9}, "crash": {"by": 11}, "device": {"cause": "device"}}.items():
            co.how(name, step_ms=1, die=3, **how)
            co.ask("start", name=name, config=config("restarts = 2"))
        for name in ("killed", "crash", "device"):
            failed = co.wait(name, "failed")
            check(failed["cause"] == name and failed["attempts"] == 3 and failed["restarts"] == 2 and "2 restarts" in failed["reason"], f"{name}: {failed}")
            at = [run["at"] for run in co.runs(name, "started")]
            check(at[1] - at[0] >= 0.04 and at[2] - at[1] >= 0.08, f"{name}: pauses {at}")
            waits = [event for event in co.events(name) if event["event"] == "state" and event["state"] == "queued" and event["cause"]]
            check([event["cause"] for event in waits] == [name] * 2 and "restart 1 of 2" in waits[0]["reason"], f"{name}: reported: {waits}")
        co.how("goes", step_ms=1, die=8, every=5, total=40) # a checkpoint each time
        co.ask("start", name="goes", config=config("restarts = 1"))
        ended = co.wait("goes", "done")
        check(ended["attempts"] >= 5 and ended["restarts"] == 0 and ended["steps"] == 40, f"checkpoints in between: {ended}")
        started = [run["steps"] for run in co.runs("goes", "started")]
        check(all(a < b for a, b in zip(started, started[1:])) and all(steps % 5 == 0 for steps in started), f"from the last one: {started}")
        for cause in ("config", "checkpoint", "nan", "memory"):
            co.how(cause, step_ms=1, die=3, cause=cause)
            co.ask("start", name=cause, config=config())
            failed = co.wait(cause, "failed")
            check(failed["cause"] == cause and failed["attempts"] == 1 and failed["reason"].startswith("it had to be"), f"{cause}: {failed}")
        co.how("nan", step_ms=1, total=5)
        co.ask("resume", name="nan")
        co.wait("nan", "done", cause=None, reason="")
        co.how("later", step_ms=1, die=3)
        co.ask("start", name="later", config=config("restarts = 1000000"))
        until(lambda: co.training("later")["retry_in_ms"], "it pauses")
        check(co.ask("stop", name="later")["state"] in ("stopped", *RUNS), "stopped in the pause")
        co.wait("later", "stopped")
        alone(co, "killed", "crash", "device", "goes")


def test_stubborn(program):
    """One that takes long after SIGTERM is waited for; one that ignores it is killed after its grace."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("slow", step_ms=5, stays=True)
        co.ask("start", name="slow", config=config())
        until(lambda: co.training("slow")["steps"] > 5, "slow trains")
        check(co.ask("stop", name="slow")["stopping"], "asked")
        until(lambda: co.runs("slow", "asked"), "it is")
        co.refused("EALREADY", ["being stopped"], "stop", name="slow")
        steps = co.training("slow")["steps"]
        until(lambda: co.training("slow")["steps"] > steps + 20, "it takes its time")
        co.let_go("slow")
        stopped = co.wait("slow", "stopped")
        check(stopped["reason"] == "" and stopped["checkpoint_steps"] == stopped["steps"], f"slow: {stopped}")
        os.unlink(os.path.join(co.fake, "slow.go"))
        co.ask("resume", name="slow")
        co.wait("slow", "rollout")
        co.ask("stop", name="slow")
        co.ask("resume", name="slow") # before it has ended
        check(co.training("slow")["attempts"] == 2, "not before it has")
        co.let_go("slow")
        co.wait("slow", "rollout", attempts=3)
        os.kill(co.training("slow")["pid"], signal.SIGTERM) # by somebody else
        check("another process" in co.wait("slow", "stopped")["reason"], "ended by another")
        check(not co.workers(), "no process is left")
    with CoProcess(program, "--idle-s", "0", "--grace-s", "1").begin() as co:
        co.how("never", step_ms=5, stubborn=True)
        co.ask("start", name="never", config=config())
        until(lambda: co.training("never")["steps"] > 5, "it trains")
        check(co.ask("stop", name="never")["stopping"], "asked")
        stopped = co.wait("never", "stopped")
        check("killed" in stopped["reason"] and stopped["cause"] is None and 0 < stopped["checkpoint_steps"] <= stopped["steps"], f"never: {stopped}")
        check(len(co.runs("never", "asked")) == 1, "asked once")
        check(not co.workers(), "no process is left")
        co.ask("resume", name="never")
        co.wait("never", "rollout")
        co.client.close()
        co.process.send_signal(signal.SIGTERM)
        until(lambda: len(co.runs("never", "asked")) == 2, "asked")
        co.process.send_signal(signal.SIGTERM) # patience has an end
        check(co.gone() == 0 and not co.workers(), "a second SIGTERM kills")


def test_disk(program):
    """A disk without room: nothing is started that is not written down, what runs continues, and all continues once there is room."""
    with CoProcess(program, "--idle-s", "0", "--retry-ms", "20").begin() as co:
        for name in ("a", "b"):
            co.how(name, step_ms=5)
            co.ask("start", name=name, config=config())
        co.wait("a", "rollout")
        before = resource.prlimit(co.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        co.refused("EIO", ["record.json", "room"], "start", name="c", config=config())
        steps = co.training("a")["steps"]
        until(lambda: co.training("a")["steps"] > steps + 20, "it continues")
        co.refused("EIO", ["taken", "not written down", "room"], "stop", name="a")
        co.wait("a", "stopped")
        waits = co.wait("b", "queued", cause="disk")
        co.refused("EIO", ["taken", "not written down"], "resume", name="a")
        until(lambda: co.training("a")["state"] != "stopped", "it is still resumed")
        co.refused("EIO", ["taken"], "stop", name="a")
        co.wait("a", "stopped")
        check("room" in waits["reason"] and waits["attempts"] == 0 and not co.runs("b"), f"not started: {waits}")
        resource.prlimit(co.process.pid, resource.RLIMIT_FSIZE, before)
        check(co.wait("b", "rollout")["attempts"] == 1, "there is room")
        until(lambda: co.training("b")["checkpoint_steps"], "a checkpoint")
        record = os.path.join(co.state, "trainings/a/record.json")
        until(lambda: '"state": "stopped"' in open(record).read(), "the record of a")
        seqs = [event["seq"] for name in ("a", "b") for event in co.events(name)]
        check(len(seqs) > 10 and "c" not in co.list(), "events are whole")
        check(co.end() == 0 and co.error.count("record.json") >= 1 and co.error.count("\n") < 10, f"reported, not over and over: {co.error}")
        co.begin()
        check(sorted(co.list()) == ["a", "b"] and co.training("a")["state"] == "stopped", "the stop was written down once there was room")


def test_gone_program(program):
    with CoProcess(program, "--idle-s", "0", "--retry-ms", "10") as co:
        co.worker = os.path.join(co.folder, "worker")
        with open(co.worker, "w") as file:
            file.write("#!/none\n")
        os.chmod(co.worker, 0o755)
        co.begin()
        co.ask("start", name="a", config=config("restarts = 1"))
        failed = co.wait("a", "failed")
        check(failed["cause"] == "crash" and "cannot start the worker" in failed["reason"], f"no program: {failed}")


def begin_idle(co):
    """With a training: one that ended before this process came to it is started again."""
    while True:
        try:
            co.begin()
            co.ask("start", name="a", config=config())
            return
        except (RuntimeError, ConnectionError):
            check(co.process.wait(PATIENCE) == 0, "it ends for want of work alone")
            co.kill()


def test_idle(program):
    """It ends by itself without a client and work; not while one waits, nor under systemd, which it notifies that it lives."""
    with CoProcess(program, "--idle-s", "1") as co:
        co.how("a", step_ms=100, total=11)
        begin_idle(co)
        co.client.close() # it has work
        check(co.gone() == 0 and co.error == "", f"idle: {co.error}")
        check(co.runs("a", "ended")[0]["steps"] == 11 and not os.path.exists(co.socket), "not before its work was done")
    with CoProcess(program, "--idle-s", "1") as co:
        co.how("a", step_ms=1, total=1)
        begin_idle(co)
        held = co.process
        co.wait("a", "done")
        until(lambda: co.ask("list")["now_ns"] - co.training("a")["ended_ns"] > 1_500_000_000, "more than the idle time")
        check(held.poll() is None, "not with a client")


def test_notify(program):
    with CoProcess(program) as co:
        path = os.path.join(co.folder, "notify")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(path)
        co.environment.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="200000")
        co.environment.pop("WATCHDOG_PID", None)
        co.begin()
        received, news = [], threading.Condition()

        def listen(): # at all times: what finds no room is lost
            while (text := manager.recv(4096).decode()) != "enough":
                with news:
                    received.append(text)
                    news.notify_all()

        def gets(word):
            with news:
                if not news.wait_for(lambda: any(word in text for text in received), PATIENCE):
                    raise TimeoutError(word)
            return True

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            check(gets("READY=1") and gets("WATCHDOG=1") and gets("STATUS="), "READY, WATCHDOG, STATUS")
            co.how("a", step_ms=5)
            co.ask("start", name="a", config=config())
            co.wait("a", "rollout")
            check(co.runs("a", "started")[0]["notify"] is None, "its workers do not speak for it")
            check(gets("1 trainings run"), "what it does")
            check(co.end() == 0 and gets("STOPPING=1"), "STOPPING")
        except TimeoutError:
            check(False, f"what systemd is notified of: {received}")
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                end.sendto(b"enough", path)
            listener.join()
            manager.close()


program, sanitizers = sys.argv[1], "sanitizers" in sys.argv[2:]
test_priority(program)
test_devices(program)
test_memory(program, sanitizers)
test_cpu_time(program)
test_restarts(program)
test_stubborn(program)
test_disk(program)
test_gone_program(program)
test_idle(program)
if "no-systemd" not in sys.argv[2:]:
    test_notify(program)
done("trainer/serve/queue")
