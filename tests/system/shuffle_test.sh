#!/usr/bin/env bash
# The shuffle model with a server, a shuffler and two agents as separate processes makes the decisions of the simulator,
# bit for bit, for both transports and for shuffled Laplace; and tests of failures.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

spec() { # PRIVACY-LINE HORIZON
  cat <<TOML
horizon = $2
seed = 11
[environment]
dimension = 3
actions = 20
client_sd = 0.1
population = 2_000
[algorithm]
name = "dp-dpe"
[privacy]
model = "shuffle"
epsilon = 20
delta = 1e-6
$1
[service]
listen = "127.0.0.1:0"
insecure = true
TOML
}

# serve NAME ARGUMENT...: starts a server and a shuffler; sets $server, $address, $shuffler and $middle.
serve() {
  local name=$1
  shift
  listens "$name" server "$name.server" "$@"
  server=$pid address=$listening
  listens "$name" shuffler "$name.shuffler" --set "service.server=$address" "$@"
  shuffler=$pid middle=$listening
}

spec 'transport = "counts"' 2_000 >counts.toml
spec 'transport = "bits"' 2_000 >bits.toml
spec 'shuffle = "amplified"' 2_000 >amplified.toml
for model in counts bits amplified; do
  serve $model --insecure-seed
  join $model 1-700 --insecure-seed
  first=$agent
  join $model 701-2000 --insecure-seed --json
  second=$agent
  ends "$server" 0 "$model: server"
  ends "$shuffler" 0 "$model: shuffler"
  ends "$first" 0 "$model: first agent"
  ends "$second" 0 "$model: second agent"
  "$BANDANA" run $model.toml --out $model.sim --trace $model.trace --quiet --set privacy.sampler=exact >/dev/null
  python3 - $model <<'PY' || fail "$model: the federation and the simulator differ"
import json, sys
model = sys.argv[1]
events = [json.loads(line) for line in open(model + ".server.events")]
served = [e for e in events if e["event"] == "phase"]
simulated = [json.loads(line) for line in open(model + ".trace")]
assert len(served) == len(simulated) > 3, (len(served), len(simulated))
for a, b in zip(served, simulated):
    for key in ("epoch", "rounds", "clients", "noise_stddev", "width", "pulls", "averages", "estimate", "active"):
        assert a[key] == b[key], (a["epoch"], key, a[key], b[key])
clients = sum(phase["clients"] for phase in served)
shuffler = json.loads(open(model + ".shuffler.events").readlines()[-1])
assert shuffler["event"] == "done" and shuffler["shares"] == clients and shuffler["mixes"] == len(served), shuffler
agent = json.load(open(model + ".701-2000.out"))
# Each client keeps its own account.
assert (events[-1]["spent"], agent["spent"]["epsilon"]) == (None, 20), (events[-1], agent)
PY
done

# A second shuffler, and a shuffler with another spec, are refused and change nothing. An agent without a shuffler is
# told so.
serve counts
"$BANDANA" shuffler counts.toml --set "service.server=$address" 2>second.err && fail 'a second shuffler was let in' || ends_with=$?
[[ ${ends_with:-0} == 2 ]] || fail "a second shuffler: exit ${ends_with:-0}"
says second.err 'a process with the name shuffler already'
status=0
"$BANDANA" shuffler bits.toml --set "service.server=$address" 2>other.err || status=$?
[[ $status == 2 ]] || fail "a shuffler of another spec: exit $status"
says other.err 'same spec'
join counts 1-2000
ends "$server" 0 'the server after refusals'
ends "$shuffler" 0 'the shuffler after refusals'
ends "$agent" 0 'the agent after refusals'

# A shuffler or an agent that dies ends the run: exit 4 with a reason, and no process is left.
spec 'transport = "bits"' 1_000_000 | sed 's/population = 2_000/population = 200_000/' >long.toml
for who in shuffler agent; do
  serve long
  join long 1-200000
  until (($(grep -c '"phase"' long.server.events) >= 2)); do
    kill -0 "$server" 2>/dev/null || { fail "the long run is over: $(<long.server.err)"; break; }
    sleep 0.01
  done
  kill -KILL "${!who}"
  ends "$server" 4 "server without its $who"
  says long.server.err "the $who"
  says long.server.err 'was lost'
  if [[ $who == agent ]]; then
    ends "$shuffler" 4 'shuffler without its agent'
    says long.shuffler.err 'agent of clients 1-200000'
  else
    ends "$agent" 4 'agent without its shuffler'
    says long.1-200000.err 'the shuffler'
  fi
  wait "${!who}" 2>/dev/null || true
done

# Ctrl-C ends a shuffler.
serve long
kill -INT "$shuffler"
ends "$shuffler" 130 'Ctrl-C to the shuffler'
kill -INT "$server"
ends "$server" 130 'Ctrl-C to the server'

# No role accepts these arguments.
refused() { # PART ARGUMENT...
  local part=$1 status=0
  shift
  timeout 20 "$BANDANA" "$@" >refused.out 2>refused.err || status=$?
  [[ $status == 2 ]] || fail "$*: exit $status, not 2: $(<refused.err)"
  says refused.err "$part"
}
refused "service.ledger_mirror: a shuffler keeps no ledger" shuffler counts.toml --set service.server=127.0.0.1:1 --set service.ledger_mirror=x
refused service.server shuffler counts.toml
refused service.shuffler agent counts.toml --set service.server=127.0.0.1:1 --set service.clients=1-5
sed 's/model = "shuffle"/model = "central"/; /transport/d' counts.toml >central.toml
refused privacy.model shuffler central.toml --set service.server=127.0.0.1:1
for role in server shuffler agent; do
  refused privacy.transport $role bits.toml --set privacy.calibration=paper --set privacy.epsilon=1 \
    --set service.server=127.0.0.1:1 --set service.shuffler=127.0.0.1:1 --set service.clients=1-5
done

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'shuffle_test: all passed'
