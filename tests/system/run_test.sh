#!/usr/bin/env bash
# Runs a small sweep from the command to its files, as a person does, and checks every command's help.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# says TEXT PART: checks that TEXT holds PART.
says() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }

cat >small.toml <<'TOML'
name = "a small sweep"
horizon = 2_000
seed = 7
replicates = 3
[environment]
dimension = 3
actions = 20
client_sd = 0.1
population = 3_000
[algorithm]
name = "dp-dpe"
[privacy]
delta = 1e-6
[[variant]]
label = "paper, wide"
algorithm = { width = "paper" }
privacy = { model = "none" }
[sweep]
"privacy.model" = ["none", "central", "local"]
"privacy.epsilon" = [1, 10]
TOML

# The results are in the default folder, the table is printed, and --quiet leaves stderr empty.
table=$("$BANDANA" run small.toml --quiet 2>stderr) || fail "run: exit $?"
[[ ! -s stderr ]] || fail "--quiet wrote: $(<stderr)"
out=results/a-small-sweep
says "$table" "Report: $out/report.html"
for part in point regret 'central epsilon=10' 'paper, wide' '(10, 1e-06)'; do says "$table" "$part"; done
for file in spec.toml results.csv summary.json report.html; do
  [[ -s $out/$file ]] || fail "no $file"
done
[[ $(find "$out" -type f | wc -l) == 4 ]] || fail "other files: $(ls "$out")"

header='point,label,algorithm.width,privacy.epsilon,privacy.model,replicate,t,regret,clients,communication_reals,communication_bits,rounds,best_action_rate'
[[ $(head -1 $out/results.csv) == "$header" ]] || fail "header: $(head -1 $out/results.csv)"

# With --json, stdout has one document and nothing else; it equals summary.json.
"$BANDANA" run small.toml --json --out json >json.out 2>/dev/null || fail "--json: exit $?"
cmp json.out json/summary.json || fail '--json prints another summary'
cmp json/results.csv $out/results.csv || fail 'two runs differ'
"$BANDANA" --quiet run small.toml --threads 1 --out one >/dev/null
cmp one/results.csv $out/results.csv || fail 'threads change the results'

# The resolved spec gives the same results.
"$BANDANA" run $out/spec.toml --out again --quiet >/dev/null
for file in results.csv spec.toml; do cmp again/$file $out/$file || fail "spec.toml leads to another $file"; done

# --set overrides file, sweep and variants.
"$BANDANA" run small.toml --out set --quiet --set privacy.model=local --set privacy.epsilon=3 --set algorithm.width=exact >/dev/null
[[ $(cut -d, -f1 set/results.csv | sort -u | wc -l) == 2 ]] || fail '--set leaves more than one point'

python3 - $out json.out <<'PY' || fail 'summary.json'
import csv, json, math, statistics, sys
out = sys.argv[1]
summary = json.load(open(out + "/summary.json"))
json.load(open(sys.argv[2]))
assert list(summary) == ["name", "version", "spec_sha256", "wall_s", "cpu_s", "points"], list(summary)
assert summary["name"] == "a small sweep" and len(summary["spec_sha256"]) == 64
import hashlib
assert hashlib.sha256(open(out + "/spec.toml", "rb").read()).hexdigest() == summary["spec_sha256"]
assert summary["wall_s"] > 0 and summary["cpu_s"] > 0
labels = ["none", "central epsilon=1", "central epsilon=10", "local epsilon=1", "local epsilon=10", "paper, wide"]
assert [p["label"] for p in summary["points"]] == labels, [p["label"] for p in summary["points"]]

