"""Runs the parts of bench/train and prints their figures: python3 bench/train_figures.py BUILD_FOLDER.

Predicted before the first measurement. Operations of one environment step with separate networks of widths w over 36 observations
and five actions: P = sum of in x out over both networks; a rollout costs 2P (the policy's row by row, the values' afterwards in one
batch), an epoch 6P less 2 x 36 x w0 x 2, since the first layer needs no gradient for its input; four epochs.

64x64: P = 2 x (36 x 64 + 64 x 64) + 64 x 6 = 13,200; 26 kFLOP of rollout, 4 x 70 = 280 of update: 306 kFLOP. At the 145 GFLOP/s that
two cores' sgemm makes of such shapes that is 2.1 us. Beside it: 1,280 tanh (a quarter of a ns each on two cores with 16 lanes:
0.3 us), Gaussian draws (0.05 us), the environment (0.02 us), Adam (13,600 parameters a minibatch of 1,024: nothing), the observation's
row (144 bytes written, normalised, gathered four times: 0.05 us), and in the rollout of 8 copies products of 8 rows, at a third of
the rate: 0.2 us. So 2.7 us, 370,000 steps/s, 78 % of sgemm; with 64 copies a little more.

2048x1024x512: P = 2 x (36 x 2048 + 2048 x 1024 + 1024 x 512) = 5.4 M; 10.8 MFLOP of rollout, 4 x (32.3 - 0.3) = 128 of update: 139
MFLOP, at 208 GFLOP/s 0.67 ms, 1,500 steps/s. Beside it, a minibatch of 1,024: Adam reads and writes 28 bytes of 5.4 M parameters and
both shards' gradients 4 more: 173 MB, 6 ms of 150; activations and their derivatives, 1,024 x 7,168 floats, ten times to and from
the third-level cache: 5 ms. The rollout of 8 copies reads 10.8 MB of the policy's weights a step, 0.5 ms from memory for 8 rows: 9 % of
the whole; with 32 copies 2 %. So 83 % with 8, 90 % with 32 or more.

Inference: 256 observations through 2048x1024x512, 12.6 MB of weights that no cache has: 0.31 ms at the 40 GB/s of one core. 64x64:
6,464 products and 128 tanh, 0.4 us."""

import json
import os
import subprocess
import sys

import figures
from figures import BUILD, ROOT

PEERS = ("stable_baselines3==2.9.2", "gymnasium==1.4.0", "numpy==2.4.6")
PEER = "SB3 PPO 2.9.2"
PEERS_ENV = {"vectorised": "its VecEnv our environment, all copies at once", "single": "its DummyVecEnv of single Gymnasium environments"}
SMALL, REFERENCE = "64,64", "2048,1024,512"
# copies, steps of a rollout, seconds of ours, iterations of the peer's, share of sgemm that is asked for
CASES = {
    SMALL: ((8, 1024, 6, 3, 0.6), (64, 128, 6, 5, 0.6)),
    REFERENCE: ((8, 512, 30, 1, 0.75), (32, 128, 30, 0, 0.85), (64, 64, 30, 1, 0.85)),
}


def python_with_sb3():
    """The interpreter of the long oracles' venv where it is there, else of a venv made for this."""
    venv = os.environ.get("PAPERTAPE_VENV")
    python = f"{venv}/bin/python"
    if venv and subprocess.run([python, "-c", "import stable_baselines3"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return python
    return figures.peers_python("train", PEERS)


def sb3(python, kind, copies, steps, widths, iterations):
    library = BUILD / "trainer/env/installed/libpapertape-env.so"
    done = subprocess.run([python, ROOT / "bench/train_sb3.py", kind, *map(str, (copies, steps, widths, iterations))],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "trainer/python"), "PAPERTAPE_ENV_LIBRARY": str(library)})
    return float(done.stdout)


def main():
    python = python_with_sb3()
    for widths, cases in CASES.items():
        name = widths.replace(",", "x")
        for copies, steps, seconds, iterations, asked in cases:
            rate = float(figures.program("train_updates", "sgemm", widths, 1024, 3))
            done = json.loads(figures.program("train_updates", "train", copies, steps, widths, seconds))
            rate = max(rate, float(figures.program("train_updates", "sgemm", widths, 1024, 3)))
            for kind in PEERS_ENV if python and iterations else (None,):
                peer = (f"{PEER}, {PEERS_ENV[kind]}", sb3(python, kind, copies, steps, widths, iterations)) if kind else None
                figures.figure("train", f"{name}_{copies}{'_single' if kind == 'single' else ''}", done["steps_per_s"], "steps/s",
                               peer, limit=rate / done["flop_per_step"], asked_of_limit=asked, sgemm_flop_per_s=rate,
                               flop_per_step=done["flop_per_step"], mean_steps_per_s=done["steps_per_s_mean"],
                               rollout_s=done["rollout_s"], advantage_s=done["advantage_s"], update_s=done["update_s"],
                               backend=done["backend"], load=round(os.getloadavg()[0], 1))
    sys.stdout.flush()
    subprocess.run([BUILD / "bench/train_inference"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
