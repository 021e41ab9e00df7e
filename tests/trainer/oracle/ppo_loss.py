"""The networks and PPO's loss from their definitions (strategy/policy/net.h, trainer/nn/train.h), for a library of
arrays that differentiates: `ops` has its functions by NumPy's names; mean and logsumexp keep the axis, sum does not."""
import math


def number(metadata, key):
    """None where it is `none` or not there."""
    text = metadata.get(key, "none")
    return None if text == "none" else float(text)


def activation(ops, name, x):
    if name == "tanh":
        return ops.tanh(x)
    sigmoid = 1 / (1 + ops.exp(-x))
    return ops.maximum(x, 0 * x) if name == "relu" else x * sigmoid


def norm(ops, x, weight, bias):
    centred = x - ops.mean(x, -1)
    return centred / ops.sqrt(ops.mean(centred * centred, -1) + 1e-5) * weight + bias


def recurrent(ops, x, params, part, before, starts, steps):
    """minGRU over sequences of `steps` rows; before: [sequences, R]."""
    both = x @ params[part + ".recurrent.weight"].T + params[part + ".recurrent.bias"]
    units = both.shape[1] // 2
    z = (1 / (1 + ops.exp(-both[:, :units]))).reshape(-1, steps, units)
    c = both[:, units:].reshape(-1, steps, units)
    began = starts.reshape(-1, steps, 1)
    h, out = before, []
    for t in range(steps):
        h = (1 - z[:, t]) * (h * (1 - began[:, t])) + z[:, t] * c[:, t]
        out.append(h)
    return ops.stack(out, 1).reshape(-1, units)


def chain(ops, x, params, part, metadata, state):
    """Hidden layers, recurrent layer and head of `part`, as many as it has; state: (before, starts) or None."""
    layers = 0
    while f"{part}.{layers}.weight" in params:
        layers += 1
    hidden = layers if part == "shared" else layers - 1
    for at in range(layers):
        layer = f"{part}.{at}"
        if at == hidden and state is not None:
            x = recurrent(ops, x, params, part, *state, int(number(metadata, "steps")))
        x = x @ params[layer + ".weight"].T + params[layer + ".bias"]
        if at == hidden:
            return x
        if layer + ".norm.weight" in params:
            x = norm(ops, x, params[layer + ".norm.weight"], params[layer + ".norm.bias"])
        x = activation(ops, metadata["activation"], x)
    return x if state is None else recurrent(ops, x, params, part, *state, int(number(metadata, "steps")))


def networks(ops, params, batch, metadata):
    """Heads [B, outputs] and values [B]."""
    units = int(number(metadata, "recurrent") or 0)
    shared = "shared.0.weight" in params
    states = {}
    if units:
        for i, part in enumerate(["shared"] if shared else ["pi", "vf"]):
            states[part] = (batch["hidden"][:, i * units : (i + 1) * units], batch["starts"])
    x = batch["obs"]
    if shared:
        x = chain(ops, x, params, "shared", metadata, states.get("shared"))
    heads = chain(ops, x, params, "pi", metadata, states.get("pi"))
    values = chain(ops, x, params, "vf", metadata, states.get("vf"))
    return heads, values[:, 0]


def distribution(ops, params, heads, batch, metadata):
    """Log probability and entropy of each row."""
    levels = int(number(metadata, "levels") or 0)
    actions = batch["actions"]
    if levels:
        logits = heads.reshape(heads.shape[0], -1, levels)
        logp = logits - ops.logsumexp(logits, -1)
        chosen = (actions[:, :, None] == ops.arange(levels)) * 1.0
        return ops.sum(ops.sum(chosen * logp, -1), -1), -ops.sum(ops.sum(ops.exp(logp) * logp, -1), -1)
    log_std = params["log_std"]
    z = (actions - heads) / ops.exp(log_std)
    logp = ops.sum(-0.5 * z * z - log_std - 0.5 * math.log(2 * math.pi), -1)
    entropy = ops.sum(0.5 + 0.5 * math.log(2 * math.pi) + log_std + 0 * heads, -1)
    return logp, entropy


def clamp(ops, x, bound):
    return x if bound is None else ops.clip(x, -bound, bound)


def loss(ops, params, batch, metadata):
    """Everything that a grad-check file has of results, by its names."""
    heads, values = networks(ops, params, batch, metadata)
    logp, entropy = distribution(ops, params, heads, batch, metadata)
    advantages = batch["advantages"]
    n = advantages.shape[0]
    centred = advantages - ops.sum(advantages, -1) / n
    advantages = centred / (ops.sqrt(ops.sum(centred * centred, -1) / (n - 1)) + 1e-8)
    clip_range, clip_range_vf = number(metadata, "clip_range"), number(metadata, "clip_range_vf")
    ratio = ops.exp(logp - batch["old_logp"])
    kept = ops.clip(ratio, 1 - clip_range, 1 + clip_range)
    v = values
    if clip_range_vf is not None:
        v = batch["old_values"] + ops.clip(v - batch["old_values"], -clip_range_vf, clip_range_vf)
    raw = {
        "policy_loss": -ops.sum(ops.minimum(ratio * advantages, kept * advantages), -1) / n,
        "value_loss": ops.sum((batch["returns"] - v) ** 2, -1) / n,
        "entropy_loss": -ops.sum(entropy, -1) / n,
    }
    value_loss = clamp(ops, raw["value_loss"], number(metadata, "value_bound"))
    entropy_loss = clamp(ops, raw["entropy_loss"], number(metadata, "entropy_bound"))
    total = raw["policy_loss"] + number(metadata, "ent_coef") * entropy_loss
    total = total + number(metadata, "vf_coef") * value_loss
    return {
        "logits" if number(metadata, "levels") else "mean": heads,
        "values": values,
        "logp": logp,
        "policy_loss": raw["policy_loss"],
        "value_loss": value_loss,
        "entropy_loss": entropy_loss,
        "loss": total,
    }


PARAMETERS = ("pi.", "vf.", "shared.", "log_std")


def split(tensors):
    """Parameters, batch, results and gradients of a file."""
    grads = {name[5:]: value for name, value in tensors.items() if name.startswith("grad.")}
    params = {name: value for name, value in tensors.items() if name.startswith(PARAMETERS)}
    given = ("obs", "actions", "old_logp", "old_values", "advantages", "returns", "hidden", "starts")
    batch = {name: tensors[name] for name in given if name in tensors}
    rest = set(tensors) - set(params) - set(batch) - {"grad." + name for name in grads}
    return params, batch, {name: tensors[name] for name in rest}, grads
