"""Speed of policies from Python: rounds per second of processor time, one core. script/bench --python runs it."""

from __future__ import annotations

import sys
import time
import warnings

import numpy

import bandana
from bandana import policies

warnings.simplefilter("ignore", bandana.InsecureSeedWarning)


def best_rate(work, rounds: int, repeats: int = 5) -> float:
    """Returns the largest number of rounds per second of some repeats."""
    rates = []
    for _ in range(repeats):
        begin = time.thread_time()
        work(rounds)
        rates.append(rounds / (time.thread_time() - begin))
    return max(rates)


def measure(dimension: int, arms: int, seed: int | None) -> None:
    policy = policies.LdpSgd(arms=arms, dimension=dimension, rewards=(0, 1), horizon=10**9, epsilon=1.0, seed=seed)
    rng = numpy.random.default_rng(1)
    X = rng.normal(size=(20_000, arms, dimension))
    X /= numpy.linalg.norm(X, axis=2, keepdims=True)
    x = X[0].copy()
    actions, rewards = policy.predict(X), rng.random(len(X))

    def select(n: int) -> None:
        for _ in range(n):
            policy.select(x)

    def update(n: int) -> None:
        for _ in range(n):
            policy.update(x, 3, 1.0)

    def both(n: int) -> None:
        for _ in range(n):
            policy.update(x, policy.select(x), 1.0)

    n = 20_000
    exact = n if seed is not None else n // 4
    rates = {
        "select": best_rate(select, n),
        "update": best_rate(update, exact),
        "select and update": best_rate(both, exact),
        "partial_fit": best_rate(lambda m: policy.partial_fit(X[:m], actions[:m], rewards[:m]), exact),
        "predict": best_rate(lambda m: policy.predict(X[:m]), n),
    }
    sampler = "seeded" if seed is not None else "exact "
    for what, rate in rates.items():
        print(f"policies/ldp-sgd/d={dimension}/K={arms}/{sampler}/{what:<18} {rate / 1e6:8.3f} M rounds/s")


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    if wanted in "policies/ldp-sgd":
        for size in ((2, 10), (10, 20), (20, 20)):
            for seed in (7, None):
                measure(*size, seed)
