#!/usr/bin/env bash
# Each kind of role is told to stop in the middle of a run: it ends with exit code 0 within ten seconds, its log says so,
# and the run goes on when it is started again, to the simulator's decisions. And the exit codes that docs/operations.md
# lists.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

# role ROLE NAME ARGUMENT...: starts a role with a store in the background; its pid is in $pid. Its log is NAME.log.
role() {
  local role=$1 name=$2
  shift 2
  "$BANDANA" "$role" "$@" --insecure-seed --set service.insecure=true --set "service.store=sqlite:$name.db" \
    --set "service.log.file=$name.log" --events "$name.events" >"$name.out" 2>"$name.err" &
  pid=$!
  children+=("$pid")
}

# until_event NAME EVENT COUNT: waits for events of a process that is alive.
until_event() {
  until (($(cat "$1.events" 2>/dev/null | grep -c "\"event\":\"$2\"") >= $3)); do
    kill -0 "$pid" 2>/dev/null || { fail "$1 has ended: $(<"$1.err")"; return; }
    sleep 0.005
  done
}

# stops NAME PID: the process ends by SIGTERM as it should.
stops() {
  local start=$SECONDS
  kill -TERM "$2" 2>/dev/null || fail "the run was over before $1 could be stopped"
  ends "$2" 0 "$1, which was told to stop"
  ((SECONDS - start <= 10)) || fail "$1 took $((SECONDS - start)) s to stop"
  tail -n 1 "$1.log" | grep -q '"event":"stopped","code":0' || fail "the log of $1 does not end with stopped: $(tail -n 1 "$1.log")"
  "$BANDANA" store show "$1.db" | grep -q ' open ' || fail "the run of $1 is not open"
}

# same EVENTS TRACE: the phases of a server, of which some are written again after a restart, are the simulator's.
same() {
  python3 - "$1" "$2" <<'PY' || fail "$1: the processes that were stopped and the simulator differ"
import json, sys
served = {phase["epoch"]: phase for phase in map(json.loads, open(sys.argv[1])) if phase["event"] == "phase"}
simulated = [json.loads(line) for line in open(sys.argv[2])]
assert len(served) == len(simulated) > 5, (len(served), len(simulated))
for phase in simulated:
    for key in ("pulls", "averages", "active"):
        assert served[phase["epoch"]][key] == phase[key], (phase["epoch"], key)
PY
}

# --- a server, a shuffler and agents
spec shuffle 20_000 6_000 >shuffle.toml
IFS=, read -r at middle <<<"$(addresses 2)"
start() {
  case $1 in
    server) role server server shuffle.toml --set "service.listen=$at" ;;
    shuffler) role shuffler shuffler shuffle.toml --set "service.listen=$middle" --set "service.server=$at" ;;
    first) role agent first shuffle.toml --set "service.server=$at" --set "service.shuffler=$middle" --set service.clients=1-2500 ;;
    second) role agent second shuffle.toml --set "service.server=$at" --set "service.shuffler=$middle" --set service.clients=2501-6000 ;;
  esac
  pids[$1]=$pid
}
declare -A pids
for name in server shuffler first second; do start $name; done
phase=1
for name in shuffler second server; do
  pid=${pids[server]} until_event server phase $phase
  stops $name "${pids[$name]}"
  start $name
  phase=$((phase + 2))
done
for name in server shuffler first second; do ends "${pids[$name]}" 0 "shuffle: $name"; done
for name in server shuffler second; do
  grep -q '"event":"recovered"' $name.log || fail "$name did not go on with its run"
done
"$BANDANA" run shuffle.toml --out shuffle.sim --trace shuffle.trace --quiet --set privacy.sampler=exact >/dev/null
same server.events shuffle.trace

# --- peers in rounds, and a server and agents with arms
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
peer() { role peer "peer$1" peer.toml --set "service.node=$1" --set "service.peers=$ring"; pids[peer$1]=$pid; }
for node in 1 2 3; do peer $node; done
until_event peer3 decisions 1
stops peer1 "${pids[peer1]}"
peer 1
for node in 1 2 3; do ends "${pids[peer$node]}" 0 "peer $node"; done

