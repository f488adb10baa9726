#!/usr/bin/env bash
# Tests of P5's algorithms, with a new user in every round: every environment, logs by rejection and doubly robust, and
# what is refused.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

users_spec() { # ENVIRONMENT-KEYS
  cat <<TOML
horizon = 3000
seed = 5
replicates = 2
[environment]
$1
[algorithm]
name = "ldp-sgd"
[privacy]
model = "local"
epsilon = 2.0
delta = 0.01
[sweep]
"algorithm.name" = ["ldp-sgd", "ldp-ols", "ldp-ucb", "ldp-gloc"]
[[variant]]
label = "none"
privacy = { model = "none" }
[[variant]]
label = "LinUCB"
algorithm = { name = "lin-ucb" }
privacy = { model = "none" }
[[variant]]
label = "Thompson"
algorithm = { name = "thompson-sampling" }
privacy = { model = "none" }
TOML
}

# Each run has ten points with finite regret, and a claim for the private points only.
check_run() { # NAME PYTHON-CONDITION-ON-POINT
  "$BANDANA" run "$1.toml" --out "$1" --quiet >"$1.out" 2>"$1.err" || { fail "$1: $(head -c 300 "$1.err")"; return; }
  python3 - "$1/summary.json" "$2" <<'PY' || fail "$1: not as it should be"
import json, math, sys
points = json.load(open(sys.argv[1]))["points"]
assert len(points) == 10, len(points)
for p in points:
    private = p["point"]["privacy.model"] == "local"
    delivered = p["privacy"]["delivered"]
    assert bool(delivered) == private, p["label"]
    for claim in delivered:
        assert claim["epsilon"] <= 2 and claim["unit"] == "one user's context, arm and reward", claim
        assert (claim["delta"] == 0) == (p["algorithm"] == "ldp-sgd"), claim
    m = {name: value["mean"] for name, value in p["metrics"].items()}
    assert eval(sys.argv[2], {"m": m, "p": p, "math": math}), (p["label"], m)
PY
}

known='math.isfinite(m["regret"]) and m["regret"] >= 0 and m["clipped_contexts"] == 0 and m["clients"] == 3000'
i=0
for world in 'link = "identity"' 'link = "logistic"' 'link = "probit"' 'link = "poisson"'; do
  for parameters in single multi; do
    i=$((i + 1))
    users_spec "kind = \"glm\"
$world
parameters = \"$parameters\"
dimension = 3
actions = 4" >"world$i.toml"
    check_run "world$i" "$known"
  done
done

# Normal contexts sometimes leave their ball, and the run counts them.
users_spec 'kind = "glm"
link = "identity"
contexts = "gaussian"
dimension = 3
actions = 4' >gaussian.toml
check_run gaussian 'm["clipped_contexts"] > 0'

# Writes a log of a uniform policy; of two actions the second one pays.
python3 - <<'PY'
import random
random.seed(3)
with open("log.csv", "w") as out:
    out.write("context_0,context_1,action,reward,pscore,hour\n")
    for _ in range(6000):
        x, action = random.uniform(-1, 1), random.randrange(2)
        out.write(f"{x},0.5,{action},{int(random.random() < (0.8 if action == 1 else 0.2))},0.5,noon\n")
PY
users_spec 'kind = "replay"
log = "obp"
file = "log.csv"
ignore = "hour, user"
actions = 2
context_bound = 1.5' >rejection.toml
check_run rejection '2500 < m["matched"] <= 3000 and 0 < m["value_low"] < m["value"] < m["value_high"] < 1'
sed 's/^file = .*/&\nevaluation = "doubly-robust"/' rejection.toml >robust.toml
check_run robust 'm["value_low"] < m["value"] < m["value_high"]'
python3 - <<'PY' || fail "without privacy the better action is not found in the log"
import json
points = json.load(open("robust/summary.json"))["points"]
value = next(p for p in points if p["label"].startswith("LinUCB"))["metrics"]
assert value["value_low"]["mean"] < 0.8 < value["value_high"]["mean"] and value["value"]["mean"] > 0.7, value
PY

refused() { # NAME PART ARGUMENT...
  local name=$1 part=$2 status=0
  shift 2
  "$BANDANA" run world1.toml --out never --quiet "$@" >refused.out 2>refused.err || status=$?
  [[ $status == 2 ]] || fail "$name: exit $status, not 2"
  grep -qF -- "$part" refused.err || fail "$name: no '$part' in: $(<refused.err)"
  [[ ! -e never ]] || fail "$name: left a folder behind"
}
refused "a model that needs a server" "privacy.model" --set privacy.model=central
refused "a negative step" "algorithm.step" --set algorithm.step=-1
refused "a mistyped key" "algorithm.step" --set algorithm.stepp=1
refused "too lazy" "algorithm.lazy" --set algorithm.lazy=2
refused "contexts that are none of users'" "environment.contexts" --set environment.contexts=gap
refused "a margin among four arms" "environment.actions" --set environment.contexts=margin

[[ $failures == 0 ]] || exit 1
echo "users: all as it should be"
