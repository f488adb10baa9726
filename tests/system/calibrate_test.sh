#!/usr/bin/env bash
# Tests of bandana calibrate: the figures that the documentation promises, what the papers' formulas really deliver, and
# that every bad or missing number is refused.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# holds NAME EXPRESSION -- ARGUMENT...: checks with --json that the Python expression over the document `x` is true.
holds() {
  local name=$1 expression=$2
  shift 3
  if ! timeout 60 "$BANDANA" calibrate "$@" --json >out.json 2>err; then fail "$name: $(<err) $(<out.json)"; return; fi
  [[ ! -s err ]] || fail "$name: on stderr: $(<err)"
  python3 - "$expression" <<'PY' || fail "$name: not $expression in $(tr -d '\n' <out.json)"
import json, sys
x = json.load(open("out.json"))
def near(a, b, relative=1e-3): return abs(a - b) <= relative * abs(b)
assert set(x["delivered"]) == {"epsilon", "delta"}
sys.exit(not eval(sys.argv[1]))
PY
}

# Gaussian.
holds 'gaussian' 'near(x["sigma"], 4.2247) and x["delivered"] == {"epsilon": 1, "delta": 1e-6} and x["stddev"] == x["sigma"]' -- \
  gaussian --epsilon 1 --delta 1e-6 --sensitivity 1
holds 'gaussian, scaled' 'near(x["sigma"], 3 * 4.2247)' -- gaussian --epsilon 1 --delta 1e-6 --sensitivity 3
holds 'gaussian, classic' 'near(x["sigma"], 5.2988) and x["delivered"]["epsilon"] < 1 and x["met"]' -- \
  gaussian --epsilon 1 --delta 1e-6 --sensitivity 1 --calibration paper
holds 'gaussian, classic beyond its range' 'x["delivered"]["epsilon"] > 14 and not x["met"]' -- \
  gaussian --epsilon 10 --delta 0.1 --sensitivity 1 --calibration paper
holds 'a box' 'near(x["sensitivity"], 4 * 2 * 0.5) and near(x["sigma"], 4 * 4.2247)' -- \
  gaussian --epsilon 1 --delta 1e-6 --shape box --dimension 16 --bound 0.5 --neighbours replace-one
holds 'an l2 ball' 'x["sensitivity"] == 0.5' -- \
  gaussian --epsilon 1 --delta 1e-6 --shape l2 --dimension 16 --bound 0.5 --neighbours add-remove
holds 'a symmetric matrix' 'near(x["sensitivity"], 4) and near(x["sigma_diagonal"], 2 ** 0.5 * x["sigma"], 1e-9)' -- \
  gaussian --epsilon 1 --delta 1e-6 --shape symmetric --dimension 3 --bound 2 --neighbours replace-one

# Laplace.
holds 'laplace' 'x["scale"] == 2 and x["delivered"] == {"epsilon": 1, "delta": 0}' -- laplace --epsilon 1 --range 2
holds 'laplace, P2' 'x["scale"] == 1 and x["delivered"]["epsilon"] == 2 and not x["met"]' -- \
  laplace --epsilon 1 --range 2 --calibration paper
holds 'laplace on a grid' 'x["sensitivity_units"] == 8 and x["scale_numerator"] == 16 and x["scale_denominator"] == 1' -- \
  laplace --epsilon 0.5 --range 2 --unit 0.25
holds 'laplace on an l1 ball' 'x["scale"] == 4' -- \
  laplace --epsilon 0.5 --shape l1 --dimension 9 --bound 1 --neighbours replace-one

# Prefix sums.
budget=(--n 1048575 --epsilon 1 --delta 1e-6 --sensitivity 1)
holds 'prefix sum, tree' 'near(x["sigma"], 18.9, 2e-3) and near(x["max_variance"], 20 * x["sigma"] ** 2)' -- \
  prefix-sum "${budget[@]}" --mechanism tree
cp out.json tree.json
holds 'prefix sum, the default' \
  'x["mechanism"] == "toeplitz" and 13 * x["stddev"] ** 2 <= json.load(open("tree.json"))["stddev"] ** 2' -- prefix-sum "${budget[@]}"
holds 'prefix sum, little memory' 'x["mechanism"] == "honaker" and x["memory"] == 20' -- prefix-sum "${budget[@]}" --memory 1000
holds 'prefix sum, P3' 'near(x["sigma"], 265.95) and x["delivered"]["epsilon"] < 0.06' -- \
  prefix-sum "${budget[@]}" --calibration paper

# Shuffling.
holds 'shuffle sum' \
  'x["bits_per_coordinate"] == x["g"] + x["b"] <= 24 and x["stddev"] <= 1.1 * x["gaussian_stddev"] and x["delivered"]["epsilon"] <= 1' -- \
  shuffle-sum --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --bound 1
