"""calibrate, Accountant, Ledger and audit have the numbers of the command line."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest

import bandana
from bandana import calibrate
from conftest import BANDANA, SOURCE

CALIBRATIONS = [
    ("gaussian", {"epsilon": 1, "delta": 1e-6, "sensitivity": 1}),
    ("gaussian", {"epsilon": 0.5, "delta": 1e-6, "sensitivity": 2.5, "calibration": "paper"}),
    ("gaussian", {"epsilon": 1, "delta": 1e-6, "shape": "symmetric", "dimension": 4, "bound": 1.5, "neighbours": "replace-one"}),
    ("laplace", {"epsilon": 0.3, "range": 2}),
    ("laplace", {"epsilon": 0.3, "shape": "l1", "dimension": 3, "bound": 1, "neighbours": "add-remove", "unit": 0.001}),
    ("prefix-sum", {"n": 1000, "epsilon": 1, "delta": 1e-6, "sensitivity": 1}),
    ("prefix-sum", {"n": 77, "epsilon": 1, "delta": 1e-6, "sensitivity": 1, "mechanism": "honaker"}),
    ("shuffle-sum", {"n": 10_000, "dimension": 5, "epsilon": 1, "delta": 1e-6, "bound": 1}),
    ("shuffle-sum", {"n": 10_000, "dimension": 1, "epsilon": 1, "delta": 1e-6, "bound": 1, "calibration": "paper"}),
    ("amplification", {"n": 10_000, "delta": 1e-6, "epsilon0": 1}),
    ("amplification", {"n": 10_000, "delta": 1e-6, "epsilon0": 12.5}),
    ("amplification", {"n": 10_000, "delta": 1e-6, "epsilon": 0.1}),
    ("l2-ball", {"dimension": 10, "epsilon": 1, "radius": 2}),
    ("l2-ball", {"dimension": 10, "epsilon": 1, "radius": 2, "calibration": "paper"}),
]  # fmt: skip


def flags(arguments):
    return [word for key, value in arguments.items() for word in (f"--{key.replace('_', '-')}", str(value))]


@pytest.mark.parametrize(("name", "arguments"), CALIBRATIONS)
def test_calibrations_are_those_of_the_command_line(name, arguments, bandana_json):
    answer = getattr(calibrate, name.replace("-", "_"))(**arguments)
    assert answer.to_dict() == bandana_json("calibrate", name, *flags(arguments))
    assert answer.mechanism in answer._repr_html_()


@pytest.mark.parametrize("name", ["gaussian", "laplace", "prefix-sum", "shuffle-sum", "amplification", "l2-ball"])
def test_every_flag_is_a_keyword(name):
    told = subprocess.run([BANDANA, "calibrate", name, "--help"], capture_output=True, text=True, check=True).stdout
    known = {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w,)?--([a-z0-9-]+)", told, re.MULTILINE)}
    function = getattr(calibrate, name.replace("-", "_"))
    ours = set(function.__kwdefaults__ or {}) | set(function.__annotations__) - {"return"}
    assert ours == known - {"help", "json", "quiet", "plugin", "version"}


def test_calibration_errors_name_keywords():
    with pytest.raises(bandana.SpecError) as raised:
        calibrate.shuffle_sum(n=100, dimension=1, epsilon=1, delta=1e-6, bound=1, honest_fraction=2)
    assert raised.value.key == "honest_fraction" and "--" not in str(raised.value)
    with pytest.raises(bandana.SpecError) as raised:
        calibrate.gaussian(epsilon=1, delta=1e-6)
    assert "--" not in str(raised.value) and "shape" in raised.value.accepted
    with pytest.raises(TypeError):
        calibrate.gaussian(epsilon=1, delta=None, sensitivity=[1])
    with pytest.raises(TypeError):
        calibrate.gaussian(delta=1e-6, sensitivity=1)
    assert calibrate.gaussian(epsilon=numpy.float64(1), delta=1e-6, sensitivity=numpy.int64(1)).sigma > 4


def test_accounts_are_those_of_the_command_line(bandana_json, tmp_path):
    account = bandana.Accountant(unit="client", neighbours="replace-one")
    account.add("gaussian", sigma=60, sensitivity=2.5, count=52, name="weekly sums")
    account.add("laplace", scale=100, sensitivity=2, dimension=1, count=10)
    file = tmp_path / "events.json"
    file.write_text(account.to_json())
    report = account.report(delta=1e-6)
    assert report.json == bandana_json("account", file, "--delta", "1e-06")
    assert account.delta(epsilon=2) == bandana_json("account", file, "--epsilon", "2")["delta"]
    assert bandana.Accountant.read(file).events == account.events
    assert [proof.proof for proof in report.proofs][0] == report.proof and "fixed beforehand" in str(report)


def test_accounts_refuse_what_they_do_not_know():
    account = bandana.Accountant(unit="client", neighbours="replace-one")
    with pytest.raises(bandana.SpecError) as raised:
        account.add("gausian", sigma=1, sensitivity=1, count=1)
    assert raised.value.key == "mechanism" and "nearest: gaussian" in raised.value.accepted
    with pytest.raises(bandana.SpecError) as raised:
        account.add("gaussian", sigm=1, sensitivity=1, count=1)
    assert raised.value.key == "sigm" and "nearest: sigma" in raised.value.accepted
    with pytest.raises(TypeError):
        account.report()
    with pytest.raises(bandana.SpecError):
        account.report(delta=1e-6)


def test_audits_are_those_of_the_command_line(bandana_json):
    document = bandana_json("audit", "central-gaussian", "--draws", 20_000, accepted=(0, 1))["targets"][0]
    for threads in (1, 2):
        finding = bandana.audit("central-gaussian", draws=20_000, threads=threads)
        assert (finding.epsilon_lower, finding.delta_lower) == (document["epsilon_lower"], document["delta_lower"])
        assert finding.distinguisher == document["distinguisher"] and finding.draws == 20_000
    assert finding.claim.text == document["claim"]["text"]
    listed = bandana_json("audit", "--list")
    # The package has no service, so it does not attack its processes.
    names = [each["target"] for each in listed if not each["target"].startswith("recovery-")]
    assert [target.name for target in bandana.audit_targets()] == names


def test_an_audit_of_a_function_can_be_repeated_and_catches_a_planted_fault():
    def draw(neighbour, n, rng):
        # On a grid: the last bits of floating-point noise tell the neighbours apart.
        return numpy.column_stack([neighbour + rng.laplace(size=n), rng.normal(size=n)]).round(2)

    found = bandana.audit(draw, claim=(1, 0), draws=40_000)
    assert not found.refuted and 0.7 < found.epsilon_lower <= 1
    assert bandana.audit(draw, claim=(1, 0), draws=40_000) == found
    assert bandana.audit(lambda neighbour, n, rng: 2 * draw(neighbour, n, rng) + neighbour, claim=(1, 0), draws=40_000).refuted
    assert bandana.audit(draw, draws=5000).claim is None


def test_what_a_drawn_function_raises_is_raised():
    def draw(neighbour, n, rng):
        if n > 1:
            raise ZeroDivisionError
        return rng.normal(size=n)

    with pytest.raises(ZeroDivisionError):
        bandana.audit(draw, draws=2000)
    with pytest.raises(ValueError, match="rows"):
        bandana.audit(lambda neighbour, n, rng: rng.normal(size=n + (n > 1)), draws=2000)
    with pytest.raises(ValueError, match="one row"):
        bandana.audit(lambda neighbour, n, rng: 5.0, draws=2000)
    with pytest.raises(bandana.SpecError):
        bandana.audit("no such target")
    with pytest.raises(TypeError):
        bandana.audit("central-gaussian", claim=(1, 0))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """The ledger of a small deployment: a server, and an agent that holds all clients."""
    folder = tmp_path_factory.mktemp("ledger")
    program = f"""
