#!/usr/bin/env bash
# The disk of a process fails in the middle of a run: it becomes full, or it does not do what it is told to. The process
# ends and says so, nothing leaves that was not written, and the same command goes on with the simulator's decisions.
# tests/store does the same to a store at every single write.
#
# A small disk is a tmpfs in a mount namespace, and strace lets calls fail. Where one of them is refused, the test does the
# rest and exits with 77, which ctest counts as skipped.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
if [[ -z ${DISK_TEST_NAMESPACE:-} ]]; then
  namespace=(unshare --mount)
  if ((EUID != 0)); then namespace+=(--map-root-user); fi
  if why=$("${namespace[@]}" mount -t tmpfs tmpfs /tmp 2>&1); then
    DISK_TEST_NAMESPACE=1 exec "${namespace[@]}" bash "${BASH_SOURCE[0]}"
  fi
  DISK_TEST_NAMESPACE="no disk of a chosen size can be mounted here: $why"
fi
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"
skipped=()

# role ROLE OUTPUT STORE ARGUMENT...: starts a role in the background; its pid is in $pid. Each start has events of its own:
# OUTPUT.1, OUTPUT.2, .... With $under it runs under that command.
under=()
role() {
  local role=$1 output=$2 store=$3 turn=1
  shift 3
  while [[ -e $output.$turn ]]; do ((++turn)); done
  "${under[@]}" "$BANDANA" "$role" "$@" --insecure-seed --set "service.store=sqlite:$store" --events "$output.$turn" \
    >"$output.out" 2>"$output.err" &
  pid=$!
  children+=("$pid")
}

events() { cat "$1".[0-9]* 2>/dev/null | grep -c "\"$2\"" || true; } # OUTPUT EVENT

# begin NAME MODEL: a deployment, with a folder for each role's store.
begin() {
  name=$1 file=$2.toml
  at=$(addresses 1)
  mkdir "$name" "$name/server" "$name/agent" "$name/copies"
}

# start ROLE: its pid is in $server or $agent.
start() {
  local flags=(--set "service.listen=$at")
  if [[ $1 == agent ]]; then flags=(--set "service.server=$at" --set service.clients=1-6000); fi
  if [[ $1 == server && $name == full_copies ]]; then
    flags+=(--set "service.anchor=$name/copies/anchor" --set "service.ledger_mirror=$name/copies/mirror")
  fi
  role "$1" "$name.$1" "$name/$1/store.db" "$file" "${flags[@]}" --set service.silence=20s
  printf -v "$1" %s "$pid"
}

# Waits for both processes, and compares the last server's events with the simulator's.
finishes() {
  ends "$server" 0 "$name: server"
  ends "$agent" 0 "$name: agent"
  python3 - "$name" "${file%.toml}.trace" <<'PY' || fail "$name: the run and the simulator differ"
import glob, json, sys
last = sorted(glob.glob(sys.argv[1] + ".server.[0-9]"))[-1]
served = [json.loads(line) for line in open(last) if '"phase"' in line]
simulated = [json.loads(line) for line in open(sys.argv[2])]
assert len(served) == len(simulated) > 5
for a, b in zip(served, simulated):
    for key in ("epoch", "pulls", "averages", "active"):
        assert a[key] == b[key], (a["epoch"], key)
PY
  for role in server agent; do
    "$BANDANA" ledger verify "$name/$role/store.db" >ledger.out 2>&1 || fail "$name: $(<ledger.out)"
  done
}

# --- a full disk

# fills ROLE FOLDER SIZE: the disk of FOLDER has so little room that it becomes full during the run. Started again, the role
# finds it full once more, and then larger.
fills() {
  local turn small=$name/$2
  mount -t tmpfs -o "size=$3" tmpfs "$small"
  mounted+=("$small")
  start server
  start agent
  for turn in first second; do
    ends "${!1}" 4 "$name: the $1 on a full disk, for the $turn time"
    says "$name.$1.err" "$small/"
    says "$name.$1.err" 'make room, and start again'
    if [[ $turn == first ]]; then
      (($(events "$name.server" phase) >= 2)) || fail "$name: the disk was full before the run"
      start "$1"
    fi
  done
  mount -o remount,size=32m "$small"
  start "$1"
  finishes
}

for model in central local; do
  spec $model 20_000 6_000 >$model.toml
  "$BANDANA" run $model.toml --out $model.sim --trace $model.trace --quiet --set privacy.sampler=exact >/dev/null
done
mounted=()
# shellcheck disable=SC2154
trap 'for folder in "${mounted[@]}"; do umount -l "$folder"; done; cleanup' EXIT
if [[ $DISK_TEST_NAMESPACE == 1 ]]; then
  begin full_server central
  fills server server 600k
  begin full_copies central
  fills server copies 16k
  begin full_agent local
  fills agent agent 600k
else
  skipped+=("$DISK_TEST_NAMESPACE")
fi

# --- a disk that fails to synchronise

# breaks ROLE N: the role's Nth call of fsync or fdatasync fails, as the first one after a disk has lost something.
breaks() {
  local role
  for role in server agent; do
    under=()
    if [[ $role == "$1" ]]; then
      under=(strace -D -f -qq -o /dev/null -e 'trace=fsync,fdatasync' -e "inject=fsync,fdatasync:error=EIO:when=$2")
    fi
    start "$role"
  done
  under=()
  ends "${!1}" 4 "$name: the $1 on a disk that fails"
  says "$name.$1.err" "$name/$1"
  says "$name.$1.err" 'check the disk, and start again'
  if (($2 > 3)); then cat "$name.$1.err" >>broken; fi
  start "$1"
  finishes
}

if why=$(strace -f -qq -o /dev/null -e trace=fsync -e inject=fsync:error=EIO true 2>&1); then
  # The third call makes a new store. The others are of phases, which synchronise store and ratchet in turn.
  for n in 3 20 21 22 23; do
    begin "broken_server_$n" central
    breaks server "$n"
    begin "broken_agent_$n" local
    breaks agent "$n"
  done
  for each in 'SQLite says' ratchet; do says broken "$each"; done
else
  skipped+=("no calls can be made to fail here: $why")
fi

if ((failures)); then echo "$failures failures"; exit 1; fi
if ((${#skipped[@]})); then
  printf 'SKIPPED: %s\n' "${skipped[@]}"
  exit 77
fi
echo 'disk_test: all passed'