holds 'shuffle sum, half honest' 'x["b"] > 12 and x["hiding"] == 500 and x["p"] == 0.5' -- \
  shuffle-sum --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --bound 1 --honest-fraction 0.5
holds 'shuffle sum, published constants' 'x["b"] > 3.8e8 and x["stddev"] > 100 * x["gaussian_stddev"]' -- \
  shuffle-sum --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --bound 1 --calibration paper
holds 'amplification' 'x["delivered"]["epsilon"] <= 0.171 and x["epsilon0"] == 4' -- amplification --n 100000 --epsilon0 4 --delta 1e-6
holds 'amplification, inverted' 'x["epsilon0"] >= 4 and x["delivered"]["epsilon"] <= 0.171' -- \
  amplification --n 100000 --epsilon 0.171 --delta 1e-6
holds 'amplification, closed form' 'near(x["delivered"]["epsilon"], 0.538, 1e-2)' -- \
  amplification --n 100000 --epsilon0 4 --delta 1e-6 --calibration paper
holds 'amplification, closed form inverted' 'near(x["epsilon0"], 4, 1e-3) and near(x["delivered"]["epsilon"], 0.16977)' -- \
  amplification --n 100000 --epsilon 0.5346 --delta 1e-6 --calibration paper

# The l2 ball.
holds 'l2 ball' 'x["mechanism"] == "privunit" and x["stddev"] ** 2 < 0.44 and x["delivered"]["epsilon"] <= 4 and x["delivered"]["delta"] == 0' -- \
  l2-ball --dimension 100 --epsilon 4 --radius 1
holds 'l2 ball, Duchi' 'near(x["stddev"] ** 2, 1.68, 2e-3) and x["gamma"] == 0' -- \
  l2-ball --dimension 100 --epsilon 4 --radius 1 --randomizer duchi
holds 'l2 ball, P5' 'x["mechanism"] == "duchi"' -- l2-ball --dimension 100 --epsilon 4 --radius 1 --calibration paper

# says TEXT -- ARGUMENT...: checks that the table has the text.
says() {
  local text=$1
  shift 2
  "$BANDANA" calibrate "$@" >out 2>err || fail "$*: exit $?: $(<err)"
  grep -qF -- "$text" out || fail "$*: no '$text' in: $(<out)"
}
box=(laplace --epsilon 1 --shape box --dimension 2 --bound 1)
says 'l1: the range of one number' -- laplace --epsilon 1 --range 2
says 'the l1 diameter of the shape' -- "${box[@]}" --neighbours replace-one
says 'the largest l1 norm in the shape' -- "${box[@]}" --neighbours add-remove
says "whether the error is within loss" -- \
  shuffle-sum --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --bound 1 --honest-fraction 0.5
says 'The closed form does not apply: epsilon0 is above' -- amplification --n 100 --epsilon0 4 --delta 1e-6
says '(1, 0.9999999999999999)-DP' -- gaussian --epsilon 1 --delta 0.9999999999999999 --sensitivity 1

# refused NAME FLAG -- ARGUMENT...: expects exit 2 and one line that names the flag; the same with --json, where it is
# the key.
refused() {
  local name=$1 flag=$2 status=0
  shift 3
  timeout 20 "$BANDANA" calibrate "$@" >out 2>err || status=$?
  [[ $status == 2 ]] || fail "$name: exit $status, not 2"
  [[ ! -s out && $(wc -l <err) == 1 ]] || fail "$name: not one line on stderr: $(<out) $(<err)"
  grep -qE -- "^bandana: $flag( = |: )" err || fail "$name: no $flag in: $(<err)"
  status=0
  timeout 20 "$BANDANA" calibrate "$@" --json >out 2>err || status=$?
  [[ $status == 2 && ! -s err ]] || fail "$name: --json: exit $status, $(<err)"
  grep -qF "\"key\": \"$flag\"" out || fail "$name: --json has another key: $(tr -d '\n' <out)"
}

