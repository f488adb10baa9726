#!/usr/bin/env bash
# The log of every role: its form, that it is continued, that docs/operations.md lists every event with its fields, and
# that no reward is in it.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"
role_flags=(--insecure-seed --set service.log.level=debug)

# until_log FILE EVENT PID: waits until a process has written an event.
until_log() {
  until grep -q "\"event\":\"$2\"" "$1" 2>/dev/null; do
    kill -0 "$3" 2>/dev/null || { fail "$1 has no $2: $(<"$1")"; return; }
    sleep 0.01
  done
}

# --- no reward: all clients have the same rewards without noise of their own, so that a run without privacy shows them
for model in none central local shuffle; do
  spec $model 3_000 900 | sed 's/client_sd = 0.1/client_sd = 0\nreward_sd = 0/' >$model.toml
  serve $model
  middle=
  if [[ $model == shuffle ]]; then
    listens $model shuffler $model.middle --set "service.server=$address"
    shuffler=$pid middle=$listening
  fi
  join $model 1-400 --events $model.a.events
  first=$agent
  join $model 401-900 --events $model.b.events
  ends "$first" 0 "$model: first agent"
  ends "$agent" 0 "$model: second agent"
  ends "$server" 0 "$model: server"
  [[ $model != shuffle ]] || ends "$shuffler" 0 'shuffler'
  middle=
done
python3 - <<'PY' || fail 'rewards in a log'
import glob, json
rewards = next(json.loads(line)["averages"] for line in open("none.events") if '"phase"' in line)
canaries = {f"{abs(reward):.9f}"[:8] for reward in rewards if abs(reward) >= 0.001}
assert len(canaries) >= 5, canaries
assert any(canary in open("none.events").read() for canary in canaries), "the canaries would not be found"
files = [file for model in ("central", "local", "shuffle") for file in glob.glob(model + ".*") if not file.endswith(".toml")]
files += glob.glob("none*.err")
assert len(files) >= 3 * 7 + 3, files
for file in files:
    found = [canary for canary in canaries if canary in open(file).read()]
    assert not found, (file, found)
PY

# --- a process that is stopped, one that is killed, one that comes too often, and one that sends too fast
spec local 20_000 6_000 >stored.toml
at=$(addresses 1)
stored() {
  "$BANDANA" server stored.toml --insecure-seed --set "service.listen=$at" --set service.store=sqlite:stored.db --set service.limits.streams=1 \
    --set service.limits.calls=5 --set service.log.file=stored.log 2>stored.err &
  server=$!
  children+=("$server")
}
stored
address=$at
join stored 1-6000 --set service.store=sqlite:agent.db
first=$agent
until_log stored.log slowed "$server"
join stored 1-6000 --set service.store=sqlite:second.db  # its log is the one that is looked at
until_log stored.log refused "$server"
until_log stored.1-6000.err unreachable "$agent"
kill -9 "$agent"
kill -9 "$first"
until_log stored.log disconnected "$server"
lines=$(wc -l <stored.log)
kill -TERM "$server"
ends "$server" 0 'a server that was told to stop'
stored
until_log stored.log recovered "$server"
(($(wc -l <stored.log) > lines)) || fail 'the log of a server was begun anew'
[[ ! -s stored.err ]] || fail "a server with a log file writes to stderr: $(<stored.err)"
kill -TERM "$server"
ends "$server" 0 'the server in its second life'

# --- a stranger, with certificates of another deployment
"$BANDANA" keys init ours >/dev/null
"$BANDANA" keys issue server --keys ours >/dev/null
"$BANDANA" keys init theirs >/dev/null
"$BANDANA" keys issue agent/1 --keys theirs >/dev/null
spec central 20_000 6_000 | sed 's/insecure = true//' >tls.toml
role_flags=()
serve tls --set service.keys=ours
join tls 1-6000 --set service.keys=theirs
until_log tls.err keys "$server"
until_log tls.1-6000.err keys "$agent"
kill -9 "$agent"
kill -TERM "$server"
ends "$server" 0 'a server with certificates'

# --- peers and agents with arms, which write their decisions
cat >peer.toml <<'TOML'
horizon = 20_000
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
cat >silo.toml <<'TOML'
horizon = 600
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
agents = 2
[privacy]
model = "silo"
epsilon = 4
delta = 1e-5
[service]
listen = "127.0.0.1:0"
insecure = true
TOML
cat >mab.toml <<'TOML'
horizon = 20_000
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
[service]
listen = "127.0.0.1:0"
insecure = true
TOML
ring=$(addresses 3)
for node in 1 2 3; do
  "$BANDANA" peer peer.toml --insecure-seed --set service.insecure=true --set "service.node=$node" --set "service.peers=$ring" \
    --events "peer.$node.events" >/dev/null 2>"peer.$node.err" &
  peers[node]=$!
  children+=($!)
