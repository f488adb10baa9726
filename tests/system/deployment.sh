# shellcheck shell=bash
# Runs the roles of a deployment as separate processes. To be sourced after lib.sh.

says() { grep -qF -- "$2" "$1" || fail "$1 does not say '$2': $(<"$1")"; }

spec() { # MODEL HORIZON POPULATION
  cat <<TOML
name = "system test"
horizon = $2
seed = 11
[environment]
dimension = 4
actions = 40
client_sd = 0.1
population = $3
[algorithm]
name = "dp-dpe"
[privacy]
model = "$1"
epsilon = 8
delta = 1e-6
[service]
listen = "127.0.0.1:0"
insecure = true
TOML
}

role_flags=() # flags for every server and agent

# listens NAME ROLE OUTPUT ARGUMENT...: starts a role in the background. Its pid is in $pid, its address in $listening,
# its files are OUTPUT.events, .out and .err.
listens() {
  local name=$1 role=$2 output=$3
  shift 3
  rm -f "$output.events"
  "$BANDANA" "$role" "$name.toml" --events "$output.events" "${role_flags[@]}" "$@" >"$output.out" 2>"$output.err" &
  pid=$!
  children+=("$pid")
  until listening=$(grep -om1 '127\.0\.0\.1:[0-9]*' "$output.events" 2>/dev/null); do
    kill -0 "$pid" 2>/dev/null || { fail "$name: the $role ended: $(<"$output.err")"; return; }
    sleep 0.01
  done
}

# serve NAME ARGUMENT...: starts a server in the background; its pid is in $server, its address in $address.
serve() {
  local name=$1
  shift
  listens "$name" server "$name" "$@"
  server=$pid address=$listening
}

# join NAME CLIENTS ARGUMENT...: starts an agent in the background; its pid is in $agent. It uses the shuffler at
# $middle if that is set.
join() {
  local name=$1 clients=$2
  shift 2
  "$BANDANA" agent "$name.toml" --set "service.server=$address" ${middle:+--set "service.shuffler=$middle"} \
    --set "service.clients=$clients" "${role_flags[@]}" "$@" >"$name.$clients.out" 2>"$name.$clients.err" &
  agent=$!
  children+=("$agent")
}

# ends PID CODE WHAT: waits for PID and checks its exit code.
ends() {
  local status=0
  wait "$1" || status=$?
  [[ $status == "$2" ]] || fail "$3: exit $status, not $2"
}

# Prints a free port for each of $1 nodes.
addresses() {
  python3 - "$1" <<'PY'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets: each.bind(("127.0.0.1", 0))
print(",".join("127.0.0.1:%d" % each.getsockname()[1] for each in sockets))
PY
}
