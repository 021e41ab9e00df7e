"""Ten updates on one fixed batch in JAX, with clipping of the gradients' norm and Adam in NumPy, against the trainer's.

    updates.py PAPERTAPE_TRAINER GRAD_UPDATES_F64 GRAD_UPDATES_F32

Wants jax from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("jax"):
    import jax_side
    import numpy as np
    import ppo_loss
    import ten_updates


def run(found, metadata, max_norm):
    params, batch, _, _ = ppo_loss.split(found)
    params = {name: value.copy() for name, value in params.items()}
    m = {name: np.zeros_like(value) for name, value in params.items()}
    v = {name: np.zeros_like(value) for name, value in params.items()}
    rows, compiled = [], jax_side.compiled(metadata)
    for t in range(1, ten_updates.UPDATES + 1):
        results, grads = jax_side.evaluate(params, batch, metadata, compiled)
        norm = np.sqrt(sum(np.sum(grad**2) for grad in grads.values()))
        rows.append([float(results[term]) for term in ten_updates.TERMS[:-1]] + [norm])
        scale = min(1.0, max_norm / (norm + 1e-6))
        for name, grad in grads.items():
            m[name] = 0.9 * m[name] + 0.1 * scale * grad
            v[name] = 0.999 * v[name] + 0.001 * (scale * grad) ** 2
            step = m[name] / (1 - 0.9**t) / (np.sqrt(v[name] / (1 - 0.999**t)) + ten_updates.EPSILON)
            params[name] = params[name] - ten_updates.LEARNING_RATE * step
    return np.array(rows), params


def main():
    with tempfile.TemporaryDirectory(prefix="papertape-updates-") as folder:
        sys.exit(1 if ten_updates.check(sys.argv[1], sys.argv[2:4], folder, run) else 0)


if __name__ == "__main__":
    main()
