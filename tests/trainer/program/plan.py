"""`papertape-trainer plan --device-memory`: what a device that is not here would hold, of a training and of a study; and the
warning of a training that its device has no room for, before it starts.

    plan.py PAPERTAPE_TRAINER CPU_MODULE
"""
import json
import os
import sys
import tempfile

from program import Trainer, check, config, done, lines, write_market

MIB = 1 << 20
DRIVER = 544 * MIB  # context, code and graphs, as trainer/ppo/cuda/queue.h assumes
BAD = ("", "12", "-1G", "12GiBs", "1e9", "0", "nan", "1,5G", "9999999999T")
STUDY = {"study": {"trials": 6, "validation": "kfold:3", "pruner": "none", "workers": 4},
         "search": {"learning_rate": "1e-5..1e-2 log", "copies": "64 | 256 | 1024", "steps": "32..64"}}


def plan(trainer, *how):
    ran = trainer.run("plan", "--config", "F.ini", "--json", *how)
    check(ran.returncode == 0 and ran.stderr == "", f"plan {how}: {ran.returncode} {ran.stderr}")
    return json.loads(ran.stdout)


def text(trainer, *how):
    return trainer.run("plan", "--config", "F.ini", *how).stdout


def test_sizes(trainer):
    """All copies, half of them, none: by the memory; the parts are the whole, and sizes may be written in any way."""
    whole = plan(trainer, "--device-memory", "12GiB")
    parts = whole["device_parts"]
    check(whole["device_memory_bytes"] == 12 << 30 and whole["fits"] is True and whole["copies"] == 512, f"fits: {whole}")
    check(sum(parts.values()) == whole["device_bytes"] and parts["driver_bytes"] == DRIVER and
          set(parts) == {f"{part}_bytes" for part in ("learner", "environment", "market", "driver")} and min(parts.values()) > 0, f"fits: {parts}")
    check(whole["seconds"] > 0 and whole["cpu_seconds"] > 0 and whole["backend"].startswith("cpu"), f"fits: the CPU's times: {whole}")
    time = whole["device_time"]
    check(0 < time["least_seconds"] < time["most_seconds"] and "predicted, not measured" in time["assumes"], f"fits: {time}")
    rate, steps = whole["device_steps_per_second"], whole["iterations"] * whole["rollout_rows"]
    check(0 < rate["least"] < rate["most"] and abs(rate["least"] * time["most_seconds"] / steps - 1) < 1e-9 and
          abs(rate["most"] * time["least_seconds"] / steps - 1) < 1e-9, f"fits: {rate} {time}")
    for size in ("12G", "12 gib", "12288MiB", str(12 << 30), "12884901888B"):
        check(plan(trainer, "--device-memory", size, "--rows")["device_bytes"] == whole["device_bytes"], f"size {size}")
    # memory_cap is 0.8: a device whose share is all but one byte of what the copies need has room for half of them.
    enough = -(-whole["device_bytes"] * 5 // 4)
    check(plan(trainer, "--device-memory", str(enough), "--rows")["fits"] is True, f"enough: {enough}")
    half = plan(trainer, "--device-memory", str(enough - 2), "--rows")
    check(half["fits"] is False and half["copies"] == 256 and half["device_bytes"] < whole["device_bytes"] and
          "512 copies do not fit on the device (out of memory: above its share: " in half["note"] and ": 256 are used" in half["note"] and half["rollout_rows"] * 2 == whole["rollout_rows"], f"half: {half}")
    none = plan(trainer, "--device-memory", "500MiB", "--rows")
    check(none["fits"] is False and none["copies"] == 512 and none["device_bytes"] is None and none["device_parts"] is None and
          none["device_time"] is None and none["device_steps_per_second"] is None and none["note"].startswith("training on the CPU: 512 copies do not fit on the device (") and
          "), nor 256, 128" in none["note"] and none["note"].endswith(": the CPU trains 512"), f"none: {none}")
    sizes = plan(trainer, "--device-memory", "12GiB", "--rows")
    check(sizes["device_bytes"] == whole["device_bytes"] and sizes["seconds"] is None and sizes["backend"] is None, f"--rows: {sizes}")
    said = text(trainer, "--device-memory", "12GiB")
    check("512 copies fit in" in said and "memory_cap 0.8" in said and "predicted, not measured" in said and "on this CPU" in said, said)
    said = text(trainer, "--device-memory", str(enough - 2), "--rows")
    check("512 copies do not fit, 256 copies fit in" in said, said)
    check("it would train on the CPU" in text(trainer, "--device-memory", "500MiB", "--rows"), "none: its words")


def test_bad(trainer):
    for size in BAD:
        ran = trainer.run("plan", "--config", "F.ini", f"--device-memory={size}")
        check(ran.returncode == 2 and ran.stdout == "" and ran.stderr.count("\n") == 1 and
              "--device-memory" in ran.stderr and ("a size from 1MiB" in ran.stderr or not size), f"{size!r}: {ran.returncode} {ran.stderr}")
    for how, words in ((("--devices", "2"), "it goes with --device-memory"), (("--device-memory", "1G", "--devices", "0"), "from 1 to 64")):
        ran = trainer.run("plan", "--config", "F.ini", *how)
        check(ran.returncode == 2 and words in ran.stderr, f"{how}: {ran.returncode} {ran.stderr}")


def test_study(trainer, bars):
    """Each worker has its share; the median trial and the largest one are planned for."""
    config(os.path.join(trainer.folder, "F.ini"), bars, {"ppo": {"memory_cap": None}}, STUDY)
    alone = plan(trainer)
    check(alone["device"] is None and alone["device_memory_bytes"] is None and alone["workers"] == 4, f"study: {alone['device']}")
    parts = alone["cpu_parts"]
    check(abs(sum(parts.values()) - alone["cpu_seconds"]) < 1e-6 and min(parts.values()) >= 0 and
          abs(parts["training_seconds"] - 18 * alone["training"]["cpu_seconds"]) < 1e-6, f"study: {parts}")
    config(os.path.join(trainer.folder, "F.ini"), bars, STUDY, {"search": {"total_steps": "20000 | 50000 | 100000"}})
    check(plan(trainer, "--device-memory", "12GiB", "--rows")["training"]["total_steps"] == 56667, "study: the mean of total_steps")
    config(os.path.join(trainer.folder, "F.ini"), bars, STUDY)
    for devices, each in ((1, 4), (2, 2), (4, 1)):
        got = plan(trainer, "--device-memory", "12GiB", "--devices", str(devices), "--rows")
        share = got["device"]
        check((share["devices"], share["workers_per_device"]) == (devices, each) and share["fits"] is True and
              abs(share["share"] - 0.8 / each) < 1e-9 and abs(share["share_bytes"] - (12 << 30) * 0.8 / each) < 2,
              f"{devices} devices: {share}")
        check(got["device_bytes"] == 4 * share["largest"]["device_bytes"] and share["worker_bytes"] == got["training"]["device_bytes"] and
              got["most_host_bytes"] > got["host_bytes"] > 0 and share["copies"] == 256 and
              share["largest"]["wanted_copies"] == 1024 and share["largest"]["device_bytes"] > share["worker_bytes"], f"{devices} devices: {got}")
    # A share that the largest trial has no room for, and the median has.
    between = (share["worker_bytes"] + share["largest"]["device_bytes"]) // 2
    got = plan(trainer, "--device-memory", str(int(between / 0.8)), "--devices", "4", "--rows")["device"]
    check(got["fits"] is True and got["largest"]["fits"] is False and got["largest"]["copies"] == 512, f"between: {got}")
    whole = plan(trainer, "--device-memory", str(int(between / 0.8)), "--devices", "4", "--rows")["device_bytes"]
    check(whole == 4 * got["share_bytes"] and "4 times a worker's share" in text(trainer, "--device-memory", str(int(between / 0.8)), "--devices", "4", "--rows"),
          f"between: {whole} {got}")
    said = text(trainer, "--device-memory", "12GiB", "--devices", "2")
    check("2 workers on each of 2 devices of 12288 MiB, each with 4915 MiB (0.4 of it)" in said and "of the largest 1024 copies fit" in said and "4 times the largest trial's" in said, said)
    check("do not fit, nor fewer" in text(trainer, "--device-memory", "1G", "--rows"), "study: none fits")
    config(os.path.join(trainer.folder, "F.ini"), bars, STUDY, {"training": {"device": "cpu"}})
    check("device = cpu" in text(trainer, "--device-memory", "1G", "--rows") and plan(trainer, "--device-memory", "1G", "--rows")["device"] is None,
          "study: a device that it does not want")


def test_here(trainer, bars, module):
    """A study on a device that no list has, but the module opens: the share and the total are that device's; the largest trial's reason is
    printed; and the clock is at least what the cores take."""
    config(os.path.join(trainer.folder, "F.ini"), bars, STUDY, {"study": {"workers": 8, "trials": 8}})
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.abspath(module)
    trainer.environment["QUEUE_MEMORY"] = str(1 << 30)
    got = plan(trainer)
    share, cores = got["device"], len(os.sched_getaffinity(0))
    check((share["devices"], share["workers_per_device"]) == (1, 8) and abs(share["share_bytes"] - 0.1 * (1 << 30)) < 2 and
          share["largest"]["fits"] in (True, False), f"here: {share}")
    check(got["seconds"] >= got["cpu_seconds"] / cores * (1 - 1e-9), f"here: {got['seconds']} {got['cpu_seconds']}")
    trainer.environment["QUEUE_MEMORY"] = str(MIB * 300)
    said, got = text(trainer, "--rows"), plan(trainer, "--rows")
    check(got["device"] is None and "0 workers" not in said, f"here: {said}") # no list, and nothing is opened
    said, got = text(trainer), plan(trainer)
    check("8 workers on a device of 300.0 MiB, each with 30.0 MiB (0.1 of it)" in said and got["device"]["note"] in said and
          got["device"]["largest"]["note"] in said and "MiB > " not in said, f"here: {said}")
    del trainer.environment["QUEUE_MEMORY"], trainer.environment["PAPERTAPE_GPU_MODULE"]


def test_host(trainer, bars):
    """What `train` is refused for here, `plan` of another device says too."""
    config(os.path.join(trainer.folder, "F.ini"), bars, {"training": {"device": "cpu"}, "ppo": {"copies": 262144, "steps": 4096}})
    ran = trainer.run("train", "--config", "F.ini", "--overwrite")
    check(ran.returncode == 1 and "this machine has" in ran.stderr, f"host: {ran.stderr}")
    words = ran.stderr.strip().removeprefix("papertape-trainer: ")
    config(os.path.join(trainer.folder, "F.ini"), bars, {"ppo": {"copies": 262144, "steps": 4096}})
    got = plan(trainer, "--device-memory", "500MiB")
    check(got["host_note"] == words and got["seconds"] is None and words in text(trainer, "--device-memory", "500MiB"), f"host: {words} {got}")


def test_warned(trainer, bars, module):
    """A training whose device has no room for all copies says so before it starts, and what it does instead."""
    config(os.path.join(trainer.folder, "F.ini"), bars, {"training": {"total_steps": 512, "memory_cap": 1}, "ppo": {"copies": 4}})
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.abspath(module)
    need = plan(trainer)["device_bytes"]
    for memory, words in ((need * 2, None), (need - 4096, "2 are used"), (MIB, "training on the CPU")):
        trainer.environment["QUEUE_MEMORY"] = str(memory)
        got = plan(trainer, "--rows")
        check(got["fits"] is (words is None) and (words is None or words in got["note"]), f"{memory}: {got}")
        seen = lines(trainer.run("train", "--config", "F.ini", "--overwrite").stdout)
        names = [line["event"] for line in seen]
        warned = [line["message"] for line in seen[:names.index("start")] if line["event"] == "warning"]
        check(any(words in message for message in warned) if words else not warned, f"{memory}: {warned}")
    del trainer.environment["QUEUE_MEMORY"]


def main(program, module):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
        bars = {"training": {"device": "auto", "total_steps": 65536}, "data": {"bars": ",".join(write_market(folder))},
                "environment": {"lookback": 2, "random_start": "true", "episode_bars": 40}}
        config(os.path.join(folder, "F.ini"), bars, {"ppo": {"copies": 512}})
        test_sizes(trainer)
        test_bad(trainer)
        test_study(trainer, bars)
        test_here(trainer, bars, module)
        test_host(trainer, bars)
        test_warned(trainer, bars, module)
    done("trainer/program/plan")


if __name__ == "__main__":
    main(*sys.argv[1:3])
