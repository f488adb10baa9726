#!/usr/bin/env bash
# A web shop, examples/coupons: its customers' coupons are chosen by a server over HTTPS, which is killed twice. It finds
# the best coupon, and its ledger holds.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/system/deployment.sh
source "$here/deployment.sh"

cp "$BANDANA_SOURCE"/examples/coupons/* .
{ "$BANDANA" keys init && "$BANDANA" keys issue server; } >keys.out
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# start TURN: starts the server; its pid is in $pid.
start() {
  "$BANDANA" server server.toml --set "service.http=127.0.0.1:$port" --events "events.$1" >"out.$1" 2>"err.$1" &
  pid=$!
  children+=("$pid")
}
# until_phase TURN PHASE
until_phase() {
  until grep -q "\"epoch\":$2[,}]" "events.$1" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || { fail "the server has ended: $(<"err.$1")"; return; }
    sleep 0.01
  done
}
dies() {
  kill -9 "$pid" 2>/dev/null || fail 'the run was over before the server could be killed'
  wait "$pid" 2>/dev/null || true
}

start 1
python3 shop.py "127.0.0.1:$port" --keys keys >shop.out 2>shop.err &
shop=$!
children+=("$shop")
until_phase 1 3
dies
start 2
until_phase 2 6
sleep 0.3
dies
start 3
ends "$pid" 0 'the server'
ends "$shop" 0 'the shop'
[[ -s shop.err ]] && fail "the shop says: $(<shop.err)"

says err.3 '"event":"recovered"'
says err.3 'delivered: (1, 1e-06)-DP'
"$BANDANA" ledger verify server.db >ledger.out || fail 'the ledger does not hold'
python3 - <<'PY' || fail 'the result is not the truth'
import json
truth = json.load(open("truth.json"))
result = json.load(open("result.json"))
shop = json.load(open("shop.out"))
best = max(truth, key=truth.get)
assert result["best"] == best, result["best"]
assert best in result["left"] and len(result["left"]) < 20, result["left"]
in_phases = sum(phase["clients"] for phase in result["phases"])
assert 1000 < in_phases <= shop["counted"], (in_phases, shop)
assert shop["answered"] < shop["counted"], "some customers are never heard of"
PY

# Who would have to come again may stay away because of the rewards.
status=0
"$BANDANA" server server.toml --set algorithm.name=dp-dpe >whole.out 2>whole.err || status=$?
[[ $status == 2 ]] || fail "dp-dpe: exit $status, not 2"
says whole.err 'is shown one action that counts'

# Who has no key, or sends nonsense, is told so.
cat >other.toml <<TOML
$(grep -v '^http' server.toml)
TOML
sed -i 's/sqlite:server.db/sqlite:other.db/; s/"1s"/"1h"/' other.toml
"$BANDANA" server other.toml --set "service.http=127.0.0.1:$port" >other.out 2>other.err &
pid=$!
children+=("$pid")
until grep -q listening other.err; do sleep 0.05; done
python3 - "$port" <<'PY' || fail 'bad requests are not refused as they should be'
import http.client, json, ssl, sys
key = open("keys/application.key").read().strip()
context = ssl.create_default_context(cafile="keys/ca.pem")
context.check_hostname = False
def ask(method, path, body=None, key=key):
    connection = http.client.HTTPSConnection(f"127.0.0.1:{sys.argv[1]}", context=context)
    connection.request(method, path, body, {"Authorization": f"Bearer {key}"} if key else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
def refused(code, says, *arguments, **more):
    status, text = ask(*arguments, **more)
    assert status == code and says in json.loads(text)["error"]["message"], (status, text)
one = json.dumps({"subjects": ["0" * 32]})
refused(401, "key", "POST", "/v1/decide", one, key="")
refused(401, "key", "POST", "/v1/decide", one, key=key[:-1] + "x")
refused(400, "JSON", "POST", "/v1/decide", "{")
refused(400, "subjects", "POST", "/v1/decide", "[]")
refused(400, "32 hexadecimal digits", "POST", "/v1/decide", json.dumps({"subjects": ["x" * 32]}))
refused(400, "1 to 1000", "POST", "/v1/decide", json.dumps({"subjects": ["0" * 32] * 1001}))
refused(400, "no decision", "POST", "/v1/rewards", '[{"decision": "x", "reward": 1}]')
refused(404, "does not exist", "POST", "/v1/nothing", "{}")
status, text = ask("POST", "/v1/decide", one)
decision = json.loads(text)[0]
assert status == 200 and decision["counted"], text
refused(400, "from 0 to 1", "POST", "/v1/rewards", json.dumps([{"decision": decision["decision"], "reward": 2}]))
post = json.dumps([{"decision": decision["decision"], "reward": 1}])
assert ask("POST", "/v1/rewards", post) == (200, '["taken"]')
assert ask("POST", "/v1/rewards", post) == (200, '["repeat"]')
assert ask("POST", "/v1/rewards", '[{"decision": "00000000-1", "reward": 1}]') == (200, '["late"]')
assert len(json.loads(ask("GET", "/v1/deployment", key="")[1])["actions"]) == 20
assert json.loads(ask("GET", "/v1/policy", key="")[1])["best"] is None
PY
kill -TERM "$pid"
ends "$pid" 0 'SIGTERM'

exit $((failures > 0))
