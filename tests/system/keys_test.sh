#!/usr/bin/env bash
# Tests of `bandana keys`: the life of a deployment's keys as an operator leads it, what is printed, and what is refused.
# OpenSSL's own program reads the files, too.

set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# shellcheck source=tests/system/lib.sh
source "$here/lib.sh"

# keys CODE ARGUMENT...: expects exit CODE; the output is in keys.out, errors are in keys.err.
keys() {
  local code=$1 status=0
  shift
  "$BANDANA" keys "$@" >keys.out 2>keys.err || status=$?
  [[ $status == "$code" ]] || fail "keys $*: exit $status, not $code: $(<keys.out) $(<keys.err)"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say '$2': $(<"$1")"; }
field() { python3 -c 'import json, sys; print(json.load(open("keys.out"))[sys.argv[1]])' "$1"; }

# A deployment, with its folder where every other command looks for it.
keys 0 init
says keys.out 'the CA of the deployment'
[[ -f keys/ca.pem && -f keys/revoked && $(stat -c %a keys/ca.key) == 600 ]] || fail 'init'
keys 2 init keys
says keys.err 'nothing is overwritten'
keys 0 init other --deployment 0123456789abcdef0123456789abcdef --json
[[ $(field deployment) == 0123456789abcdef0123456789abcdef && $(field keys) == other ]] || fail "init --json: $(<keys.out)"

# Parties here, and one whose keys are carried away.
keys 0 issue server
says keys.out 'server: certificate '
says keys.out 'written to keys: server.pem, server.key, server.identity, server.identity.pub'
keys 0 issue agent/3 --out away --days 30 --json
[[ $(field party) == agent/3 && $(field folder) == away && $(field state) == valid ]] || fail "issue --json: $(<keys.out)"
serial=$(field serial)
[[ $(ls away | tr '\n' ' ') == 'agent-3.identity agent-3.identity.pub agent-3.key agent-3.pem ca.pem revoked ' ]] || fail "away: $(ls away)"
[[ ! -e keys/agent-3.key ]] || fail 'a private key was left behind'
openssl verify -CAfile away/ca.pem -x509_strict away/agent-3.pem >/dev/null || fail 'openssl does not verify the certificate'
openssl x509 -in away/agent-3.pem -noout -text >text
says text 'URI:bandana://'
says text '/agent/3'
says text 'CA:FALSE'
grep -q "$(openssl x509 -in away/agent-3.pem -noout -pubkey | openssl sha256)" <(openssl pkey -in away/agent-3.key -pubout | openssl sha256) ||
  fail 'the private key is not that of the certificate'
openssl pkey -in away/agent-3.identity -noout -text | grep -q ED25519 || fail 'an identity is not Ed25519'

# What was issued.
keys 0 show
says keys.out "$serial"
[[ $(grep -c valid keys.out) == 2 ]] || fail "show: $(<keys.out)"
keys 0 show --keys away --json
python3 - "$serial" <<'PY' || fail 'show of a party'
import datetime, json, sys
shown = json.load(open("keys.out"))
(one,) = shown["certificates"]
assert one["party"] == "agent/3" and one["serial"] == sys.argv[1] and one["state"] == "valid", shown
left = datetime.datetime.fromisoformat(one["not_after"].replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
assert 29 <= left.days <= 30, left
PY

# Rotation.
keys 2 rotate agent/3
says keys.err '--out'
keys 0 rotate agent/3 --out away/
says keys.out 'written to away/: agent-3.pem, agent-3.key'
keys 0 rotate server --json
[[ $(field files) == "['server.pem', 'server.key']" ]] || fail "rotate --json: $(<keys.out)"

# Revocation: by party, all that it ever had; once more, nothing.
keys 0 revoke agent/3
[[ $(grep -c '^revoked: agent/3' keys.out) == 2 ]] || fail "revoke: $(<keys.out)"
says keys.out 'Copy the file revoked'
says keys/revoked "$serial"
keys 0 revoke agent/3
says keys.out 'nothing to do'
keys 0 revoke "$(openssl x509 -in keys/server.pem -noout -serial | cut -d= -f2)" --json
python3 -c 'import json; (one,) = json.load(open("keys.out"))["revoked"]; assert one["party"] == "server" and one["revoked"]' || fail 'revoke --json'
keys 0 show
[[ $(grep -c revoked keys.out) == 3 ]] || fail "show after revoke: $(<keys.out)"

# Bad input.
keys 2 issue
says keys.err PARTY
keys 2 issue agent
says keys.err 'agent/N'
keys 2 issue server/1
keys 2 issue peer/1 --days 0
says keys.err --days
keys 2 issue peer/1 --deployment 0123456789abcdef0123456789abcdef
says keys.err 'only with keys init'
keys 2 show server
keys 2 show --days 3
keys 2 revoke agent/99
says keys.err 'was issued here'
keys 2 revoke nobody
keys 2 frobnicate
says keys.err 'init, issue, rotate, revoke, show'
keys 2 init third --deployment abc
[[ ! -e third ]] || fail 'a refused init has made a folder'
keys 2 init third --keys fourth
keys 2 show --keys nowhere
says keys.err 'nowhere/ca.pem'
keys 2 issue peer/1 --out other
chmod 644 keys/ca.key
keys 2 issue peer/1 --json
python3 -c 'import json; assert json.load(open("keys.out"))["error"]["file"] == "keys/ca.key"' || fail 'the error names no file'

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'keys_test: all passed'
