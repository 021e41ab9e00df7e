"""The built-in worlds' dynamics against Gymnasium's CartPole-v1, Acrobot-v1 and Pendulum-v1, step by step from the
same states and actions.

    dynamics.py PPO_TRAJECTORIES

Wants gymnasium from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("gymnasium"):
    import gymnasium
    import numpy as np

TOLERANCE = 1e-12  # of 1 + |value|: sines differ in their last bit
STEPS = 4000
RESETS = 1000
GAMES = {"cartpole": ("CartPole-v1", 4), "acrobot": ("Acrobot-v1", 4), "pendulum": ("Pendulum-v1", 2)}


def check(name, program):
    identity, n = GAMES[name]
    seed = os.environ.get("PAPERTAPE_SEED", "11")
    out = subprocess.run([program, name, seed, str(STEPS)], check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in out.splitlines()]
    env = gymnasium.make(identity).unwrapped
    failures, worst, ended = 0, 0.0, 0

    limit = gymnasium.spec(identity).max_episode_steps
    if int(lines[0][1]) != limit:
        print(f"{name}: truncated after {lines[0][1]} steps, not {limit}")
        failures += 1

    low, high = (np.array(line[1 : 1 + n], dtype=float) for line in lines[1:3])
    starts = np.array([env.reset(seed=i) and np.array(env.state, dtype=float) for i in range(RESETS)])
    room = 0.01 * (high - low)
    if not (np.all(starts >= low) and np.all(starts <= high + 1e-8)):
        print(f"{name}: starts lie beyond {low} to {high}")
        failures += 1
    if not (np.all(starts.min(0) <= low + room) and np.all(starts.max(0) >= high - room)):
        print(f"{name}: starts from {starts.min(0)} to {starts.max(0)} do not fill {low} to {high}")
        failures += 1

    for at, line in enumerate(lines[3:]):
        values = np.array(line, dtype=float)
        before, action, after = values[:n], values[4], values[5 : 5 + n]
        observation, reward, terminated = values[9:-2], values[-2], bool(values[-1])
        env.reset(seed=0)
        env.state = before.copy()
        taken = np.array([action]) if name == "pendulum" else int(action)
        seen, gain, ends, _, _ = env.step(taken)
        difference = max(
            np.max(np.abs(after - env.state) / (1 + np.abs(env.state))),
            abs(reward - float(gain)) / (1 + abs(float(gain))),
        )
        worst, ended = max(worst, difference), ended + ends
        # The observation is float32: where the last bits differ it may be rounded the other way.
        near = np.max(np.abs(observation - seen) / (1 + np.abs(seen)))
        if not difference <= TOLERANCE or not near <= 2.0**-23 or terminated != ends:
            print(f"{name}: step {at}: {line}: gymnasium: {env.state} {seen} {gain} {ends}")
            failures += 1
    if len(lines) - 3 != STEPS or (name != "pendulum" and not ended):
        print(f"{name}: {len(lines) - 3} steps, {ended} ends")
        failures += 1
    print(f"{name}: PAPERTAPE_SEED={seed}: {STEPS} steps, {ended} ends, largest difference {worst:.1e}")
    return failures


if __name__ == "__main__":
    sys.exit(1 if sum(check(name, sys.argv[1]) for name in GAMES) else 0)
