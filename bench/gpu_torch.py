#!/usr/bin/env python3
"""The best peer of gpu_train on the same device: PPO's update in PyTorch. One JSON line a figure (see bench/run for the keys).

usage: bench/gpu_torch.py

As in case 2048x1024x512 of bench/gpu_train.c: policy and value networks of 350 observations and 8 actions, minibatches of 32,768 rows
gathered from 524,288, bf16 products by autocast, ReLU or tanh, clipped loss, gradients clipped to a norm of 0.5, fused Adam; a minibatch
is one CUDA graph, so that the host does not count. Steps/s are those rows over the four epochs, as NAME-update has them. And the
rate of plain products. Exit status 77: there is no GPU, or no PyTorch."""
import json
import math
import sys

ROWS, MINIBATCH, EPOCHS, OBSERVATIONS, ACTIONS, WIDTHS = 524288, 32768, 4, 350, 8, (2048, 1024, 512)
ROUNDS = 32  # minibatches that are timed


def line(case, value, unit, **more):
    print(json.dumps({"bench": "gpu_torch", "case": case, "value": value, "unit": unit, **more}, separators=(",", ":")), flush=True)


def seconds(torch, work, rounds):
    """Of one, by the device's events, after some that warm up."""
    for _ in range(3):
        work()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(rounds):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / rounds


def products(torch):
    for m, n, k in ((8192, 8192, 8192), (MINIBATCH, WIDTHS[1], WIDTHS[0])):
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
        line(f"product-{m}x{n}x{k}", 2 * m * n * k / seconds(torch, lambda: a @ b, 20), "FLOP/s", device=torch.cuda.get_device_name())


def network(torch, activation, outputs):
    layers, width = [], OBSERVATIONS
    for wide in WIDTHS:
        layers += [torch.nn.Linear(width, wide), activation()]
        width = wide
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, outputs)).cuda()


def update(torch, name, activation):
    policy, value = network(torch, activation, ACTIONS), network(torch, activation, 1)
    log_std = torch.zeros(ACTIONS, device="cuda", requires_grad=True)
    parameters = [*policy.parameters(), *value.parameters(), log_std]
    adam = torch.optim.Adam(parameters, lr=3e-4, fused=True, capturable=True)
    observations = torch.randn(ROWS, OBSERVATIONS, device="cuda", dtype=torch.bfloat16)
    actions = torch.randn(ROWS, ACTIONS, device="cuda")
    old, advantages, returns = (torch.randn(ROWS, device="cuda") for _ in range(3))
    chosen = torch.randperm(ROWS, device="cuda")[:MINIBATCH].clone()

    def minibatch():
        rows = observations[chosen]
        adam.zero_grad(set_to_none=False)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            mean, values = policy(rows).float(), value(rows).float().squeeze(1)
        logp = (-0.5 * ((actions[chosen] - mean) / log_std.exp()) ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(1)
        gain = advantages[chosen]
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = (logp - old[chosen] + 12.0).clamp(-5, 5).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() + 0.5 * (returns[chosen] - values).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.5, foreach=True)
        adam.step()

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            minibatch()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        minibatch()
    line(f"{name}-update", MINIBATCH / EPOCHS / seconds(torch, graph.replay, ROUNDS), "steps/s", peer="PyTorch " + torch.__version__)


def main():
    try:
        import torch
    except ImportError:
        sys.exit(77)
    if not torch.cuda.is_available():
        sys.exit(77)
    products(torch)
    update(torch, "2048x1024x512", torch.nn.ReLU)
    update(torch, "2048x1024x512-tanh", torch.nn.Tanh)


if __name__ == "__main__":
    main()
