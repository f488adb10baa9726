#!/usr/bin/env bash
# A run that is stopped in the middle, by Ctrl-C or by kill -9, continues to exactly the results of an uninterrupted
# run.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The run is long enough to be stopped in the middle, and short enough to be repeated often.
cat >spec.toml <<'TOML'
horizon = 200_000
replicates = 10
[environment]
dimension = 20
actions = 500
population = 100_000
[algorithm]
name = "dp-dpe"
[privacy]
epsilon = 2
delta = 1e-6
model = "none"
[sweep]
"privacy.model" = ["none", "central", "local"]
TOML

rows() { if [[ -f $1 ]]; then wc -l <"$1"; else echo 0; fi; }

# stopped OUT ROWS SIGNAL: starts a run and sends SIGNAL once there are so many rows; its exit code is in $status.
stopped() {
  local pid
  "$BANDANA" run spec.toml --out "$1" --threads 2 >"$1.out" 2>"$1.err" &
  pid=$!
  while kill -0 "$pid" 2>/dev/null && (($(rows "$1/results.csv") < $2)); do sleep 0.01; done
  kill "-$3" "$pid" 2>/dev/null || fail "$1: done before it could be stopped: make the run longer"
  status=0
  wait "$pid" 2>/dev/null || status=$?
}

# finishes OUT ARGUMENT...: expects that --resume ends with exit 0 and the results of the uninterrupted run.
finishes() {
  local out=$1
  shift
  "$BANDANA" run spec.toml --out "$out" --resume --quiet "$@" >/dev/null || fail "$out: --resume: exit $?"
  cmp "$out/results.csv" whole/results.csv || fail "$out: other results"
  for file in summary.json report.html; do [[ -s $out/$file ]] || fail "$out: no $file"; done
  python3 - "$out" <<'PY' || fail "$out: another summary"
import json, sys
mine, whole = (json.load(open(f + "/summary.json")) for f in (sys.argv[1], "whole"))
assert mine["points"] == whole["points"] and mine["spec_sha256"] == whole["spec_sha256"]
PY
}

"$BANDANA" run spec.toml --out whole --quiet >/dev/null
total=$(rows whole/results.csv)

for signal in INT TERM; do
  out=after-$signal
  stopped $out $((total / 4)) $signal
  [[ $status == 130 ]] || fail "SIG$signal: exit $status, not 130"
  grep -qF -- "--out $out --resume" $out.err || fail "SIG$signal does not say how to go on: $(<$out.err)"
  (($(rows $out/results.csv) < total)) || fail "SIG$signal came too late"
  [[ ! -e $out/summary.json ]] || fail "SIG$signal: a summary of an unfinished run"
  # The command that it prints continues the run.
  finishes $out --threads 1
done

stopped killed $((total / 3)) KILL
[[ $status == 137 ]] || fail "kill -9: exit $status"
finishes killed

# A kill -9 in the middle of a row leaves a torn line.
cp -r whole torn
rm torn/summary.json torn/report.html
truncate -s $(($(stat -c %s whole/results.csv) / 2 + 7)) torn/results.csv
finishes torn

# A run can be stopped twice.
stopped twice $((total / 5)) INT
"$BANDANA" run spec.toml --out twice --resume --threads 1 --quiet >/dev/null 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && (($(rows twice/results.csv) < total / 2)); do sleep 0.01; done
kill -9 $pid 2>/dev/null || fail 'twice: done before it could be stopped'
wait $pid 2>/dev/null || true
finishes twice

# Ctrl-C with --json: stdout has one document, and it is not a summary.
"$BANDANA" run spec.toml --out json --json >json.out 2>json.err &
pid=$!
while kill -0 $pid 2>/dev/null && (($(rows json/results.csv) < total / 5)); do sleep 0.01; done
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "Ctrl-C with --json: exit $status"
python3 -c 'import json; assert "error" in json.load(open("json.out"))' 2>/dev/null || fail "Ctrl-C with --json: no error object on stdout: $(<json.out)"

# A run that must not be continued is left alone.
sum=$(sha256sum whole/* | sort)
refused() {
  local status=0
  "$BANDANA" run "$@" >refused.out 2>refused.err || status=$?
  [[ $status == 2 ]] || fail "run $*: exit $status, not 2"
  [[ $(sha256sum whole/* | sort) == "$sum" ]] || fail "run $*: changed the folder"
}
refused spec.toml --out whole
refused spec.toml --out whole --resume --set seed=8
refused spec.toml --out whole --resume --set replicates=11

# Resuming a finished run changes nothing.
finishes whole

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'resume_test: all passed'
