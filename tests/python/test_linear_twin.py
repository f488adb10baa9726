"""A twin in Python of the library's world `linear` has the regret of the original, bit for bit.

The twin draws what the library draws, from the same words: numpy has the library's generator, Philox. So any difference
between a world in Python and one in C++ shows, in the streams, in the facts, or in how the driver asks.
"""

import dataclasses
import functools
import math

import numpy
import pytest

import bandana

DIMENSION, ACTIONS, CLIENT_SD = 3, 10, 0.1
INSTANCE, CLIENT_PARAMETER, REWARD = 1, 2, 3  # Stream, in core/bit_source.h


@functools.cache
def ziggurat():
    """Returns the edges x and heights y of the 256 layers under exp(-x^2/2), as core/distributions.cc makes them."""
    real = numpy.longdouble

    def exp(x):
        halvings = 0
        while abs(x) > real(0.25):
            x, halvings = x / 2, halvings + 1
        total = term = real(1)
        for i in range(1, 21):
            term = term * (x / i)
            total = total + term
        for _ in range(halvings):
            total = total * total
        return total

    def log(x):
        y = real(0)
        for _ in range(20):
            y = y + (x * exp(-y) - 1)
        return y

    def sqrt(x):
        y = max(x, real(1))
        for _ in range(20):
            y = (y + x / y) / 2
        return y

    start = x = real("3.6541528853610087963519472518")
    ratio = start
    for i in range(400, 0, -1):
        ratio = start + i / ratio
    y = exp(-x * x / 2)
    area = (x + 1 / ratio) * y
    edges, heights = [float(area / y)], [0.0]
    for i in range(1, 256):
        edges.append(float(x))
        heights.append(float(y))
        y = y + area / x
        if i < 255:
            x = sqrt(-2 * log(y))
    return [*edges, 0.0], [*heights, 1.0]


class Normals:
    """The standard normals that the library draws from the stream with this key."""

    near_edges = 0  # how many draws were near the edge of a layer, all streams together: one in 100

    def __init__(self, seed, node, epoch, stream):
        counter = (node << 64) + (epoch << 128) + (stream << 192) - 1  # numpy adds 1 before it draws
        self._bits = numpy.random.Philox(counter=counter, key=seed)

    def word(self):
        return int(self._bits.random_raw())

    def positive(self):
        return (float(self.word()) + 0.5) * 2.0**-64

    def draw(self):
        edges, heights = ziggurat()
        while True:
            bits = self.word()
            layer = bits & 0xFF
            signed = bits - (1 << 64) if bits >> 63 else bits
            x = float((signed >> 7) | 1) * 2.0**-56 * edges[layer]
            if abs(x) < edges[layer + 1]:
                return x
            Normals.near_edges += 1
            if layer == 0:
                return math.copysign(self.tail(), x)
            height = heights[layer] + float(self.word() >> 11) * 2.0**-53 * (heights[layer + 1] - heights[layer])
            if height < math.exp(-0.5 * abs(x) * abs(x)):
                return x

    def tail(self):
        start = ziggurat()[0][1]
        while True:
            excess = -math.log(self.positive()) / start
            if -2 * math.log(self.positive()) > excess * excess:
                return start + excess


def dot(a, b):
    """The inner product of three numbers, in the order of core/linear_algebra.h."""
    return (a[0] * b[0] + a[2] * b[2]) + a[1] * b[1]


def direction(normals):
    x = [normals.draw() for _ in range(DIMENSION)]
    scale = 1 / math.sqrt((x[0] * x[0] + x[1] * x[1]) + x[2] * x[2])
    return [each * scale for each in x]


@functools.cache
def instance(seed):
    """Returns theta and the actions of the first replicate."""
    normals = Normals(seed, 0, 0, INSTANCE)
    theta = direction(normals)
    return theta, [direction(normals) for _ in range(ACTIONS)]


