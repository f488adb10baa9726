#!/usr/bin/env bash
# FedUCB with a controller: a server and two agent processes make the decisions of the simulator, bit for bit.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

fed_spec() { # MODEL
  cat <<TOML
horizon = 2_000
seed = 5
[environment]
kind = "contextual-linear"
contexts = "gap"
dimension = 4
actions = 16
reward = "bernoulli"
[algorithm]
name = "fed-ucb"
[federation]
agents = 5
[privacy]
model = "$1"
epsilon = 4
delta = 1e-5
[service]
listen = "127.0.0.1:0"
insecure = true
TOML
}

for model in none silo; do
  fed_spec $model >$model.toml
  serve $model --insecure-seed
  join $model 1-2 --insecure-seed --events $model.1.events
  first=$agent
  join $model 3-5 --insecure-seed --events $model.2.events --json
  second=$agent
  ends "$server" 0 "$model: server"
  ends "$first" 0 "$model: first agent"
  ends "$second" 0 "$model: second agent"
  sampler=()
  [[ $model == none ]] || sampler=(--set privacy.sampler=exact)
  "$BANDANA" run $model.toml --out $model.sim --trace $model.trace --quiet "${sampler[@]}" >/dev/null
  python3 - $model <<'PY' || fail "$model: the federation and the simulator differ"
import json, sys
model = sys.argv[1]
simulated = {line["agent"]: line["arms"] for line in map(json.loads, open(model + ".trace"))}
served = {}
for part in "12":
    for event in map(json.loads, open("%s.%s.events" % (model, part))):
        if event["event"] == "decisions": served.setdefault(event["agent"], []).extend(event["arms"])
assert sorted(served) == sorted(simulated) == [1, 2, 3, 4, 5]
for agent, arms in simulated.items(): assert served[agent] == arms and len(arms) == 2000, agent
done = [json.loads(line) for line in open(model + ".events")][-1]
assert done["event"] == "done" and done["synchronisations"] == 11, done
assert done["shares"] == 5 * 11 and "known seed" in done["void"], done
agent = json.load(open(model + ".3-5.out"))
assert (agent["spent"] and agent["spent"]["epsilon"]) == (4 if model == "silo" else None), agent
PY
done

# A server and its agents refuse these settings and name the key.
refuses() { # TEXT ROLE ARGUMENT...
  local text=$1
  shift
  if "$BANDANA" "$1" silo.toml "${@:2}" 2>bad.err; then fail "accepted: $*"; fi
  grep -qF -- "$text" bad.err || fail "does not say '$text': $(<bad.err)"
}
refuses algorithm.sync server --set algorithm.sync=determinant
refuses 'bandana peer' server --set algorithm.name=fed-ucb-p2p --set privacy.model=peer
refuses 'LAST <= 5' agent --set service.server=127.0.0.1:9 --set service.clients=1-6
refuses 'algorithm.name' shuffler

if ((failures)); then echo "$failures failures"; exit 1; fi
