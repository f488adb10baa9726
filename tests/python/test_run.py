"""run and reproduce do what the command line does, to the bit, and behave in a program."""

import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import bandana
from conftest import SOURCE

CUT = {"horizon": 400, "replicates": 2}
EXHIBITS = ["p1-fig2a", "p2-fig2a", "p4-fig4", "p5-fig2"]
SLOW_TO_STOP = 0.1  # seconds from Ctrl-C to KeyboardInterrupt; a loaded machine gets ten times as long


def assert_same_files(here, there):
    for name in ("results.csv", "spec.toml"):
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
    mine, theirs = (json.loads((folder / "summary.json").read_text()) for folder in (here, there))
    for summary in (mine, theirs):
        del summary["wall_s"], summary["cpu_s"]
    assert mine == theirs


@pytest.mark.parametrize("file", sorted((SOURCE / "experiments").glob("*.toml")), ids=lambda file: file.stem)
def test_specs_give_the_files_of_the_command_line(file, cli, tmp_path):
    cut = dict(CUT)
    cli("run", file, "--out", tmp_path / "cli", *(f"--set={key}={value}" for key, value in cut.items()))
    result = bandana.run(file, set=cut, out=tmp_path / "python")
    assert_same_files(tmp_path / "python", tmp_path / "cli")
    assert result.summary == json.loads((tmp_path / "python" / "summary.json").read_text())


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_exhibits_give_the_files_of_the_command_line(exhibit, cli, tmp_path):
    cli("reproduce", exhibit, "--scale", "smoke", "--out", tmp_path / "cli")
    result = bandana.reproduce(exhibit, "smoke", out=tmp_path / "python")
    assert_same_files(tmp_path / "python", tmp_path / "cli")
    verdicts = json.loads((tmp_path / "cli" / "verdict.json").read_text())["verdicts"]
    assert [v._asdict() for v in result.verdicts] == [{k: v[k] for k in bandana.Verdict._fields} for v in verdicts]
    assert result.as_expected == all(v["judged"] and v["holds"] == v["expected"] for v in verdicts)


def test_a_dict_is_the_file_with_the_same_content(small, cli, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(
        """
name = "small"
horizon = 2000
seed = 7
replicates = 3
environment = {kind = "linear", dimension = 3, actions = 10, client_sd = 0.1}
algorithm.name = "dp-dpe"
privacy.delta = 1e-3
[sweep]
"privacy.model" = ["none", "central", "local"]
"privacy.epsilon" = [1, 10]
"""
    )
    cli("run", file, "--out", tmp_path / "cli")
    bandana.run(small, out=tmp_path / "python")
    assert_same_files(tmp_path / "python", tmp_path / "cli")


@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 3}, {"processes": 3}])
def test_results_do_not_depend_on_threads_and_processes(small, how, tmp_path):
    bandana.run(small, out=tmp_path / "usual")
    bandana.run(small, out=tmp_path / "other", **how)
    assert_same_files(tmp_path / "other", tmp_path / "usual")


def test_an_error_in_a_process_has_its_fields(small):
    with pytest.raises(bandana.SpecError) as raised:
        bandana.run(small, set={"environment.actions": 0}, processes=2)
    assert raised.value.key == "environment.actions"


def test_frames_have_the_values_of_the_file(small, tmp_path):
    result = bandana.run(small, out=tmp_path / "out")
    lines = (tmp_path / "out" / "results.csv").read_text().splitlines()
    header = lines[0].split(",")
    frame = result.to_pandas()
    assert list(frame.columns) == header
    assert {"privacy.model", "privacy.epsilon"} <= set(header)
    at = header.index("regret")
    assert frame["regret"].tolist() == [float(line.split(",")[at]) for line in lines[1:]]
    assert list(result.to_pandas(["regret"]).columns)[-2:] == ["t", "regret"]
    final = result.final()
    assert list(final.columns) == ["mean", "sd", "se", "n"]
    for point in result.points:
        assert final.loc[point.label, "mean"] == point.metrics["regret"].mean
        assert point.metrics["regret"].se == point.metrics["regret"].sd / math.sqrt(3)
    with pytest.raises(bandana.SpecError) as raised:
        result.final("regrets")
    assert raised.value.key == "metric" and "regret," in raised.value.accepted


def test_curves_of_any_metric_are_computed_as_those_of_the_summary(small):
    result = bandana.run(small)
    from_summary = result.curves()
    for point in result.summary["points"]:
        del point["curve"]["regret"]
    from_file = result.curves()
    for label, curve in from_summary.items():
        for name in ("t", "mean", "sd", "se", "median", "q10", "q90"):
            numpy.testing.assert_array_equal(getattr(from_file[label], name), getattr(curve, name), err_msg=name)
            assert not getattr(curve, name).flags.writeable


def test_the_spread_of_one_replicate_is_unknown(small):
    result = bandana.run(small, set={"replicates": 1})
    metric = result.points[0].metrics["regret"]
    assert math.isnan(metric.sd) and math.isnan(metric.se) and not math.isnan(metric.mean)
    assert numpy.isnan(result.curves("clients")[result.points[0].label].sd).all()
    assert "unknown" in repr(result)


