"""The co-process says of a training or a study that its device has no room for, before it starts, what it will do instead.
The device is the CPU, of as much memory as $QUEUE_MEMORY says.

    share.py PAPERTAPE_TRAINER CPU_MODULE
"""
import json
import os
import sys

from co_process import CoProcess, check, done

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))
from program import write_market  # noqa: E402

program, module = sys.argv[1], os.path.abspath(sys.argv[2])
SMALL = ("[training]\ntotal_steps = 512\nmemory_cap = 1\ndevice = {device}\n[network]\npolicy_layers = 8\nvalue_layers = 8\n[ppo]\ncopies = 4\n"
         "steps = 64\nminibatch = 64\nepochs = 1\n[environment]\nlookback = 3\n")


def begin(memory):
    environment = {"PAPERTAPE_GPU_MODULE": module, "QUEUE_MEMORY": str(memory)}
    return CoProcess(program, "--idle-s", "0", "--devices", "0", worker=None, environment=environment)


def training(bars, device="auto"):
    return f"{SMALL.format(device=device)}[data]\nbars = {bars}\nfeatures =\n"


def study(bars):
    return training(bars).replace("lookback = 3", "lookback = 3\nepisode_bars = 40\nrandom_start = true") + (
        "[study]\ntrials = 2\nworkers = 1\nvalidation = kfold:3\n[search]\ncopies = 4 | 8\n")


def needed():
    with begin(16 << 30).begin() as co:
        bars = ", ".join(write_market(co.folder, n=400))
        plan = co.ask("plan", config=training(bars))["plan"]
        check(plan["schema"] == "papertape.plan/1" and plan["fits"] is True and plan["copies"] == 4 and plan["seconds"] > 0, f"room: {plan}")
        check(co.ask("check", config=training(bars)) == {"errors": [], "warning": None}, "room: no warning")
        check("warning" not in co.ask("start", name="room", config=training(bars)), "room: no warning of the start")
        co.wait("room", "done")
        check(co.ask("plan", config=training(bars, "cpu"))["plan"]["fits"] is None, "cpu: no device")
        searched = co.ask("plan", config=study(bars))["plan"]
        check(searched["device"]["fits"] is True and searched["device"]["largest"]["device_bytes"] > searched["device"]["worker_bytes"], f"study: {searched}")
        return plan["device_bytes"], searched["device"]["worker_bytes"], searched["device"]["largest"]["device_bytes"]


def few(memory, words, config):
    """In check, plan and start."""
    with begin(memory).begin() as co:
        bars = ", ".join(write_market(co.folder, n=400))
        warning = co.ask("check", config=config(bars))["warning"]
        check(words in (warning or ""), f"{memory}: check: {warning}")
        plan = co.ask("plan", config=config(bars))["plan"]
        check((plan.get("device") or plan)["fits"] is False or plan["device"]["largest"]["fits"] is False, f"{memory}: plan: {json.dumps(plan)}")
        said = co.ask("start", name="few", config=config(bars))
        check(said["warning"] == warning and said["name"] == "few", f"{memory}: start: {said}")
        co.wait("few", "done")
        check(co.ask("check", config=training(bars, "cpu"))["warning"] is None, "cpu: no warning")


whole, median, largest = needed()
few(whole - 4096, "4 copies do not fit on the device (out of memory: ", training)
few(1 << 20, "training on the CPU: 4 copies do not fit on the device (out of memory: ", training)
few((median + largest) // 2, "the largest trial: 8 copies do not fit on the device (out of memory: ", study)
done("trainer/serve/share")
