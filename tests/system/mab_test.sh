#!/usr/bin/env bash
# Agents with arms as separate processes, under a server, among themselves, and both, make the pulls of the simulator,
# agent by agent. Also tests of an agent that dies and of what is refused.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

agents=12

mab_spec() { # ALGORITHM MODEL HORIZON FEDERATION-KEYS
  cat <<TOML
horizon = $3
seed = 5
[environment]
kind = "mab"
actions = 6
[algorithm]
name = "$1"
[federation]
agents = $agents
$4
[privacy]
model = "$2"
epsilon = 2
[service]
insecure = true
TOML
}

# nodes NAME ROLE ARGUMENT...: starts agents in the background, with their pids in $pids. They use a server at $address
# if that is set.
nodes() {
  local name=$1 role=$2 at
  shift 2
  at=$(addresses "$agents")
  pids=()
  for ((i = 1; i <= agents; ++i)); do
    "$BANDANA" "$role" "$name.toml" --set "service.node=$i" --set "service.peers=$at" \
      ${address:+--set "service.server=$address"} --events "$name.$i.events" "$@" >"$name.$i.out" 2>"$name.$i.err" &
    pids+=("$!")
    children+=("$!")
  done
}

# well NAME NODE: expects that the node ends with exit 0.
well() { wait "${pids[$2 - 1]}" || fail "$1: node $2 ended with $?: $(<"$1.$2.err")"; }

for run in "cdp-mab silo" "cdp-mab none" "ddp-mab peer ring" "ddp-mab none grid" "hdp-mab silo line"; do
  read -r algorithm model topology <<<"$run"
  name=$algorithm-$model
  role=agent
  case $algorithm in
    cdp-mab) federation= ;;
    ddp-mab) federation="topology = \"$topology\"" role=peer ;;
    hdp-mab) federation="components = [4, 4, 4]
component_topology = \"$topology\"" ;;
  esac
  mab_spec "$algorithm" "$model" 20_000 "$federation" >"$name.toml"
  address=
  [[ $role == peer ]] || serve "$name" --insecure-seed --set "service.listen=127.0.0.1:0"
  nodes "$name" $role --insecure-seed
  for ((i = 1; i <= agents; ++i)); do well "$name" "$i"; done
  [[ $role == peer ]] || ends "$server" 0 "$name: server"
  sampler=()
  [[ $model == none ]] || sampler=(--set privacy.sampler=exact)
  "$BANDANA" run "$name.toml" --out "$name.sim" --trace "$name.trace" --quiet "${sampler[@]}" >/dev/null
  python3 - "$name" "$agents" "$model" <<'PY' || fail "$name: the processes and the simulator differ"
import json, sys
name, agents, model = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def joined(runs):
    out = []
    for arm, count in runs:
        if out and out[-1][0] == arm: out[-1][1] += count
        else: out.append([arm, count])
    return out

simulated = {}
for line in map(json.loads, open(name + ".trace")):
    simulated.setdefault(line["agent"], []).extend(line["pulls"] if "pulls" in line else [[arm, 1] for arm in line["arms"]])
assert sorted(simulated) == list(range(1, agents + 1))
for node in range(1, agents + 1):
    events = [json.loads(line) for line in open("%s.%d.events" % (name, node))]
    pulls = joined(sum((e["pulls"] for e in events if e["event"] == "pulls"), []))
    assert all(e.get("agent", node) == node for e in events)
    assert pulls == joined(simulated[node]), (node, pulls, joined(simulated[node]))
    assert sum(count for _, count in pulls) == 20_000 and len(pulls) >= 6, (node, pulls)
    done = events[-1]
    assert done["event"] == "done" and done["lost"] == [] and "known seed" in done["void"], done
    assert done["messages_in"] > 0 and done["messages_out"] > 0, done
    assert (done["spent"] and done["spent"]["epsilon"]) == (None if model == "none" else 2), done
PY
done

# One agent is killed: the others continue to the end, and its neighbours say so. The slack makes the run long enough
# for that.
mab_spec ddp-mab peer 20_000_000 'topology = "ring"' >dies.toml
address=
nodes dies peer --set algorithm.slack=200
until grep -q '"pulls"' dies.5.events 2>/dev/null; do
  kill -0 "${pids[4]}" 2>/dev/null || break
  sleep 0.01
done
kill -9 "${pids[4]}"
for ((i = 1; i <= agents; ++i)); do
  [[ $i == 5 ]] || well dies "$i"
done
for i in 4 6; do says dies.$i.err '"event":"lost","link":"peer/5","round"'; done
python3 - "$agents" <<'PY' || fail "dies: the others did not go on to the end"
import json, sys
for node in range(1, int(sys.argv[1]) + 1):
    if node == 5: continue
    events = [json.loads(line) for line in open("dies.%d.events" % node)]
    assert events[-1]["event"] == "done", node
    assert [lost["node"] for lost in events[-1]["lost"]] == ([5] if node in (4, 6) else []), node
    assert sum(count for e in events if e["event"] == "pulls" for _, count in e["pulls"]) == 20_000_000, node
PY

# These settings are refused, and the message names the key.
refuses() { # TEXT ROLE SPEC ARGUMENT...
  local text=$1
  shift
  if "$BANDANA" "$1" "$2.toml" "${@:3}" 2>bad.err; then fail "accepted: $*"; fi
  grep -qF -- "$text" bad.err || fail "does not say '$text': $(<bad.err)"
}
refuses 'bandana peer' server ddp-mab-peer
refuses 'bandana peer' agent ddp-mab-peer
refuses 'bandana agent' peer cdp-mab-silo
refuses service.listen server cdp-mab-silo
refuses service.server agent cdp-mab-silo --set service.node=1
refuses 'from 1 to 12' agent cdp-mab-silo --set service.node=13 --set service.server=127.0.0.1:9
refuses service.peers agent hdp-mab-silo --set service.node=1 --set service.server=127.0.0.1:9
refuses 'only a simulation' peer ddp-mab-peer --set algorithm.rounds=3 --set algorithm.gap=known
refuses '12 addresses' peer ddp-mab-peer --set service.node=1 --set service.peers=127.0.0.1:9
refuses federation.failures peer ddp-mab-peer --set 'federation.failures=agent 3 @ 1'
refuses federation.dropout agent cdp-mab-silo --set federation.dropout=0.5
refuses 'this algorithm has no shuffler' shuffler cdp-mab-silo
for alone in single-mab ucb1 successive-elimination; do
  mab_spec $alone none 100 '' >$alone.toml
  refuses 'algorithm.name' peer $alone --set service.node=1
done
if ((failures)); then echo "$failures failures"; exit 1; fi
