#!/usr/bin/env bash
# Tests of a deployment's stores and ledgers: what the roles write, what outlives them when they are killed, what they
# refuse, and what the officer's commands find.

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
kept=(--set service.store=sqlite:server.db --set service.ledger_mirror=server.ledger)
serve central "${kept[@]}"
"$BANDANA" server central.toml --insecure-seed "${kept[@]}" >second.out 2>second.err && status=0 || status=$?
[[ $status == 4 ]] || fail "a second server on one store: exit $status, not 4"
says second.err 'server.db: another process'
join central 1-6000 --set service.ledger_mirror=agent.ledger
ends "$server" 0 'server with a ledger'
says central.err '-DP of one client'
says central.err 'VOID'
ends "$agent" 0 'agent with a ledger'
ledger 0 verify agent.ledger
says ledger.out ' 0 releases'
ledger 0 verify server.ledger
ledger 0 show server.ledger --json
head=$(python3 -c 'import json; print(json.load(open("ledger.out"))["head"]["hash"])')
grep -q "; ledger head [0-9]* $head\"" central.err || fail "the server ends without the ledger's head: $(<central.err)"
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
assert "draw" not in lines[1] and "draw" not in rows[0] and "draw" not in exported["charges"][0]
assert len(exported["clients"]) == sum(int(row["clients"]) for row in rows)
PY

# A second run pays anew. Its clients have nothing left, so it ends before its first release, and the ledger stays.
cp server.ledger before.ledger
serve central "${kept[@]}"
join central 1-6000
ends "$server" 3 'a second run on one store'
ends "$agent" 3 'its agent'
says central.err 'would have spent epsilon'
cmp -s server.ledger before.ledger || fail 'a run that could not pay changed the ledger'

# A third run, with a new store that allows two runs, makes other releases than the first.
twice=(--set service.store=sqlite:twice.db --set service.client_epsilon=16.1 --set service.client_delta=3e-6)
for run in 1 2; do
  serve central "${twice[@]}"
  join central 1-6000
  ends "$server" 0 "run $run of two on one store"
done
ledger 0 verify twice.db
"$BANDANA" store show twice.db >twice.out
[[ $(grep -c finished twice.out) == 2 ]] || fail "a store with two runs: $(<twice.out)"

# A mirror of another store, a store of another configuration, and a file that is no mirror are refused.
refuses() { # CODE TEXT ARGUMENT...
  local code=$1 text=$2 status=0
  shift 2
  "$BANDANA" server central.toml --insecure-seed "$@" >other.out 2>other.err || status=$?
  [[ $status == "$code" ]] || fail "$*: exit $status, not $code: $(<other.err)"
  says other.err "$text"
}
refuses 2 'the copy of another ledger' --set service.ledger_mirror=server.ledger
refuses 2 'another deployment' --set privacy.epsilon=9 "${kept[@]}"
refuses 2 'it is no copy of a ledger' --set service.ledger_mirror=central.toml
refuses 1 'it is not a store' --set service.store=sqlite:central.toml
refuses 2 'service.silence' --set service.silence=soon
status=0
"$BANDANA" server central.toml --set service.ledger_mirror=x --set service.deployment_epsilon=1 >other.out 2>other.err || status=$?
[[ $status == 2 && ! -e x ]] || fail "half a budget: exit $status, not 2"
says other.err service.deployment_delta

# A path that cannot hold a ledger is the user's mistake (exit 2).
mkdir folder
# Even root cannot write to /sys.
for path in '' folder folder/ nowhere/x.ledger central.toml/x.ledger /sys/x.ledger; do
  status=0
  "$BANDANA" server central.toml --set "service.ledger_mirror=$path" --json >other.out 2>other.err || status=$?
  [[ $status == 2 ]] || fail "service.ledger_mirror=$path: exit $status, not 2: $(<other.out)"
  python3 - "$path" <<'PY' || fail "service.ledger_mirror=$path: $(<other.out)"
import json, sys
error = json.load(open("other.out"))["error"]
assert error["file"] == "--set" and error["key"] == "service.ledger_mirror" and error["accepted"], error
assert (error["value"] or "") == sys.argv[1], error
PY
done

# A full disk, here a limit of 2 KiB per file: exit 4, and the message names the file.
(
  trap '' XFSZ
  ulimit -f 2
  exec "$BANDANA" server central.toml --insecure-seed --json --set service.ledger_mirror=full.ledger --events full.events >full.out 2>full.err
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
serve central --set service.ledger_mirror=small.ledger --set service.deployment_epsilon=20 --set service.deployment_delta=0.5
join central 1-6000
ends "$server" 3 'server over budget'
ends "$agent" 3 'its agent'
says central.err 'deployment together would have spent epsilon'
ledger 0 verify small.ledger
says ledger.out ' 2 releases'
ledger 0 show small.ledger
says ledger.out 'budget of all releases'

# In the local model agents pay. Each process is killed once, and goes on.
spec local 1_000_000 100_000 >local.toml
port=$(addresses 1)
start() { # first, second or server
  case $1 in
    server)
      serve local --set service.listen=$port --set service.store=sqlite:local.db
      ;;
    first | second)
      local clients=1-50000
      if [[ $1 == second ]]; then clients=50001-100000; fi
      join local $clients --set service.store=sqlite:$1.db --set service.ledger_mirror=$1.ledger
      printf -v "$1" '%s' "$agent"
      ;;
  esac
}
start server
start first
start second
for victim in second server first; do
  until (($(grep -c '"phase"' local.events) >= 4)); do sleep 0.005; done
  kill -9 "${!victim}" 2>/dev/null || fail "the run was over before the $victim could be killed"
  ends "${!victim}" 137 "the killed $victim"
  start "$victim"
done
for name in server first second; do ends "${!name}" 0 "the $name, which was killed"; done
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
for shown in both:
    assert shown["clients"] == shown["releases"], "somebody paid twice"
    assert shown["largest"]["spent"] == shown["budget"]
    assert shown["releases"] > 5
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
