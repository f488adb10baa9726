#!/usr/bin/env bash
# Tests of bandana account: the figures of known lists, both output forms, and every bad file refused by name.

set -euo pipefail
test_script=$(realpath "${BASH_SOURCE[0]}")
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# field FILE KEY LOW HIGH [ARGUMENT...]: checks that the JSON's KEY lies in [LOW, HIGH].
field() {
  local file=$1 key=$2 low=$3 high=$4
  shift 4
  "$BANDANA" account "$file" --json "$@" >out.json 2>err || { fail "$file: exit $?: $(<out.json)"; return; }
  [[ ! -s err ]] || fail "$file: on stderr: $(<err)"
  python3 -c 'import json, sys
value = json.load(open("out.json"))[sys.argv[1]]
assert float(sys.argv[2]) <= value <= float(sys.argv[3]), value' "$key" "$low" "$high" 2>err ||
    fail "$file: $key: $(tail -1 err)"
}
text() { python3 -c 'import json, sys; print(json.load(open("out.json"))[sys.argv[1]])' "$1"; }

common='"unit": "client", "neighbours": "replace-one"'

# The calibrated Gaussian delivers what it was calibrated for; sixteen releases of a quarter of its size cost the same
# as one.
echo "[{\"mechanism\": \"gaussian\", \"sigma\": 4.2248, \"sensitivity\": 1, $common, \"count\": 1}]" >one.json
field one.json epsilon 0.9999 1.0001 --delta 1e-6
[[ $(text proof) == gdp ]] || fail "one Gaussian is proved by $(text proof)"
echo "[{\"mechanism\": \"gaussian\", \"sigma\": 16.8992, \"sensitivity\": 1, $common, \"count\": 16}]" >many.json
field many.json epsilon 0.9999 1.0001 --delta 1e-6
field many.json delta 0.99e-6 1.01e-6 --epsilon 1

# The epsilons of pure releases add; for many of them a better bound holds.
echo "{\"delta\": 0, \"events\": [{\"mechanism\": \"pure-dp\", \"epsilon\": 0.25, $common, \"count\": 4}]}" >pure.json
field pure.json epsilon 1 1
field pure.json delta 0 0
[[ $(text proof) == basic ]] || fail "pure releases are proved by $(text proof)"
echo "[{\"mechanism\": \"pure-dp\", \"epsilon\": 0.01, $common, \"count\": 1000}]" >drops.json
field drops.json epsilon 1.2 1.7 --delta 1e-6
[[ $(text proof) == pld ]] || fail "a thousand pure releases are proved by $(text proof)"

# A shuffled sum composes with the others; disjoint units do not add.
cat >mixed.json <<JSON
{"delta": 1e-6, "events": [
  {"name": "survey", "mechanism": "shuffle-sum", "trials": 46000, "sensitivity": 8, "coordinates": 10, $common, "count": 1},
  {"name": "reports", "mechanism": "shuffled-ldp", "epsilon0": 4, "n": 100000, $common, "count": 1},
  {"name": "phases", "mechanism": "gaussian", "sigma": 10, "sensitivity": 1, $common, "count": 40, "disjoint": true}]}
JSON
field mixed.json epsilon 1.1 1.4
field mixed.json delta 1e-6 1e-6
"$BANDANA" account mixed.json >table
for part in survey shuffle-sum 'privacy loss distribution' used 'basic composition' 'one client' replace-one \
            'is not Gaussian' docs/proofs/accounting.md; do
  grep -qF -- "$part" table || fail "no '$part' in the table: $(<table)"
done

