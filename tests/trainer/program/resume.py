"""`papertape-trainer train` killed, stopped, and continued from what it left: the same bits as the uninterrupted run.

    resume.py PAPERTAPE_TRAINER GPU_MODULE_ON_CPU
"""
import json
import os
import random
import shutil
import signal
import sys
import tempfile

from program import SMALL, Trainer, check, config, done, events, figures, lines, pieces, read, write_market

WORLDS = {
    "cartpole": {"training": {"world": "cartpole"}},
    "recurrent": {"training": {"world": "pendulum", "threads": 2},
                  "network": {"recurrent": 16, "sequence": 8, "layer_norm": "true", "shared_layers": "true"}},
    "market": {"training": {"evaluate_every": 40},
               "environment": {"lookback": 2, "initial_capital": "900..1100", "random_start": "true", "episode_bars": 50},
               "data": {"train_to": "2024-01-25", "features": "set.txt"}},
}
# The device's learner, on the module whose device is the CPU.
WORLDS["device"] = {**WORLDS["market"], "training": {"device": "cuda"}}


def whole(trainer, name, changes):
    """An uninterrupted run, in a folder of its own."""
    folder = os.path.join(trainer.folder, name)
    os.mkdir(folder)
    if "data" in changes:
        with open(os.path.join(folder, "set.txt"), "w") as file:
            file.write("set test\nclose /close-1\nrsi:7 /100\nsma:5 /close-1 zscore\n")
        paths = write_market(trainer.folder)
        changes = {**changes, "data": {**changes["data"], "bars": ", ".join(paths), "test_from": "2024-01-25"}}
    config(os.path.join(folder, "F.ini"), changes)
    ran = trainer.run("train", "--config", "F.ini", cwd=folder)
    check(ran.returncode == 0 and ran.stderr == "", f"{name}: {ran.returncode} {ran.stderr}")
    return folder, lines(ran.stdout)


def again(trainer, original, label):
    """A folder with the same configuration and nothing else."""
    folder = f"{original}-{label}"
    os.mkdir(folder)
    for name in ("F.ini", "set.txt"):
        if os.path.exists(os.path.join(original, name)):
            shutil.copy(os.path.join(original, name), folder)
    return folder


def same(original, folder, label):
    steps = SMALL["training"]["total_steps"]
    for name in (f"small-{steps}.ckpt", "small.safetensors"):
        a, b = os.path.join(original, "out", name), os.path.join(folder, "out", name)
        if not check(os.path.exists(b), f"{label}: no {b}"):
            continue
        if not check(read(a) == read(b), f"{label}: {name} has other bytes") and name.endswith("ckpt"):
            one, two = pieces(a), pieces(b)
            print("  pieces that differ:", [key for key in one if one[key] != two.get(key)], file=sys.stderr)


def continues(trainer, folder, original_seen, before, label, resume="latest", stderr=""):
    ran = trainer.run("train", "--config", "F.ini", "--resume", resume, cwd=folder)
    check(ran.returncode == 0, f"{label}: {ran.returncode} {ran.stderr}")
    check(all(word in ran.stderr for word in stderr.split()) and bool(ran.stderr) == bool(stderr), f"{label}: {ran.stderr!r}")
    seen = lines(ran.stdout)
    if not seen or not check(len(events(seen, "start")) == 1, f"{label}: its start"):
        return seen
    start = events(seen, "start")[0]
    right, got = figures(original_seen), figures(seen)
    check(start["resumed_from"] and start["steps"] > 0, f"{label}: {start['resumed_from']} at {start['steps']}")
    check(set(got) == {steps for steps in right if steps > start["steps"]}, f"{label}: its updates")
    check(all(right[steps] == got[steps] for steps in got), f"{label}: an update with other figures")
    check(all(right[steps] == figure for steps, figure in figures(before).items()), f"{label}: the figures before")
    check(events(seen, "evaluation")[-1:] == [] or {k: v for k, v in events(seen, "evaluation")[-1].items() if "seconds" not in k}
          == {k: v for k, v in events(original_seen, "evaluation")[-1].items() if "seconds" not in k}, f"{label}: its evaluation")
    return seen


