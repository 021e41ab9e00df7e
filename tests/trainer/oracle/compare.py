"""A file of the trainer's loss and gradients against another library's of the same batch."""
import numpy as np
import ppo_loss

TOLERANCE = 1e-9  # of each tensor's largest magnitude; float64


def difference(ours, theirs):
    """Largest difference as a share of the largest magnitude; infinite where shapes or NaNs do not agree."""
    theirs = np.asarray(theirs, dtype=np.float64)
    if theirs.ndim == 0:
        theirs = theirs.reshape(1)
    if ours.shape != theirs.shape or not np.all(np.isfinite(ours)):
        return np.inf
    largest, apart = np.max(np.abs(theirs), initial=0.0), np.max(np.abs(ours - theirs), initial=0.0)
    if apart == 0:
        return 0.0
    return apart / largest if largest > 0 else np.inf


def compare(name, tensors, metadata, evaluate):
    """evaluate(params, batch, metadata) gives (results, gradients) as NumPy arrays. Prints; counts failures."""
    params, batch, results, grads = ppo_loss.split(tensors)
    their_results, their_grads = evaluate(params, batch, metadata)
    failures, worst = 0, (0.0, "")
    if set(results) != set(their_results) or set(grads) != set(their_grads) or set(grads) != set(params):
        print(f"{name}: has {sorted(results)} and gradients of {sorted(grads)}")
        failures += 1
    pairs = [(key, results[key], their_results[key]) for key in results if key in their_results]
    pairs += [("grad." + key, grads[key], their_grads[key]) for key in grads if key in their_grads]
    for key, ours, theirs in pairs:
        apart = difference(ours, theirs)
        worst = max(worst, (apart, key))
        if not apart <= TOLERANCE:
            print(f"{name}: {key}: differs by {apart:.3g} of its largest magnitude, not at most {TOLERANCE:g}")
            failures += 1
    print(f"{name}: {len(pairs)} tensors, largest difference {worst[0]:.1e} ({worst[1]})")
    return failures


class Coverage:
    """That the cases reach what they are there for: each kind of row and of loss, on both sides of its limit."""

    def __init__(self):
        self.seen = set()

    def add(self, tensors, metadata):
        ratio = np.exp(tensors["logp"] - tensors["old_logp"])
        clip = float(metadata["clip_range"])
        for side, rows in (("low", ratio < 1 - clip), ("high", ratio > 1 + clip)):
            for sign in (-1, 1):
                advantage = tensors["advantages"] - tensors["advantages"].mean()
                if np.any(rows & (np.sign(advantage) == sign)):
                    self.seen.add(f"ratio {side}, advantage {sign:+d}")
        if metadata["clip_range_vf"] != "none":
            apart = np.abs(tensors["values"] - tensors["old_values"]) > float(metadata["clip_range_vf"])
            self.seen.update(f"value clipped: {bool(one)}" for one in apart)
        for key in ("entropy", "value"):
            bound = metadata[key + "_bound"]
            if bound != "none":
                at = abs(abs(tensors[key + "_loss"][0]) - float(bound)) == 0
                self.seen.add(f"{key} loss at its bound: {at}")

    def failures(self):
        wanted = {f"ratio {side}, advantage {sign}" for side in ("low", "high") for sign in ("-1", "+1")}
        for what in ("value clipped", "entropy loss at its bound", "value loss at its bound"):
            wanted |= {f"{what}: {yes}" for yes in (True, False)}
        missing = wanted - self.seen
        for what in sorted(missing):
            print(f"no case has: {what}")
        return len(missing)