done
until_log peer.3.events decisions "${peers[3]}"
kill -9 "${peers[2]}" 2>/dev/null || fail 'the peers were done before one of them could be killed'
for node in 1 3; do ends "${peers[$node]}" 0 "peer $node"; done
for name in silo mab; do
  serve $name --insecure-seed
  for i in 1 2; do
    of=service.node=$i
    [[ $name == mab ]] || of=service.clients=$i-$i
    "$BANDANA" agent $name.toml --insecure-seed --set "service.server=$address" --set "$of" --events "$name.$i.events" >/dev/null 2>"$name.$i.err" &
    nodes[i]=$!
    children+=($!)
  done
  for i in 1 2; do ends "${nodes[$i]}" 0 "$name: agent $i"; done
  ends "$server" 0 "$name: server"
done

# --- a failure, after the process has begun
cp central.toml poor.toml
serve poor --set service.client_epsilon=0.1 --set service.client_delta=1e-9
join poor 1-900
status=0
wait "$server" || status=$?
[[ $status == 3 ]] || fail "a server without budget: exit $status"

# --- people of a live world, who come late
printf 'name\none\ntwo\n' >actions.csv
cat >live.toml <<'TOML'
name = "live"
horizon = 60
environment = { kind = "live", actions_file = "actions.csv", reward_window = "100ms" }
algorithm = { name = "private-elimination" }
privacy = { model = "central", epsilon = 1.0, delta = 1e-6 }
service = { insecure = true, http = "127.0.0.1:0", fill = "200ms", grace = "100ms", attempts = 1 }
TOML
listens live server live
server=$pid
until_log live.err stalled "$server"
python3 - "$listening" <<'PY' || fail 'people are not served'
import http.client, json, sys, time
for turn in range(600):
    try:
        connection = http.client.HTTPConnection(sys.argv[1], timeout=10)
        subjects = [f"{turn * 50 + i:032x}" for i in range(50)]
        connection.request("POST", "/v1/decide", json.dumps({"subjects": subjects}))
        if connection.getresponse().status == 503: break
    except OSError:
        break  # the run is over
    time.sleep(0.02)
PY
ends "$server" 0 'live: server'

# --- the form for people
serve central --set service.log.format=text
join central 1-900 --set service.log.format=text
ends "$server" 0 'text: server'
ends "$agent" 0 'text: agent'
bad=$(grep -vE '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z (debug|info |warn |error) (server|agent/1)  [^ ]' central.err central.1-900.err) &&
  fail "not lines of a log: $bad"
says central.err '  phase 1: '
says central.1-900.err 'agent/1  server is connected'

# --- what was written is what docs/operations.md lists
python3 - "$here/../../docs/operations.md" <<'PY' || fail 'the list of events in docs/operations.md is not what was written'
import datetime, glob, json, re, sys
tables, lines = [], open(sys.argv[1]).read().splitlines()
for line in lines:
    if line.startswith("| event |"):
        tables.append({"columns": [cell.strip() for cell in line.strip("|").split("|")], "events": {}})
    elif line.startswith("| `") and tables and tables[-1].get("open", True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        row = dict(zip(tables[-1]["columns"], cells))
        if "event" not in tables[-1]["columns"]: continue
        tables[-1]["events"][row["event"].strip("`")] = (row.get("level"), set(re.findall(r"`(\w+)`", row["fields"])))
    elif tables and not line.startswith("|"):
        tables[-1]["open"] = False
log, extra = (table["events"] for table in tables)
assert len(log) > 10 and "decisions" in extra, (log, extra)
common = {"time", "level", "role", "run", "event"}
seen, seen_fields = {"log": set(), "events": set()}, set()
def check(file, kind):
    for text in open(file):
        if not text.startswith("{") and file.endswith(".err"): continue  # the form for people, or an error before the start
        line = json.loads(text)
        event, fields = line["event"], set(line) - common
        datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
        assert line["time"].endswith("Z") and re.fullmatch(r"server|shuffler|agent|agent/\d+|peer/\d+", line["role"]), line
        assert re.fullmatch("[0-9a-f]{32}", line.get("run", "0" * 32)), line
        documented = extra if kind == "events" and event in extra else log
        assert event in documented, (file, line)
        level, allowed = documented[event]
        assert fields <= allowed, (file, event, fields - allowed)
        assert level is None or line["level"] == level, line
        seen[kind].add(event)
        seen_fields.update((event, field, documented is extra) for field in fields)
for file in glob.glob("*.err") + glob.glob("*.log"): check(file, "log")
for file in glob.glob("*.events"): check(file, "events")
assert set(log) <= seen["log"], set(log) - seen["log"]
assert set(extra) <= seen["events"], set(extra) - seen["events"]
wanted = {(event, field, table is extra) for table in (log, extra) for event in table for field in table[event][1]}
assert wanted <= seen_fields, wanted - seen_fields
PY

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'log_test: all passed'