set -euo pipefail
source {SOURCE}/tests/system/lib.sh
source {SOURCE}/tests/system/deployment.sh
role_flags=(--insecure-seed)
spec central 20_000 6_000 >central.toml
serve central --set service.ledger_mirror=server.ledger
join central 1-6000
ends "$server" 0 server
cp server.ledger* {folder}
"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "server.ledger"


def test_ledgers_are_those_of_the_command_line(ledger, bandana_json):
    opened = bandana.Ledger(ledger)
    shown = bandana_json("ledger", "show", ledger, "--client", 1)
    assert opened.head == shown["head"] and len(opened.charges) == shown["releases"] > 0
    assert opened.header["claims"][0].text == shown["claims"][0]["text"]
    assert opened.largest[0] == shown["largest"]["client"] and opened.largest[1].spent == shown["largest"]["spent"]
    assert opened.spent(1).spent == shown["client"]["spent"] and opened.spent(1).left == shown["client"]["left"]
    assert opened.spent().spent == shown["total"] and opened.spent(4_000_000_000).releases == 0
    exported = bandana_json("ledger", "export", ledger)
    frame = opened.to_pandas()
    assert frame["epsilon"].tolist() == [charge["guarantee"]["epsilon"] for charge in exported["charges"]]
    assert opened.verify() and opened.verify(head=opened.head["hash"])
    with pytest.raises(bandana.SpecError, match="64 digits"):
        opened.verify(head="abc")


