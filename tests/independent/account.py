"""Lists of releases: privacy loss distributions, Gaussian, Renyi and zCDP composition, basic composition, cohorts.

Each event has the law of its loss from its definition. The losses of all releases that concern one client add;
losses.py has two ways to compute the least epsilon or delta of the sum. Renyi divergences come from the same laws,
since D_alpha = ln E e^((alpha - 1) L)/(alpha - 1).
"""

import functools
import json
import math

import numpy
import scipy.optimize

import amplification
import gaussian
import shuffle_sum
from comparison import Call, Fault, at_least, at_most, equal, log_uniform
from losses import Atoms, Gaussian, Grid, Inversion, Laplace, first_guess, log_moment, randomized_response, shifted

NAME = "account"
LOOSE = 5e-4
NEGLIGIBLE = 1e-20
ACCURACY = 1e-13  # the rounding of the transforms


@functools.lru_cache(maxsize=256)
def law(text):
    """The law of the loss of one release, for an event as JSON; None if the event does not determine one."""
    event = json.loads(text)
    kind = event["mechanism"]
    if kind == "gaussian":
        return Gaussian(event["sensitivity"] / event["sigma"])
    if kind == "gdp":
        return Gaussian(event["mu"])
    if kind == "pure-dp":
        return randomized_response(event["epsilon"])
    if kind == "approximate-dp":
        return randomized_response(event["epsilon"], event["delta"])
    if kind in ("laplace", "discrete-laplace"):
        epsilon = event["sensitivity"] / event["scale"]
        if event["dimension"] > 1:
            return randomized_response(epsilon)
        return Laplace(epsilon) if kind == "laplace" else discrete_laplace(event["scale"], event["sensitivity"])
    if kind == "discrete-gaussian" and event["dimension"] == 1:
        x = numpy.arange(-math.ceil(40 * event["sigma"]) - event["sensitivity"], math.ceil(40 * event["sigma"]) + 1)
        atoms = shifted(-x ** 2 / (2 * event["sigma"] ** 2), event["sensitivity"], NEGLIGIBLE)
        return Atoms(atoms.losses, atoms.masses)  # the noise has all integers, so no loss is infinite
    if kind == "shuffle-sum":
        return shuffle_sum.coordinate(event["trials"], event["sensitivity"], 0.5, NEGLIGIBLE)
    if kind == "shuffled-ldp":
        return amplification.loss(event["n"], event["epsilon0"], NEGLIGIBLE)
    return None


def discrete_laplace(t, shift):
    """P(k) ~ e^(-|k|/t) against the same, moved by `shift`: by summation over k."""
    k = numpy.arange(-math.ceil(60 * t), math.ceil(60 * t) + shift + 1)
    masses = numpy.exp(-abs(k) / t) * math.tanh(1 / (2 * t))
    return Atoms((abs(k - shift) - abs(k)) / t, masses)


def pure_epsilon(event):
    """The epsilon of a release that is (epsilon, delta)-DP by its parameters; None for other events."""
    if "laplace" in event["mechanism"]:
        return event["sensitivity"] / event["scale"]
    return event.get("epsilon", event.get("epsilon0"))


def copies(event):
    """How many releases of the event concern one client."""
    return 1 if event.get("disjoint") else event["count"]


def releases_of_one(event):
    """How many independent losses one client has from the event."""
    return copies(event) * event.get("coordinates", 1)


def cohorts(events):
    """The lists that concern one client, one list for each cohort."""
    names = sorted({event["cohort"] for event in events if "cohort" in event}) or [None]
    return {name: [event for event in events if event.get("cohort", name) == name] for name in names}


def key(event):
    return json.dumps({k: v for k, v in event.items() if k not in ("count", "cohort", "disjoint")}, sort_keys=True)