def checkpoints(n, more):
    """Has it written n checkpoints, and done more updates since?"""
    def until(seen):
        kinds = [line["event"] for line in seen if line["event"] in ("checkpoint", "update")]
        return kinds.count("checkpoint") >= n and "checkpoint" not in kinds[-more:]
    return until


def test_world(trainer, name, changes):
    original, seen = whole(trainer, name, changes)
    total = SMALL["training"]["total_steps"]
    check(events(seen, "end")[0]["result"] == "done" and events(seen, "end")[0]["steps"] == total, f"{name}: its end")
    kept = sorted(os.listdir(os.path.join(original, "out")))
    check(len(kept) == 4 and f"small-{total}.ckpt" in kept and "small.safetensors" in kept, f"{name}: {kept}")
    check(set(pieces(os.path.join(original, "out", f"small-{total}.ckpt"))) ==
          {"params", "adam_m", "adam_v", "normaliser", "counters", "world", "copies", "config", "backend", "n_copies"}, f"{name}: pieces")

    label = f"{name} killed"
    folder = again(trainer, original, "killed")
    before, _, status = trainer.end_by(signal.SIGKILL, checkpoints(2, 7), "train", "--config", "F.ini", cwd=folder)
    check(status == -signal.SIGKILL, f"{label}: {status}")
    check(not os.path.exists(os.path.join(folder, "out", f"small-{total}.ckpt")), f"{label}: in the middle")
    continues(trainer, folder, seen, before, label)
    same(original, folder, label)

    label = f"{name} stopped"
    folder = again(trainer, original, "stopped")
    number = signal.SIGTERM if name != "market" else signal.SIGINT
    before, error, status = trainer.end_by(number, checkpoints(1, 3), "train", "--config", "F.ini", cwd=folder)
    end = before[-1]
    check(status == 0 and error == "", f"{label}: {status} {error}")
    check(end["event"] == "end" and end["result"] == "stopped" and 0 < end["steps"] < total, f"{label}: {end}")
    last = events(before, "checkpoint")[-1]
    check(last["steps"] == end["steps"] and os.path.exists(os.path.join(folder, last["path"])), f"{label}: {last}")
    continues(trainer, folder, seen, before, label, resume=last["path"])
    same(original, folder, label)
    return original, seen


def test_damaged(trainer, original, seen):
    """The newest is cut: the one before is used, and named."""
    folder = again(trainer, original, "damaged")
    before, _, _ = trainer.end_by(signal.SIGKILL, checkpoints(3, 5), "train", "--config", "F.ini", cwd=folder)
    files = sorted((name for name in os.listdir(os.path.join(folder, "out")) if name.endswith(".ckpt")),
                   key=lambda name: int(name[6:-5]))
    newest = os.path.join(folder, "out", files[-1])
    with open(newest, "r+b") as file:
        file.truncate(os.path.getsize(newest) - 1)
    got = continues(trainer, folder, seen, before, "damaged", stderr=f"truncated {files[-1]}")
    check(got and events(got, "start")[0]["resumed_from"].endswith(files[-2]), "damaged: the one before")
    warnings = events(got, "warning")
    check(len(warnings) == 1 and "truncated" in warnings[0]["message"] and files[-1] in warnings[0]["message"], f"damaged: {warnings}")
    same(original, folder, "damaged")

    # One of its own that is not good is refused by name, and nothing else is used.
    ran = trainer.run("train", "--config", "F.ini", "--resume", __file__, cwd=folder)
    check(ran.returncode == 1 and "no checkpoint" in ran.stderr and "resume.py" in ran.stderr, f"foreign: {ran.stderr}")