@dataclasses.dataclass
class LinearTwin(bandana.SlotEnvironment):
    """Clients with parameters of their own around a theta, who play actions that all share."""

    instance_seed: int = bandana.option(1, "The seed of the instance; the spec's.")
    drawn_sd: float = bandana.option(1.0, "The standard deviation with which rewards are drawn.")
    spread: float = bandana.option(CLIENT_SD, "How far drawn clients differ.")

    @property
    def facts(self):
        return bandana.Facts(
            arms=ACTIONS, actions=instance(self.instance_seed)[1], people=100_000, client_sd=CLIENT_SD, reward="gaussian",
            reward_proxy=1.0, public_seed=self.instance_seed,
        )  # fmt: skip

    def gaps(self):
        theta, actions = instance(self.instance_seed)
        means = [dot(action, theta) for action in actions]
        return [max(means) - mean for mean in means]

    def answer(self, who, epoch, arms, counts, rng):
        theta, actions = instance(self.instance_seed)
        normals = Normals(self.instance_seed, who, 0, CLIENT_PARAMETER)
        own = [each + self.spread * normals.draw() for each in theta]
        rewards = Normals(self.instance_seed, who, epoch, REWARD)
        return [
            n * dot(actions[arm], own) + math.sqrt(n) * self.drawn_sd * rewards.draw()
            for arm, n in zip(arms.tolist(), counts.tolist(), strict=True)
        ]


# With less than this, local noise hides every reward of a run of this length.
BUDGETS = {
    "none": {},
    "central": {"epsilon": 5.0, "delta": 1e-5},
    "shuffle": {"epsilon": 5.0, "delta": 1e-5},
    "local": {"epsilon": 50.0, "delta": 1e-5},
}


def rows_of(environment, model, seed, **more):
    result = bandana.run(
        {
            "horizon": 20_000,
            "seed": seed,
            "environment": environment,
            "algorithm": {"name": "dp-dpe"},
            "privacy": {"model": model, **BUDGETS[model]},
        },
        environments={"linear-twin": LinearTwin},
        **more,
    )
    rows = (result.folder / "results.csv").read_text().splitlines()
    return rows, result.points[0].metrics["regret"].mean


def of_the_library(**more):
    return {"kind": "linear", "dimension": DIMENSION, "actions": ACTIONS, "client_sd": CLIENT_SD, **more}


def of_the_twin(**more):
    return {"kind": "linear-twin", **more}


@pytest.mark.parametrize("model", BUDGETS)
@pytest.mark.parametrize("seed", [3, 8])
def test_the_twin_has_the_same_rows(model, seed):
    ours, regret = rows_of(of_the_library(), model, seed)
    twins, _ = rows_of(of_the_twin(instance_seed=seed), model, seed)
    assert regret > 0
    assert twins == ours
    assert Normals.near_edges > 10  # the rare paths of the normals were met


class Watcher(bandana.SlotAlgorithm):
    """Plays all arms in three phases, and notes what is released."""

    seen = []

    def start(self, facts):
        self.phases = 0

    def plan(self):
        if self.phases == 3:
            return None
        self.phases += 1
        return bandana.Plan(arms=list(range(ACTIONS)), counts=[7 * (arm + 1) for arm in range(ACTIONS)], clients=100)

    def learn(self, plan, means, noise_sd):
        Watcher.seen += means.tolist()

    def best(self):
        return 0


def released(environment):
    Watcher.seen = []
    bandana.run(
        {
            "horizon": 20_000,
            "seed": 3,
            "environment": environment,
            "algorithm": {"name": "watcher"},
            "privacy": {"model": "none"},
        },
        environments={"linear-twin": LinearTwin},
        algorithms={"watcher": Watcher},
    )
    assert len(Watcher.seen) == 3 * ACTIONS
    return Watcher.seen


def test_every_average_of_the_twins_clients_is_the_same():
    assert released(of_the_twin(instance_seed=3)) == released(of_the_library())


# Regret changes only with a decision of the algorithm; the averages change with every draw.
@pytest.mark.parametrize("error", [{"drawn_sd": 1 + 1e-9}, {"spread": CLIENT_SD * (1 + 1e-9)}, {"instance_seed": 4}])
def test_a_twin_that_errs_is_found(error):
    assert released(of_the_twin(**{"instance_seed": 3, **error})) != released(of_the_library())
