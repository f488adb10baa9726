#!/usr/bin/env bash
# Every bad input gives exit 2 and a message that says where and what, on stderr as text or on stdout as JSON. It
# changes no file.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir "$scratch/work"
cd "$scratch/work"
snapshot() { find . -type f -exec sha256sum {} + -o -type d -print | sort; }

# refused NAME PART... -- ARGUMENT...: expects exit 2, a message of one line that holds every PART, and no change; with
# --json the same in an error object.
refused() {
  local name=$1 parts=() status=0 before
  shift
  while [[ $1 != -- ]]; do parts+=("$1"); shift; done
  shift
  before=$(snapshot)
  (ulimit -v 4000000; exec timeout 20 "$BANDANA" "$@") >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
  [[ $status == 2 ]] || fail "$name: exit $status, not 2: $(head -c 300 "$scratch/stderr")"
  [[ ! -s $scratch/stdout ]] || fail "$name: on stdout: $(head -3 "$scratch/stdout")"
  [[ $(wc -l <"$scratch/stderr") == 1 ]] || fail "$name: not one line: $(<"$scratch/stderr")"
  for part in "${parts[@]}"; do
    grep -qF -- "$part" "$scratch/stderr" || fail "$name: no '$part' in: $(<"$scratch/stderr")"
  done
  status=0
  (ulimit -v 4000000; exec timeout 20 "$BANDANA" "$@" --json) >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
  [[ $status == 2 ]] || fail "$name: exit $status with --json"
  [[ ! -s $scratch/stderr ]] || fail "$name: --json writes to stderr: $(head -c 300 "$scratch/stderr")"
  python3 - "$scratch/stdout" "${parts[@]}" 2>"$scratch/python" <<'PY' || fail "$name: --json: $(tail -1 "$scratch/python"): $(<"$scratch/stdout")"
import json, sys
error = json.load(open(sys.argv[1]))
assert list(error) == ["error"], error
assert list(error["error"]) == ["message", "file", "line", "key", "value", "accepted"], error
assert error["error"]["message"]
said = " ".join(str(v) for v in error["error"].values())
file, line = error["error"]["file"], error["error"]["line"]
said += f" {file}:{line}:"
for part in sys.argv[2:]:
    assert part.replace(" = ", " ") in said.replace(" = ", " "), part
PY
  [[ $(snapshot) == "$before" ]] || fail "$name: the folder is not as it was: $(snapshot | diff <(echo "$before") - || true)"
  rm -rf out results
}

base() {
  cat <<'TOML'
horizon = 1000
[environment]
dimension = 2
actions = 5
[algorithm]
name = "dp-dpe"
[privacy]
model = "central"
epsilon = 1.0
delta = 1e-6
TOML
}

# wrong NAME LINE REPLACEMENT PART...: expects that the base spec with LINE replaced is refused.
wrong() {
  local name=$1 line=$2 replacement=$3
  shift 3
  base | sed "s|^$line\$|$replacement|" >spec.toml
  refused "$name" "$@" -- run spec.toml --out out
}