def test_early(trainer, original, seen):
    """Stopped before its first update: nothing is left, and it begins at 0 another time."""
    folder = again(trainer, original, "early")
    before, error, status = trainer.end_by(signal.SIGTERM, lambda lines: True, "train", "--config", "F.ini", cwd=folder)
    check(status == 0 and error == "" and before[-1]["result"] == "stopped", f"early: {status} {error}")
    steps = before[-1]["steps"]
    check(bool(steps) == os.path.exists(os.path.join(folder, "out", f"small-{steps}.ckpt")) == bool(events(before, "checkpoint")), "early: no file")
    ran = trainer.run("train", "--config", "F.ini", *(("--resume", "latest") if steps else ()), cwd=folder)
    got = lines(ran.stdout)
    check(ran.returncode == 0 and events(got, "start")[0]["steps"] == before[-1]["steps"], f"early: {ran.stderr}")
    check(all(figures(seen)[steps] == figure for steps, figure in figures(got).items()), "early: its figures")
    same(original, folder, "early")


def test_chain(trainer, original, seen):
    """Killed again and again, each time after another line, and continued from the newest good one: PAPERTAPE_LONG has more."""
    folder = again(trainer, original, "chain")
    config(os.path.join(folder, "F.ini"), WORLDS["cartpole"], {"training": {"checkpoint_every": 4}})
    seed = int(os.environ.get("PAPERTAPE_SEED", "20261122"), 0)
    draw, kills, total = random.Random(seed), 0, SMALL["training"]["total_steps"]
    right, steps, wanted = figures(seen), 0, 60 if os.environ.get("PAPERTAPE_LONG") else 4
    while True:
        resumes = any(name.endswith(".ckpt") for name in os.listdir(os.path.join(folder, "out"))) if kills else False
        after = draw.randint(1, 60) if kills < wanted else 1 << 30
        got, error, status = trainer.end_by(signal.SIGKILL, lambda lines, n=after: len(lines) >= n, "train", "--config", "F.ini",
                                            *(("--resume", "latest") if resumes else ()), cwd=folder)
        check(error == "" and status in (0, -signal.SIGKILL), f"chain: {status} {error}")
        check(all(right[at] == figure for at, figure in figures(got).items()), f"chain: the figures after {kills} kills")
        starts = events(got, "start")
        check(not starts or starts[0]["steps"] >= steps, f"chain: it continues, from {starts} after {steps}")
        steps = starts[0]["steps"] if starts else steps
        if status != -signal.SIGKILL:
            break
        kills += 1
    same_pieces(original, folder, "chain", total)
    print(f"killed {kills} times, last resumed at {steps} of {total} steps: bit-equal (PAPERTAPE_SEED={seed})")


def same_pieces(original, folder, label, total):
    """The same except the configuration, where a key that may change did."""
    one, two = (pieces(os.path.join(at, "out", f"small-{total}.ckpt")) for at in (original, folder))
    check(set(one) == set(two) and all(one[name] == two[name] for name in one if name != "config"), f"{label}: pieces")
    check(read(original, "out", "small.safetensors") == read(folder, "out", "small.safetensors"), f"{label}: the policy")


def test_longer(trainer, original, seen):
    """A training that is done continues where total_steps is raised, and has nothing to do where it is not."""
    folder = again(trainer, original, "longer")
    shutil.copytree(os.path.join(original, "out"), os.path.join(folder, "out"))
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", cwd=folder)
    got = lines(ran.stdout)
    check(ran.returncode == 0 and not events(got, "update") and got[-1]["result"] == "done", f"done before: {ran.stderr}")
    same(original, folder, "done before")
    total = SMALL["training"]["total_steps"] + 2560
    config(os.path.join(folder, "F.ini"), WORLDS["cartpole"], {"training": {"total_steps": total, "checkpoint_every": 5,
                                                                           "checkpoint_keep": 1, "tensorboard": "board"}})
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", cwd=folder)
    got = lines(ran.stdout)
    check(ran.returncode == 0 and len(events(got, "update")) == 10 and got[-1]["steps"] == total, f"longer: {ran.stderr}")
    kept = [name for name in os.listdir(os.path.join(folder, "out")) if name.endswith(".ckpt")]
    check(kept == [f"small-{total}.ckpt"], f"longer: {kept}")


