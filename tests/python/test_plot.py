"""Figures say what they show, and nothing in them overlaps."""

import itertools

import numpy
import pytest

import bandana

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def result():
    return bandana.run(
        {
            "name": "plot",
            "horizon": 5000,
            "replicates": 4,
            "environment": {"kind": "linear", "dimension": 3, "actions": 10, "client_sd": 0.1},
            "algorithm": {"name": "dp-dpe"},
            "privacy": {"delta": 1e-3},
            "sweep": {"privacy.model": ["none", "central", "local"], "privacy.epsilon": [0.5, 1, 10]},
        }
    )


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


def boxes(ax):
    """What is written on a figure, in pixels."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [ax.xaxis.label, ax.yaxis.label]
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        texts += [t.label1 for t in axis.get_major_ticks() if limits[0] <= t.get_loc() <= limits[1] and t.label1.get_text()]
    return [text.get_window_extent(renderer) for text in texts], ax.get_legend(), renderer


def assert_tidy(ax):
    texts, legend, renderer = boxes(ax)
    for a, b in itertools.combinations(texts, 2):
        assert not a.overlaps(b)
    page = ax.figure.bbox
    if legend is not None:
        box = legend.get_window_extent(renderer)
        assert box.x0 >= ax.get_window_extent(renderer).x1 - 1 or len(legend.get_texts()) == 1
        assert box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert not any(box.overlaps(text) for text in texts)
    for text in texts:
        assert text.x0 >= page.x0 - 1 and text.y0 >= page.y0 - 1 and text.x1 <= page.x1 + 1 and text.y1 <= page.y1 + 1


@pytest.mark.parametrize("band", ["sd", "se", "quantile", None])
@pytest.mark.parametrize("log", [True, False])
def test_over_time(result, band, log):
    ax = result.plot(band=band, log=log)
    assert_tidy(ax)
    assert ax.get_xscale() == ("log" if log else "linear")
    assert [line.get_label() for line in ax.lines] == [point.label for point in result.points]
    curve = result.curves()[result.points[-1].label]
    middle = curve.median if band == "quantile" else curve.mean
    numpy.testing.assert_array_equal(ax.lines[-1].get_xdata(), curve.t)
    shown = middle > 0 if ax.get_yscale() == "log" else numpy.full(len(middle), True)
    numpy.testing.assert_array_equal(ax.lines[-1].get_ydata()[shown], middle[shown])
    assert len(ax.collections) == (0 if band is None else len(result))


def test_along_a_key(result):
    ax = result.plot(x="privacy.epsilon")
    assert_tidy(ax)
    assert [line.get_label() for line in ax.lines] == ["central", "local", "none"]
    assert list(ax.lines[0].get_xdata()) == [0.5, 1, 10]
    ends = [result[{"privacy.model": "local", "privacy.epsilon": e}].metrics["regret"].mean for e in (0.5, 1, 10)]
    assert list(ax.lines[1].get_ydata()) == ends
    with pytest.raises(bandana.SpecError) as raised:
        result.plot(x="privacy.model")
    assert raised.value.accepted == "t, privacy.epsilon"


def test_any_metric_and_given_axes(result):
    _, axes = plt.subplots(1, 2)
    for metric, ax in zip(["communication_reals", "best_action_rate"], axes):
        assert result.plot(metric, ax=ax) is ax
        assert len(ax.lines) == len(result)
    with pytest.raises(bandana.SpecError):
        result.plot("regrets")
    with pytest.raises(bandana.SpecError):
        result.plot(band="sdd")


def test_the_style_of_others_is_kept(result):
    before = dict(matplotlib.rcParams)
    result.plot()
    assert dict(matplotlib.rcParams) == before


def test_a_void_claim_is_in_the_legend(result):
    void = bandana.load(result.folder)
    statement = void.points[1].privacy
    object.__setattr__(void.points[1], "privacy", bandana.Statement(statement.nominal, statement.delivered, "a reason"))
    labels = [text.get_text() for text in void.plot().get_legend().get_texts()]
    assert labels[1] == f"{void.points[1].label} (claim void)" and "void" not in labels[2]


def test_one_replicate_and_no_regret():
    spec = {"horizon": 50, "environment": {"kind": "mab", "means": [0.5, 0.5]}, "algorithm.name": "ucb1",
            "federation.agents": 1, "privacy.model": "none"}  # fmt: skip
    ax = bandana.run(spec).plot()
    assert_tidy(ax)
    assert len(ax.collections) == 0 and ax.get_yscale() == "linear"