class Truth:
    """The least epsilon at a delta, or the least delta at an epsilon, of a list; both as brackets."""

    def __init__(self, events, question):
        laws = [(law(key(event)), releases_of_one(event)) for event in events]
        gauss = math.sqrt(sum(count * one.mu ** 2 for one, count in laws if isinstance(one, Gaussian)))
        rest = [(one, count) for one, count in laws if not isinstance(one, Gaussian)]
        self.gauss = gauss if not rest else None
        if rest:
            joined = rest + ([(Gaussian(gauss), 1)] if gauss else [])
            guess = question["epsilon"] if "epsilon" in question else first_guess(joined, question["delta"])
            # Each method is used where it converges fast.
            self.sum = (Inversion if gauss > 0.15 else Grid)(joined, guess)

    def epsilon(self, delta):
        if self.gauss is not None:
            return (float(gaussian.least_epsilon(delta, self.gauss)),) * 2
        return self.sum.epsilon(delta) if delta > self.sum.lost else (math.inf, math.inf)

    def delta(self, epsilon):
        if self.gauss is not None:
            return (gaussian.least_delta(epsilon, self.gauss),) * 2  # many digits, and no underflow
        shift = getattr(self.sum, "error", 0.0)
        return self.sum.delta(epsilon + shift) - ACCURACY, self.sum.delta(epsilon) + ACCURACY


def conversion(alpha):
    """ln of the largest k = (1 - y) y^(alpha - 1), 0 < y < 1. So max(0, 1 - e^-x) <= k e^((alpha - 1) x) for all x."""
    return alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)


def best_order(bound):
    """The least value of the bound over all orders alpha > 1."""
    def at(log_order):
        value = bound(1 + math.exp(log_order))
        return value if math.isfinite(value) else 1e300
    start = min(numpy.linspace(math.log(1e-3), math.log(1e7), 120), key=at)
    found = scipy.optimize.minimize_scalar(at, bounds=(start - 0.3, start + 0.3), method="bounded",
                                           options={"xatol": 1e-10})
    return min(found.fun, at(start))


def renyi_divergence(event, alpha):
    kind = event["mechanism"]
    if kind == "zcdp":
        return event["rho"] * alpha
    if kind == "discrete-gaussian":  # Canonne, Kamath, Steinke (2020): at most that of the Gaussian
        return alpha / 2 * (event["sensitivity"] / event["sigma"]) ** 2
    if kind == "discrete-laplace" or kind == "shuffled-ldp" or kind == "approximate-dp":
        one = randomized_response(pure_epsilon(event))
    else:
        one = law(key(event))
    if isinstance(one, Gaussian):
        return alpha / 2 * one.mu ** 2
    high = one.support()[1]  # e^((alpha - 1) L) overflows for large orders
    if (alpha - 1) * high < 500:
        return log_moment([(one, 1)], alpha - 1) / (alpha - 1)
    top = 0.5 if isinstance(one, Laplace) else float(one.masses[one.losses == high].sum())
    return high + math.log(top) / (alpha - 1)


def rho(event):
    """The zCDP parameter. An epsilon-DP release has epsilon^2/2 (Bun and Steinke 2016)."""
    kind = event["mechanism"]
    if kind == "zcdp":
        return event["rho"]
    if kind in ("gaussian", "discrete-gaussian"):
        return (event["sensitivity"] / event["sigma"]) ** 2 / 2
    return event["mu"] ** 2 / 2 if kind == "gdp" else pure_epsilon(event) ** 2 / 2


def by_divergence(events, divergence, question):
    """The answer of the Renyi or the zCDP proof. The deltas of approximate releases are set aside."""
    aside = sum(event["delta"] * releases_of_one(event) for event in events if event["mechanism"] == "approximate-dp")

    def total(alpha):
        return sum(releases_of_one(event) * divergence(event, alpha) for event in events)
    if "delta" in question:
        left = question["delta"] - aside
        if left <= 0:
            return None
        return max(0.0, best_order(lambda a: total(a) + (conversion(a) - math.log(left)) / (a - 1)))
    best = best_order(lambda a: (a - 1) * (total(a) - question["epsilon"]) + conversion(a))
    return aside + math.exp(min(best, 0))


