#!/usr/bin/env bash
# The network between the machines of a deployment is cut while a run is going on, and joined again. The run goes on by
# itself with the simulator's decisions, or, if the cut is longer than service.silence, ends as docs/operations.md says.
#
# A machine is a network namespace, joined to a bridge by a veth pair. Where namespaces are refused, the test exits with
# 77, which ctest counts as skipped.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
if [[ -z ${PARTITION_TEST_NAMESPACE:-} ]]; then
  namespace=(unshare --net)
  if ((EUID != 0)); then namespace+=(--map-root-user); fi
  needs='ip link add bridge0 type bridge; ip link add port0 type veth peer name eth0; unshare --net true'
  if ! why=$("${namespace[@]}" bash -ec "$needs" 2>&1); then
    echo "SKIPPED: this machine grants no network namespaces: $why"
    exit 77
  fi
  PARTITION_TEST_NAMESPACE=1 exec "${namespace[@]}" bash "${BASH_SOURCE[0]}" "$@"
fi
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

# --- machines

machines=() # the process that holds the namespace of each machine
on() { nsenter --target "${machines[$1]}" --net "${@:2}"; } # MACHINE COMMAND...

# machine NUMBER: makes a machine with the address 10.0.0.NUMBER.
machine() {
  unshare --net sleep 600 &
  machines[$1]=$!
  children+=("$!")
  disown # the shell need not tell when it is killed
  until [[ $(readlink "/proc/$!/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.01; done
  ip link add "port$1" type veth peer name eth0 netns "${machines[$1]}"
  ip link set "port$1" master bridge0 up
  on "$1" ip link set lo up
  on "$1" ip address add "10.0.0.$1/24" dev eth0
  on "$1" ip link set eth0 up
}

# cut_off HOW MACHINE: `silent` drops every packet, and both ends hear nothing of it; `unplugged` takes the carrier away.
cut_off() { if [[ $1 == silent ]]; then ip link set "port$2" nomaster; else ip link set "port$2" down; fi; }
plug_in() { ip link set "port$1" master bridge0 up; } # MACHINE

# Prints how many connections other machines have opened to these ones.
connections() {
  local machine
  for machine in "$@"; do on "$machine" cat /proc/net/snmp; done | awk '$1 == "Tcp:" && $7 ~ /[0-9]/ { n += $7 } END { print n }'
}

# --- processes

# role MACHINE OUTPUT ROLE FILE ARGUMENT...: starts a role on a machine, in the background; its pid is in $pid. Each start
# has events of its own: OUTPUT.1, OUTPUT.2, ....
role() {
  local machine=$1 output=$2 role=$3 file=$4 turn=1
  shift 4
  while [[ -e $output.$turn ]]; do ((++turn)); done
  nsenter --target "${machines[$machine]}" --net "$BANDANA" "$role" "$file" --insecure-seed --set service.keys=keys \
    --set service.log.format=text --set "service.store=sqlite:$output.db" --events "$output.$turn" "$@" >"$output.out" 2>"$output.err" &
  pid=$!
  children+=("$pid")
}

events() { cat "$1".[0-9]* 2>/dev/null | grep -c "\"$2\"" || true; } # OUTPUT EVENT
now() { date +%s%3N; }                                               # in milliseconds

# until_event PID OUTPUT EVENT COUNT [SECONDS]: waits for events.
until_event() {
  local end=$(($(now) + ${5:-60} * 1000))
  until (($(events "$2" "$3") >= $4)); do
    kill -0 "$1" 2>/dev/null || { fail "$2 has ended before $4 events '$3': $(<"$2.err")"; return; }
    (($(now) < end)) || { fail "$2 has not had $4 events '$3' in ${5:-60} seconds: $(<"$2.err")"; return; }
    sleep 0.02
  done
}

# stands_still OUTPUT EVENT SECONDS: checks that the cut is one.
stands_still() {
  local before
  sleep 0.5 # for what had arrived
  before=$(events "$1" "$2")
  sleep "$3"
  (($(events "$1" "$2") == before)) || fail "$1: the run went on while the network was cut"
  (($(events "$1" "done") == 0)) || fail "$1: the run was over before the network was cut"
}

# --- one server with two agents, of which the first is on a machine of its own

# deploy NAME SERVER AGENT ARGUMENT...: starts the server and the first agent on the machines SERVER and AGENT.
deploy() {
  local name=$1 at=$2 away=$3
  shift 3
  role "$at" "$name.server" server central.toml --set "service.listen=10.0.0.$at:7443" "$@"
  server=$pid
  role "$away" "$name.agent" agent central.toml --set "service.server=10.0.0.$at:7443" --set service.clients=1-2500 "$@"
  agent=$pid
}

# deploy_other NAME SERVER ARGUMENT...: starts the other agent beside the server.
deploy_other() {
  local name=$1 at=$2
  shift 2
  role "$at" "$name.other" agent central.toml --set "service.server=10.0.0.$at:7443" --set service.clients=2501-6000 "$@"
  other=$pid
}

# is_simulated NAME: compares the last server's events with the simulator's.
is_simulated() {
  python3 - "$1" <<'PY' || fail "$1: the run and the simulator differ"
import glob, json, sys
last = sorted(glob.glob(sys.argv[1] + ".server.[0-9]"))[-1]
served = [json.loads(line) for line in open(last) if '"phase"' in line]
simulated = [json.loads(line) for line in open("central.trace")]
assert len(served) == len(simulated) > 5
for a, b in zip(served, simulated):
    for key in ("epoch", "pulls", "averages", "active"):
        assert a[key] == b[key], (a["epoch"], key)
PY
}

finishes() { # NAME
  for each in server agent other; do ends "${!each}" 0 "$1: $each"; done
  is_simulated "$1"
}

# A short cut: TCP sends again what was lost, and no process notices.
unplugged() {
  deploy unplugged 1 2
  deploy_other unplugged 1
  until_event "$server" unplugged.server phase 3
  cut_off unplugged 2
  stands_still unplugged.server phase 3
  plug_in 2
  finishes unplugged
}

# notice NAME: waits until server and agent have noticed that the network was cut, at $began.
notice() {
  local heard
  until_event "$server" "$1.server" disconnected 1 25
  heard=$(($(now) - began))
  until_event "$agent" "$1.agent" disconnected 1 25
  echo "$1: the server has noticed the cut within $heard ms, and the agent within $(($(now) - began)) ms"
}

# meet NAME MACHINE: joins the network and waits until server and agent are connected again.
meet() {
  local joined
  plug_in "$2"
  joined=$(now)
  until_event "$agent" "$1.agent" connected 2 15
  echo "$1: connected again $(($(now) - joined)) ms after the network was joined"
}

# A silent cut in the middle of a run: both ends notice that nobody answers, and connect again after it. That takes up to 20
# seconds (kKeepaliveMs in service/channel.cc, twice).
silent() {
  deploy silent 3 4
  deploy_other silent 3
  until_event "$server" silent.server phase 3
  cut_off silent 4
  began=$(now)
  stands_still silent.server phase 1
  notice silent
  meet silent 4
  finishes silent
}

# A silent cut while nobody has anything to say: then only the signs of life are missing.
idle() {
  deploy idle 5 6
  until_event "$agent" idle.agent connected 1
  until_event "$server" idle.server connected 1
  sleep 1
  cut_off silent 6
  began=$(now)
  notice idle
  meet idle 6
  deploy_other idle 5
  finishes idle
}

# A cut that is longer than service.silence: all end, the run stays open, and the same commands go on.
given_up() {
  deploy given_up 7 8 --set service.silence=3s
  deploy_other given_up 7 --set service.silence=3s
  until_event "$server" given_up.server phase 3
  cut_off silent 8
  stands_still given_up.server phase 1
  ends "$server" 4 'given_up: server'
  ends "$other" 4 'given_up: the other agent'
  ends "$agent" 4 'given_up: agent'
  says given_up.server.err 'the agent/1 was lost'
  for each in agent other; do says given_up.$each.err 'the server at 10.0.0.7:7443 was lost'; done
  for each in server agent other; do says given_up.$each.err 'it did not come back within 3s'; done
  "$BANDANA" store show given_up.server.db | grep -q ' open ' || fail 'given_up: the run is not open'
  plug_in 8
  deploy given_up 7 8 --set service.silence=3s
  deploy_other given_up 7 --set service.silence=3s
  finishes given_up
}

# SIGTERM ends a process at once, also while it is sending and nobody answers.
stopped() {
  role 19 stopped.server server local.toml --set service.listen=10.0.0.19:7443
  server=$pid
  role 20 stopped.agent agent local.toml --set service.server=10.0.0.19:7443 --set service.clients=1-100000
  agent=$pid
  until_event "$server" stopped.server phase 13
  cut_off silent 20
  sleep 0.5
  began=$(now)
  kill -TERM "$agent" "$server"
  ends "$agent" 0 'stopped: agent'
  ends "$server" 0 'stopped: server'
  (($(now) < began + 20000)) || fail "stopped: that took $(($(now) - began)) ms"
  for each in server agent; do says stopped.$each.err 'goes on when the role is started again'; done
}

# --- peers in a ring

# peers NAME FIRST COUNT ARGUMENT...: starts COUNT peers on the machines from FIRST on.
peers() {
  local name=$1 first=$2 count=$3 node ring
  shift 3
  ring=$(for ((node = 0; node < count; ++node)); do echo "10.0.0.$((first + node)):7443"; done | paste -sd,)
  peer=()
  for ((node = 1; node <= count; ++node)); do
    role $((first + node - 1)) "$name.$node" peer "ring-$count.toml" --set "service.node=$node" --set "service.peers=$ring" "$@"
    peer[node]=$pid
  done
}

# all_end NAME LOST...: all peers finish; peer I has given up those in the list LOST. Until the cut, after two thousand
# rounds, the decisions are the simulator's. They are to the end if nobody was given up.
all_end() {
  local node
  for node in "${!peer[@]}"; do ends "${peer[$node]}" 0 "$1: peer $node"; done
  python3 - "$@" <<'PY' || fail "$1: the peers are not as they should be"
import json, sys
name, lists = sys.argv[1], sys.argv[2:]
simulated = {line["agent"]: line["arms"] for line in map(json.loads, open("ring-%d.trace" % len(lists)))}
for node, lost in enumerate(map(json.loads, lists), 1):
    events = [json.loads(line) for line in open("%s.%d.1" % (name, node))]
    decisions = [event["arms"] for event in events if event["event"] == "decisions"]
    same = sum(decisions[:2] if lost else decisions, [])
    assert same == simulated[node][:len(same)], node
    assert sum(map(len, decisions)) == len(simulated[node]), node
    assert events[-1]["event"] == "done", events[-1]
    assert sorted(each["node"] for each in events[-1]["lost"]) == lost, events[-1]["lost"]
PY
}

# A short cut: nobody is given up.
ring() {
  peers ring 9 3
  until_event "${peer[3]}" ring.3 decisions 2
  cut_off silent 10
  stands_still ring.3 decisions 3
  plug_in 10
  all_end ring '[]' '[]' '[]'
}

# A cut that is longer than service.silence: both sides give each other up, and finish without each other.
alone() {
  peers alone 12 3 --set service.silence=2s
  until_event "${peer[3]}" alone.3 decisions 2
  cut_off silent 13
  stands_still alone.3 decisions 1
  all_end alone '[2]' '[1, 3]' '[2]'
  says alone.1.err 'neighbour 2 was lost in round'
}

# The network falls into halves. They give each other up, go on, and meet again: that ends no run.
halves() {
  local before
  peers halves 15 4 --set service.silence=2s
  until_event "${peer[3]}" halves.3 decisions 2
  for each in 17 18; do ip link set "port$each" master bridge1; done
  stands_still halves.3 decisions 1
  until_event "${peer[1]}" halves.1 decisions 3
  until_event "${peer[3]}" halves.3 decisions 3
  before=$(connections 15 16 17 18)
  for each in 17 18; do plug_in "$each"; done
  until (($(connections 15 16 17 18) >= before + 2)); do
    (($(events halves.1 "done") + $(events halves.3 "done") == 0)) || { fail 'halves: the runs were over before the halves met'; break; }
    sleep 0.05
  done
  all_end halves '[4]' '[3]' '[2]' '[1]'
}

spec central 20_000 6_000 | grep -v '^insecure' >central.toml
spec local 1_000_000 100_000 | grep -v '^insecure' >local.toml
"$BANDANA" run central.toml --out central.sim --trace central.trace --quiet --set privacy.sampler=exact >/dev/null
for count in 3 4; do
  cat >ring-$count.toml <<TOML
horizon = $((count == 3 ? 6000 : 10000))
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
agents = $count
topology = "ring"
[privacy]
model = "peer"
epsilon = 4
delta = 1e-5
TOML
  "$BANDANA" run ring-$count.toml --out ring-$count.sim --trace ring-$count.trace --quiet --set privacy.sampler=exact >/dev/null
done
"$BANDANA" keys init keys >/dev/null
for party in server agent/1 agent/2501 peer/{1..4}; do "$BANDANA" keys issue "$party" --keys keys >/dev/null; done

ip link set lo up
for bridge in bridge0 bridge1; do
  ip link add $bridge type bridge
  ip link set $bridge up
done
for number in {1..20}; do machine "$number"; done

# The scenarios mostly wait, so they do it at the same time.
scenarios=(unplugged silent idle given_up stopped ring alone halves)
if (($#)); then scenarios=("$@"); fi
declare -A running
for scenario in "${scenarios[@]}"; do
  (
    children=()
    trap 'for pid in "${children[@]}"; do kill -9 "$pid" 2>/dev/null || true; done' EXIT
    SECONDS=0
    $scenario
    echo "$scenario: $SECONDS seconds"
    exit $((failures > 0))
  ) &
  running[$scenario]=$!
done
for scenario in "${scenarios[@]}"; do wait "${running[$scenario]}" || fail "$scenario"; done

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'partition_test: all passed'