wrong 'unknown key' 'epsilon = 1.0' 'epsilom = 1.0' 'spec.toml:9:' privacy.epsilom 'unknown key' 'nearest known key: privacy.epsilon'
wrong 'unknown table' '\[privacy\]' '[privcy]' spec.toml: privcy. 'unknown key' 'nearest known key: privacy.'
wrong 'text for a number' 'epsilon = 1.0' 'epsilon = "one"' 'spec.toml:9:' privacy.epsilon one 'a finite number > 0'
wrong 'flag for a number' 'dimension = 2' 'dimension = true' 'spec.toml:3:' environment.dimension true 'a whole number >= 1'
wrong 'number for a choice' 'model = "central"' 'model = 3' 'spec.toml:8:' privacy.model 3 'none, central, local'
wrong 'list for a number' 'epsilon = 1.0' 'epsilon = [0.5, 1.0]' 'spec.toml:9:' privacy.epsilon 'a finite number > 0'
wrong 'NaN' 'epsilon = 1.0' 'epsilon = nan' 'spec.toml:9:' 'privacy.epsilon = nan' 'a finite number > 0'
wrong 'infinite' 'epsilon = 1.0' 'epsilon = inf' 'spec.toml:9:' 'privacy.epsilon = inf' 'a finite number > 0'
wrong 'epsilon 0' 'epsilon = 1.0' 'epsilon = 0' 'spec.toml:9:' 'privacy.epsilon = 0' 'a finite number > 0'
wrong 'epsilon < 0' 'epsilon = 1.0' 'epsilon = -1.5' 'spec.toml:9:' 'privacy.epsilon = -1.5' 'a finite number > 0'
wrong 'delta 0' 'delta = 1e-6' 'delta = 0' 'spec.toml:10:' 'privacy.delta = 0' 'a number in (0, 1)'
wrong 'delta 1' 'delta = 1e-6' 'delta = 1.0' 'spec.toml:10:' 'privacy.delta = 1' 'a number in (0, 1)'
wrong 'delta NaN' 'delta = 1e-6' 'delta = nan' 'spec.toml:10:' 'privacy.delta = nan' 'a number in (0, 1)'
wrong 'alpha 0' 'name = "dp-dpe"' 'name = "dp-dpe"\nalpha = 0' 'spec.toml:7:' 'algorithm.alpha = 0' 'a finite number > 0'
wrong 'alpha < 0' 'name = "dp-dpe"' 'name = "dp-dpe"\nalpha = -1' 'spec.toml:7:' 'algorithm.alpha = -1' 'a finite number > 0'
wrong 'no action' 'actions = 5' 'actions = 0' 'spec.toml:4:' 'environment.actions = 0' 'a whole number >= 1'
wrong 'horizon 0' 'horizon = 1000' 'horizon = 0' 'spec.toml:1:' 'horizon = 0' 'a whole number >= 1'
wrong 'horizon with an exponent' 'horizon = 1000' 'horizon = 1e6' 'spec.toml:1:' horizon 'without point or exponent: 1000000'
wrong 'missing horizon' 'horizon = 1000' '' spec.toml horizon missing 'a whole number >= 1'
wrong 'missing epsilon' 'epsilon = 1.0' '' spec.toml privacy.epsilon missing 'a finite number > 0'
wrong 'broken TOML' '\[algorithm\]' '[algorithm' 'spec.toml:5:' 'not TOML'
wrong 'key given twice' 'epsilon = 1.0' 'epsilon = 1.0\nepsilon = 2' 'spec.toml:10:' 'not TOML'
wrong 'empty sweep' 'delta = 1e-6' 'delta = 1e-6\n[sweep]\n"privacy.epsilon" = []' 'spec.toml:12:' sweep.privacy.epsilon 'at least one value'
wrong 'swept seed' 'delta = 1e-6' 'delta = 1e-6\n[sweep]\nseed = [1, 2]' 'spec.toml:12:' sweep.seed 'cannot be swept'
wrong 'checkpoint beyond the horizon' 'horizon = 1000' 'horizon = 1000\ncheckpoints = [1, 5000]' 'spec.toml:2:' checkpoints 5000 'rounds from 1 to 1000'
wrong 'population too small' 'actions = 5' 'actions = 5\npopulation = 3' spec.toml environment.population 3
wrong 'population beyond counting' 'actions = 5' 'actions = 5\npopulation = 10_000_000_000' spec.toml environment.population
wrong 'dimension beyond memory' 'dimension = 2' 'dimension = 1_000_000_000_000' spec.toml environment.dimension
wrong 'actions beyond memory' 'actions = 5' 'actions = 1_000_000_000_000' spec.toml environment.actions
wrong 'means outside the model' 'actions = 5' 'actions = 5\nreward = "bernoulli"' spec.toml environment.reward

