#!/usr/bin/env bash
# Tests of bandana reproduce: every exhibit runs at smoke scale, and its folder, verdicts and exit codes are as
# promised.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# says TEXT PART: checks that TEXT holds PART.
says() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }
# exits CODE COMMAND...: expects that COMMAND ends with CODE.
exits() {
  local want=$1 got=0
  shift
  "$@" >stdout 2>stderr || got=$?
  [[ $got == "$want" ]] || fail "exit $got instead of $want: $* ($(<stderr))"
}

exhibits=$("$BANDANA" list exhibits --json | python3 -c 'import json, sys; print(*(e["name"] for e in json.load(sys.stdin)))')
list=$("$BANDANA" reproduce --list)
for exhibit in $exhibits; do says "$list" "$exhibit"; done
says "$list" p1-fig2a

# Runs all exhibits; every claim is judged, whatever the verdict.
table=$("$BANDANA" reproduce --all --scale smoke --out all --quiet 2>stderr) || fail "--all: exit $? ($(<stderr))"
[[ ! -s stderr ]] || fail "--quiet wrote: $(<stderr)"
says "$table" 'too few runs to settle a claim'
[[ $table != *'not judged'* ]] || fail "claims that cannot be judged: $(grep 'not judged' <<<"$table")"
for exhibit in $exhibits; do
  says "$table" "$exhibit  "
  for file in spec.toml results.csv summary.json report.html verdict.json; do
    [[ -s all/$exhibit/$file ]] || fail "no $exhibit/$file"
  done
done
python3 - $exhibits <<'PY' || fail 'verdict.json'
import json, re, sys
for name in sys.argv[1:]:
    result = json.load(open(f"all/{name}/verdict.json"))
    assert list(result) == ["exhibit", "title", "scale", "stand_in", "verdicts", "not_runnable", "bounds"], list(result)
    assert result["exhibit"] == name and result["scale"]["name"] == "smoke"
    assert result["verdicts"], name
    for value in result["scale"]["differs"]:
        assert list(value) == ["key", "here", "paper"] and value["here"] != value["paper"], value
    for verdict in result["verdicts"]:
        assert list(verdict) == ["claim", "paper", "version", "expected", "reason", "judged", "left", "holds", "evidence",
                                 "horizons", "replicates", "resolves", "printed", "measured", "delivers"], verdict
        assert isinstance(verdict["expected"], bool) and isinstance(verdict["holds"], bool)
        assert verdict["paper"].startswith(name[:2]) and verdict["evidence"]
        assert verdict["horizons"] and verdict["replicates"] >= 1, verdict
        assert verdict["version"] in ("printed", "ours", None)
        assert verdict["expected"] == (verdict["reason"] is None), verdict
        assert verdict["resolves"] is None or list(verdict["resolves"]) in [["difference"], ["exponent"], ["gap"], ["epsilon"]]
        if name in ("p3-leak", "p5-tuning", "p5-margin"):  # code, and curves over time
            assert verdict["resolves"] is not None, verdict
    for bound in result["bounds"]:
        assert "missing" not in bound, (name, bound)
        assert len(bound["x"]) == len(bound["measured"]) == len(bound["bound"]) >= 2, (name, bound)
    assert json.load(open(f"all/{name}/summary.json"))["scale"] == result["scale"]
    page = open(f"all/{name}/report.html").read()
    data = json.loads(re.search(r'id="bandana-data">(.*?)</script>', page, re.S).group(1))
    assert data["verdict"] == result
    assert data["command"] == f"bandana reproduce {name} --scale smoke", data["command"]
PY

