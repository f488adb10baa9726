#!/usr/bin/env bash
# Tests of a deployment's ledgers: what the roles write, what outlives them, what they refuse, and what the officer's
# commands find.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"
: "${BANDANA_SOURCE:?path of the source}"

role_flags=(--insecure-seed)

# ledger CODE ARGUMENT...: expects exit CODE; the output is in ledger.out, errors are in ledger.err.
ledger() {
  local code=$1 status=0
  shift
  "$BANDANA" ledger "$@" >ledger.out 2>ledger.err || status=$?
  [[ $status == "$code" ]] || fail "ledger $*: exit $status, not $code: $(<ledger.out) $(<ledger.err)"
}

# A central run: the server's ledger has a line for each phase.
spec central 20_000 6_000 >central.toml
serve central --set service.ledger=server.ledger
"$BANDANA" server central.toml --insecure-seed --set service.ledger=server.ledger >second.out 2>second.err && status=0 || status=$?
[[ $status == 4 ]] || fail "a second server on one ledger: exit $status, not 4"
says second.err 'server.ledger: another process'
join central 1-6000 --set service.ledger=agent.ledger
ends "$server" 0 'server with a ledger'
says central.err '-DP of one client'
says central.err 'VOID'
ends "$agent" 0 'agent with a ledger'
ledger 0 verify agent.ledger
says ledger.out ' 0 releases'
ledger 0 verify server.ledger
ledger 0 show server.ledger --json
head=$(python3 -c 'import json; print(json.load(open("ledger.out"))["head"]["hash"])')
grep -q "; ledger head [0-9]* $head\$" central.err || fail "the server ends without the ledger's head: $(<central.err)"
python3 - <<'PY' || fail 'ledger show and the run differ'
import json
shown = json.load(open("ledger.out"))
phases = [json.loads(line) for line in open("central.events") if '"phase"' in line]
assert shown["releases"] == len(phases) > 5, shown
assert shown["clients"] == sum(phase["clients"] for phase in phases), shown
assert shown["deployment"] == "system test" and [c["neighbours"] for c in shown["claims"]] == ["replace-one"]
assert shown["largest"]["spent"] == shown["budget"], shown
assert shown["largest"]["left"] == {"epsilon": 0, "delta": 0}, shown
assert shown["budget"]["epsilon"] <= 8 and shown["total"]["epsilon"] > 8 * (len(phases) - 1)
assert shown["notes"] == []
PY
client=$(python3 -c 'import json; print(json.load(open("ledger.out"))["largest"]["client"])')
ledger 0 show server.ledger
says ledger.out "spent by client $client, the most"
says ledger.out "$head"
ledger 0 show server.ledger --client "$client"
says ledger.out "left to this client"
says ledger.out "charge "
ledger 0 show server.ledger --client 4294967295 --json
says ledger.out '"charges": []'
says ledger.out 'this ledger has no charge to client 4294967295'
ledger 0 show server.ledger --client 4294967295
says ledger.out 'this ledger has no charge to client 4294967295'
! grep -q 'left to this client' ledger.out || fail "a client that was never charged has an account: $(<ledger.out)"

# The recipe in the documentation finds the same head.
sed -n '/^```python title=check_ledger.py$/,/^```$/p' "$BANDANA_SOURCE/docs/ledger.md" | grep -v '^```' >recipe.py
[[ $(python3 recipe.py server.ledger) == "$head" ]] || fail 'the recipe in docs/ledger.md finds another head'

# An export has every charge and no draw.
ledger 0 export server.ledger --format csv --out charges.csv
ledger 0 export server.ledger --format json --out charges.json --json
says ledger.out charges.json
ledger 0 export server.ledger --json
cmp -s ledger.out charges.json || fail 'export to stdout and to a file differ'
python3 - <<'PY' || fail 'exports'
import csv, json
rows = list(csv.DictReader(open("charges.csv")))
exported = json.load(open("charges.json"))
lines = [json.loads(line) for line in open("server.ledger")]
assert len(rows) == len(exported["charges"]) == len(lines) - 1
for row, charge, line in zip(rows, exported["charges"], lines[1:]):
    for key in ("seq", "time", "node", "epoch", "units", "hash"):
        assert row[key] == str(charge[key]) == str(line[key]), (key, row, line)
    assert float(row["epsilon"]) == charge["guarantee"]["epsilon"] == line["guarantee"]["epsilon"]
