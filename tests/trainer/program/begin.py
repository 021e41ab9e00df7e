"""How `papertape-trainer train` begins and fails: beside an older training's files, beside another one that runs, and what its
lines say of a failure.

    begin.py PAPERTAPE_TRAINER
"""
import os
import signal
import stat
import sys
import tempfile

from program import Trainer, check, config, done, events, lines, read

SHORT = {"training": {"total_steps": 2560, "world": "cartpole"}}


def files(folder):
    return sorted(os.listdir(os.path.join(folder, "out")))


def test_fresh(trainer, folder):
    """Refused beside an older training's checkpoints; --overwrite puts the first new one in their place."""
    config(os.path.join(folder, "F.ini"), SHORT, {"training": {"total_steps": 5120, "checkpoint_every": 5}})
    check(trainer.run("train", "--config", "F.ini").returncode == 0, "fresh: the first")
    old = files(folder)
    check(old == ["small-1280.ckpt", "small-2560.ckpt", "small-3840.ckpt", "small-5120.ckpt", "small.safetensors"][1:], f"fresh: {old}")
    kept = {name: read(folder, "out", name) for name in old}
    config(os.path.join(folder, "F.ini"), SHORT, {"training": {"seed": 9}})
    ran = trainer.run("train", "--config", "F.ini")
    check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and
          all(word in ran.stderr for word in ("small-5120.ckpt", "--resume latest", "--overwrite", "name")), f"fresh: {ran.stderr}")
    check({name: read(folder, "out", name) for name in files(folder)} == kept, "fresh: all is as it was")
    config(os.path.join(folder, "other.ini"), SHORT, {"training": {"name": "small-2"}})
    check(trainer.run("train", "--config", "other.ini").returncode == 0, "fresh: another name")

    # Stopped before anything was learnt: what was there is worth more.
    seen, error, status = trainer.end_by(signal.SIGTERM, lambda seen: True, "train", "--config", "F.ini", "--overwrite")
    if check(status == 0 and seen[-1]["result"] == "stopped", f"stopped: {error}") and seen[-1]["steps"] == 0:
        check({name: read(folder, "out", name) for name in files(folder) if not name.startswith("small-2.")
               and not name.startswith("small-2-")} == kept, "stopped: all is as it was")
        check(not events(seen, "checkpoint") and not events(seen, "policy"), "stopped: nothing written")
    ran = trainer.run("train", "--config", "F.ini", "--overwrite")
    check(ran.returncode == 0 and ran.stderr == "", f"overwrite: {ran.stderr}")
    check(files(folder) == ["small-2-2560.ckpt", "small-2.safetensors", "small-2560.ckpt", "small.safetensors"], f"overwrite: {files(folder)}")
    check(read(folder, "out", "small.safetensors") != kept["small.safetensors"], "overwrite: the new policy")
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest")
    check(ran.returncode == 0 and events(lines(ran.stdout), "start")[0]["steps"] == 2560, f"overwrite: latest {ran.stderr}")
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", "--overwrite")
    check(ran.returncode == 2 and "--resume" in ran.stderr, f"both: {ran.stderr}")


def test_two(trainer, folder):
    """A second one of that name is refused while the first runs; one that was killed is no hindrance."""
    config(os.path.join(folder, "two.ini"), SHORT, {"training": {"name": "two", "total_steps": 1 << 30, "checkpoint_every": 2}})
    process = trainer.start("train", "--config", "two.ini")
    for line in process.stdout:
        if '"checkpoint"' in line:
            break
    for more in ((), ("--resume", "latest"), ("--overwrite",)):
        ran = trainer.run("train", "--config", "two.ini", *more)
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and
              all(word in ran.stderr for word in ("running", "two in out", "name")), f"two {more}: {ran.stderr}")
    process.kill()
    process.stdout.close()
    process.stderr.close()
    process.wait()
    check("two.lock" in files(folder), "killed: its lock lies there")
    for name in ("two-99.ckpt.tmp.0123abcd", "two.safetensors.new.0123abcd", "two.safetensors.new.mine"):
        with open(os.path.join(folder, "out", name), "w"):
            pass
    _, error, status = trainer.end_by(signal.SIGTERM, lambda seen: events(seen, "checkpoint"), "train", "--config", "two.ini",
                                      "--resume", "latest")
    check(status == 0 and error == "", f"killed: {error}")
    left = [name for name in files(folder) if name.startswith("two") and not name.endswith((".ckpt", ".safetensors"))]
    check(left == ["two.safetensors.new.mine"], f"killed: {left}")


def test_modes(trainer, folder):
    """Checkpoints and policies have the same mode: 0644, less the umask."""
    for mask, right in ((0o022, 0o644), (0o027, 0o640)):
        name = f"mode-{mask:o}"
        config(os.path.join(folder, "mode.ini"), SHORT, {"training": {"name": name}})
        ran = trainer.run("train", "--config", "mode.ini", umask=mask)
        for file in (f"{name}-2560.ckpt", f"{name}.safetensors"):
            mode = stat.S_IMODE(os.stat(os.path.join(folder, "out", file)).st_mode)
            check(ran.returncode == 0 and mode == right, f"{file}: {mode:o}, not {right:o}")


def test_failures(trainer, folder):
    """Whatever fails has an error and an end in the lines."""
    with open(os.path.join(folder, "AAAUSDT_1h.csv"), "w") as file:
        file.write("timestamp,open,high,low,close,volume\n" + "".join(f"{1704067200 + 3600 * i},1,1,1,1,1\n" for i in range(50)))
    data = {"training": {"world": None}, "data": {"bars": "AAAUSDT_1h.csv"}}
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
    for word, *changes in (("market15", data, {"data": {"features": "market15"}}), ("none.so", data, {"training": {"device": "cuda"}}),
                           ("none.csv", {"training": {"world": None}, "data": {"bars": "none.csv"}}),
                           ("/dev/null/x", {"training": {"output": "/dev/null/x"}}),
                           ("lookback", data, {"environment": {"lookback": 60}})):
        config(os.path.join(folder, "fail.ini"), SHORT, {"training": {"name": "fail"}}, *changes)
        ran = trainer.run("train", "--config", "fail.ini")
        seen = lines(ran.stdout)
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and word in ran.stderr, f"{word}: {ran.returncode} {ran.stderr}")
        if not check([line["event"] for line in seen[-2:]] == ["error", "end"], f"{word}: {seen}"):
            continue
        check(f"papertape-trainer: {seen[-2]['message']}\n" == ran.stderr, f"{word}: {seen[-2]}")
        check(seen[-1]["result"] == "failed" and seen[-1]["steps"] == 0 and seen[-1]["measured"] is None, f"{word}: {seen[-1]}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        for test in (test_fresh, test_two, test_modes, test_failures):
            test(trainer, folder)
    done("trainer/program/begin")


main(sys.argv[1])