# The default folder is used again only with --resume, which gives the same verdicts.
exits 0 "$BANDANA" reproduce p1-table2 --scale smoke --json
python3 - <<'PY' || fail '--json'
import json
(one,) = json.load(open("stdout"))
assert one.pop("out") == "results/p1-table2" and one.pop("wall_s") >= 0
assert one == json.load(open("results/p1-table2/verdict.json"))
PY
cmp results/p1-table2/results.csv all/p1-table2/results.csv || fail 'two runs differ'
exits 2 "$BANDANA" reproduce p1-table2 --scale smoke
says "$(<stderr)" 'results/p1-table2: exists already'
sed -i '$d' results/p1-table2/results.csv
exits 0 "$BANDANA" reproduce p1-table2 --scale smoke --resume
cmp results/p1-table2/results.csv all/p1-table2/results.csv || fail '--resume leads elsewhere'

# A claim with another verdict than expected gives exit 1: here with one user too many, or without the points that it is
# about.
exits 1 "$BANDANA" reproduce p1-table2 --scale quick --set environment.dimension=5 --set environment.actions=20 \
  --set replicates=2 --set horizon=200_000 --set environment.population=1_000_000 --out changed
says "$(<stdout)" UNEXPECTED
exits 1 "$BANDANA" reproduce p1-table2 --scale quick --set environment.dimension=5 --set environment.actions=20 \
  --set algorithm.alpha=0.5 --out one
says "$(<stdout)" 'not judged'

# After Ctrl-C, --resume can continue, and the output says how.
"$BANDANA" reproduce p1-fig2a --scale paper --out stopped --threads 1 >stdout 2>stderr &
pid=$!
children+=("$pid")
for _ in {1..300}; do
  if [[ -e stopped/results.csv && $(wc -l <stopped/results.csv) -gt 1 ]]; then break; fi
  sleep 0.1
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[[ $code == 130 ]] || fail "interrupted: exit $code"
says "$(<stderr)" 'bandana reproduce p1-fig2a --scale paper --out stopped --resume'
[[ ! -e stopped/verdict.json ]] || fail 'a verdict on an unfinished run'

# A spec of one's own may have claims. `run` ignores them, `reproduce` judges them, and messages name their lines.
cat >own.toml <<'TOML'
name       = "own"
horizon    = 1000
replicates = 50
[environment]
kind    = "mab"
actions = 4
[federation]
agents = 4
[algorithm]
name = "cdp-mab"
[privacy]
model = "none"
[sweep]
"horizon" = [1000, 4000]

[[claim]]
says  = "regret grows with T"
paper = "own"
is    = "rises"
of    = { along = "horizon" }

[[claim]]
says     = "regret falls with T"
paper    = "own"
expected = false
reason   = "it is a sum"
is       = "falls"
of       = { along = "horizon" }
TOML
exits 0 "$BANDANA" reproduce own.toml
says "$(<stdout)" '2 of 2 claims came out as expected.'
[[ -s results/own/verdict.json ]] || fail 'no verdict on own.toml'
exits 0 "$BANDANA" run own.toml --out ran --quiet
cmp results/own/results.csv ran/results.csv || fail 'run and reproduce differ'
sed 's/"falls"/"fals"/' own.toml >wrong.toml
exits 2 "$BANDANA" reproduce wrong.toml
says "$(<stderr)" 'wrong.toml:27'
says "$(<stderr)" 'falls, rises'
sed '/claim/,$d' own.toml >none.toml
exits 2 "$BANDANA" reproduce none.toml
says "$(<stderr)" '[[claim]]'
exits 2 "$BANDANA" reproduce missing.toml
says "$(<stderr)" 'cannot be read'

# The message about bad input names what is wrong.
exits 2 "$BANDANA" reproduce
exits 2 "$BANDANA" reproduce --all p1-fig2a
exits 2 "$BANDANA" reproduce p1-fig2 --scale smoke
says "$(<stderr)" 'nearest: p1-fig2a'
exits 2 "$BANDANA" reproduce p1-fig2a --scale large
says "$(<stderr)" 'smoke, quick, paper'
exits 2 "$BANDANA" reproduce p1-fig2a --scale smoke --set environment.dimensoin=2
says "$(<stderr)" environment.dimension
[[ ! -e results/p1-fig2a ]] || fail 'bad input left a folder'

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'reproduce_test: all passed'