def by_adding(events, delta):
    """Basic composition at a delta, as a bracket.

    Releases that are not (epsilon, delta)-DP as stated share what is left of the delta.
    """
    left = delta - sum(event.get("delta", 0) * releases_of_one(event) for event in events)
    sharing = [event for event in events if pure_epsilon(event) is None]
    shares = sum(copies(event) for event in sharing)
    pure = sum(pure_epsilon(event) * copies(event) for event in events if event not in sharing)
    parts = [(copies(event), one_release(key(event), left / shares)) for event in sharing]
    return tuple(pure + sum(count * bracket[end] for count, bracket in parts) for end in (0, 1))


@functools.lru_cache(maxsize=256)
def one_release(text, delta):
    """A bracket of the epsilon of one release at a delta: exact if its law is known, else by zCDP."""
    event = json.loads(text) | {"count": 1}
    if law(text) is None:
        return (by_divergence([event], lambda each, alpha: alpha * rho(each), {"delta": delta}),) * 2
    return Truth([event], {"delta": delta}).epsilon(delta)


def draw_event(rng, kind):
    small = rng.random() < 0.5
    event = {"mechanism": kind}
    if kind == "gaussian":
        event |= {"sigma": log_uniform(rng, 3, 30), "sensitivity": log_uniform(rng, 0.3, 3)}
    elif kind == "gdp":
        event |= {"mu": log_uniform(rng, 0.03, 0.5)}
    elif kind == "zcdp":
        event |= {"rho": log_uniform(rng, 1e-4, 0.1)}
    elif kind == "discrete-gaussian":
        event |= {"sigma": log_uniform(rng, 2, 40), "sensitivity": rng.randint(1, 3),
                  "dimension": rng.choice([1, 1, 5])}
    elif kind == "laplace":
        event |= {"scale": log_uniform(rng, 2, 30), "sensitivity": log_uniform(rng, 0.5, 2),
                  "dimension": rng.choice([1, 1, 3])}
    elif kind == "discrete-laplace":
        event |= {"scale": log_uniform(rng, 3, 50), "sensitivity": rng.randint(1, 4), "dimension": 1}
    elif kind == "pure-dp":
        event |= {"epsilon": log_uniform(rng, 0.02, 0.6)}
    elif kind == "approximate-dp":
        event |= {"epsilon": log_uniform(rng, 0.02, 0.6), "delta": log_uniform(rng, 1e-11, 1e-9)}
    elif kind == "shuffle-sum":
        event |= {"trials": round(log_uniform(rng, 500, 50_000)), "sensitivity": rng.randint(1, 8),
                  "coordinates": rng.randint(1, 6)}
    elif kind == "shuffled-ldp":
        event |= {"epsilon0": log_uniform(rng, 0.3, 3), "n": round(log_uniform(rng, 50, 3000))}
    event |= {"unit": "client", "neighbours": "replace-one", "count": rng.randint(1, 3 if small else 12)}
    if rng.random() < 0.15:
        event["disjoint"] = True
    return event


EXACT = ("gaussian", "gdp", "discrete-gaussian", "laplace", "discrete-laplace", "pure-dp", "approximate-dp",
         "shuffle-sum", "shuffled-ldp")
DIVERGENCE = ("gaussian", "gdp", "zcdp", "discrete-gaussian", "laplace", "pure-dp", "approximate-dp")


def draw(rng):
    kinds = rng.choice([("gaussian", "gdp"), EXACT, EXACT, EXACT, DIVERGENCE, ("laplace", "pure-dp", "gaussian")])
    events = [draw_event(rng, rng.choice(kinds)) for _ in range(rng.randint(1, 4))]
    if kinds is EXACT:
        events = [event | {"dimension": 1} if event["mechanism"] == "discrete-gaussian" else event for event in events]
    if len(events) > 2 and rng.random() < 0.4:
        for event, cohort in zip(events, ("north", "south")):
            event["cohort"] = cohort
    if rng.random() < 0.7:
        question = {"delta": log_uniform(rng, 1e-8, 1e-3)}
    else:  # an epsilon whose delta is neither near 1 nor tiny
        mu = math.sqrt(sum(releases_of_one(event) * rough_mu(event) ** 2 for event in events))
        question = {"epsilon": float(f"{mu * rng.uniform(0.3, 2.5) + mu ** 2 / 2:.3g}")}
    return Call("account", question, events=tuple(events))


