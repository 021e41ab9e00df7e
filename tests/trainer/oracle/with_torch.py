"""The same as gradients.py and updates.py in PyTorch: its autograd, its clip_grad_norm_ and its Adam.

    with_torch.py PAPERTAPE_TRAINER GRAD_KINDS GRAD_UPDATES_F64 GRAD_UPDATES_F32

Wants torch from the long venv in $PAPERTAPE_VENV; exits 77 without it.
"""
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("torch"):
    import cases
    import compare
    import numpy as np
    import ppo_loss
    import ten_updates
    import tensors
    import torch


class Ops:
    tanh, exp, sqrt, maximum, minimum = torch.tanh, torch.exp, torch.sqrt, torch.maximum, torch.minimum
    clip, arange, stack, sum = torch.clamp, torch.arange, torch.stack, torch.sum

    @staticmethod
    def mean(x, axis):
        return torch.mean(x, axis, keepdim=True)

    @staticmethod
    def logsumexp(x, axis):
        return torch.logsumexp(x, axis, keepdim=True)


def torch_of(arrays):
    return {name: torch.tensor(value, dtype=torch.float64) for name, value in arrays.items()}


def evaluate(params, batch, metadata):
    params = {name: value.requires_grad_() for name, value in torch_of(params).items()}
    results = ppo_loss.loss(Ops, params, torch_of(batch), metadata)
    results["loss"].backward()
    return ({name: value.detach().numpy() for name, value in results.items()},
            {name: np.zeros(p.shape) if p.grad is None else p.grad.numpy() for name, p in params.items()})


def run(found, metadata, max_norm):
    params, batch, _, _ = ppo_loss.split(found)
    params, batch = {name: p.requires_grad_() for name, p in torch_of(params).items()}, torch_of(batch)
    adam = torch.optim.Adam(params.values(), lr=ten_updates.LEARNING_RATE, eps=ten_updates.EPSILON)
    rows = []
    for _ in range(ten_updates.UPDATES):
        results = ppo_loss.loss(Ops, params, batch, metadata)
        adam.zero_grad()
        results["loss"].backward()
        norm = torch.nn.utils.clip_grad_norm_(params.values(), max_norm)
        adam.step()
        rows.append([results[term].item() for term in ten_updates.TERMS[:-1]] + [norm.item()])
    return np.array(rows), {name: p.detach().numpy() for name, p in params.items()}


def main():
    trainer, kinds, *programs = sys.argv[1:5]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="papertape-torch-") as folder:
        for name, path in cases.files(trainer, kinds, folder):
            found, metadata = tensors.read(path)
            failures += compare.compare(name, found, metadata, evaluate)
        failures += ten_updates.check(trainer, programs, folder, run)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