rows = list(csv.DictReader(open(out + "/results.csv")))
columns = list(rows[0])
metrics = columns[columns.index("t") + 1:]
order = [(int(r["point"]), int(r["replicate"]), int(r["t"])) for r in rows]
assert order == sorted(order) and len(set(order)) == len(order)
for i, point in enumerate(summary["points"]):
    for key in ("point", "algorithm", "replicates", "metrics", "curve", "privacy"):
        assert key in point, key
    assert point["algorithm"] == "dp-dpe" and point["replicates"] == 3
    mine = [r for r in rows if int(r["point"]) == i]
    assert {r["label"] for r in mine} == {labels[i]}
    for key in columns[2:columns.index("replicate")]:
        value = point["point"].get(key, "")
        assert all(r[key] == str(value) or float(r[key]) == value for r in mine), (key, value)
    times = sorted({int(r["t"]) for r in mine})
    assert times == point["curve"]["t"] and times[0] == 1 and times[-1] == 2000
    assert set(point["metrics"]) == set(metrics)
    for name, metric in point["metrics"].items():
        assert list(metric) == ["mean", "sd", "se", "n", "values"]
        end = [float(r[name]) for r in mine if int(r["t"]) == 2000]
        assert metric["values"] == end and metric["n"] == 3
        assert math.isclose(metric["mean"], statistics.mean(end), rel_tol=1e-12)
        assert math.isclose(metric["sd"], statistics.stdev(end), rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(metric["se"], metric["sd"] / math.sqrt(3), rel_tol=1e-12, abs_tol=1e-15)
    regret = point["curve"]["regret"]
    assert set(regret) == {"mean", "sd", "median", "q10", "q90"}
    for k, t in enumerate(times):
        values = [float(r["regret"]) for r in mine if int(r["t"]) == t]
        assert math.isclose(regret["mean"][k], statistics.mean(values), rel_tol=1e-12)
        assert math.isclose(regret["median"][k], statistics.median(values), rel_tol=1e-12)
        assert regret["q10"][k] <= regret["median"][k] <= regret["q90"][k]
    privacy = point["privacy"]
    assert set(privacy) == {"nominal", "asked", "delivered", "weakest", "void"} and privacy["void"] is None
    if i in (0, 5):
        assert privacy["delivered"] == []
    else:
        assert privacy["nominal"] == {"epsilon": [1, 10, 1, 10][i - 1], "delta": 1e-6}
        for claim in privacy["delivered"]:
            assert set(claim) == {"adversary", "epsilon", "delta", "unit", "neighbours", "proof", "only_if", "asked", "text"}
page = open(out + "/report.html").read()
assert page.startswith("<!doctype html>") and "a small sweep" in page and "http-equiv" not in page
PY

# --trace writes one line of JSON per phase.
"$BANDANA" run small.toml --out traced --quiet --trace trace.jsonl >/dev/null
python3 - <<'PY' || fail '--trace'
import json
lines = [json.loads(line) for line in open("trace.jsonl")]
assert {(l["point"], l["replicate"]) for l in lines} == {(p, r) for p in range(6) for r in range(3)}
for line in lines:
    assert {"epoch", "rounds", "clients", "noise_stddev", "width", "pulls", "averages", "estimate", "active"} <= set(line)
PY

# A run whose claim is void says why, also on the page.
cat >void.toml <<'TOML'
horizon = 300
[environment]
kind = "contextual-linear"
contexts = "gap"
dimension = 3
actions = 4
reward = "bernoulli"
[algorithm]
name = "fed-ucb"
[federation]
agents = 2
[privacy]
model = "silo"
epsilon = 1
delta = 1e-5
[sweep]
"algorithm.sync" = ["mlogt", "determinant"]
TOML
why='no guarantee: synchronisation times depend on unreleased data'
table=$("$BANDANA" run void.toml --out void --quiet) || fail "void.toml: exit $?"
for part in "$why (determinant)" VOID '(1, 1e-05)'; do says "$table" "$part"; done
grep -q "\"void\": *\"$why\"" void/summary.json || fail 'summary.json does not say that the claim is void'
grep -q "$why" void/report.html || fail 'the report does not say that the claim is void'

# With local = raw the claims hold for logged streams only, and a run is none: the table says VOID, under every model.
cat >raw.toml <<'TOML'
horizon = 300
[environment]
kind = "contextual-linear"
contexts = "gap"
dimension = 3
actions = 4
reward = "bernoulli"
[algorithm]
name = "fed-ucb"
local = "raw"
[federation]
agents = 2
[privacy]
epsilon = 1
delta = 1e-5
[sweep]
"privacy.model" = ["silo", "shuffle"]
TOML
table=$("$BANDANA" run raw.toml --out raw --quiet) || fail "raw.toml: exit $?"
for part in 'logged streams' '(silo; shuffle)'; do says "$table" "$part"; done
[[ $(grep -Ec '^(silo|shuffle) .* VOID$' <<<"$table") == 2 ]] || fail "raw.toml: no VOID in a row: $table"
[[ $table != *'(1, 1e-05)'* ]] || fail "raw.toml: the table has a guarantee: $table"

# A claim with a condition is marked in the table, and the condition is below it.
cat >condition.toml <<'TOML'
horizon = 2_000
[environment]
kind = "mab"
actions = 3
[algorithm]
name = "hdp-mab"
local = "raw"
[federation]
agents = 2
[privacy]
model = "silo"
epsilon = 1
TOML
table=$("$BANDANA" run condition.toml --out condition --quiet) || fail "condition.toml: exit $?"
for part in '(1, 0) *' '* only if nobody sees what the agent pulls while it waits'; do says "$table" "$part"; done

# The table has the weakest guarantee that was asked for, rounded up.
sed -e 's/^local = .*//' -e 's/^delta = .*/&\nbudgets = [0.1, 0.12341]/' -e '/^\[sweep\]/,$d' \
  -e 's/^\[privacy\]/&\nmodel = "silo"/' raw.toml >budgets.toml
table=$("$BANDANA" run budgets.toml --out budgets --quiet) || fail "budgets.toml: exit $?"
says "$table" '(0.1235, 1e-05)'

# Only algorithms that repair a matrix can be said to have repaired one, also beside others that do not.
cat >mixed.toml <<'TOML'
name = "mixed"
horizon = 500
seed = 7
replicates = 2
[environment]
kind = "contextual-linear"
contexts = "sphere"
dimension = 2
actions = 10
reward = "rademacher"
[algorithm]
name = "ldp-sgd"
[privacy]
model = "local"
epsilon = 0.5
[[variant]]
label = "silo"
algorithm = { name = "private-lin-ucb" }
privacy = { model = "silo", delta = 1e-6 }
federation = { agents = 1 }
TOML
table=$("$BANDANA" run mixed.toml --out mixed --quiet)
says "$table" silo
[[ $table != *nan* ]] || fail "a number is unknown: $table"

# Every list has entries.
for what in algorithms environments privatizers tables exhibits; do
  [[ -n $("$BANDANA" list $what) ]] || fail "list $what says nothing"
  "$BANDANA" list $what --json | python3 -c 'import json, sys; assert isinstance(json.load(sys.stdin), list)' || fail "list $what --json"
done
says "$("$BANDANA" list algorithms)" dp-dpe
says "$("$BANDANA" list environments)" contextual-linear
says "$("$BANDANA" list environments linear)" environment.population
[[ $("$BANDANA" list algorithms dp-dpe | wc -L) -le 100 ]] || fail "list algorithms dp-dpe is wider than 100 columns"
says "$("$BANDANA" list algorithms dp-dqe 2>&1)" 'there is no "dp-dqe". Did you mean dp-dpe?'
says "$("$BANDANA" list privatizers central)" privacy.epsilon

[[ $("$BANDANA" --version) =~ ^bandana\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "--version: $("$BANDANA" --version)"
help=$("$BANDANA" --help) || fail '--help'
for command in demo run list server agent; do
  says "$help" "$command"
  text=$("$BANDANA" $command --help 2>stderr) || fail "$command --help: exit $?"
  [[ ! -s stderr ]] || fail "$command --help writes to stderr"
  says "$text" "Usage: bandana $command"
done

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'run_test: all passed'