def test_changed(trainer, original):
    """--changed takes over what has no shape, from the first iteration on; what has one is still refused."""
    folder, total = again(trainer, original, "changed"), SMALL["training"]["total_steps"]
    shutil.copytree(os.path.join(original, "out"), os.path.join(folder, "out"))
    more = {"training": {"total_steps": total + 2560}}

    def go(label, *changes, how=("--changed",)):
        config(os.path.join(folder, "F.ini"), WORLDS["cartpole"], more, *changes)
        ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", *how, cwd=folder)
        return ran, lines(ran.stdout)

    slower = {"ppo": {"learning_rate": 0.0005}}
    ran, seen = go("refused", slower, how=())
    check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and seen[-1]["cause"] == "checkpoint"
          and all(word in ran.stderr for word in ("learning_rate", "0.0005", "0.001", "--changed")), f"changed, not asked for: {ran.stderr}")
    for key, section, value, was in (("copies", "ppo", 8, "4"), ("seed", "training", 9, "5"), ("policy_layers", "network", "16", "16,16"),
                                     ("world", "training", "acrobot", "cartpole")):
        ran, seen = go(key, slower, {section: {key: value}})
        check(ran.returncode == 1 and f"{key}: {value}: {was} is right" in ran.stderr and seen[-1]["cause"] == "checkpoint", f"changed {key}: {ran.stderr}")
    ran, seen = go("slower", slower)
    warnings, updates = events(seen, "warning"), events(seen, "update")
    check(ran.returncode == 0 and len(warnings) == 1 and all(word in warnings[0]["message"] for word in ("learning_rate", "0.0005", "0.001")),
          f"changed: {ran.stderr}")
    check(updates[0]["steps"] == total + 256 and all(line["learning_rate"] == 0.0005 for line in updates), f"changed: {updates[:1]}")
    kept = pieces(os.path.join(folder, "out", f"small-{total + 2560}.ckpt"))["config"].decode()
    check("\nlearning_rate = 0.0005\n" in kept, "changed: the checkpoint has the new one")
    more["training"]["total_steps"] += 2560
    ran, seen = go("again", slower, how=())
    check(ran.returncode == 0 and ran.stderr == "" and events(seen, "update")[0]["learning_rate"] == 0.0005, f"changed, and again: {ran.stderr}")
    more["training"]["total_steps"] += 2560
    many = {"training": {"threads": 2, "precision": "float32", "memory_cap": 0.5},
            "network": {"log_std_max": 1, "log_std_min": -3},
            "ppo": {"adam_beta1": 0.8, "adam_beta2": 0.99, "adam_epsilon": 1e-6, "bad_updates": 3, "bounded": "true", "clip_range": 0.1,
                    "clip_range_final": 0.05, "clip_range_vf": 0.3, "clip_rewards": 5, "ent_coef": 0.02, "ent_coef_final": 0.01,
                    "entropy_bound": 0.5, "epochs": 3, "gae_lambda": 0.9, "gamma": 0.98, "lr_final": 0.5, "lr_schedule": "linear",
                    "max_grad_norm": 1, "minibatch": 128, "normalise_advantages": "false", "target_kl": 0.5, "value_bound": 5, "vf_coef": 0.7}}
    ran, seen = go("many", slower, many)
    check(ran.returncode == 0 and len(events(seen, "warning")) == sum(map(len, many.values())), f"changed, many: {ran.stderr}")
    line = events(seen, "update")[0]
    check(line["epochs"] == 3 and line["minibatches"] == 6 and 0.05 < line["clip_range"] < 0.1 and line["learning_rate"] < 0.0005, f"changed, many: {line}")


