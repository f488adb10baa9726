"""Errors are exceptions with fields, and their messages are those of the command line."""

import pytest

import bandana


def test_a_spec_error_says_where(tmp_path, bandana_json):
    file = tmp_path / "spec.toml"
    file.write_text('horizon = 10\nalgorithm.name = "dp-dpe"\n[privacy]\nmodel = "centrall"\n')
    with pytest.raises(bandana.SpecError) as raised:
        bandana.run(file)
    error = raised.value
    told = bandana_json("run", file, accepted=(2,))["error"]
    assert {name: getattr(error, name) for name in ("file", "line", "key", "value", "accepted")} == {
        name: told[name] for name in ("file", "line", "key", "value", "accepted")
    }
    assert (error.line, error.key, error.value) == (4, "privacy.model", "centrall")
    assert isinstance(error, ValueError) and isinstance(error, bandana.Error)


def test_a_dict_has_no_lines(small):
    with pytest.raises(bandana.SpecError) as raised:
        bandana.Spec({**small, "horizn": 1})
    assert (raised.value.file, raised.value.line, raised.value.key) == (None, None, "horizn")
    assert str(raised.value) == "horizn: unknown key (accepted: nearest known key: horizon)"
    with pytest.raises(bandana.SpecError) as raised:
        bandana.Spec(small, set={"privacy.epsilon": -1})
    assert (raised.value.file, raised.value.key, raised.value.value) == ("set", "privacy.epsilon", "-1")


def test_a_whole_number_has_no_point(small):
    with pytest.raises(bandana.SpecError, match="without point or exponent: 100000"):
        bandana.Spec({**small, "horizon": 1e5})


@pytest.mark.parametrize(
    "change",
    [{"horizon": None}, {"horizon": 1j}, {"environment": {"means": object()}}, {5: 1}, {"variant": {"label": "x"}},
     {"sweep": [1]}],
)  # fmt: skip
def test_wrong_types_are_type_errors(small, change):
    with pytest.raises(TypeError):
        bandana.Spec({**small, **change})


def test_a_key_that_is_given_twice(small):
    with pytest.raises(ValueError, match="privacy.delta is given twice"):
        bandana.Spec({**small, "privacy.delta": 0.1})


@pytest.mark.parametrize(
    ("argument", "kind"),
    [({"threads": -1}, ValueError), ({"threads": 1.5}, TypeError), ({"processes": 0}, ValueError),
     ({"resume": True}, ValueError), ({"progress": "yes"}, TypeError), ({"stop": 1}, TypeError), ({"set": 3}, TypeError)],
)  # fmt: skip
def test_arguments_of_run(small, argument, kind):
    with pytest.raises(kind):
        bandana.run(small, **argument)


def test_a_spec_is_no_text():
    with pytest.raises(TypeError, match=r"Spec\.parse"):
        bandana.run("horizon = 5\n")
    with pytest.raises(TypeError):
        bandana.run(5)


def test_a_folder_is_not_overwritten(small, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(bandana.SpecError, match="exists"):
        bandana.run(small, out=tmp_path / "out")
    with pytest.raises(bandana.SpecError, match="exists already"):
        bandana.run(small).save(tmp_path / "out")


def test_a_folder_that_cannot_be_made_is_refused(small):
    with pytest.raises(bandana.Error):
        bandana.run(small, out="/proc/no/such/folder")


def test_a_damaged_folder_is_a_data_error(small, tmp_path):
    bandana.run(small, out=tmp_path / "out")
    (tmp_path / "out" / "summary.json").write_text("{")
    with pytest.raises(bandana.DataError):
        bandana.load(tmp_path / "out")
    (tmp_path / "out" / "summary.json").unlink()
    with pytest.raises(bandana.SpecError):
        bandana.load(tmp_path / "out")


def test_exhibits_and_scales():
    with pytest.raises(bandana.SpecError, match="p1-fig2a"):
        bandana.reproduce("p1-fig2aa")
    with pytest.raises(bandana.SpecError, match="smoke"):
        bandana.reproduce("p1-fig2a", "huge")
    with pytest.raises(bandana.SpecError, match="dp-dpe"):
        bandana.algorithms()["dp-dp"]


def test_a_budget_error_is_no_value_error():
    assert not issubclass(bandana.BudgetError, ValueError) and issubclass(bandana.OutsideError, OSError)