assert len(lines[1]["draw"]) > 0
assert "draw" not in rows[0] and "draw" not in exported["charges"][0]
assert len(exported["clients"]) == sum(int(row["clients"]) for row in rows)
PY

# A second run on a used ledger would see old draws: it is refused, and the ledger stays as it is.
cp server.ledger before.ledger
status=0
"$BANDANA" server central.toml --insecure-seed --set service.ledger=server.ledger >again.out 2>again.err || status=$?
[[ $status == 2 ]] || fail "a second run on one ledger: exit $status, not 2: $(<again.err)"
says again.err 'service.ledger'
says again.err 'charges of an earlier run'
says again.err 'a new file'
cmp -s server.ledger before.ledger || fail 'a refused run changed the ledger'

# A ledger of another configuration, or a file that is not a ledger, is refused.
status=0
"$BANDANA" server central.toml --insecure-seed --set privacy.epsilon=9 --set service.ledger=server.ledger >other.out 2>other.err || status=$?
[[ $status == 2 ]] || fail "another configuration: exit $status, not 2"
says other.err 'another deployment'
status=0
"$BANDANA" server central.toml --set service.ledger=central.toml >other.out 2>other.err || status=$?
[[ $status == 1 ]] || fail "a ledger that is none: exit $status, not 1"
says other.err 'central.toml:1'
status=0
"$BANDANA" server central.toml --set service.ledger=x --set service.deployment_epsilon=1 >other.out 2>other.err || status=$?
[[ $status == 2 && ! -e x ]] || fail "half a budget: exit $status, not 2"
says other.err service.deployment_delta

# A path that cannot hold a ledger is the user's mistake (exit 2).
mkdir folder
# Even root cannot write to /sys.
for path in '' folder folder/ nowhere/x.ledger central.toml/x.ledger /sys/x.ledger; do
  status=0
  "$BANDANA" server central.toml --set "service.ledger=$path" --json >other.out 2>other.err || status=$?
  [[ $status == 2 ]] || fail "service.ledger=$path: exit $status, not 2: $(<other.out)"
  python3 - "$path" <<'PY' || fail "service.ledger=$path: $(<other.out)"
import json, sys
error = json.load(open("other.out"))["error"]
assert error["file"] == "--set" and error["key"] == "service.ledger" and error["accepted"], error
assert (error["value"] or "") == sys.argv[1], error
PY
done

# A full disk, here a limit of 2 KiB per file: exit 4, and the message names the file.
(
  trap '' XFSZ
  ulimit -f 2
  exec "$BANDANA" server central.toml --insecure-seed --json --set service.ledger=full.ledger --events full.events >full.out 2>full.err
) &
server=$!
children+=("$server")
until address=$(grep -om1 '127\.0\.0\.1:[0-9]*' full.events 2>/dev/null); do
  kill -0 "$server" 2>/dev/null || { fail "the server ended: $(<full.out)"; break; }
  sleep 0.01
done
join central 1-6000
ends "$server" 4 'server on a full disk'
ends "$agent" 4 'its agent'
says full.out '"file": "full.ledger"'

# Over the deployment's budget: exit 3, and what was paid for stays.
serve central --set service.ledger=small.ledger --set service.deployment_epsilon=20 --set service.deployment_delta=0.5
join central 1-6000
ends "$server" 3 'server over budget'
ends "$agent" 3 'its agent'
says central.err 'deployment together would have spent epsilon'
ledger 0 verify small.ledger
says ledger.out ' 2 releases'
ledger 0 show small.ledger
says ledger.out 'budget of all releases'

# In the local model agents pay. One is killed. Its ledger cannot be used again; with new ones the run is repeated.
spec local 1_000_000 100_000 >local.toml
serve local
join local 1-50000 --set service.ledger=first.ledger
first=$agent
join local 50001-100000 --set service.ledger=second.ledger
second=$agent
until (($(grep -c '"phase"' local.events) >= 4)); do sleep 0.005; done
kill -9 "$second" 2>/dev/null || fail 'the run was over before the agent could be killed'
ends "$second" 137 'the killed agent'
ends "$server" 4 'server of a killed agent'
ends "$first" 4 'agent of a server that gave up'
for name in first second; do
  ledger 0 verify $name.ledger
  status=0
  "$BANDANA" agent local.toml --insecure-seed --set service.server=127.0.0.1:1 --set service.clients=1-9 --set service.ledger=$name.ledger \
    >again.out 2>again.err || status=$?
  [[ $status == 2 ]] || fail "an agent on a used ledger: exit $status, not 2: $(<again.err)"
  says again.err 'charges of an earlier run'
  mv $name.ledger $name.old
  rm -f $name.ledger.head
