#!/usr/bin/env bash
# Tests of bandana demo as someone sees it who has just built it, and of what a Ctrl-C leaves.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
says() { grep -qE -- "$2" "$1" || fail "$1 does not say '$2': $(<"$1")"; }

# demo NAME ARGUMENT...: runs the demo for at most a minute, with output in NAME.out and NAME.err and its exit code in
# $status.
demo() {
  local name=$1
  shift
  status=0
  timeout 60 "$BANDANA" demo "$@" >"$name.out" 2>"$name.err" || status=$?
}

demo first
[[ $status == 0 ]] || fail "demo: exit $status: $(<first.err)"
for row in '^best configuration found +tilt .* degrees, power .* dBm, inactivity timer .* s$' '^regret +[0-9.]+k? in [0-9]+ rounds' \
  '^epsilon spent +1 \(delta 1e-06\)' '^bytes per client +[0-9]+' '^report +results/demo/report.html$' '^ +14 '; do
  says first.out "$row"
done
for file in report.html summary.json; do [[ -s results/demo/$file ]] || fail "no $file"; done
grep -q 'VOID\|void' first.out && fail 'a demo with secure noise says void'

# The next demo does not overwrite the first; a folder that exists is refused and left alone.
demo second
[[ $status == 0 && -s results/demo-2/report.html ]] || fail 'the second demo has no folder of its own'
mkdir mine
echo precious >mine/file
demo mine --out mine
[[ $status == 2 ]] || fail "an existing --out: exit $status"
says mine.err 'mine.*exists already'
[[ $(ls mine) == file ]] || fail 'an existing --out was written to'

demo seeded --insecure-seed 5 --out seeded
[[ $status == 0 ]] || fail "--insecure-seed: exit $status: $(<seeded.err)"
says seeded.out 'bit for bit'
says seeded.out '^claim void +.*known seed'
says seeded.out '^epsilon spent .*VOID'
demo seeded2 --insecure-seed 5 --out seeded2
diff <(grep -vE '^(time|report) ' seeded.out) <(grep -vE '^(time|report) ' seeded2.out) || fail 'the same seed, another demo'

demo local --model local --epsilon 30 --agents 1 --out local
[[ $status == 0 ]] || fail "--model local: exit $status: $(<local.err)"
says local.out '^epsilon spent +30 '
demo shuffle --model shuffle --insecure-seed 5 --out shuffle
[[ $status == 0 ]] || fail "--model shuffle: exit $status: $(<shuffle.err)"
says shuffle.out 'bit for bit'
says shuffle.out '^the server learns +the totals'
says shuffle.out '^the shuffler learns +each client.s noisy counts'
demo none --model none --out none
[[ $status == 0 ]] || fail "--model none: exit $status: $(<none.err)"
says none.out '^epsilon spent +no privacy is claimed'
grep -q 'epsilon 1' none.out && fail 'a demo without privacy speaks of epsilon 1'

demo json --json --out json
[[ $status == 0 ]] || fail "--json: exit $status"
python3 - <<'PY' || fail '--json'
import json
document = json.load(open("json.out"))
assert {"facts", "summary", "report"} <= set(document)
summary = document["summary"]
assert summary == json.load(open("json/summary.json"))
assert list(summary) == ["name", "version", "spec_sha256", "wall_s", "cpu_s", "points"]
point = summary["points"][0]
assert point["privacy"]["delivered"][0]["epsilon"] == 1 and point["privacy"]["void"] is None
assert point["metrics"]["bytes_on_wire"]["mean"] > 0
shuffled = json.load(open("shuffle/summary.json"))["points"][0]["metrics"]
assert 0 < shuffled["communication_bits"]["mean"] < 64 * shuffled["communication_reals"]["mean"]
assert point["metrics"]["communication_bits"]["mean"] == 64 * point["metrics"]["communication_reals"]["mean"]
assert json.load(open("none/summary.json"))["points"][0]["privacy"]["delivered"] == []
assert "known seed" in json.load(open("seeded/summary.json"))["points"][0]["privacy"]["void"]
def command(page):
    text = open(page).read()
    data = text.split('id="bandana-data">')[1].split("</script>")[0]
    return json.loads(data)["command"]
assert command("results/demo/report.html") == "bandana demo"
for flag in ("--model local", "--epsilon 30", "--agents 1"):
    assert flag in command("local/report.html"), f"{flag} is not in: {command('local/report.html')}"
assert "--insecure-seed 5" in command("seeded/report.html")
PY
[[ ! -s json.err ]] || fail "--json writes to stderr: $(<json.err)"

# Ctrl-C: the terminal signals the whole process group. There are many agents, so that the run lasts long enough to be
# interrupted.
setsid "$BANDANA" demo --agents 64 --out stopped >stopped.out 2>stopped.err &
pid=$!
children+=("$pid")
while kill -0 $pid 2>/dev/null && [[ $(pgrep -c -P $pid) -lt 3 ]]; do sleep 0.01; done
group=$(ps -o pgid= -p $pid | tr -d ' ')
[[ $group == "$pid" ]] || fail "the demo leads no group of its own"
kill -INT -- "-$pid" 2>/dev/null || fail 'the demo was over before Ctrl-C'
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "Ctrl-C: exit $status, not 130: $(<stopped.err)"
left=$(pgrep -g "$pid" || true)
[[ -z $left ]] || fail "Ctrl-C leaves processes: $left"
(($(wc -l <stopped.err) <= 3)) || fail "Ctrl-C makes $(wc -l <stopped.err) lines of messages"

# SIGTERM to the demo's own process only.
setsid "$BANDANA" demo --agents 64 --out termed >termed.out 2>termed.err &
pid=$!
children+=("$pid")
while kill -0 $pid 2>/dev/null && [[ $(pgrep -c -P $pid) -lt 3 ]]; do sleep 0.01; done
kill -TERM $pid 2>/dev/null || fail 'the demo was over before SIGTERM'
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "SIGTERM: exit $status, not 130: $(<termed.err)"
left=$(pgrep -g "$pid" || true)
[[ -z $left ]] || fail "SIGTERM leaves processes: $left"

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'demo_test: all passed'