def test_the_mirror_of_a_restored_store_leaves_nobody_a_budget(tmp_path):
    def loss(epsilon):
        return f'{{"epsilon":{epsilon},"delta":0}}'

    head = '"time":"2027-01-15T08:00:00.000Z",'
    contents = [
        f'{{"seq":0,"kind":"bandana-ledger","format":3,{head}"deployment":"small","configuration":"ab","claims":[],"void":null,'
        f'"measure":"approximate-dp","budget":{loss(1)},"deployment_budget":null',
        f'{{"seq":1,{head}"run":"{"61" * 16}","node":0,"epoch":1,"question":"q","guarantee":{loss(0.25)},'
        f'"loss":{loss(0.25)},"units":"7"',
        f'{{"seq":2,{head}"all_spent":"why"',
    ]
    for lines in (2, 3):
        previous, text = "0" * 64, ""
        for content in contents[:lines]:
            previous = hashlib.sha256((previous + content).encode()).hexdigest()
            text += f'{content},"hash":"{previous}"}}\n'
        path = tmp_path / f"mirror{lines}"
        path.write_text(text)
        Path(f"{path}.head").write_text(f'{{"seq":{lines - 1},"hash":"{previous}"}}\n')
        opened = bandana.Ledger(path)
        assert [charge["run"] for charge in opened.charges] == ["61" * 16] and len(opened.to_pandas()) == 1
        spent = lines == 3
        assert opened.spent(7).left["epsilon"] == (0 if spent else 0.75)
        assert opened.spent(8).left["epsilon"] == (0 if spent else 1) and opened.spent(8).releases == 0
        assert [note.startswith("every budget counts as spent") for note in opened.notes] == [True] * spent


def test_an_altered_ledger_is_a_data_error(ledger, tmp_path):
    for file in ledger.parent.iterdir():
        shutil.copy(file, tmp_path)
    copy = tmp_path / "server.ledger"
    opened = bandana.Ledger(copy)
    lines = copy.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"epsilon":8', b'"epsilon":1').replace(b'"epoch":', b'"epoch" :', 1)
    copy.write_bytes(b"".join(lines))
    with pytest.raises(bandana.DataError):
        bandana.Ledger(copy)
    with pytest.raises(bandana.DataError):
        opened.verify()
    with pytest.raises(bandana.SpecError):
        bandana.Ledger(tmp_path / "none")
