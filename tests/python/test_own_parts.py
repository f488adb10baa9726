"""Environments and algorithms in Python, run by the lab."""

import dataclasses
import warnings

import numpy
import pytest

import bandana
from bandana._python_parts import generator

ARMS, DIMENSION = 4, 2


@dataclasses.dataclass
class Ads(bandana.UserEnvironment):
    """Ads for people with two features."""

    tilt: float = bandana.option(0.3, "How much an arm's direction counts.", accepted=(0, 1))
    block_size = 512
    facts = bandana.Facts(arms=ARMS, dimension=DIMENSION, rewards=(-1, 1))

    def block(self, n, rng):
        x = rng.normal(size=(n, ARMS, DIMENSION))
        x /= numpy.linalg.norm(x, axis=2, keepdims=True)
        means = x @ numpy.full(DIMENSION, self.tilt)
        return x, means + rng.uniform(-0.1, 0.1, size=means.shape), means


def spec(**more):
    return {
        "horizon": 3000,
        "seed": 11,
        "replicates": 2,
        "environment.kind": "ads",
        "algorithm.name": "ldp-sgd",
        "privacy.model": "local",
        "privacy.epsilon": 2.0,
        **more,
    }


def rows(result):
    return (result.folder / "results.csv").read_bytes()


@pytest.mark.parametrize(
    "name, keywords",
    [("ldp-sgd", {"epsilon": 2.0}), ("ldp-ols", {"epsilon": 2.0, "delta": 1e-5}), ("lin-ucb", {}), ("thompson-sampling", {})],
)
def test_a_policy_has_the_simulators_decisions(name, keywords):
    class_of = {"ldp-sgd": "LdpSgd", "ldp-ols": "LdpOls", "lin-ucb": "LinUcb", "thompson-sampling": "ThompsonSampling"}
    privacy = {f"privacy.{key}": value for key, value in keywords.items()}
    given = spec(replicates=1, **{"algorithm.name": name, "privacy.model": "local" if keywords else "none"}, **privacy)
    if not keywords:
        del given["privacy.epsilon"]
    result = bandana.run(given, environments={"ads": Ads})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bandana.InsecureSeedWarning)
        policy = getattr(bandana.policies, class_of[name])(
            arms=ARMS, dimension=DIMENSION, rewards=(-1, 1), horizon=3000, seed=11, **keywords
        )
        regret, best = 0.0, 0
        for first in range(1, 3001, 512):
            x, rewards, means = Ads().block(512, generator(11, 0, 0, first))
            for i in range(min(512, 3001 - first)):
                arm = policy.select(x[i])
                policy.update(x[i], arm, rewards[i, arm])
                regret += means[i].max() - means[i, arm]
                best += means[i, arm] == means[i].max()
    metrics = result.points[0].metrics
    assert metrics["regret"].mean == pytest.approx(regret, rel=1e-12)
    assert metrics["best_action_rate"].mean == best / 3000
    assert 0 < best < 3000


def test_words_of_a_block_are_those_of_the_library():
    # Philox4x64-10 with key (5, 2) and counter (block, agent 3, first round 9, contexts), by Random123's reference.
    own = generator(5, 2, 3, 9).bit_generator.random_raw(8)
    again = numpy.random.Philox(counter=(3 << 64) + (9 << 128) + (8 << 192) - 1, key=5 + (2 << 64)).random_raw(8)
    assert numpy.array_equal(own, again)
    assert not numpy.array_equal(own, generator(5, 2, 3, 10).bit_generator.random_raw(8))
    assert not numpy.array_equal(own, generator(5, 3, 3, 9).bit_generator.random_raw(8))


def test_processes_do_not_matter():
    one = bandana.run(spec(), environments={"ads": Ads})
    three = bandana.run(spec(replicates=2), environments={"ads": Ads}, processes=3)
    assert rows(one) == rows(three)


def test_options_are_the_class_fields():
    flat = bandana.run(spec(**{"environment.tilt": 0.0}), environments={"ads": Ads})
    assert flat.points[0].metrics["regret"].mean == 0
    with pytest.raises(bandana.SpecError, match=r"environment.tilt.*\[0, 1\]"):
        bandana.run(spec(**{"environment.tilt": 2.0}), environments={"ads": Ads})
    with pytest.raises(bandana.SpecError, match="environment.tild"):
        bandana.run(spec(**{"environment.tild": 0.5}), environments={"ads": Ads})


