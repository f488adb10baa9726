#!/usr/bin/env bash
# A server and two agents as separate processes make the decisions of the simulator, bit for bit; and tests of failures.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

for model in none central local; do
  spec $model 20_000 6_000 >$model.toml
  serve $model --insecure-seed
  join $model 1-2500 --insecure-seed
  first=$agent
  join $model 2501-6000 --insecure-seed --json
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
events = [json.loads(line) for line in open(model + ".events")]
assert events[0]["event"] == "listening" and events[-1]["event"] == "done"
served = [e for e in events if e["event"] == "phase"]
simulated = [json.loads(line) for line in open(model + ".trace")]
assert len(served) == len(simulated) > 5, (len(served), len(simulated))
for a, b in zip(served, simulated):
    for key in ("epoch", "rounds", "clients", "noise_stddev", "width", "pulls", "averages", "estimate", "active"):
        assert a[key] == b[key], (a["epoch"], key, a[key], b[key])
assert served[-1]["active"] == events[-1]["active"]
assert "known seed" in events[-1]["void"]
agent = json.load(open(model + ".2501-6000.out"))
assert agent["role"] == "agent" and agent["shares"] > 0
# The role that adds the noise keeps the account.
spent = {role: one["spent"] and one["spent"]["epsilon"] for role, one in (("server", events[-1]), ("agent", agent))}
assert spent == {"server": 8 if model == "central" else None, "agent": 8 if model == "local" else None}, spent
PY
done

# Without a seed the noise differs from run to run.
spec central 20_000 6_000 >secure.toml
for events in secure1 secure2; do
  serve secure
  join secure 1-6000
  ends "$server" 0 'secure server'
  ends "$agent" 0 'secure agent'
  mv secure.events $events
done
python3 - <<'PY' || fail 'noise without a seed repeats itself'
import json
first, second = ([json.loads(l)["averages"] for l in open(f) if '"phase"' in l] for f in ("secure1", "secure2"))
assert first[0] != second[0]
assert json.loads(open("secure1").readlines()[-1])["void"] is None
PY

# An agent with another spec is refused; the server keeps waiting for a right one.
cp central.toml other.toml
sed -i 's/epsilon = 8/epsilon = 9/' other.toml
serve central --insecure-seed
join other 1-6000 --insecure-seed
ends "$agent" 2 'an agent of another spec'
says other.1-6000.err spec
kill -0 "$server" 2>/dev/null || fail "the server fell with it: $(<central.err)"
join central 1-6000 --insecure-seed
ends "$agent" 0 'the right agent'
ends "$server" 0 'the server'

# A seed that only the agent uses voids the claim as well, because its noise is known.
cp local.toml half.toml
serve half
join half 1-6000 --insecure-seed
status=0
wait "$agent" || status=$?
if [[ $status == 0 ]]; then
  ends "$server" 0 'server of a seeded agent'
  grep -q '"void":"' half.events || fail 'an agent drew its noise from a known seed and the server says that the promise stands'
else
  kill -TERM "$server"
  wait "$server" || true
fi

# If an agent dies, the run ends: exit 4, and the server says so.
spec local 2_000_000 200_000 >long.toml
serve long
join long 1-100000
first=$agent
join long 100001-200000
second=$agent
until (($(grep -c '"phase"' long.events) >= 3)); do sleep 0.01; done
kill -9 "$second" 2>/dev/null || fail 'the run was over before the agent could be killed'
ends "$second" 137 'the killed agent'
ends "$server" 4 'server of a killed agent'
ends "$first" 4 'agent of a server that gave up'
says long.err 'agent'
(($(grep -c '"level":"error"' long.err) == 1)) || fail "not one error: $(<long.err)"

# Ctrl-C ends each role, and no process is left.
for who in server agent; do
  serve long
  join long 1-200000
  until (($(grep -c '"phase"' long.events) >= 3)); do sleep 0.01; done
  kill -INT "${!who}" 2>/dev/null || fail "the run was over before the $who could be stopped"
  ends "${!who}" 130 "Ctrl-C to the $who"
  [[ $who == server ]] && ends "$agent" 4 'agent of a stopped server'
  [[ $who == agent ]] && ends "$server" 4 'server of a stopped agent'
done

# No role accepts these arguments.
refused() { # PART ARGUMENT...
  local part=$1 status=0
  shift
  timeout 20 "$BANDANA" "$@" >refused.out 2>refused.err || status=$?
  [[ $status == 2 ]] || fail "$*: exit $status, not 2: $(<refused.err)"
  says refused.err "$part"
}
refused privacy.sampler server central.toml --set privacy.sampler=fast
refused exact agent central.toml --set privacy.sampler=fast --set service.server=127.0.0.1:1 --set service.clients=1-5
{ cat central.toml; printf '[sweep]\n"privacy.epsilon" = [1, 2]\n'; } >swept.toml
refused swept.toml server swept.toml
refused 'service.listen' server central.toml --set service.listen=0.0.0.0:0
refused '--set: service.listen' server central.toml --set service.listen=0.0.0.0:0
refused 'service.listen' server central.toml --set service.listen=nonsense
refused 'service.server' agent central.toml --set service.server=192.0.2.1:80 --set service.clients=1-5
refused 'service.clients' agent central.toml --set service.server=127.0.0.1:1 --set service.clients=1-6001
refused 'service.clients' agent central.toml --set service.server=127.0.0.1:1 --set service.clients=all
refused 'a size from 64KiB to 1GiB' server central.toml --set service.limits.message=12
refused 'a size from 64KiB to 1GiB' server central.toml --set service.limits.message=large
refused 'service.limits.streams' server central.toml --set service.limits.streams=0
refused 'service.limits.streams_per_party' server central.toml --set service.limits.streams_per_party=-1
refused 'service.limits.openings' server central.toml --set service.limits.openings=0
refused 'service.limits.calls' server central.toml --set service.limits.calls=nan
refused 'service.limits.bytes' server central.toml --set service.limits.bytes=1KiB
refused 'service.limits.waiting' server central.toml --set service.limits.waiting=-1MiB
refused 'a time from 1s to 1h' server central.toml --set service.limits.first_message=0s
refused 'service.limits.message' server central.toml --set service.limits.mesage=1MiB
{ cat central.toml; echo 'limits = { message = "64MiB", streams = 1.5 }'; } >limits.toml
refused 'limits.toml:18: service.limits.streams' server limits.toml
refused '--events' server central.toml --events /proc/none/events

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'federation_test: all passed'