# Action files.
{ echo 'environment = { contexts = "file", file = "actions.csv" }'; base | sed '/dimension/d; /actions/d; /environment/d'; } >spec.toml
refused 'no action file' actions.csv environment.file -- run spec.toml --out out
printf '# nothing but a comment\n\n' >actions.csv
refused 'empty action file' actions.csv -- run spec.toml --out out
printf '0.1,0.2\n0.1,x\n' >actions.csv
refused 'no number in the action file' actions.csv:2: x -- run spec.toml --out out
printf '0.1,0.2\n0.1,nan\n' >actions.csv
refused 'NaN in the action file' actions.csv:2: nan -- run spec.toml --out out
printf '0.1,0.2\n0.1\n' >actions.csv
refused 'ragged action file' actions.csv:2: -- run spec.toml --out out
printf '0,0\n0,0\n' >actions.csv
refused 'zero actions' actions.csv -- run spec.toml --out out
printf '3,4\n0,1\n' >actions.csv
refused 'action longer than 1' actions.csv -- run spec.toml --out out
mkdir folder.csv
refused 'a folder for an action file' folder.csv environment.file -- run spec.toml --out out --set environment.file=folder.csv
rm -rf actions.csv folder.csv

# --set.
base >spec.toml
refused 'unknown --set' --set privacy.epsilom privacy.epsilon -- run spec.toml --out out --set privacy.epsilom=1
refused 'bad --set' --set 'privacy.epsilon = -1' 'a finite number > 0' -- run spec.toml --out out --set privacy.epsilon=-1
refused 'no assignment' --set 'privacy.epsilon' 'key=value' -- run spec.toml --out out --set privacy.epsilon

# Files and folders.
refused 'missing spec' none.toml 'cannot be read' -- run none.toml --out out
mkdir folder.toml
refused 'a folder for a spec' folder.toml 'cannot be read' -- run folder.toml --out out
rmdir folder.toml
head -c 1000 /dev/urandom >noise.toml
refused 'noise for a spec' noise.toml -- run noise.toml --out out
rm noise.toml
echo 'mine' >in-the-way
refused 'a file in the way' in-the-way -- run spec.toml --out in-the-way
refused 'a file in the way of a parent' in-the-way/out -- run spec.toml --out in-the-way/out
refused 'an unwritable folder' /proc/bandana -- run spec.toml --out /proc/bandana
mkdir full
refused 'an existing folder' full 'exists already' --resume -- run spec.toml --out full
refused 'nothing to resume' full 'nothing to resume' -- run spec.toml --out full --resume
refused 'an unwritable trace' /proc/none/trace --trace -- run spec.toml --out out --trace /proc/none/trace
long=$(printf 'a%.0s' {1..300})
refused 'a name too long' -- run spec.toml --out "$long"
refused 'a name too long to resume' -- run spec.toml --out "$long" --resume

# A result that is half written and that someone has edited is left alone.
"$BANDANA" run spec.toml --out half --quiet >/dev/null
sed -i '3s/^0/9/' half/results.csv
refused 'an edited result' half/results.csv 'was altered' -- run spec.toml --out half --resume
refused 'a changed spec' half 'another spec' -- run spec.toml --out half --resume --set seed=2
rm -r half full

# The command line itself.
refused 'no command' --help --
refused 'mistyped command' rum 'nearest: run' -- rum spec.toml
refused 'mistyped flag' --thread --threads -- run spec.toml --out out --thread 2
refused 'no spec' spec -- run
refused 'no thread' --threads 0 -- run spec.toml --out out --threads 0
refused 'list of what?' foo 'algorithms, environments, privatizers' -- list foo
refused 'demo: model' --model silo central -- demo --out out --model silo
refused 'demo: transport' --transport pigeons counts -- demo --out out --model shuffle --transport pigeons
refused 'demo: epsilon 0' epsilon 0 'a finite number > 0' -- demo --out out --epsilon 0
refused 'demo: epsilon NaN' epsilon nan -- demo --out out --epsilon nan
refused 'demo: seed beyond TOML' seed -- demo --out out --insecure-seed 18446744073709551615
refused 'demo: a negative seed' seed -- demo --out out --insecure-seed -1

# Roles.
refused 'server: no address' spec.toml service.listen missing -- server spec.toml
refused 'agent: no server' spec.toml service.server missing -- agent spec.toml
refused 'shuffler: no shuffle' spec.toml privacy.model shuffle -- shuffler spec.toml
refused 'agent: clients' service.clients 5-2 -- agent spec.toml --set service.server=127.0.0.1:1 --set service.clients=5-2

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'bad_input_test: all passed'