def test_what_a_class_raises_is_raised_here():
    class Broken(Ads):
        def block(self, n, rng):
            raise ZeroDivisionError("the author's mistake")

    class OfOtherShape(Ads):
        def block(self, n, rng):
            x, rewards, means = super().block(n, rng)
            return x, rewards[:, :2], means

    with pytest.raises(ZeroDivisionError, match="the author's mistake"):
        bandana.run(spec(), environments={"ads": Broken})
    with pytest.raises(ValueError, match=r"OfOtherShape.block: rewards: an array of shape \(512, 2\), not \(512, 4\)"):
        bandana.run(spec(), environments={"ads": OfOtherShape})
    with pytest.raises(bandana.Error, match="the author's mistake"):
        bandana.run(spec(), environments={"ads": Broken}, processes=2)
    bandana.run(spec(), environments={"ads": Ads})  # the failures are forgotten


class Clinics(bandana.RoundEnvironment):
    """Two clinics."""

    facts = bandana.Facts(arms=ARMS, dimension=DIMENSION, rewards=(-1, 1), people=2)

    def block(self, agent, first, n, rng):
        return Ads().block(n, rng)


class BrokenClinics(Clinics):
    def block(self, agent, first, n, rng):
        if first > 256:
            raise ZeroDivisionError("closed")
        return super().block(agent, first, n, rng)


def test_rounds_of_agents():
    given = {
        "horizon": 600,
        "environment.kind": "clinics",
        "algorithm.name": "fed-ucb",
        "privacy": {"model": "silo", "epsilon": 5.0, "delta": 1e-5},
        "algorithm.sync": "doubling",
    }
    one = bandana.run(given, environments={"clinics": Clinics})
    again = bandana.run(given, environments={"clinics": Clinics}, processes=2)
    assert rows(one) == rows(again)
    assert 0 < one.points[0].metrics["regret"].mean < 2 * 600
    with pytest.raises(ZeroDivisionError, match="closed"):
        bandana.run(given, environments={"clinics": BrokenClinics})


class Shop(bandana.SlotEnvironment):
    """Three offers."""

    means = numpy.array([0.2, 0.5, 0.8])
    facts = bandana.Facts(arms=3, people=4000, rewards=(0, 1), reward="bernoulli")

    def answer(self, who, epoch, arms, counts, rng):
        return rng.binomial(counts, self.means[arms]).astype(float)

    def gaps(self):
        return self.means.max() - self.means


@dataclasses.dataclass
class Halving(bandana.SlotAlgorithm):
    """Drops the worst arm after each phase."""

    clients: int = bandana.option(500, "The clients of each phase.", accepted=(1, 10_000))

    def start(self, facts):
        self.left = list(range(facts.arms))

    def plan(self):
        if len(self.left) == 1:
            return None
        return bandana.Plan(arms=self.left, counts=[20] * len(self.left), clients=self.clients)

    def learn(self, plan, means, noise_sd):
        assert len(means) == len(noise_sd) == len(plan.arms) and (noise_sd > 0).all()
        self.left = [plan.arms[i] for i in sorted(numpy.argsort(means)[1:])]

    def best(self):
        return self.left[0]


def slots(model, **more):
    return {
        "horizon": 2000,
        "environment.kind": "shop",
        "algorithm.name": "halving",
        "privacy": {"model": model, "epsilon": 8.0, "delta": 1e-5},
        **more,
    }


@pytest.mark.parametrize("model", ["central", "local", "shuffle"])
def test_an_algorithm_of_slots(model):
    result = bandana.run(slots(model), environments={"shop": Shop}, algorithms={"halving": Halving})
    point = result.points[0]
    if model != "local":
        # 20 pulls of three arms, then of two, and the rest of the best: exactly this regret.
        assert point.metrics["regret"].mean == pytest.approx(20 * 0.9 + 20 * 0.3)
    assert point.privacy.delivered and point.privacy.void is None or "seed" in str(point.privacy.void)


def test_a_plan_is_checked():
    class Greedy(Halving):
        def plan(self):
            return bandana.Plan(arms=[7], counts=[1], clients=1)

    class Many(Halving):
        def plan(self):
            return bandana.Plan(arms=[0], counts=[1], clients=5000)

    for cls, text in ((Greedy, "not from 0 to 2"), (Many, "5000 clients")):
        with pytest.raises(ValueError, match=text):
            bandana.run(slots("central"), environments={"shop": Shop}, algorithms={"halving": cls})


@dataclasses.dataclass
class OwnSgd(bandana.UserAlgorithm):
    """Steps by gradients."""

    step: float = bandana.option(0.5, "The length of the first step.", accepted=(0, 100))
    mechanism = "gradient"

    def start(self, facts):
        self.theta, self.n = numpy.zeros(facts.dimension), 0

    def thetas(self):
        return self.theta

    def learn(self, message, users):
        self.n += users
        self.theta = self.theta - self.step / self.n**0.5 * message
        self.theta /= max(1.0, numpy.linalg.norm(self.theta))


