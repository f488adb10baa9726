"""The claims that `bandana run` prints, from the formulas alone.

Gaussian noise: one unit has mu = sensitivity / noise, and (epsilon, delta) follow from mu (gaussian.py). Releases with
independent noise have mu^2 = the sum of their mu^2. With m the least multiplier for the asked (epsilon, delta):

  silos        one record has mu = 1/m, and a person with a record at each of M agents has mu = sqrt(M)/m, or the root of
               the sum of 1/m_i^2 if agents have budgets of their own
  a shuffler   H = max(1, M - colluding) silos hide each other, and each adds noise m/sqrt(H). The shuffler sees one report:
               mu = sqrt(H)/m. A person at all M agents moves the total by M, and has at most mu = M/m there; in the
               reports that the shuffler sees it has mu = sqrt(M H)/m
  arms         Laplace noise: the epsilons of M agents add up. P4's noise has the epsilon of all that report in a round
  amplified    epsilon0 is what n - colluding clients may have (amplification.py)
"""

import math

import mpmath

import amplification
import gaussian
from comparison import Call, Fault, at_least, at_most, equal, log_uniform

NAME = "claims"
GAUSSIAN = "brackets of two calibrations"
SHARE = "a silo's share of the noise is rounded up to whole units"
COPIED = "it is copied"

CONTEXTS = {"environment.kind": "contextual-linear", "environment.contexts": "gap", "environment.dimension": 3,
            "environment.actions": 4, "environment.reward": "bernoulli", "algorithm.name": "fed-ucb",
            "algorithm.sync": "batch", "algorithm.batch": 40}
ARMS = {"environment.kind": "mab", "environment.actions": 4, "algorithm.name": "cdp-mab"}
CLIENTS = {"environment.kind": "linear", "environment.dimension": 3, "environment.actions": 4,
           "environment.reward": "rademacher", "algorithm.name": "private-elimination"}


def draw(rng):
    kind = rng.choice(["silo", "budgets", "person", "shuffle", "arms", "amplified"])
    options = {"horizon": 120, "replicates": 1}
    epsilon, delta = log_uniform(rng, 0.05, 8), log_uniform(rng, 1e-9, 1e-2)
    agents = rng.randint(2, 12)
    if kind == "arms":
        options |= ARMS | {"federation.agents": agents, "privacy.model": "silo", "privacy.epsilon": epsilon}
        options["privacy.calibration"] = rng.choice(["tight", "paper"])
        return Call("run", options, kind)
    if kind == "amplified":
        clients = rng.randint(120, 2000)
        options |= CLIENTS | {"horizon": clients, "environment.population": clients, "privacy.model": "shuffle",
                              "privacy.shuffle": "amplified", "privacy.colluding": rng.randint(1, 20)}
        options |= {"privacy.epsilon": log_uniform(rng, 0.1, 2), "privacy.delta": delta}
        return Call("run", options, kind)
    options |= CONTEXTS | {"federation.agents": agents, "privacy.epsilon": epsilon, "privacy.delta": delta}
    options["privacy.model"] = "shuffle" if kind == "shuffle" else "silo"
    if kind == "shuffle":
        options["privacy.colluding"] = rng.randint(1, 3)
    if kind in ("budgets", "person"):
        options["privacy.budgets"] = [log_uniform(rng, 0.05, 8), log_uniform(rng, 0.05, 8)]
    if kind == "person":
        options["privacy.records_per_person"] = rng.randint(2, 5)
    return Call("run", options, kind)


def claims_of(answer):
    return answer["points"][0]["privacy"]["delivered"]


def find(answer, unit="", adversary=""):
    """The epsilon of the only claim for such a unit, against such an adversary."""
    found = [claim for claim in claims_of(answer) if unit in claim["unit"] and claim["adversary"].startswith(adversary)]
    return found[0]["epsilon"] if len(found) == 1 else None


def near(what, bandana, truth, tolerance, reason):
    yield at_least(f"{what} is true", bandana, truth, min(tolerance, 1e-7), reason)
    yield at_most(f"{what} is the least", bandana, truth, tolerance, reason)