cat >mab.toml <<'TOML'
horizon = 200_000
seed = 5
[environment]
kind = "mab"
actions = 6
[algorithm]
name = "cdp-mab"
[federation]
agents = 2
[privacy]
model = "silo"
epsilon = 2
TOML
hub=$(addresses 1)
# A limit makes the run long enough to be stopped in its middle.
hub() { role server hub mab.toml --set "service.listen=$hub" --set service.limits.calls=4; pids[hub]=$pid; }
node() { role agent "node$1" mab.toml --set "service.node=$1" --set "service.server=$hub"; pids[node$1]=$pid; }
hub
node 1
node 2
until_event node2 pulls 1
stops node1 "${pids[node1]}"
node 1
stops hub "${pids[hub]}"
hub
for name in node1 node2 hub; do ends "${pids[$name]}" 0 "$name"; done
"$BANDANA" run peer.toml --out peer.sim --trace peer.trace --quiet --set privacy.sampler=exact >/dev/null
"$BANDANA" run mab.toml --out mab.sim --trace mab.trace --quiet --set privacy.sampler=exact >/dev/null
python3 - <<'PY' || fail 'the peers and nodes that were stopped and the simulator differ'
import json
def lives(file, event, key):
    """The decisions of each life of a process."""
    each = []
    for line in map(json.loads, open(file)):
        if line["event"] in ("begun", "recovered"): each.append([])
        if line["event"] == event: each[-1] += line[key]
    return each
peers = {line["agent"]: line["arms"] for line in map(json.loads, open("peer.trace"))}
for node in (1, 2, 3):
    arms = lives(f"peer{node}.events", "decisions", "arms")
    assert len(arms) == (2 if node == 1 else 1) and arms[-1] and arms[-1] == peers[node][-len(arms[-1]):], node
nodes = {}
for line in map(json.loads, open("mab.trace")):
    nodes.setdefault(line["agent"], []).extend(line["pulls"] if "pulls" in line else [[arm, 1] for arm in line["arms"]])
def plain(pulls): return [arm for arm, count in pulls for _ in range(count)]
for node in (1, 2):
    pulls = plain(lives(f"node{node}.events", "pulls", "pulls")[-1])
    assert pulls and pulls == plain(nodes[node])[-len(pulls):], node
PY

# --- exit codes: each that the page lists, by a process that ends with it
declare -A codes
expect() { # CODE COMMAND...
  local code=$1 status=0
  shift
  timeout 60 "$@" >code.out 2>code.err || status=$?
  [[ $status == "$code" ]] || fail "$*: exit $status, not $code: $(<code.err)"
  codes[$code]=1
}
codes[0]=1
spec central 3_000 900 >codes.toml
echo 'this is no store' >damaged.db
expect 1 "$BANDANA" store show damaged.db
expect 2 "$BANDANA" server codes.toml --set service.listen=nonsense
serve codes --set service.client_epsilon=0.1 --set service.client_delta=1e-9
join codes 1-900
ends "$server" 3 'a server whose clients have no budget'
codes[3]=1
serve codes
expect 4 "$BANDANA" server codes.toml --set "service.listen=$address"
kill -TERM "$server"
ends "$server" 130 'a server without a store that was told to stop'
codes[130]=1
serve codes
kill -9 "$server"
ends "$server" 137 'a server that was killed'
codes[137]=1
listed=$(sed -n '/^## Exit codes/,/^## /p' "$here/../../docs/operations.md" | grep -oE '^\| [0-9]+' | tr -d '| ' | sort -n | tr '\n' ' ')
tested=$(printf '%s\n' "${!codes[@]}" | sort -n | tr '\n' ' ')
[[ $listed == "$tested" ]] || fail "docs/operations.md lists the exit codes $listed, and tested are $tested"

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'stop_test: all passed'