done
serve local
join local 1-50000 --set service.ledger=first.ledger
first=$agent
join local 50001-100000 --set service.ledger=second.ledger
second=$agent
ends "$server" 0 'server, again'
ends "$first" 0 'first agent, again'
ends "$second" 0 'second agent, again'
"$BANDANA" run local.toml --out sim --trace local.trace --quiet --set privacy.sampler=exact >/dev/null
for name in first second; do
  ledger 0 show $name.ledger --json
  mv ledger.out $name.json
done
python3 - <<'PY' || fail 'ledgers of the agents'
import json
phases = [json.loads(line) for line in open("local.events") if '"phase"' in line]
simulated = [json.loads(line) for line in open("local.trace")]
assert [p["averages"] for p in phases] == [p["averages"] for p in simulated], "draws differ"
both = [json.load(open(name + ".json")) for name in ("first", "second")]
assert sum(shown["releases"] for shown in both) == sum(phase["clients"] for phase in phases)
for shown, name in zip(both, ("first", "second")):
    assert shown["clients"] == shown["releases"], "somebody paid twice"
    assert shown["largest"]["spent"] == shown["budget"]
    assert shown["releases"] > len(open(name + ".old").readlines()) > 5
PY

# Tests of what verify finds, and of its messages.
tampered() { # WHAT LINE
  ledger 1 verify server.ledger
  says ledger.err "server.ledger:$2:"
  ledger 1 verify server.ledger --json
  python3 -c '
import json, sys
error = json.load(open("ledger.out"))["error"]
assert error["file"] == "server.ledger" and error["line"] == int(sys.argv[1]), error' "$2" || fail "$1: JSON"
  ledger 1 show server.ledger
  ledger 1 export server.ledger --out none.csv
  [[ ! -e none.csv ]] || fail "$1: exported all the same"
  cp before.ledger server.ledger
}
lines=$(wc -l <before.ledger)
sed -i '3s/"epoch":2/"epoch":7/' server.ledger && tampered 'a digit' 3
sed -i 3d server.ledger && tampered 'a line removed' 3
sed -i '3{h;d};4{G}' server.ledger && tampered 'lines swapped' 3
sed -i 4p server.ledger && tampered 'a line repeated' 5
sed -i '$d' server.ledger && tampered 'the last line removed' "$lines"
: >server.ledger && tampered 'emptied' 1
rm server.ledger && tampered 'removed' 1
ledger 0 verify server.ledger --head "$head"
ledger 1 verify server.ledger --head "$(printf 'a%.0s' {1..64})"
says ledger.err 'noted hash'
mv server.ledger.head kept.head
ledger 1 verify server.ledger
says ledger.err server.ledger.head
ledger 0 verify server.ledger --head "$head"
mv kept.head server.ledger.head
ledger 0 verify server.ledger

# Bad input.
ledger 2 show none.ledger
says ledger.err none.ledger
ledger 2 verify .
ledger 2 verify server.ledger --head abc
says ledger.err --head
ledger 2 verify server.ledger --head ''
says ledger.err --head
ledger 2 frobnicate server.ledger
says ledger.err 'show, verify, export'
ledger 2 show server.ledger --client -1
ledger 2 show server.ledger --client 0
says ledger.err 'from 1 to'
ledger 2 show server.ledger --client ''
ledger 2 show server.ledger --client x
ledger 2 show server.ledger --head "$head"
ledger 2 verify server.ledger --client 1
ledger 2 export server.ledger --format xml
says ledger.err xml
ledger 2 export server.ledger --out server.ledger
ledger 2 export server.ledger --out ./server.ledger.head
ledger 2 export server.ledger --out nowhere/out.csv
ledger 2 export server.ledger --format csv --json
ledger 0 verify server.ledger

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'ledger_test: all passed'
