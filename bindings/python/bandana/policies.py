"""Policies for a program of one's own: ask for an arm, play it, tell what came of it.

script/stubs writes this file from the registry: do not edit it.
"""

from __future__ import annotations

import os
from typing import Literal

from bandana._policy import ArmPolicy, ContextPolicy, Policy, PolicyStatement, SiloPolicy, Token, UserPolicy

__all__ = [
    "ArmPolicy",
    "ContextPolicy",
    "LdpGloc",
    "LdpOls",
    "LdpSgd",
    "LdpUcb",
    "LinUcb",
    "Policy",
    "PolicyStatement",
    "PrivateLinUcb",
    "SiloPolicy",
    "SingleMab",
    "SuccessiveElimination",
    "ThompsonSampling",
    "Token",
    "Ucb1",
    "UserPolicy",
]


class LdpSgd(UserPolicy):
    """Every user sends a randomized gradient, by which the server steps. P5, Algorithms 1 and 2.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `local`: as the claims say. `none`: no privacy.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        slots: How much of epsilon protects each arm's part of a user's message. `full`: All of epsilon, which is
            enough (docs/proofs/synthetic-slots.md). `half`: Half of epsilon, as in the paper. `split`: A K-th of
            epsilon. It has an effect only with model = local and with multi = True.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        step: The length of steps: the n-th is this times d / (zeta n), where zeta is the smallest slope of the link.
            Accepted: a finite number > 0.
        steps: How the length of steps falls. `pulls`: Steps fall as 1/n, where n is how often an arm has been played
            on average. `paper`: Steps fall as 1/n, where n counts all users after the warm-up (P5, Theorem 4.1).
            `root`: Steps fall as 1/sqrt(n), as in P5's Appendix F.
        delay: How late steps begin: n is counted from n_0 = delay (step d l / zeta)^2 on, where l is the size of a
            message's noise. 0: from 0 on, as in the paper. Accepted: a finite number >= 0.
        projection: Whether theta is kept in the ball in which the world says that it lies. `ball`: Theta is
            projected onto its ball after every step. `none`: Theta is not projected, as in the paper.
        average: Users choose by a weighted mean of all iterates; the n-th iterate has weight n^average. `none`:
            Users choose by the last iterate, as in the paper. Accepted: "none" or a number in [0, 100].
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        elimination_gap: After the warm-up, arms that are more than half of this below the best are no longer played
            (h in P5, equation (7)). It has an effect only with multi = True. Accepted: a finite number > 0.
        randomizer: How gradients are randomized in the l2 ball. `privunit`: PrivUnit, whose noise is smaller for a
            large epsilon. `duchi`: The randomizer of Duchi, Jordan and Wainwright, as in the paper.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.
        budget: The epsilon and the delta that one user may spend in all, where updates name the user. None: one
            message's guarantee.
        ledger: A file in which charges outlive the process (docs/ledger.md). Every update must then name its user.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = LdpSgd(arms=3, dimension=2, rewards=(0, 1), horizon=1000, epsilon=1.0)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "ldp-sgd"
    _time = 3
    _models = ("none", "local")
    _options = ("step", "steps", "delay", "projection", "average", "warm_up", "elimination_gap", "randomizer")
    _privacy = ("out_of_range", "slots", "epsilon", "neighbours", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["local", "none"] = "local",
        out_of_range: Literal["clip", "zero"] = "clip",
        slots: Literal["full", "half", "split"] = "full",
        epsilon: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        step: float = 3.0,
        steps: Literal["pulls", "paper", "root"] = "pulls",
        delay: float = 1.0,
        projection: Literal["ball", "none"] = "ball",
        average: float | Literal["none"] = "none",
        warm_up: int | Literal["auto"] = "auto",
        elimination_gap: float = 1.0,
        randomizer: Literal["privunit", "duchi"] = "privunit",
        seed: int | None = None,
        budget: tuple[float, float] | None = None,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.out_of_range = out_of_range
        self.slots = slots
        self.epsilon = epsilon
        self.neighbours = neighbours
        self.calibration = calibration
        self.sampler = sampler
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.step = step
        self.steps = steps
        self.delay = delay
        self.projection = projection
        self.average = average
        self.warm_up = warm_up
        self.elimination_gap = elimination_gap
        self.randomizer = randomizer
        self.seed = seed
        self.budget = budget
        self.ledger = ledger


class LdpOls(UserPolicy):
    """Every user sends noisy statistics, and the server solves least squares. P5, Algorithms 1 and 2.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `local`: as the claims say. `none`: no privacy.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        slots: How much of epsilon protects each arm's part of a user's message. `full`: All of epsilon, which is
            enough (docs/proofs/synthetic-slots.md). `half`: Half of epsilon, as in the paper. `split`: A K-th of
            epsilon. It has an effect only with model = local and with multi = True.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        delta: The second part of the budget: how much a probability may change beyond the factor e^epsilon. It has
            an effect only unless model = none or noise = laplace. Accepted: a number in (0, 1).
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        gram_shift: The number that is added to the diagonal of a noisy Gram matrix to keep it positive definite, in
            units of the largest eigenvalue of the noise. `paper`: The shift of P5, Theorems 3.1 and 4.1. Accepted:
            "paper" or a finite number >= 0.
        lazy: The estimate is computed anew when the number of messages has grown by this share. 0: after every
            message. Accepted: a number in [0, 1].
        reward_weight: The weight of the reward beside the context in one release. A larger weight means less noise
            on r x and more noise on x x'. Accepted: a finite number > 0.
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        elimination_gap: After the warm-up, arms that are more than half of this below the best are no longer played
            (h in P5, equation (7)). It has an effect only with multi = True. Accepted: a finite number > 0.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.
        budget: The epsilon and the delta that one user may spend in all, where updates name the user. None: one
            message's guarantee.
        ledger: A file in which charges outlive the process (docs/ledger.md). Every update must then name its user.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = LdpOls(arms=3, dimension=2, rewards=(0, 1), horizon=1000, epsilon=1.0, delta=1e-6)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "ldp-ols"
    _time = 3
    _models = ("none", "local")
    _options = ("gram_shift", "lazy", "reward_weight", "warm_up", "elimination_gap")
    _privacy = ("out_of_range", "slots", "epsilon", "delta", "neighbours", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["local", "none"] = "local",
        out_of_range: Literal["clip", "zero"] = "clip",
        slots: Literal["full", "half", "split"] = "full",
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        gram_shift: float | Literal["paper"] = 2.0,
        lazy: float = 0.001,
        reward_weight: float = 1.0,
        warm_up: int | Literal["auto"] = "auto",
        elimination_gap: float = 1.0,
        seed: int | None = None,
        budget: tuple[float, float] | None = None,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.out_of_range = out_of_range
        self.slots = slots
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.calibration = calibration
        self.sampler = sampler
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.gram_shift = gram_shift
        self.lazy = lazy
        self.reward_weight = reward_weight
        self.warm_up = warm_up
        self.elimination_gap = elimination_gap
        self.seed = seed
        self.budget = budget
        self.ledger = ledger


class LdpUcb(UserPolicy):
    """Users of ldp-ols choose optimistically: LinUCB with local privacy. Zheng et al., NeurIPS 2020.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `local`: as the claims say. `none`: no privacy.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        slots: How much of epsilon protects each arm's part of a user's message. `full`: All of epsilon, which is
            enough (docs/proofs/synthetic-slots.md). `half`: Half of epsilon, as in the paper. `split`: A K-th of
            epsilon. It has an effect only with model = local and with multi = True.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        delta: The second part of the budget: how much a probability may change beyond the factor e^epsilon. It has
            an effect only unless model = none or noise = laplace. Accepted: a number in (0, 1).
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        gram_shift: The number that is added to the diagonal of a noisy Gram matrix to keep it positive definite, in
            units of the largest eigenvalue of the noise. `paper`: The shift of P5, Theorems 3.1 and 4.1. Accepted:
            "paper" or a finite number >= 0.
        bonus: The authors' bonus is multiplied by this number. 0: no optimism. Accepted: a finite number >= 0.
        lazy: The estimate is computed anew when the number of messages has grown by this share. 0: after every
            message. Accepted: a number in [0, 1].
        reward_weight: The weight of the reward beside the context in one release. A larger weight means less noise
            on r x and more noise on x x'. Accepted: a finite number > 0.
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.
        budget: The epsilon and the delta that one user may spend in all, where updates name the user. None: one
            message's guarantee.
        ledger: A file in which charges outlive the process (docs/ledger.md). Every update must then name its user.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = LdpUcb(arms=3, dimension=2, rewards=(0, 1), horizon=1000, epsilon=1.0, delta=1e-6)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "ldp-ucb"
    _time = 3
    _models = ("none", "local")
    _options = ("gram_shift", "bonus", "lazy", "reward_weight", "warm_up")
    _privacy = ("out_of_range", "slots", "epsilon", "delta", "neighbours", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["local", "none"] = "local",
        out_of_range: Literal["clip", "zero"] = "clip",
        slots: Literal["full", "half", "split"] = "full",
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        gram_shift: float | Literal["paper"] = "paper",
        bonus: float = 0.003,
        lazy: float = 0.001,
        reward_weight: float = 1.0,
        warm_up: int | Literal["auto"] = "auto",
        seed: int | None = None,
        budget: tuple[float, float] | None = None,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.out_of_range = out_of_range
        self.slots = slots
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.calibration = calibration
        self.sampler = sampler
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.gram_shift = gram_shift
        self.bonus = bonus
        self.lazy = lazy
        self.reward_weight = reward_weight
        self.warm_up = warm_up
        self.seed = seed
        self.budget = budget
        self.ledger = ledger


class LdpGloc(UserPolicy):
    """The server turns an online learner for the link function into confidence sets; users send noisy statistics.
    Zheng et al., NeurIPS 2020.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `local`: as the claims say. `none`: no privacy.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        slots: How much of epsilon protects each arm's part of a user's message. `full`: All of epsilon, which is
            enough (docs/proofs/synthetic-slots.md). `half`: Half of epsilon, as in the paper. `split`: A K-th of
            epsilon. It has an effect only with model = local and with multi = True.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        delta: The second part of the budget: how much a probability may change beyond the factor e^epsilon. It has
            an effect only unless model = none or noise = laplace. Accepted: a number in (0, 1).
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        step: The online parameter moves by step / sqrt(T) times a gradient. Accepted: a finite number > 0.
        gram_shift: The number that is added to the diagonal of a noisy Gram matrix to keep it positive definite, in
            units of the largest eigenvalue of the noise. `paper`: The shift of P5, Theorems 3.1 and 4.1. Accepted:
            "paper" or a finite number >= 0.
        bonus: The authors' bonus is multiplied by this number. 0: no optimism. Accepted: a finite number >= 0.
        lazy: The estimate is computed anew when the number of messages has grown by this share. 0: after every
            message. Accepted: a number in [0, 1].
        reward_weight: The weight of the reward beside the context in one release. A larger weight means less noise
            on r x and more noise on x x'. Accepted: a finite number > 0.
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.
        budget: The epsilon and the delta that one user may spend in all, where updates name the user. None: one
            message's guarantee.
        ledger: A file in which charges outlive the process (docs/ledger.md). Every update must then name its user.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = LdpGloc(arms=3, dimension=2, rewards=(0, 1), horizon=1000, epsilon=1.0, delta=1e-6)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "ldp-gloc"
    _time = 3
    _models = ("none", "local")
    _options = ("step", "gram_shift", "bonus", "lazy", "reward_weight", "warm_up")
    _privacy = ("out_of_range", "slots", "epsilon", "delta", "neighbours", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["local", "none"] = "local",
        out_of_range: Literal["clip", "zero"] = "clip",
        slots: Literal["full", "half", "split"] = "full",
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        step: float = 0.3,
        gram_shift: float | Literal["paper"] = "paper",
        bonus: float = 1.0,
        lazy: float = 0.001,
        reward_weight: float = 1.0,
        warm_up: int | Literal["auto"] = "auto",
        seed: int | None = None,
        budget: tuple[float, float] | None = None,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.out_of_range = out_of_range
        self.slots = slots
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.calibration = calibration
        self.sampler = sampler
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.step = step
        self.gram_shift = gram_shift
        self.bonus = bonus
        self.lazy = lazy
        self.reward_weight = reward_weight
        self.warm_up = warm_up
        self.seed = seed
        self.budget = budget
        self.ledger = ledger


class LinUcb(UserPolicy):
    """Users choose optimistically, by least squares without noise. Abbasi-Yadkori et al., NIPS 2011.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        bonus: The authors' bonus is multiplied by this number. 0: no optimism. Accepted: a finite number >= 0.
        lazy: The estimate is computed anew when the number of messages has grown by this share. 0: after every
            message. Accepted: a number in [0, 1].
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = LinUcb(arms=3, dimension=2, rewards=(0, 1), horizon=1000)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "lin-ucb"
    _time = 3
    _models = ("none",)
    _options = ("bonus", "lazy", "warm_up")
    _privacy = ("out_of_range",)

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        out_of_range: Literal["clip", "zero"] = "clip",
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        bonus: float = 1.0,
        lazy: float = 0.001,
        warm_up: int | Literal["auto"] = "auto",
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.out_of_range = out_of_range
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.bonus = bonus
        self.lazy = lazy
        self.warm_up = warm_up
        self.seed = seed


class ThompsonSampling(UserPolicy):
    """Every user draws thetas from their posterior law and chooses by them. Agrawal and Goyal, ICML 2013.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        out_of_range: A user whose context or reward is outside its bounds sends something else. `clip`: The context
            and the reward are clipped to their bounds. `zero`: The user sends a privatized (0, 0).
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        link: How the mean reward depends on the inner product of context and theta.
        multi: Whether every arm has a theta of its own, and a round one context.
        reward_proxy: The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.
        spread: The spread of the thetas that are drawn, in standard deviations of a reward. Accepted: a finite
            number >= 0.
        lazy: The estimate is computed anew when the number of messages has grown by this share. 0: after every
            message. Accepted: a number in [0, 1].
        warm_up: How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at most a
            tenth of the horizon in all. It has an effect only with multi = True. Accepted: "auto" or a whole number
            >= 1.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = ThompsonSampling(arms=3, dimension=2, rewards=(0, 1), horizon=1000)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "thompson-sampling"
    _time = 3
    _models = ("none",)
    _options = ("spread", "lazy", "warm_up")
    _privacy = ("out_of_range",)

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        out_of_range: Literal["clip", "zero"] = "clip",
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        link: Literal["identity", "logistic", "probit", "poisson"] = "identity",
        multi: bool = False,
        reward_proxy: float | None = None,
        spread: float = 1.0,
        lazy: float = 0.001,
        warm_up: int | Literal["auto"] = "auto",
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.out_of_range = out_of_range
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.link = link
        self.multi = multi
        self.reward_proxy = reward_proxy
        self.spread = spread
        self.lazy = lazy
        self.warm_up = warm_up
        self.seed = seed


class PrivateLinUcb(SiloPolicy):
    """Every agent plays LinUCB alone, on its own private running sums. Shariff and Sheffet 2018.

    Args:
        arms: The number of arms.
        dimension: The dimension of a context.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `silo`: as the claims say. `none`: no privacy.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        delta: The second part of the budget: how much a probability may change beyond the factor e^epsilon. It has
            an effect only unless model = none or noise = laplace. Accepted: a number in (0, 1).
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        records_per_person: The largest number of records that one person has. auto: this number is not known, and
            the claim is for one record. It has an effect only unless model = none. Accepted: "auto" or a whole
            number >= 1.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        context_norm: No context is longer; longer ones are clipped.
        theta_norm: No theta is longer.
        width: Which confidence width an agent uses. `exact`: The tightest width that we can prove. `paper`: The
            formula of the paper's Proposition 2.
        sync: When agents release their sums. `every`: Agents release after every round. `batch`: Agents release
            after every batch of rounds. `mlogt`: Agents release n = log2 T times; release k comes after round T
            (k/(n+1))^2. `m15`: Agents release n = sqrt(M) times (M agents); release k comes after round T
            (k/(n+1))^2. `doubling`: Agents release after rounds 1, 2, 4, ... `released`: Agents release when the
            determinant that the released sums predict has grown by a fixed factor. `determinant`: Agents release
            when the data of one of them have grown enough, as in the paper; this leaks.
        batch: The number of rounds between two syncs. It has an effect only with sync = batch. Accepted: a whole
            number >= 1.
        most_syncs: The number of syncs that the noise allows for. 0: as many as rounds (P3, Remark 4). It has an
            effect only with sync = determinant. Accepted: a whole number >= 0.
        threshold: The constant D: an agent asks for a sync when the growth of its log determinant, times the rounds
            since the last sync, reaches D. auto: the D of Theorem 1. It has an effect only with sync = determinant.
            Accepted: "auto" or a finite number > 0.
        local: What an agent uses to decide between two syncs. `released`: An agent uses only the shared, released
            sums. `raw`: An agent also uses its own unreleased records, as in the paper. There is then no privacy
            claim.
        prefix_sum: How noise is added to running sums. `auto`: The mechanism of the three that has the least noise.
            `tree`: Noise in the sums of a binary tree, as in the paper. `honaker`: Noise in a tree, and Honaker's
            estimates from it. `toeplitz`: Noise that is correlated by a Toeplitz matrix.
        shift: What keeps a noisy Gram matrix positive definite. `group`: One constant is added for the sum of all
            agents. `agent`: One constant is added for each agent, as in the paper.
        failure: The probability alpha that some confidence set of the run fails. Accepted: a number in (0, 1).
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> import numpy
    >>> policy = PrivateLinUcb(arms=3, dimension=2, rewards=(0, 1), horizon=1000, epsilon=1.0, delta=1e-6)
    >>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> policy.update(contexts, policy.select(contexts), 1.0)
    True
    """

    _algorithm = "private-lin-ucb"
    _time = 1
    _models = ("none", "silo")
    _options = ("width", "sync", "batch", "most_syncs", "threshold", "local", "prefix_sum", "shift", "failure")
    _privacy = ("epsilon", "delta", "neighbours", "records_per_person", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        dimension: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["silo", "none"] = "silo",
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        records_per_person: int | Literal["auto"] = "auto",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        context_norm: float = 1.0,
        theta_norm: float = 1.0,
        width: Literal["exact", "paper"] = "exact",
        sync: Literal["every", "batch", "mlogt", "m15", "doubling", "released", "determinant"] = "mlogt",
        batch: int | None = None,
        most_syncs: int = 0,
        threshold: float | Literal["auto"] = "auto",
        local: Literal["released", "raw"] = "released",
        prefix_sum: Literal["auto", "tree", "honaker", "toeplitz"] = "auto",
        shift: Literal["group", "agent"] = "group",
        failure: float = 0.05,
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.dimension = dimension
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.records_per_person = records_per_person
        self.calibration = calibration
        self.sampler = sampler
        self.context_norm = context_norm
        self.theta_norm = theta_norm
        self.width = width
        self.sync = sync
        self.batch = batch
        self.most_syncs = most_syncs
        self.threshold = threshold
        self.local = local
        self.prefix_sum = prefix_sum
        self.shift = shift
        self.failure = failure
        self.seed = seed


class SingleMab(ArmPolicy):
    """Every agent eliminates arms by itself. P4.

    Args:
        arms: The number of arms.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        model: `silo`: as the claims say. `none`: no privacy.
        epsilon: The privacy budget of one unit. A smaller epsilon means more privacy and more noise. It has an
            effect only unless model = none. Accepted: a finite number > 0.
        neighbours: Which change of the data is hidden. `replace-one`: The data of one unit are replaced by other
            data. `add-remove`: There is one unit more, or one less. This is refused: how many people take part is
            public here, because plans and schedules depend on it. It has an effect only unless model = none.
        records_per_person: The largest number of records that one person has. auto: this number is not known, and
            the claim is for one record. It has an effect only unless model = none. Accepted: "auto" or a whole
            number >= 1.
        calibration: How much noise is added. `tight`: The least noise that we can prove to be enough. `paper`: The
            noise of the paper's formula. It has an effect only unless model = none.
        sampler: "exact" is proved for real computers. None: "exact", and "fast" with a seed.
        width: Which confidence width decides whether an arm is eliminated. `exact`: The tightest width that we can
            prove, over rewards and noise together. `paper`: The width of the paper's formula.
        bonus: The factor of the confidence width. 1: the width is proved. Below 1, the best arm may be lost more
            often. Accepted: a finite number > 0.
        failure: The probability that some confidence width of the run fails. auto: 1 / (1 + horizon). Accepted:
            "auto" or a number in (0, 1).
        rounds: The largest number of syncs. auto: as many as the horizon allows. Accepted: "auto" or a whole number
            >= 1.
        gap: The smallest gap between means. If `rounds` limits the syncs, their lengths are chosen for this gap.
            `auto`: The lengths are chosen for all gaps that the horizon is long enough to see. `known`: The gap of
            the world itself, which only a simulation knows. It has an effect only unless rounds = auto. Accepted:
            "auto", "known", or a number in (0, 1].
        overrun: What agents do if the next exploration does not fit into the horizon. `best`: They pull the best arm
            so far until the end. `explore`: They pull all arms that are left in turn until the end, as in the paper.
            Nothing is released.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> policy = SingleMab(arms=3, rewards=(0, 1), horizon=1000, epsilon=1.0)
    >>> policy.update(policy.select(), 1.0)
    True
    """

    _algorithm = "single-mab"
    _time = 2
    _models = ("none", "silo")
    _options = ("width", "bonus", "failure", "rounds", "gap", "overrun")
    _privacy = ("epsilon", "neighbours", "records_per_person", "calibration", "sampler")

    def __init__(
        self,
        *,
        arms: int,
        rewards: tuple[float, float],
        horizon: int,
        model: Literal["silo", "none"] = "silo",
        epsilon: float | None = None,
        neighbours: Literal["replace-one", "add-remove"] = "replace-one",
        records_per_person: int | Literal["auto"] = "auto",
        calibration: Literal["tight", "paper"] = "tight",
        sampler: Literal["exact", "fast"] | None = None,
        width: Literal["exact", "paper"] = "exact",
        bonus: float = 1.0,
        failure: float | Literal["auto"] = "auto",
        rounds: int | Literal["auto"] = "auto",
        gap: float | Literal["auto"] = "auto",
        overrun: Literal["best", "explore"] = "best",
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.rewards = rewards
        self.horizon = horizon
        self.model = model
        self.epsilon = epsilon
        self.neighbours = neighbours
        self.records_per_person = records_per_person
        self.calibration = calibration
        self.sampler = sampler
        self.width = width
        self.bonus = bonus
        self.failure = failure
        self.rounds = rounds
        self.gap = gap
        self.overrun = overrun
        self.seed = seed


class Ucb1(ArmPolicy):
    """Every agent plays the arm with the largest upper confidence bound. Auer, Cesa-Bianchi, Fischer 2002.

    Args:
        arms: The number of arms.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        bonus: The factor of the confidence width that UCB1 adds to an arm's mean. 1: as published. Accepted: a
            finite number >= 0.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> policy = Ucb1(arms=3, rewards=(0, 1), horizon=1000)
    >>> policy.update(policy.select(), 1.0)
    True
    """

    _algorithm = "ucb1"
    _time = 2
    _models = ("none",)
    _options = ("bonus",)
    _privacy = ()

    def __init__(
        self,
        *,
        arms: int,
        rewards: tuple[float, float],
        horizon: int,
        bonus: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.rewards = rewards
        self.horizon = horizon
        self.bonus = bonus
        self.seed = seed


class SuccessiveElimination(ArmPolicy):
    """Every agent sweeps over its arms and drops the worst. Even-Dar, Mannor, Mansour 2006.

    Args:
        arms: The number of arms.
        rewards: The interval of rewards. It is public, and rewards outside of it are clipped.
        horizon: The number of rounds that the policy learns from at most.
        bonus: The factor of the confidence width by which arms are dropped. 1: as published. Accepted: a finite
            number > 0.
        seed: None: noise and coins come from the operating system's entropy. A number: they are those of the lab's
            simulator with this seed, and no claim holds.

    Raises:
        SpecError: at first use, if a value is not accepted.

    >>> policy = SuccessiveElimination(arms=3, rewards=(0, 1), horizon=1000)
    >>> policy.update(policy.select(), 1.0)
    True
    """

    _algorithm = "successive-elimination"
    _time = 2
    _models = ("none",)
    _options = ("bonus",)
    _privacy = ()

    def __init__(
        self,
        *,
        arms: int,
        rewards: tuple[float, float],
        horizon: int,
        bonus: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self.arms = arms
        self.rewards = rewards
        self.horizon = horizon
        self.bonus = bonus
        self.seed = seed
