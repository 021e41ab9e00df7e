"""Forward, loss and all gradients of one batch in JAX, by automatic differentiation, against the trainer's, in
float64; then the trainer's own float32 against those.

    gradients.py PAPERTAPE_TRAINER GRAD_KINDS GRAD_FLOAT

Wants jax from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("jax"):
    import cases
    import compare
    import jax_side
    import tensors


def main():
    trainer, kinds, in_float = sys.argv[1:4]
    failures, paths, coverage = 0, [], compare.Coverage()
    with tempfile.TemporaryDirectory(prefix="papertape-gradients-") as folder:
        for name, path in cases.files(trainer, kinds, folder):
            found, metadata = tensors.read(path)
            failures += compare.compare(name, found, metadata, jax_side.evaluate)
            coverage.add(found, metadata)
            paths.append(path)
        failures += coverage.failures()
        sys.stdout.flush()
        failures += subprocess.run([in_float, *paths], check=False).returncode != 0
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
