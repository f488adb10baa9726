#!/usr/bin/env bash
# Peers of FedUCB as separate processes make the decisions of the simulator, bit for bit; and tests of a peer that dies
# and of what is refused.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

peer_spec() { # MODEL TOPOLOGY GAMMA ROUNDS AGENTS
  cat <<TOML
horizon = $4
seed = 5
[environment]
kind = "contextual-linear"
contexts = "gap"
dimension = 4
actions = 16
reward = "bernoulli"
[algorithm]
name = "fed-ucb-p2p"
gamma = $3
[federation]
agents = $5
topology = "$2"
[privacy]
model = "$1"
epsilon = 4
delta = 1e-5
[service]
insecure = true
TOML
}

# peers NAME COUNT ARGUMENT...: starts processes in the background, with their pids in $pids.
peers() {
  local name=$1 count=$2 at
  shift 2
  at=$(addresses "$count")
  pids=()
  for ((i = 1; i <= count; ++i)); do
    "$BANDANA" peer "$name.toml" --set "service.node=$i" --set "service.peers=$at" --events "$name.$i.events" "$@" \
      >"$name.$i.out" 2>"$name.$i.err" &
    pids+=("$!")
    children+=("$!")
  done
}

# well NAME NODE: expects that the peer ends with exit 0.
well() { wait "${pids[$2 - 1]}" || fail "$1: peer $2 ended with $?: $(<"$1.$2.err")"; }

for run in "none complete 1" "peer ring 2" "peer grid 1"; do
  read -r model topology gamma <<<"$run"
  name=$model-$topology
  peer_spec "$model" "$topology" "$gamma" 300 4 >"$name.toml"
  peers "$name" 4 --insecure-seed
  for i in 1 2 3 4; do well "$name" "$i"; done
  sampler=()
  [[ $model == none ]] || sampler=(--set privacy.sampler=exact)
  "$BANDANA" run "$name.toml" --out "$name.sim" --trace "$name.trace" --quiet "${sampler[@]}" >/dev/null
  python3 - "$name" <<'PY' || fail "$name: the peers and the simulator differ"
import json, sys
name = sys.argv[1]
simulated = {line["agent"]: line["arms"] for line in map(json.loads, open(name + ".trace"))}
assert len(simulated) == 4
for node in range(1, 5):
    events = [json.loads(line) for line in open("%s.%d.events" % (name, node))]
    arms = sum((e["arms"] for e in events if e["event"] == "decisions"), [])
    assert arms == simulated[node] and len(arms) == 300, node
    assert events[-1]["event"] == "done" and events[-1]["lost"] == [] and "known seed" in events[-1]["void"]
PY
done

# One peer is killed: the others continue to the end, and say so.
peer_spec peer complete 1 6_000 3 >dies.toml
peers dies 3
sleep 0.5
kill -9 "${pids[1]}"
well dies 1
well dies 3
for i in 1 3; do
  grep -q '"event":"lost","link":"peer/2","round"' dies.$i.err || fail "dies: peer $i does not say so: $(<dies.$i.err)"
done

# These settings are refused, and the message names the key.
peer_spec peer line 1 100 3 >bad.toml
refuses() { # TEXT ARGUMENT...
  local text=$1
  shift
  if "$BANDANA" peer bad.toml "$@" 2>bad.err; then fail "accepted: $*"; fi
  grep -qF -- "$text" bad.err || fail "does not say '$text': $(<bad.err)"
}
refuses service.node --set "service.peers=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"
refuses 'a whole number from 1 to 3' --set "service.node=4" --set "service.peers=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"
refuses '3 addresses' --set "service.node=1" --set "service.peers=127.0.0.1:1"
refuses 'algorithm.sync' --set algorithm.sync=determinant --set "service.node=1" --set "service.peers=a,b,c"
sed -i '/^gamma/d' bad.toml  # fed-ucb has no such option
refuses 'fed-ucb-p2p' --set algorithm.name=fed-ucb --set privacy.model=silo --set "service.node=1" --set "service.peers=a,b,c"

if ((failures)); then echo "$failures failures"; exit 1; fi
