"""Networks as bench/live_orders has them, by NumPy: python live_peer.py POLICIES ROUNDS prints the p50 and the p99 of the seconds
that one observation takes through all of them, one after the other, with what is around it (features, rules, orders) left out."""

import sys
import time

import numpy as np

WIDTHS = (204, 2048, 1024, 512, 7)
SWEEP = 128 << 20


def main():
    policies, rounds = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(9)
    # [out, in], rows that lie together: the faster of the two ways for one observation
    networks = [[(rng.standard_normal((outs, ins), dtype=np.float32) / np.float32(ins) ** 0.5, np.zeros(outs, np.float32))
                 for ins, outs in zip(WIDTHS, WIDTHS[1:])] for _ in range(policies)]
    room = np.ones(SWEEP // 8)
    took = []
    for _ in range(rounds):
        room.sum()
        observation = rng.standard_normal(WIDTHS[0], dtype=np.float32)
        started = time.perf_counter()
        for network in networks:
            x = observation
            for weight, bias in network[:-1]:
                x = np.tanh(weight @ x + bias)
            x = network[-1][0] @ x + network[-1][1]
        took.append(time.perf_counter() - started)
    took.sort()
    print(took[rounds // 2], took[rounds * 99 // 100])


if __name__ == "__main__":
    main()
