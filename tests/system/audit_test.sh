#!/usr/bin/env bash
# Tests of bandana audit as a person uses it: the list, one target, an algorithm, JSON, the same findings for any number
# of threads.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

says() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }

says "$("$BANDANA" audit --list)" central-gaussian
says "$("$BANDANA" audit --list)" recovery-local
table=$("$BANDANA" audit central-gaussian --draws 40000 --quiet 2>stderr) || fail "audit: exit $?"
[[ ! -s stderr ]] || fail "--quiet wrote: $(<stderr)"
for part in 'central-gaussian' '(1, 0.01)' 'not refuted' '0 of 1 refuted' 'at most 1e-06'; do says "$table" "$part"; done

"$BANDANA" audit dp-dpe --model central --epsilon 2 --draws 2000 --threads 1 --json >one.json || fail "dp-dpe: exit $?"
"$BANDANA" audit dp-dpe --epsilon 2 --draws 2000 --threads 2 --json >two.json || fail "dp-dpe: exit $?"
cmp one.json two.json || fail 'findings depend on threads'

"$BANDANA" audit --all --draws 2000 --json >all.json 2>stderr || fail "--all: exit $?"
"$BANDANA" audit --list --json >list.json
python3 - <<'PY' || fail '--all --json'
import json
one, everything, listed = (json.load(open(f"{name}.json")) for name in ("one", "all", "list"))
(target,) = one["targets"]
assert target["target"] == "dp-dpe-central", target
claim = target["claim"]
assert (claim["epsilon"], claim["delta"]) == (2.0, 0.01), target
assert 0 < target["epsilon_lower"] < 2 and target["verdict"] == "not refuted", target
assert claim["neighbours"] == "replace-one" and claim["proof"].startswith("docs/proofs/"), target
assert [t["target"] for t in everything["targets"]] == [t["target"] for t in listed if t["known_to_fail"] is None]
assert everything["refuted"] == 0
for t in everything["targets"]:
    assert t["verdict"] == ("no claim" if t["target"] == "none" else "not refuted"), t
    assert t["confidence"] > everything["confidence"]
PY

# A claim that is known to be false is audited, and refuted, only on request.
status=0
table=$("$BANDANA" audit fed-ucb-raw --draws 2000 --quiet) || status=$?
[[ $status == 1 ]] || fail "fed-ucb-raw: exit $status"
for part in REFUTED '1 of 1 refuted' 'fed-ucb-raw is known to fail: with local = raw'; do says "$table" "$part"; done
says "$("$BANDANA" audit --list)" 'known to fail: with local = raw'

# refused PART... -- ARGUMENT...: expects exit 2 and a message that holds every PART.
refused() {
  local parts=() status=0
  while [[ $1 != -- ]]; do parts+=("$1"); shift; done
  shift
  "$BANDANA" audit "$@" >stdout 2>stderr || status=$?
  [[ $status == 2 && ! -s stdout ]] || fail "audit $*: exit $status"
  for part in "${parts[@]}"; do says "$(<stderr)" "$part"; done
}
refused target missing --
refused target central-gausian central-gaussian -- central-gausian
refused target dp-dpe-everyone -- dp-dpe --model everyone
refused --seed -1 -- central-gaussian --seed -1
refused --seed 18446744073709551616 -- central-gaussian --seed 18446744073709551616
refused --seed -- central-gaussian --seed ''
refused --draws -- central-gaussian --draws ''
refused --epsilon -- central-gaussian --epsilon ''
refused '--epsilon = nan' 'a finite number > 0' -- central-gaussian --epsilon nan
refused epsilon inf -- central-gaussian --epsilon inf
refused epsilon -1 -- central-gaussian --epsilon -1
refused '--delta = 0' 'a number in (0, 1)' -- central-gaussian --delta 0
refused '--draws = 10' 1000 -- central-gaussian --draws 10
refused confidence 1 -- central-gaussian --confidence 1
refused '--confidence = 0.9999999999999' -- central-gaussian --confidence 0.9999999999999
refused confidence nan -- central-gaussian --confidence nan
refused --all -- central-gaussian --all

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'audit_test: all passed'
