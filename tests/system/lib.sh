# shellcheck shell=bash
# Helpers of the system tests: a scratch folder to work in, processes that do not outlive the test, and a count of
# failures. To be sourced after `set -euo pipefail`.

: "${BANDANA:?path of the program}"
BANDANA=$(realpath "$BANDANA")
scratch=$(mktemp -d)
children=()
cleanup() {
  for pid in "${children[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap cleanup EXIT
cd "$scratch"

failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