def rough_mu(event):
    """The standard deviation of the loss of one release, roughly."""
    if event["mechanism"] == "shuffle-sum":
        return 2 * event["sensitivity"] / math.sqrt(event["trials"])
    if event["mechanism"] == "shuffled-ldp":
        return min(event["epsilon0"], 2 * math.sinh(event["epsilon0"] / 2) * math.sqrt(1 / event["n"]))
    return math.sqrt(2 * rho(event)) / (1 if event["mechanism"] in ("gaussian", "gdp", "zcdp") else 1.3)


def worst(lists, answer_of):
    """The largest answer over the cohorts; None if one has none."""
    answers = [answer_of(events) for events in lists.values()]
    return None if None in answers else max(answers)


def compare(call, answer):
    asked = "epsilon" if "delta" in call.options else "delta"  # what is asked for
    given = "delta" if asked == "epsilon" else "epsilon"
    lists = cohorts(call.events)
    proofs = {proof["proof"]: proof[asked] for proof in answer["proofs"] if proof[asked] is not None}
    kinds = {event["mechanism"] for event in call.events}
    yield equal(f"the given {given}", answer[given], call.options[given], 0, "it is copied")
    yield equal("the best proof is used", answer[asked], min(proofs.values()), 0, "it is a choice")

    if all(law(key(event)) is not None for event in call.events):
        yield from compare_truth(lists, call.options, answer, proofs, asked, kinds)
    if kinds <= {"gaussian", "gdp"}:
        yield equal("a Gaussian list has the Gaussian proof", "gdp" in proofs, True, 0, "docs/accounting.md")
    if "shuffle-sum" not in kinds:
        yield from compare_divergences(call, lists, proofs, asked)
    # Basic composition does not use the amplification of shuffled-ldp.
    if "basic" in proofs and asked == "epsilon" and "shuffled-ldp" not in kinds:
        brackets = [by_adding(events, call.options["delta"]) for events in lists.values()]
        low, high = max(low for low, _ in brackets), max(high for _, high in brackets)
        yield at_least("epsilon of basic composition adds up", proofs["basic"], low, 1e-9,
                       "ours is the lower end of a bracket")
        yield at_most("epsilon of basic composition is the least", proofs["basic"], high, LOOSE,
                      "steps of bandana's grid")


def compare_truth(lists, question, answer, proofs, asked, kinds):
    """Every proof is true, and the one that is used is nearly the least."""
    truths = [cached_truth(json.dumps(events), json.dumps(question)) for events in lists.values()]

    def largest(brackets):
        lows, highs = zip(*brackets)
        return max(lows), max(highs)
    all_gaussian = kinds <= {"gaussian", "gdp"}
    loose, reason = (1e-9, "Gaussians compose exactly") if all_gaussian else (LOOSE, "steps of bandana's grid")
    if "shuffled-ldp" in kinds:
        loose, reason = 1.5e-3, "bandana pools the values of C in blocks"
    if asked == "epsilon":
        low, high = largest(truth.epsilon(question["delta"]) for truth in truths)
    else:  # the same looseness of epsilon
        low, _ = largest(truth.delta(question["epsilon"]) for truth in truths)
        _, high = largest(truth.delta(question["epsilon"] * (1 - loose)) for truth in truths)
        loose, reason = 1e-6, f"{reason}; ours is at an epsilon that is {loose:g} of itself smaller"
    for name, number in proofs.items():
        yield at_least(f"{asked} of proof {name} is true", number, low, 1e-11 if all_gaussian else 1e-9,
                       "ours is the lower end of a bracket, with the rounding of the transforms")
    yield at_most(f"{asked} is nearly the least", answer[asked], high, loose, reason)


@functools.lru_cache(maxsize=64)
def cached_truth(events, question):
    return Truth(json.loads(events), json.loads(question))