# refused NAME FILE PART...: expects exit 2 and one line that names the file and every PART; with --json the same in an
# object.
refused() {
  local name=$1 file=$2 status=0
  shift 2
  timeout 20 "$BANDANA" account "$file" --delta 1e-6 >stdout 2>stderr || status=$?
  [[ $status == 2 ]] || fail "$name: exit $status, not 2: $(head -c 300 stderr)"
  [[ ! -s stdout && $(wc -l <stderr) == 1 ]] || fail "$name: not one line: $(<stderr)"
  for part in "$file" "$@"; do grep -qF -- "$part" stderr || fail "$name: no '$part' in: $(<stderr)"; done
  status=0
  timeout 20 "$BANDANA" account "$file" --delta 1e-6 --json >stdout 2>stderr || status=$?
  [[ $status == 2 && ! -s stderr ]] || fail "$name: --json: exit $status: $(<stderr)"
  python3 -c 'import json; assert list(json.load(open("stdout"))) == ["error"]' || fail "$name: --json: $(<stdout)"
}
# wrong NAME FIELD REPLACEMENT PART...: expects that a good event with FIELD's pair replaced is refused.
good='{"mechanism": "gaussian", "sigma": 4, "sensitivity": 1, "unit": "client", "neighbours": "replace-one", "count": 2}'
wrong() {
  local name=$1 pair=$2 replacement=$3
  shift 3
  echo "[$good, ${good/"$pair"/"$replacement"}]" >bad.json
  refused "$name" bad.json "$@"
}
wrong 'unknown field' '"sigma": 4' '"sigma": 4, "sigmaa": 5' 'events[2].sigmaa = 5' 'unknown field' 'nearest: sigma'
wrong 'misspelt field' '"sigma": 4' '"sgima": 4' 'events[2].sgima' 'nearest: sigma'
wrong 'another mechanism'"'"'s field' '"sigma": 4' '"sigma": 4, "rho": 1' 'events[2].rho' 'unknown field'
wrong 'missing sigma' '"sigma": 4, ' '' 'events[2].sigma' missing
wrong 'missing sensitivity' '"sensitivity": 1, ' '' 'events[2].sensitivity' missing
wrong 'missing mechanism' '"mechanism": "gaussian", ' '' 'events[2].mechanism' missing gaussian
wrong 'missing unit' '"unit": "client", ' '' 'events[2].unit' missing
wrong 'missing neighbours' '"neighbours": "replace-one", ' '' 'events[2].neighbours' missing
wrong 'missing count' ', "count": 2' '' 'events[2].count' missing
wrong 'unknown mechanism' gaussian gausian 'events[2].mechanism = "gausian"' laplace
wrong 'sigma 0' '"sigma": 4' '"sigma": 0' 'events[2].sigma = 0'
wrong 'negative sigma' '"sigma": 4' '"sigma": -4' 'events[2].sigma = -4'
wrong 'denormal sigma' '"sigma": 4' '"sigma": 4e-320' 'events[2].sigma'
wrong 'text for sigma' '"sigma": 4' '"sigma": "four"' 'events[2].sigma = "four"' 'a number'
wrong 'null for sigma' '"sigma": 4' '"sigma": null' 'events[2].sigma = null'
wrong 'count 0' '"count": 2' '"count": 0' 'events[2].count = 0' 'a whole number'
wrong 'half a release' '"count": 2' '"count": 1.5' 'events[2].count = 1.5' 'a whole number'
wrong 'flag for count' '"count": 2' '"count": true' 'events[2].count = true'
wrong 'number for a flag' '"count": 2' '"count": 2, "disjoint": 1' 'events[2].disjoint = 1' 'true, false'
wrong 'another unit' '"unit": "client"' '"unit": "record"' 'events[2].unit = record' client
wrong 'other neighbours' replace-one add-remove 'events[2].neighbours = add-remove' 'twice'
wrong 'unknown neighbours' replace-one swap 'events[2].neighbours' 'replace-one, add-remove'
wrong 'NaN' '"sigma": 4' '"sigma": NaN' bad.json:1: 'not JSON'
wrong 'a number beyond doubles' '"sigma": 4' '"sigma": 1e999' 'too large'
wrong 'given twice' '"sigma": 4' '"sigma": 4, "sigma": 400' sigma 'given twice'
printf '[\n%s,\n' "$good" >bad.json
refused 'cut short' bad.json bad.json:3: 'not JSON'
: >bad.json
refused 'empty' bad.json 'not JSON'
printf '[{"mechanism": %s%s}]' "$(printf '[%.0s' {1..200000})" "$(printf ']%.0s' {1..200000})" >bad.json
refused 'too deep' bad.json 'more than 100 others'
echo '[]' >bad.json
refused 'no event' bad.json events
echo '[3]' >bad.json
refused 'no object' bad.json 'events[1] = 3'
echo '"text"' >bad.json
refused 'no list' bad.json events
echo "{\"detla\": 1e-6, \"events\": [$good]}" >bad.json
refused 'unknown top field' bad.json detla 'nearest: delta'
echo '{"delta": 1e-6}' >bad.json
refused 'no events' bad.json events missing
refused 'no file' none.json 'cannot be read'
mkdir folder.json
refused 'a folder' folder.json 'cannot be read'

# target NAME PART... -- ARGUMENT...
target() {
  local name=$1 parts=() status=0
  shift
  while [[ $1 != -- ]]; do parts+=("$1"); shift; done
  shift
  "$BANDANA" account "$@" >stdout 2>stderr || status=$?
  [[ $status == 2 && ! -s stdout ]] || fail "$name: exit $status"
  for part in "${parts[@]}"; do grep -qF -- "$part" stderr || fail "$name: no '$part' in: $(<stderr)"; done
}
target 'no target' delta epsilon -- one.json
target 'both targets' delta epsilon -- one.json --delta 1e-6 --epsilon 1
target 'delta 0 for a Gaussian' 'delta = 0' 'not all events are pure' -- one.json --delta 0
target 'delta 1' 'delta = 1' -- one.json --delta 1
target 'delta NaN' 'delta = nan' -- one.json --delta nan
target 'negative epsilon' 'epsilon = -1' -- one.json --epsilon -1
target 'infinite epsilon' 'epsilon = inf' -- one.json --epsilon inf
target 'no number' --delta -- one.json --delta x

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'account_test: all passed'
