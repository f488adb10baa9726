#!/usr/bin/env bash
# Each kind of process is killed in the middle of a run, started again, and goes on: the decisions are the simulator's.
# tests/system/ledger_test.sh does the same where agents pay, tests/system/demo_test.sh with certificates, and
# tests/system/stop_test.sh with processes that are told to stop.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

# role NAME OUTPUT ARGUMENT...: starts a role with a store in the background; its pid is in $pid. Each start has events
# of its own: OUTPUT.1, OUTPUT.2, .... With $under it runs under that command.
under=()
role() {
  local role=$1 output=$2 turn=1
  shift 2
  while [[ -e $output.$turn ]]; do ((++turn)); done
  "${under[@]}" "$BANDANA" "$role" "$@" --insecure-seed --set service.insecure=true --set "service.store=sqlite:$output.db" \
    --events "$output.$turn" >"$output.out" 2>"$output.err" &
  pid=$!
  children+=("$pid")
}

# until_event OUTPUT EVENT COUNT: waits for events.
until_event() {
  until (($(cat "$1".[0-9]* 2>/dev/null | grep -c "\"$2\"") >= $3)); do
    kill -0 "$pid" 2>/dev/null || { fail "$1 has ended: $(<"$1.err")"; return; }
    sleep 0.005
  done
}

# dies PID: kills a process. One that has ended already would begin a second run when it is started again.
dies() {
  local status=0
  kill -9 "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || status=$?
  ((status == 137)) || { echo "FAIL: the run was over before process $1 could be killed"; exit 1; }
}

# --- a server, a shuffler and agents
spec shuffle 20_000 6_000 >shuffle.toml
IFS=, read -r at middle <<<"$(addresses 2)"
server() { role server server shuffle.toml --set "service.listen=$at"; server=$pid; }
shuffler() { role shuffler shuffler shuffle.toml --set "service.listen=$middle" --set "service.server=$at"; shuffler=$pid; }
agent() { # FIRST-LAST
  role agent "agent$1" shuffle.toml --set "service.server=$at" --set "service.shuffler=$middle" --set "service.clients=$1"
}
server
shuffler
agent 1-2500
first=$pid
agent 2501-6000
second=$pid
pid=$server until_event server phase 2
dies "$shuffler"
shuffler
pid=$server until_event server phase 4
dies "$server"
server
dies "$second"
agent 2501-6000
second=$pid
for name in server shuffler first second; do ends "${!name}" 0 "shuffle: $name"; done
"$BANDANA" run shuffle.toml --out shuffle.sim --trace shuffle.trace --quiet --set privacy.sampler=exact >/dev/null
python3 - <<'PY' || fail 'shuffle: the processes that were killed and the simulator differ'
import json
served = [json.loads(line) for line in open("server.2") if '"phase"' in line]
simulated = [json.loads(line) for line in open("shuffle.trace")]
assert len(served) == len(simulated) > 5
for a, b in zip(served, simulated):
    for key in ("epoch", "pulls", "averages", "active"):
        assert a[key] == b[key], (a["epoch"], key)
PY

# --- peers in rounds
cat >peer.toml <<'TOML'
horizon = 6000
seed = 5
[environment]
kind = "contextual-linear"
contexts = "gap"
dimension = 4
actions = 16
reward = "bernoulli"
[algorithm]
name = "fed-ucb-p2p"
gamma = 1
[federation]
agents = 3
topology = "ring"
[privacy]
model = "peer"
epsilon = 4
delta = 1e-5
TOML
ring=$(addresses 3)
peer() { role peer "peer$1" peer.toml --set "service.node=$1" --set "service.peers=$ring"; peers[$1]=$pid; }
peers=()
for node in 1 2 3; do peer $node; done
for victim in 2 1; do
  pid=${peers[3]} until_event peer3 decisions $((3 - victim))
  dies "${peers[$victim]}"
  peer $victim
done
for node in 1 2 3; do ends "${peers[$node]}" 0 "peer $node"; done
"$BANDANA" run peer.toml --out peer.sim --trace peer.trace --quiet --set privacy.sampler=exact >/dev/null
python3 - <<'PY' || fail 'the peers that were killed and the simulator differ'
import glob, json
simulated = {line["agent"]: line["arms"] for line in map(json.loads, open("peer.trace"))}
for node in (1, 2, 3):
    last = sorted(glob.glob("peer%d.[0-9]" % node))[-1]
    events = [json.loads(line) for line in open(last)]
    arms = sum((e["arms"] for e in events if e["event"] == "decisions"), [])
    assert arms and arms == simulated[node][-len(arms):], node
    assert events[-1]["event"] == "done" and events[-1]["lost"] == [], events[-1]
PY

# --- a server and agents with arms
cat >mab.toml <<'TOML'
horizon = 200_000
seed = 5
[environment]
kind = "mab"
actions = 6
[algorithm]
name = "cdp-mab"
[federation]
agents = 3
[privacy]
model = "silo"
epsilon = 2
TOML
hub=$(addresses 1)
mab_server() { role server hub mab.toml --set "service.listen=$hub"; hub_pid=$pid; }
node() { role agent "node$1" mab.toml --set "service.node=$1" --set "service.server=$hub"; nodes[$1]=$pid; }
mab_server
nodes=()
for i in 1 2 3; do
  # A disk that is slow makes the run last for seconds, so that it is not over before the others are killed.
  slow=(strace -D -f -qq -o /dev/null -e 'trace=fsync,fdatasync' -e 'inject=fsync,fdatasync:delay_enter=50000')
  if ((i == 2)) && "${slow[@]}" true 2>/dev/null; then under=("${slow[@]}"); fi
  node $i
  under=()
done
pid=${nodes[3]} until_event node3 pulls 2
dies "${nodes[1]}"
node 1
dies "$hub_pid"
mab_server
for i in 1 2 3; do ends "${nodes[$i]}" 0 "node $i"; done
ends "$hub_pid" 0 'the server of nodes'
"$BANDANA" run mab.toml --out mab.sim --trace mab.trace --quiet --set privacy.sampler=exact >/dev/null
python3 - <<'PY' || fail 'the nodes that were killed and the simulator differ'
import glob, json
simulated = {}
for line in map(json.loads, open("mab.trace")):
    simulated.setdefault(line["agent"], []).extend(line["pulls"] if "pulls" in line else [[arm, 1] for arm in line["arms"]])
def arms(runs): return [arm for arm, count in runs for _ in range(count)]
for node in (1, 2, 3):
    last = sorted(glob.glob("node%d.[0-9]" % node))[-1]
    events = [json.loads(line) for line in open(last)]
    pulls = arms(sum((e["pulls"] for e in events if e["event"] == "pulls"), []))
    assert pulls and pulls == arms(simulated[node])[-len(pulls):], node
    assert events[-1]["event"] == "done" and events[-1]["lost"] == [], events[-1]
PY

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'recovery_test: all passed'