def compare(call, answer):
    asked = call.options
    epsilon, delta, agents = asked["privacy.epsilon"], asked.get("privacy.delta"), asked.get("federation.agents")
    person = f"each of the {agents} agents"
    if call.mechanism == "arms":
        one = epsilon * (agents if asked["privacy.calibration"] == "paper" else 1)
        yield from near("arms: one reward", find(answer, "one reward"), one, 1e-12, "rounding of a product")
        yield from near("arms: a person", find(answer, person), agents * one, 1e-12, "rounding of a product")
        return
    if call.mechanism == "amplified":
        clients = max(1, asked["environment.population"] - asked["privacy.colluding"])
        yield equal("amplified: the server", find(answer, adversary="the server"), epsilon, 0, COPIED)
        epsilon0 = find(answer, adversary="the shuffler")
        largest = max(amplification.largest_epsilon0(clients, epsilon, delta), epsilon)
        yield at_most("amplified: epsilon0 is not too large", epsilon0, largest, 1e-6, "width of two brackets")
        yield at_least("amplified: epsilon0 is the largest", epsilon0, largest, 1e-2, "bandana's bound sums clones coarsely")
        return
    if "privacy.budgets" in asked:
        budgets = asked["privacy.budgets"]
        for i, budget in enumerate(budgets):
            yield equal("one budget", find(answer, f"agents {i + 1}, {i + 3}, ... (epsilon"), budget, 0, COPIED)
        if call.mechanism == "person":
            yield equal("agents of different budgets", find(answer, "different budgets"), max(budgets), 0, COPIED)
            return
    else:
        budgets = [epsilon]
    multipliers = [gaussian.least_multiplier(each, delta) for each in budgets]
    if call.mechanism == "shuffle":
        multiplier, hiding = multipliers[0], max(1, agents - asked["privacy.colluding"])
        yield equal("shuffle: the server", find(answer, "one record", "the server"), epsilon, 0, COPIED)
        yield from near("shuffle: the shuffler", find(answer, "one record", "the shuffler"),
                        gaussian.least_epsilon(delta, math.sqrt(hiding) / multiplier), 1e-4, SHARE)
        yield from near("shuffle: a person, totals", find(answer, person, "everyone"),
                        gaussian.least_epsilon(delta, agents / multiplier), 1e-4, SHARE)
        yield from near("shuffle: a person, reports", find(answer, person, "the shuffler"),
                        gaussian.least_epsilon(delta, math.sqrt(agents * hiding) / multiplier), 1e-4, SHARE)
        return
    if "privacy.budgets" not in asked:
        yield equal("one record", find(answer, "one record"), epsilon, 0, COPIED)
    mu = mpmath.sqrt(sum(multipliers[i % len(multipliers)] ** -2 for i in range(agents)))
    yield from near("a person", find(answer, person), gaussian.least_epsilon(delta, mu), 1e-6, GAUSSIAN)


def scaled(factor, unit="", adversary=""):
    """An edit that multiplies the epsilons of such claims."""
    def edit(document):
        found = [claim for claim in claims_of(document)
                 if unit in claim["unit"] and claim["adversary"].startswith(adversary)]
        for claim in found:
            claim["epsilon"] *= factor
        return document if found else None
    return edit


FAULTS = [
    Fault("all epsilons understated by 2 %", scaled(0.98)),
    Fault("all epsilons overstated by 2 %", scaled(1.02)),
    Fault("one record understated", scaled(0.98, "one record")),
    Fault("one reward understated", scaled(0.98, "one reward")),
    Fault("one reward overstated", scaled(1.02, "one reward")),
    Fault("a person understated", scaled(0.98, "each of the")),
    Fault("a person overstated", scaled(1.02, "each of the")),
    Fault("the mixture of budgets understated", scaled(0.98, "different budgets")),
    Fault("the shuffler understated", scaled(0.98, "", "the shuffler")),
    Fault("the shuffler overstated", scaled(1.02, "", "the shuffler")),
]