class OwnOls(bandana.UserAlgorithm):
    """Solves least squares."""

    mechanism = "regression"

    def start(self, facts):
        self.gram, self.moments = numpy.eye(facts.dimension), numpy.zeros(facts.dimension)

    def thetas(self):
        return numpy.linalg.solve(self.gram, self.moments)

    def learn(self, message, users):
        assert numpy.array_equal(message.gram, message.gram.T)
        self.gram = self.gram + message.gram
        self.moments = self.moments + message.moments


def test_algorithms_of_users():
    given = spec(**{"algorithm.name": "own", "privacy.epsilon": 10.0})
    sgd = bandana.run(given, environments={"ads": Ads}, algorithms={"own": OwnSgd})
    idle = bandana.run({**given, "algorithm.step": 0.0}, environments={"ads": Ads}, algorithms={"own": OwnSgd})
    assert sgd.points[0].metrics["regret"].mean < 0.7 * idle.points[0].metrics["regret"].mean
    assert sgd.points[0].privacy.delivered[0].epsilon <= 10.0
    none = {**spec(**{"algorithm.name": "own-ols", "privacy.model": "none"})}
    del none["privacy.epsilon"]
    ols = bandana.run(none, environments={"ads": Ads}, algorithms={"own-ols": OwnOls})
    assert ols.points[0].metrics["regret"].mean < 0.1 * idle.points[0].metrics["regret"].mean


def test_choose_narrows_the_claim():
    class Chooses(OwnSgd):
        def choose(self, contexts, coin):
            assert contexts.shape == (ARMS, DIMENSION) and 0 <= coin() < 1
            return int(numpy.argmax(contexts @ self.theta))

    given = spec(**{"algorithm.name": "own", "privacy.epsilon": 10.0})
    plain = bandana.run(given, environments={"ads": Ads}, algorithms={"own": OwnSgd})
    chooses = bandana.run(given, environments={"ads": Ads}, algorithms={"own": Chooses})
    assert "keeps nothing" in str(chooses.points[0].privacy.delivered[0].only_if)
    assert plain.points[0].privacy.delivered[0].only_if is None
    assert rows(plain) == rows(chooses)  # it chooses as the library does

    class Wrong(OwnSgd):
        def choose(self, contexts, coin):
            return ARMS

    with pytest.raises(ValueError, match="not an arm from 0 to 3"):
        bandana.run(given, environments={"ads": Ads}, algorithms={"own": Wrong})


def test_names_and_classes_are_checked():
    with pytest.raises(bandana.SpecError, match="name"):
        bandana.register("glm", Ads)
    with pytest.raises(TypeError, match="int: not a UserEnvironment"):
        bandana.register("number", int)
    with pytest.raises(TypeError, match="default"):
        bandana.option(None, "no type")


PLUGIN = """
import os
import bandana
bandana.load_plugin(os.environ["BANDANA_PLUGIN"])
result = bandana.run({
    "horizon": 3000, "replicates": 2,
    "environment": {"dimension": 3, "actions": 20, "population": 10_000},
    "algorithm": {"name": "own-elimination", "growth": 4},
    "privacy": {"model": "central", "epsilon": 5, "delta": 1e-6},
}, progress=False)
print(result.summary["points"][0]["notes"][0])
"""


def test_a_plugin_is_known_by_its_name_and_says_whose_code_it_is(python):
    assert "This algorithm is code of the plugin libplugin_for_python.so" in python(PLUGIN)


def test_what_is_no_plugin_is_refused(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(bandana.SpecError, match="text.so"):
        bandana.load_plugin(tmp_path / "text.so")


INTERRUPTED = """
import os, signal, threading, time
import numpy
import bandana

class Slow(bandana.UserEnvironment):
    "A world that takes long."
    facts = bandana.Facts(arms=2, dimension=2, rewards=(-1, 1))
    block_size = 64
    def block(self, n, rng):
        time.sleep(0.01)
        return rng.normal(size=(n, 2, 2)) / 10, numpy.zeros((n, 2)), None

def interrupt():
    time.sleep(1)
    interrupt.at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    bandana.run({"horizon": 10_000_000, "environment": {"kind": "slow"}, "algorithm": {"name": "ldp-ols"},
                 "privacy": {"model": "local", "epsilon": 1, "delta": 0.1}},
                environments={"slow": Slow}, progress=False)
except KeyboardInterrupt:
    print(time.monotonic() - interrupt.at)
"""


def test_ctrl_c_ends_a_run_in_a_python_world(python):
    assert float(python(INTERRUPTED)) < 5  # it takes 0.1 s; a loaded machine may take longer