def test_points_are_found_by_what_varies(small):
    result = bandana.run(small)
    point = result[{"privacy.model": "central", "privacy.epsilon": 1}]
    assert point.label == "central epsilon=1" and result[point.label] is point
    assert result[{"privacy.model": "none"}].point == {"privacy.model": "none"}
    with pytest.raises(KeyError, match="local epsilon=10"):
        result[{"privacy.model": "shuffle"}]
    with pytest.raises(KeyError, match="more than one point"):
        result[{"privacy.model": "central"}]


def test_what_is_printed_is_the_table_of_the_command_line(small, tmp_path):
    result = bandana.run(small, out=tmp_path / "python")
    file = tmp_path / "python" / "spec.toml"
    done = subprocess.run(
        [os.environ["BANDANA"], "--quiet", "run", file, "--out", tmp_path / "cli"], capture_output=True, text=True, check=True
    )
    table = done.stdout.split("\n\n")[0].splitlines()
    assert [line.rstrip() for line in repr(result).splitlines()[1 : 1 + len(result) + 1]] == table[: len(result) + 1]
    for point in result.points:
        assert point.label in result._repr_html_()
        for claim in point.privacy.delivered:
            assert str(claim) in str(point.privacy) and claim.text


def test_numpy_numbers_and_paths(tmp_path):
    spec = bandana.Spec(
        {
            "horizon": numpy.int64(100),
            "algorithm.name": "ucb1",
            "environment": {"kind": "mab", "means": numpy.array([0.25, 0.5])},
            "privacy.model": "none",
            "federation.agents": 1,
        }
    )
    assert "horizon = 100\n" in spec.toml and "means = [0.25, 0.5]" in spec.toml


def test_a_temporary_folder_lives_as_long_as_the_result(small, tmp_path):
    result = bandana.run(small)
    folder = result.folder
    assert (folder / "report.html").exists()
    again = bandana.load(result.save(tmp_path / "kept"))
    assert not folder.exists() and again.summary == result.summary and again.spec == result.spec
    folder = bandana.run(small).folder
    assert not folder.exists()


def test_progress_is_called_with_growing_numbers(small):
    calls = []
    bandana.run(small, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (15, 15) and calls == sorted(calls)


def test_what_progress_raises_ends_the_run(long, tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    begin = time.monotonic()
    with pytest.raises(Enough):
        bandana.run(long, progress=stop)
    assert time.monotonic() - begin < 10


def test_other_threads_go_on_and_an_event_stops_the_run(long, tmp_path):
    stop, beats, raised = threading.Event(), [], []

    def work():
        try:
            bandana.run(long, stop=stop, out=tmp_path / "out", progress=False)
        except KeyboardInterrupt as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while len(beats) < 50:
        beats.append(time.monotonic())
        time.sleep(0.01)
    stop.set()
    begin = time.monotonic()
    thread.join()
    assert raised and time.monotonic() - begin < 10 * SLOW_TO_STOP
    assert sorted(b - a for a, b in zip(beats, beats[1:]))[len(beats) // 2] < 0.1


def test_resume_gives_what_was_not_interrupted(small, tmp_path):
    begun = {**small, "replicates": 12}
    calls = []

    def interrupt(done, total):
        calls.append(done)
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bandana.run({**begun, "horizon": 40_000}, out=tmp_path / "out", progress=interrupt, threads=1)
    rows = (tmp_path / "out" / "results.csv").read_text()
    assert rows.count("\n") > 1
    bandana.run({**begun, "horizon": 40_000}, out=tmp_path / "out", resume=True)
    assert (tmp_path / "out" / "results.csv").read_text().startswith(rows.rsplit("\n", 1)[0][:1000])
    assert len(bandana.load(tmp_path / "out").to_pandas()["replicate"].unique()) == 12


INTERRUPTED = """
import os, signal, threading, time, bandana
def interrupt():
    time.sleep(1)
    interrupt.at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - interrupt.at)
"""


@pytest.mark.parametrize(
    "call",
    [
        "bandana.run({long}, out={out!r}, progress=False)",
        "bandana.run({long}, out={out!r}, processes=2, progress=False)",
        "bandana.audit('central-gaussian', draws=1_000_000_000)",
        "bandana.audit(lambda neighbour, n, rng: rng.laplace(size=n), draws=1_000_000_000)",
    ],
    ids=["run", "processes", "audit", "audit of a function"],
)
def test_interrupt(call, long, python, tmp_path):
    call = call.format(long=long, out=str(tmp_path / "out"))
    took = float(python(INTERRUPTED.format(call=call)))
    assert took < 10 * SLOW_TO_STOP
    if "run" in call:
        assert (tmp_path / "out" / "results.csv").exists()


def test_no_process_is_left_behind(small):
    before = set(os.listdir("/proc"))
    bandana.run(small, processes=3)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert before


def test_a_key_without_effect_is_a_warning(small):
    with pytest.warns(UserWarning, match="privacy.epsilon has no effect"):
        bandana.run({**small, "sweep": {}, "privacy": {"model": "none", "epsilon": 1}})
