"""Logs with the names of the Open Bandit Pipeline."""

import numpy
import pytest

import bandana

ROUNDS, ARMS, DIMENSION = 4000, 3, 2


def feedback(seed=1):
    rng = numpy.random.default_rng(seed)
    context = rng.normal(size=(ROUNDS, DIMENSION)) / 4
    theta = numpy.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    expected = numpy.clip(0.5 + context @ theta.T, 0, 1)
    action = rng.integers(0, ARMS, ROUNDS)
    reward = (rng.random(ROUNDS) < expected[numpy.arange(ROUNDS), action]).astype(float)
    return {
        "n_rounds": ROUNDS,
        "n_actions": ARMS,
        "context": context,
        "action_context": numpy.eye(ARMS),
        "action": action,
        "position": None,
        "reward": reward,
        "expected_reward": expected,
        "pi_b": numpy.full((ROUNDS, ARMS, 1), 1 / ARMS),
        "pscore": numpy.full(ROUNDS, 1 / ARMS),
    }


def test_it_takes_obps_dictionary_and_refuses_what_it_does_not_know():
    assert len(bandana.Log(**feedback())) == ROUNDS
    with pytest.raises(TypeError, match="rewards"):
        bandana.Log(**feedback(), rewards=1)
    for field, value in [
        ("n_rounds", 3),
        ("position", numpy.arange(ROUNDS)),
        ("pscore", numpy.full(ROUNDS - 1, 0.5)),
        ("context", numpy.full((ROUNDS, DIMENSION), numpy.nan)),
        ("action", numpy.full(ROUNDS, 0.5)),
        ("action", numpy.full(ROUNDS, ARMS)),
        ("pscore", numpy.zeros(ROUNDS)),
        ("expected_reward", numpy.zeros((2, 2))),
    ]:
        with pytest.raises(ValueError, match=field):
            bandana.Log(**{**feedback(), field: value})


@pytest.mark.parametrize("estimator", ["dr", "ips", "snips", "replay"])
def test_values_of_a_fixed_policy(estimator):
    # One interval of 99.9 % at a fixed seed: the false alarm rate is 0.001 each. The planted fault, the value of another
    # policy, is far outside.
    given = feedback()
    log = bandana.Log(**given)
    best = numpy.eye(ARMS)[given["expected_reward"].argmax(axis=1)]
    truth = given["expected_reward"].max(axis=1).mean()
    estimate = log.value(best, estimator, level=0.001, rewards=(0, 1))
    assert estimate.interval[0] <= truth <= estimate.interval[1]
    assert not estimate.interval[0] <= given["expected_reward"].min(axis=1).mean() <= estimate.interval[1]
    assert estimate.interval[1] - estimate.interval[0] < 0.15
    assert 0 < estimate.effective_sample_size <= ROUNDS


def test_a_bound_on_weights_gives_bernsteins_interval():
    log = bandana.Log(**feedback())
    uniform = numpy.full((ROUNDS, ARMS), 1 / ARMS)
    estimate = log.value(uniform, "ips", rewards=(0, 1), weight_bound=1.0)
    assert estimate.bernstein[0] < estimate.interval[0] < estimate.value < estimate.bernstein[1]
    assert estimate.value == pytest.approx(log.reward.mean())


def test_policies_are_functions_arrays_and_policies():
    log = bandana.Log(**feedback())
    policy = bandana.policies.LinUcb(arms=ARMS, dimension=DIMENSION, rewards=(0, 1), horizon=10_000, multi=True, warm_up=1)
    single = bandana.policies.LinUcb(arms=ARMS, dimension=DIMENSION * ARMS, rewards=(0, 1), horizon=10_000)
    by_array = numpy.zeros((ROUNDS, ARMS))
    by_array[numpy.arange(ROUNDS), policy.predict(log.context, exploit=True)] = 1
    assert log.value(policy).value == log.value(by_array).value == log.value(lambda context: by_array).value
    assert log.probabilities(single).shape == (ROUNDS, ARMS)
    with pytest.raises(ValueError, match="add up to 1"):
        log.value(2 * by_array)


def test_csv_is_what_the_lab_replays(tmp_path):
    log = bandana.Log(**feedback())
    log.to_csv(tmp_path / "log.csv")
    spec = {
        "horizon": 1000,
        "algorithm.name": "ldp-sgd",
        "privacy": {"model": "local", "epsilon": 5.0},
        "environment": {"kind": "replay", "log": "obp", "parameters": "multi", "file": str(tmp_path / "log.csv"), "actions": ARMS},
    }
    by_file = bandana.run(spec)
    del spec["environment"]["file"]
    by_log = bandana.run(spec, log=bandana.Log(**{**feedback(), "action_context": None}))
    assert by_file.points[0].metrics["value"].mean == by_log.points[0].metrics["value"].mean
    assert 0 < by_file.points[0].metrics["value"].mean < 1


def test_obps_simulator_can_run_a_policy():
    given = feedback()
    policy = bandana.policies.LinUcb(arms=ARMS, dimension=DIMENSION, rewards=(0, 1), horizon=10_000, multi=True, warm_up=5)
    wrapped = bandana.obp(policy)
    assert (wrapped.n_actions, wrapped.dim, wrapped.len_list) == (ARMS, DIMENSION, 1)
    late = []
    for t in range(2000):
        action = wrapped.select_action(given["context"][t : t + 1])
        assert action.shape == (1,)
        wrapped.update_params(int(action[0]), given["expected_reward"][t, action[0]], given["context"][t : t + 1])
        late.append(given["expected_reward"][t].max() - given["expected_reward"][t, action[0]])
    assert numpy.mean(late[-500:]) < 0.5 * numpy.mean(given["expected_reward"].max(axis=1) - given["expected_reward"].mean(axis=1))
    arms = bandana.obp(bandana.policies.Ucb1(arms=ARMS, rewards=(0, 1), horizon=100))
    arms.update_params(int(arms.select_action()[0]), 1.0)
    with pytest.raises(ValueError, match="multi=True"):
        bandana.obp(bandana.policies.LinUcb(arms=ARMS, dimension=DIMENSION, rewards=(0, 1), horizon=100))
