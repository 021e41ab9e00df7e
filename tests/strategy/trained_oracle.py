"""Computes what trained policies' networks make of observations, from their files, by NumPy and, where it is, by PyTorch:
python3 trained_oracle.py TEST_PROGRAM

The public safetensors package loads the files; shapes and activations are what the metadata says. In float64, heads and
values must be within 1e-5 of 1 + |value|; PyTorch's own float32 layers within 1e-4.
Wants safetensors from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seed.
"""

import glob
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("safetensors"):
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file

try:
    import safetensors.torch
    import torch
except ImportError:
    torch = None

PROGRAM = sys.argv[1]


class Numpy:
    """Layers in float64, by their formulas."""

    tolerance = 1e-5

    @staticmethod
    def load(path):
        return {name: tensor.astype(np.float64) for name, tensor in load_file(path).items()}

    asarray = staticmethod(lambda x: x.astype(np.float64))
    clip = staticmethod(lambda x, c: np.clip(x, -c, c))
    linear = staticmethod(lambda x, weight, bias: weight @ x + bias)
    sigmoid = staticmethod(lambda x: 1 / (1 + np.exp(-x)))
    activations = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x / (1 + np.exp(-x))}

    @staticmethod
    def norm(x, weight, bias):
        return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * weight + bias

    tonumpy = staticmethod(lambda x: x)


class Torch:
    """PyTorch's own, in float32."""

    tolerance = 1e-4

    @staticmethod
    def load(path):
        return safetensors.torch.load_file(path)

    asarray = staticmethod(lambda x: torch.from_numpy(x))
    clip = staticmethod(lambda x, c: torch.clamp(x, -c, c))
    linear = staticmethod(lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias))
    sigmoid = staticmethod(lambda x: torch.sigmoid(x))

    @staticmethod
    def norm(x, weight, bias):
        return torch.nn.functional.layer_norm(x, x.shape, weight, bias, 1e-5)

    tonumpy = staticmethod(lambda x: x.numpy())


if torch:
    Torch.activations = {"tanh": torch.tanh, "relu": torch.relu, "silu": torch.nn.functional.silu}


def forward(kind, tensors, metadata, observations):
    """Heads and values of consecutive observations."""
    activation, recurrent = kind.activations[metadata["activation"]], int(metadata["recurrent"])
    hidden = {}

    def body(part, n, x, keep):
        for i in range(n):
            x = kind.linear(x, tensors[f"{part}.{i}.weight"], tensors[f"{part}.{i}.bias"])
            if metadata["layer_norm"] == "true":
                x = kind.norm(x, tensors[f"{part}.{i}.norm.weight"], tensors[f"{part}.{i}.norm.bias"])
            x = activation(x)
        if recurrent:
            y = kind.linear(x, tensors[f"{part}.recurrent.weight"], tensors[f"{part}.recurrent.bias"])
            z, c = kind.sigmoid(y[:recurrent]), y[recurrent:]
            before = hidden.get(part, 0 * c)
            x = (1 - z) * before + z * c
            if keep:
                hidden[part] = x
        return x

    def head(part, number, x):
        return kind.tonumpy(kind.linear(x, tensors[f"{part}.{number}.weight"], tensors[f"{part}.{number}.bias"]))

    layers = {part: len(list(filter(None, metadata[key].split(","))))
              for part, key in (("pi", "policy_layers"), ("vf", "value_layers"))}
    heads, values = [], []
    for observation in observations:
        x = kind.clip((kind.asarray(observation) - tensors["observation.mean"]) * tensors["observation.scale"],
                      float(metadata["observation_clip"]))
        if metadata["shared"] == "true":
            x = body("shared", layers["pi"], x, True)
            heads.append(head("pi", 0, x))
            values.append(head("vf", 0, x)[0])
        else:
            heads.append(head("pi", layers["pi"], body("pi", layers["pi"], x, True)))
            values.append(head("vf", layers["vf"], body("vf", layers["vf"], x, True))[0])
    return np.array(heads), np.array(values)


def compare(kind, path, io):
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert metadata["format"] == "papertape.policy/1"
    heads, values = forward(kind, kind.load(path), metadata, io["observations"])
    worst = 0
    for ours, theirs in ((io["heads"], heads), (io["values"], values)):
        assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
        off = np.abs(ours - theirs) / (1 + np.abs(theirs))
        assert np.all(off <= kind.tolerance), (path, metadata, off.max())
        worst = max(worst, off.max())
    return worst


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([PROGRAM, "oracle", folder], check=True)
    paths = sorted(glob.glob(os.path.join(folder, "*.safetensors")))
    assert len(paths) == 12, paths
    for kind in [Numpy] + [Torch] * (torch is not None):
        worst = max(compare(kind, path, load_file(path.replace(".safetensors", ".io"))) for path in paths)
        print(f"{kind.__name__}: {len(paths)} policies, heads and values within {worst:.1e}, relative")
    print("PyTorch: not in this venv" if torch is None else "PyTorch: " + torch.__version__)
