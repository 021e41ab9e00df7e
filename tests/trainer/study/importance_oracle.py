#!/usr/bin/env python3
"""Shares of variance along each axis of a tree, against Optuna's own _FanovaTree on the same tree, which is grown here as
scikit-learn would (which the venv need not have): fully, without drawing. Values are whole numbers, so that equally good cuts are
equal to the last digit in both.

usage: importance_oracle.py HELPER"""

import os
import subprocess
import sys
import types

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("optuna"):
    import numpy as np
    from optuna.importance._fanova._tree import _FanovaTree


class Tree:
    """What _FanovaTree reads of scikit-learn's Tree."""

    def __init__(self, x, y):
        self.feature, self.threshold, self.children_left, self.children_right, values = [], [], [], [], []
        self.x, self.y, self.values = x, y, values
        self.grow(np.arange(len(y)))
        self.n_features, self.node_count = x.shape[1], len(self.feature)
        self.feature, self.threshold = np.array(self.feature), np.array(self.threshold)
        self.children_left, self.children_right = np.array(self.children_left), np.array(self.children_right)
        self.value = np.array(values).reshape(-1, 1, 1)

    def best(self, rows):
        found = None
        total, count = self.y[rows].sum(), len(rows)
        for feature in range(self.x.shape[1]):
            order = rows[np.argsort(self.x[rows, feature], kind="stable")]
            places, left = self.x[order, feature], np.cumsum(self.y[order])
            for i in np.nonzero(places[1:] > places[:-1])[0]:
                score = left[i] * left[i] / (i + 1) + (total - left[i]) * (total - left[i]) / (count - i - 1)
                if found is None or score > found[0]:
                    found = score, feature, places[i] + (places[i + 1] - places[i]) / 2
        return found

    def grow(self, rows):
        node = len(self.feature)
        for column, value in ((self.feature, -2), (self.threshold, -2.0), (self.children_left, -1), (self.children_right, -1),
                              (self.values, self.y[rows].mean())):
            column.append(value)
        found = None if (self.y[rows] == self.y[rows[0]]).all() else self.best(rows)
        if found:
            _, self.feature[node], self.threshold[node] = found
            left = self.x[rows, self.feature[node]] <= self.threshold[node]
            self.children_left[node] = self.grow(rows[left])
            self.children_right[node] = self.grow(rows[~left])
        return node


def ours(helper, x, y, bounds):
    lines = [f"{len(y)} {x.shape[1]}"] + [f"0 {low!r} {high!r}" for low, high in bounds.tolist()]
    lines += [" ".join(map(repr, [*row, value])) for row, value in zip(x.tolist(), y.tolist(), strict=True)]
    done = subprocess.run([helper], input="\n".join(lines), capture_output=True, text=True, check=True)
    return np.array([float(line) for line in done.stdout.split()])


def main():
    rng = np.random.default_rng(20221)
    worst, compared = 0.0, 0
    for case in range(24):
        n, d = int(rng.integers(2, 70)), int(rng.integers(1, 6))
        bounds = np.stack([rng.uniform(-5, 0, d), rng.uniform(0.5, 7, d)], axis=1)
        x = rng.uniform(bounds[:, 0], bounds[:, 1], (n, d))
        if case % 3 == 0:  # places that several share
            x = np.clip(np.round(x * 2) / 2, bounds[:, 0], bounds[:, 1])
        y = np.round(20 * np.sin(x[:, 0]) + 9 * x[:, -1] + rng.normal(0, case % 4, n))
        tree = Tree(x, y)
        theirs = _FanovaTree(types.SimpleNamespace(**vars(tree)), bounds)
        if not theirs.variance > 0:
            continue
        expected = np.array([theirs.get_marginal_variance(np.array([k])) if len(theirs._split_midpoints[k]) else 0
                             for k in range(d)]) / theirs.variance
        got = ours(sys.argv[1], x, y, bounds)
        worst = max(worst, float(np.abs(got - expected).max()))
        if not worst <= 1e-9:
            sys.exit(f"case {case}: {n} trials, {d} axes: {got} is not Optuna's {expected}")
        compared += 1
    if compared < 20:
        sys.exit(f"only {compared} trees varied")
    print(f"{compared} trees: shares within {worst:.1e} of Optuna's")


main()
