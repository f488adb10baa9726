#!/usr/bin/env bash
# Completes command lines as bash would, in a clean shell.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/lib.sh"

"$BANDANA" completions >completions.sh
bash -n completions.sh
mkdir folder
touch experiment.toml notes.txt folder/inner.toml
ln -s "$BANDANA" bandana
PATH=$scratch:$PATH

# complete_ WORD...: prints what bash would offer for the last word.
complete_() {
  bash --norc -c '
    source ./completions.sh
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _bandana
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort -u | tr '\n' ' '
}
# offers 'WORD...' -- WANTED...: the offer is exactly this. has: it holds all of this.
offers() { [[ $(complete_ $1) == "$2" ]] || fail "'$1' offers '$(complete_ $1)', not '$2'"; }
offers_empty() { [[ $(complete_ $1 '') == "$2" ]] || fail "'$1 ' offers '$(complete_ $1 '')', not '$2'"; }
has() {
  local words=$1 offered word
  offered=" $(complete_ $words '')"
  shift
  for word; do [[ $offered == *" $word "* ]] || fail "'$words ' does not offer '$word', but$offered"; done
}
has_not() { [[ " $(complete_ $1 '')" != *" $2 "* ]] || fail "'$1 ' offers '$2'"; }

# Commands, and commands of commands.
has 'bandana' demo run reproduce list
has_not 'bandana' manual
has_not 'bandana' --json
offers 'bandana re' 'reproduce '
has 'bandana calibrate' gaussian shuffle-sum
has 'bandana --quiet' run
# Flags of the command and of all commands.
offers 'bandana run --th' '--threads '
offers 'bandana run --js' '--json '
offers 'bandana calibrate gaussian --sens' '--sensitivity '
offers 'bandana demo --th' ' '
# Values: words, files, folders.
offers_empty 'bandana demo --model' 'central local none shuffle '
offers 'bandana demo --model = sh' 'shuffle '
offers_empty 'bandana demo --model =' 'central local none shuffle '
offers_empty 'bandana reproduce p1-fig2a --scale' 'paper quick smoke '
offers_empty 'bandana ledger' 'export show verify '
offers_empty 'bandana keys' 'init issue revoke rotate show '
offers_empty 'bandana calibrate gaussian --calibration' 'paper tight '
offers_empty 'bandana store' 'backup end migrate restore show '
offers 'bandana store restore exp' 'experiment.toml '
offers 'bandana store restore nightly.db store.db --mirror no' 'notes.txt '
offers 'bandana store restore --anchor-' '--anchor-is-lost '
offers 'bandana run exp' 'experiment.toml '
offers 'bandana run --quiet --threads 2 no' 'notes.txt '
offers 'bandana ledger show fol' 'folder '
offers_empty 'bandana run experiment.toml --out' 'folder '
offers_empty 'bandana demo --epsilon' ' '
# Keys of a spec, and of [service]. Their values are not completed.
offers 'bandana run --set service.led' 'service.ledger_mirror= '
offers 'bandana agent deployment.toml --set service.shuf' 'service.shuffler= '
offers_empty 'bandana run --set service.ledger_mirror =' ' '
offers 'bandana run --set horizon = 9 exp' 'experiment.toml '
# Names: the program tells them.
offers_empty 'bandana list' 'algorithms environments exhibits privatizers tables '
has 'bandana list algorithms' dp-dpe fed-ucb
offers 'bandana list algorithms dp-d' 'dp-dpe '
has 'bandana list environments' linear
has 'bandana list privatizers' central
has 'bandana list tables' service
has 'bandana reproduce' p1-fig2a experiment.toml
has 'bandana reproduce p1-fig2a' p1-fig2b
has_not 'bandana reproduce' notes.txt
has 'bandana audit' central-gaussian dp-dpe-local
has_not 'bandana audit' default:

# Nobody waits: the slowest kind asks the program.
start=$(date +%s%N)
complete_ bandana audit '' >/dev/null
elapsed=$((($(date +%s%N) - start) / 1000000))
echo "audit TAB: $elapsed ms"
((elapsed < 2000)) || fail "a completion takes $elapsed ms"

# A shell in which bash-completion loads the script inside a function knows the tables, too.
loaded=$(bash --norc -c 'load() { source ./completions.sh; }; load; COMP_WORDS=(bandana dem); COMP_CWORD=1; _bandana; echo "${COMPREPLY[@]}"')
[[ $loaded == demo ]] || fail "loaded inside a function, the script offers '$loaded'"

exit $((failures > 0))