def test_fewer(trainer):
    """Where the device has memory for half of the copies, a checkpoint continues with that half: on it, on one with more, on the CPU."""
    original = os.path.join(trainer.folder, "fewer")
    os.mkdir(original)
    shutil.copy(os.path.join(trainer.folder, "device", "set.txt"), original)
    world = {**WORLDS["device"], "training": {"device": "auto", "memory_cap": 1, "total_steps": 2560, "checkpoint_every": 5}}
    world["data"] = {**world["data"], "bars": ", ".join(write_market(trainer.folder)), "test_from": "2024-01-25"}

    def plan(copies, *how):
        config(os.path.join(original, "F.ini"), world, {"ppo": {"copies": copies}})
        return trainer.run("plan", "--config", "F.ini", *how, cwd=original).stdout

    need = [json.loads(plan(copies, "--json"))["device_bytes"] for copies in (2, 4)]
    check(need[0] < need[1], f"fewer: {need}")
    memory = {"QUEUE_MEMORY": str(sum(need) // 2)}
    trainer.environment.update(memory)
    got = json.loads(plan(4, "--json"))
    check((got["copies"], got["rollout_rows"], got["device_bytes"]) == (2, 128, need[0]), f"fewer: the plan: {got}")
    check("4 copies do not fit on the device (" in plan(4) and "): 2 are used" in plan(4), "fewer: the plan's words")
    ran = trainer.run("train", "--config", "F.ini", cwd=original)
    seen = lines(ran.stdout)
    check(ran.returncode == 0 and "2 are used" in ran.stderr, f"fewer: {ran.returncode} {ran.stderr}")
    check(all(line["learner_bytes"] == need[0] for line in events(seen, "update")), "fewer: measured as predicted")
    folder = again(trainer, original, "on")
    before, _, status = trainer.end_by(signal.SIGTERM, checkpoints(1, 1), "train", "--config", "F.ini", cwd=folder)
    check(status == 0, f"fewer: {status}")
    more = again(trainer, original, "more")
    shutil.copytree(os.path.join(folder, "out"), os.path.join(more, "out"))
    cpu = again(trainer, original, "cpu")
    shutil.copytree(os.path.join(folder, "out"), os.path.join(cpu, "out"))
    continues(trainer, folder, seen, before, "fewer")
    del trainer.environment["QUEUE_MEMORY"]
    continues(trainer, more, seen, before, "fewer, with more memory")
    trainer.environment["QUEUE_MEMORY"] = "1000000"
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", cwd=cpu)
    del trainer.environment["QUEUE_MEMORY"]
    got = lines(ran.stdout)
    check(ran.returncode == 0 and "on the CPU" in ran.stderr and "another backend" in ran.stderr, f"fewer, CPU: {ran.stderr}")
    check(set(figures(got)) == {n for n in figures(seen) if n > events(got, "start")[0]["steps"]}, "fewer, CPU: its updates")


def main(program, module):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.abspath(module)
        original, seen = test_world(trainer, "cartpole", WORLDS["cartpole"])
        test_damaged(trainer, original, seen)
        test_early(trainer, original, seen)
        test_chain(trainer, original, seen)
        test_longer(trainer, original, seen)
        test_changed(trainer, original)
        test_world(trainer, "recurrent", WORLDS["recurrent"])
        test_world(trainer, "market", WORLDS["market"])
        _, seen = test_world(trainer, "device", WORLDS["device"])
        check(events(seen, "start")[0]["backend"].startswith("cuda"), f"device: {events(seen, 'start')[0]['backend']}")
        check(events(seen, "start")[0]["predicted"]["device_bytes"] > 0, "device: its bytes")
        check(all(line["device_utilisation"] > 0 for line in events(seen, "update")), "device: its utilisation")
        test_fewer(trainer)
    done("trainer/program/resume")


main(*sys.argv[1:3])
