"""Event files, read by TensorBoard itself, that of a run that resumed too: what was written beyond is forgotten.

    tensorboard_oracle.py WRITER
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "oracle"))
import oracle_venv

with oracle_venv.imports("tensorboard"):
    import tensorboard
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

STEPS = [step << 30 for step in range(0, 400, 100)]


def scalars(folder):
    accumulator = EventAccumulator(os.path.join(folder, "run"))
    accumulator.Reload()
    found = {tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}
    return found


def main(writer):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder], check=True, stdout=subprocess.DEVNULL)
        found = scalars(folder)
        right = {"loss/policy": [(step, -0.125 * (step >> 30)) for step in STEPS],
                 "rollout/steps_per_second": [(step, 1e6 + (step >> 30)) for step in STEPS]}
        assert found == right, found
        # The same again, resumed after 300 steps: those beyond are there once.
        subprocess.run([writer, folder, "resumed"], check=True, stdout=subprocess.DEVNULL)
        found = scalars(folder)
        assert all([step for step, _ in found[tag] if step > 300] == STEPS[1:] for tag in right), found
    print(f"trainer/program/tensorboard_oracle: {len(right)} tags of {len(STEPS)} steps, as TensorBoard {tensorboard.__version__} "
          "reads them; what a resumed run does again is there once")


main(sys.argv[1])