# Every flag of every mechanism is left out, and given each kind of bad value.
gaussian=(gaussian --epsilon 1 --delta 1e-6 --sensitivity 1)
# shellcheck disable=SC2034  # read by name below
laplace=(laplace --epsilon 1 --range 2)
prefix_sum=(prefix-sum --n 100 --epsilon 1 --delta 1e-6 --sensitivity 1)
shuffle_sum=(shuffle-sum --n 1000 --dimension 3 --epsilon 1 --delta 1e-6 --bound 1)
amplification=(amplification --n 1000 --delta 1e-6 --epsilon0 1)
l2_ball=(l2-ball --dimension 3 --epsilon 1 --radius 1)
for complete in gaussian laplace prefix_sum shuffle_sum amplification l2_ball; do
  declare -n good=$complete
  "$BANDANA" calibrate "${good[@]}" >out || fail "$complete: exit $?"
  grep -q 'delivered' out || fail "$complete: no guarantee in its table: $(<out)"
  for ((i = 1; i < ${#good[@]}; i += 2)); do
    refused "$complete without ${good[i]}" "${good[i]}" -- "${good[@]:0:i}" "${good[@]:i+2}"
    for bad in nan -inf inf -1 0 1e-310 one ''; do
      refused "$complete ${good[i]} '$bad'" "${good[i]}" -- "${good[@]:0:i+1}" "$bad" "${good[@]:i+2}"
    done
  done
  refused "$complete: no such calibration" --calibration -- "${good[@]}" --calibration loose
done
for delta in 1 1.5; do refused "delta $delta" --delta -- gaussian --epsilon 1 --delta $delta --sensitivity 1; done
refused 'honest fraction above 1' --honest-fraction -- "${shuffle_sum[@]}" --honest-fraction 1.01
refused 'honest fraction 0' --honest-fraction -- "${shuffle_sum[@]}" --honest-fraction 0
refused 'whole numbers have no exponent' --n -- prefix-sum --n 1e6 --epsilon 1 --delta 1e-6 --sensitivity 1
refused 'too many steps' --n -- prefix-sum --n 9000000000000 --epsilon 1 --delta 1e-6 --sensitivity 1
refused 'too little memory' --memory -- "${prefix_sum[@]}" --memory 3
refused 'no such prefix sum' --mechanism -- "${prefix_sum[@]}" --mechanism forest
refused 'P3 has a tree' --mechanism -- "${prefix_sum[@]}" --mechanism toeplitz --calibration paper
refused 'P5 has Duchi' --randomizer -- "${l2_ball[@]}" --randomizer privunit --calibration paper
refused 'epsilon beyond the ball' --epsilon -- l2-ball --dimension 3 --epsilon 31 --radius 1
refused 'both epsilons' --epsilon -- "${amplification[@]}" --epsilon 1
refused 'a shape without neighbours' --neighbours -- gaussian --epsilon 1 --delta 1e-6 --shape box --dimension 2 --bound 1
refused 'a shape without a bound' --bound -- gaussian --epsilon 1 --delta 1e-6 --shape box --dimension 2 --neighbours add-remove
refused 'a shape and a sensitivity' --shape -- "${gaussian[@]}" --shape box
refused 'a bound without a shape' --bound -- "${gaussian[@]}" --bound 1
refused 'no such shape' --shape -- gaussian --epsilon 1 --delta 1e-6 --shape cube --dimension 2 --bound 1 --neighbours add-remove
refused 'no such flag' flag -- "${gaussian[@]}" --sensivity 1
refused 'no such mechanism' command -- gausian --epsilon 1

# A printed guarantee is never better than the delivered one.
python3 - "$BANDANA" <<'PY' || fail 'a delivered guarantee is rounded down'
import json, re, subprocess, sys
bad = False
for i in range(12):
    words = ["calibrate", "gaussian", "--epsilon", str(1 - i / 37), "--delta", str(1e-6 * (1 + i / 7)), "--sensitivity", "1", "--calibration", "paper"]
    run = lambda more: subprocess.run([sys.argv[1], *words, *more], capture_output=True, text=True).stdout
    exact = json.loads(run(["--json"]))["delivered"]
    epsilon, delta = map(float, re.search(r"delivered +\((\S+), (\S+)\)-DP", run([])).groups())
    if not (exact["epsilon"] <= epsilon <= exact["epsilon"] * (1 + 2e-5) and exact["delta"] <= delta <= exact["delta"] * 1.02):
        bad = True
        print(words, exact, epsilon, delta)
sys.exit(bad)
PY

# The documentation shows what the program prints.
python3 - "$BANDANA_SOURCE/docs/calibration.md" "$BANDANA" <<'PY' || fail 'docs/calibration.md is not what the program prints'
import re, shlex, subprocess, sys
blocks = re.findall(r"```console\n(.*?)```", open(sys.argv[1]).read(), re.S)
assert len(blocks) >= 6, len(blocks)
bad = False
for block in blocks:
    command, expected = block.split("\n", 1)
    words = shlex.split(command.removeprefix("$ "))
    assert words[0] == "bandana", command
    printed = subprocess.run([sys.argv[2], *words[1:]], capture_output=True, text=True).stdout
    if printed.strip() != expected.strip():
        bad = True
        print(f"{command}\n--- printed\n{printed}--- in the document\n{expected}")
sys.exit(bad)
PY

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'calibrate_test: all passed'
