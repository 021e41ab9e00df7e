"""`papertape-trainer study --workers 8` on one device, which is the CPU and whose memory eight trials just fit into
(tests/indicators_gpu/cpu_device.h): all of them train there, and as `plan` says; nine workers have a share that is too small: each says so with
the figures, and trains on the CPU. `plan`, `train` and `eval` on the device have one figure of its memory; one process of a user beside a
study; an allocation that fails; a place for the file that is not the user's own.

    study_sharers.py PAPERTAPE_TRAINER GPU_MODULE     (the latter: one whose device is the CPU)
"""
import json
import os
import re
import sys
import tempfile

from small_study import Trainer, check, done, events, lines, trials, write, write_market

MIB = 1 << 20
EIGHT = 8
ON_DEVICE = {"training": {"device": "cuda", "total_steps": 1024}, "study": {"trials": EIGHT, "validation": "kfold:2", "pruner": "none"},
             "search": {"minibatch": None, "epochs": None}}
number = 0


def device(trainer, total, more=""):
    """An empty one, which has room for no handle that nothing needs."""
    global number
    number += 1
    trainer.environment["CPU_DEVICE"] = f"memory={trainer.folder}/device-{number} total={int(total)} context=20MiB code=4MiB {more}"


def plan(trainer, config):
    ran = trainer.run("plan", "--config", config, "--json")
    check(ran.returncode == 0 and ran.stderr == "", f"plan: {ran.stderr}")
    return json.loads(ran.stdout)


def test_study(trainer):
    """*: the device's bytes of one trial."""
    config = write(os.path.join(trainer.folder, "eight.ini"), ON_DEVICE, {"study": {"workers": EIGHT}})
    device(trainer, 16 << 30)
    each = plan(trainer, config)["training"]["device_bytes"]
    check(88 * MIB < each < 120 * MIB, f"a trial's: {each}")
    total = EIGHT * each / 0.8 + 8 * MIB
    device(trainer, total)
    said = plan(trainer, config)
    check(said["workers"] == EIGHT and said["training"]["device_bytes"] == each and said["device_bytes"] == EIGHT * said["device"]["largest"]["device_bytes"] >= EIGHT * each, f"plan: {said}")
    ran = trainer.run("study", "eight", "--config", config, "--state", "st", "--workers", str(EIGHT))
    check(ran.returncode == 0 and ran.stderr == "", f"eight: {ran.returncode} {ran.stderr}")
    check([state for _, state, _ in trials(trainer.folder, "eight")] == ["COMPLETE"] * EIGHT, "eight: all trials")
    check(not events(lines(ran.stdout), "warning"), "eight: no warning")

    config = write(os.path.join(trainer.folder, "nine.ini"), ON_DEVICE, {"study": {"workers": EIGHT + 1, "trials": EIGHT + 1}})
    device(trainer, total)
    ran = trainer.run("study", "nine", "--config", config, "--state", "st")
    check(ran.returncode == 0, f"nine: {ran.returncode} {ran.stderr}")
    check([state for _, state, _ in trials(trainer.folder, "nine")] == ["COMPLETE"] * (EIGHT + 1), "nine: all trials")
    share = int(0.8 * int(total)) // (EIGHT + 1) // MIB
    figures = (rf"out of memory: above its share: \d+ > {share} MiB: this process would hold \d+ MiB, and its share is {share} MiB; other processes have \d+ MiB; of the device's "
               rf"{int(total) // MIB} MiB memory_cap 0.8 is {int(0.8 * int(total)) // MIB} MiB: a higher memory_cap, fewer copies or workers or narrower networks would "
               "be right")
    check(re.search(rf"training on the CPU: 4 copies do not fit on the device \({figures}\), nor 2[, 1]*: the CPU trains 4", ran.stderr) and
          ran.stderr.count("\n") == 1, f"nine: {ran.stderr}")
    return each


def test_train(trainer, each):
    """What `plan` predicts, what the run's events say, and what is left beside it is one figure; then `eval` with the policy."""
    config = write(os.path.join(trainer.folder, "train.ini"), ON_DEVICE, {"training": {"name": "one", "output": "out"}, "study": None, "search": None,
                                                                          "data": {"test_from": "2024-01-25", "train_to": "2024-01-25"}})
    device(trainer, 16 << 30)
    said = plan(trainer, config)["device_bytes"]
    device(trainer, said / 0.8 + 2)
    check(plan(trainer, config)["device_bytes"] == said, "train: the plan of a device that it just fits")
    ran = trainer.run("train", "--config", config)
    seen = lines(ran.stdout)
    check(ran.returncode == 0 and ran.stderr == "", f"train: {ran.stderr}")
    check(events(seen, "start")[0]["predicted"]["device_bytes"] == said and {line["learner_bytes"] for line in events(seen, "update")} == {said},
          f"train: {said} {seen[:3]}")
    check(events(seen, "start")[0]["backend"] == "cuda: the CPU", "train: where")
    ran = trainer.run("eval", "out/one.safetensors", "--bars", "AAAUSDT_1h.csv,BBBUSDT_1h.csv", "--from", "2024-01-25", "--json")
    check(ran.returncode == 0 and "verdict" in ran.stdout, f"eval: {ran.stderr} {ran.stdout}")

    device(trainer, said / 0.8 - MIB)
    ran = trainer.run("plan", "--config", config)
    check("training on the CPU: 4 copies do not fit on the device (out of memory: above its share: " in ran.stdout, f"plan, too little: {ran.stdout}")
    for nth in range(20, 60, 4): # the first ones are the prediction's, which measures a learner
        device(trainer, 16 << 30, f"fail_allocation={nth}")
        ran = trainer.run("train", "--config", config, "--overwrite")
        check(ran.returncode == 0 and lines(ran.stdout)[-1]["result"] == "done", f"an allocation, {nth}: {ran.stderr}")
        if ran.stderr:
            break
    check("2 are used" in ran.stderr and "CPU" not in ran.stderr, f"an allocation: {ran.stderr}")
    device(trainer, 16 << 30, "launch_us=1 sync_us=300 lose=30")
    ran = trainer.run("train", "--config", config, "--overwrite")
    check(ran.returncode == 1 and lines(ran.stdout)[-1]["cause"] == "device" and "lost" in ran.stderr, f"a lost device: {ran.stderr}")
    device(trainer, 16 << 30, "launches=1")
    ran = trainer.run("train", "--config", config, "--overwrite")
    check(ran.returncode == 1 and "launches=1" in ran.stderr, f"a word that is none: {ran.stderr}")


def main(program, module):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        trainer.environment.update(PAPERTAPE_GPU_MODULE=os.path.abspath(module), CUDA_VISIBLE_DEVICES="0", XDG_RUNTIME_DIR=folder)
        write_market(folder, n=700)
        test_train(trainer, test_study(trainer))
    done("trainer/study/study_sharers")


main(*sys.argv[1:])