def compare_divergences(call, lists, proofs, asked):
    """Renyi: never below the best of all orders, and little above it. zCDP: the best of all orders."""
    for name, loose, divergence, orders in (("renyi", 0.02, renyi_divergence, "201 orders"),
                                            ("zcdp", 1e-6, lambda event, alpha: alpha * rho(event), "all orders")):
        ours = worst(lists, lambda events: by_divergence(events, divergence, call.options))
        if ours is None or name not in proofs:
            continue
        if asked == "delta":
            if ours >= 1:
                continue
            loose *= 5
        yield at_least(f"{asked} of {name} is that of an order", proofs[name], ours, 1e-8, "our search over orders")
        yield at_most(f"{asked} of {name} is the least", proofs[name], ours, loose,
                      f"docs/proofs/accounting.md: the best of {orders}")


def asked_for(answer):
    """What was asked for: the other number is the same in all proofs, and is the answer's."""
    given = {proof["delta"] for proof in answer["proofs"] if proof["delta"] is not None}
    return "epsilon" if given == {answer["delta"]} and len(answer["proofs"]) > 1 else "delta"


def edit_proof(name, asked, factor):
    """Multiplies the epsilon or the delta of a proof, and of the answer if that proof is used."""
    def edit(answer):
        proof = next((proof for proof in answer["proofs"] if proof["proof"] == name and proof[asked]), None)
        if proof is None or asked_for(answer) != asked:
            return None
        if answer["proof"] == name:
            answer[asked] *= factor
        proof[asked] *= factor
        return answer
    return edit


def edit_answer(asked, factor):
    """Multiplies the answer, and the same number of the proof that is used."""
    def edit(answer):
        return edit_proof(answer["proof"], asked, factor)(answer)
    return edit


def edit_given(answer):
    """Changes the number that the question gave."""
    answer["delta" if asked_for(answer) == "epsilon" else "epsilon"] *= 1.01
    return answer


def without_gdp(answer):
    """The Gaussian proof is missing although it applies."""
    if answer["proof"] != "gdp":
        return None
    answer["proofs"] = [proof for proof in answer["proofs"] if proof["proof"] != "gdp"]
    return answer


def where(applies, edit):
    """An edit that applies only to lists of some kinds of events."""
    return lambda answer: edit(answer) if applies({event["mechanism"] for event in answer["events"]}) else None


PROOFS = ("gdp", "pld", "renyi", "zcdp", "basic")
COMPARED = ("gdp", "renyi", "zcdp")  # these are compared from above even if another proof is used
FAULTS = [
    *(Fault(f"epsilon of {name} understated by 1 %", edit_proof(name, "epsilon", 0.99)) for name in PROOFS[:-1]),
    Fault("epsilon of basic understated by 1 %",
          where(lambda kinds: "shuffled-ldp" not in kinds, edit_proof("basic", "epsilon", 0.99))),
    Fault("epsilon of basic overstated by 3 %",
          where(lambda kinds: "shuffled-ldp" not in kinds, edit_proof("basic", "epsilon", 1.03))),
    *(Fault(f"delta of {name} understated by half", edit_proof(name, "delta", 0.5)) for name in PROOFS[:-1]),
    *(Fault(f"epsilon of {name} nearly zero", edit_proof(name, "epsilon", 1e-3)) for name in PROOFS),
    *(Fault(f"delta of {name} nearly zero", edit_proof(name, "delta", 1e-9)) for name in PROOFS[:-1]),
    Fault("delta of basic nearly zero",
          where(lambda kinds: not kinds & {"zcdp", "discrete-gaussian"}, edit_proof("basic", "delta", 1e-9))),
    *(Fault(f"epsilon of {name} overstated by 3 %", edit_proof(name, "epsilon", 1.03)) for name in COMPARED),
    *(Fault(f"delta of {name} overstated by half", edit_proof(name, "delta", 1.5)) for name in COMPARED),
    Fault("the answer's epsilon overstated by 3 %", edit_answer("epsilon", 1.03)),
    Fault("the answer's delta overstated by half", edit_answer("delta", 1.5)),
    Fault("the given number off by 1 %", edit_given),
    Fault("the Gaussian proof is left out", without_gdp),
]
