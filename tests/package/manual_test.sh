#!/usr/bin/env bash
# The manual pages say what --help says, man shows them without a warning, and their examples are commands that exist.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/lib.sh"

"$BANDANA" manual --out man
mapfile -t commands < <("$BANDANA" --help | awk '/^Subcommands:/ { on = 1; next } on && NF { print $1 }')
((${#commands[@]} > 8)) || fail "--help names only ${#commands[@]} commands"
[[ $(ls man | wc -l) == $((${#commands[@]} + 1)) ]] || fail "not one page per command: $(ls man)"

# plain PAGE: prints the page as man shows it, without bold and underline. Every warning of man or groff is a failure.
plain() {
  local warnings
  warnings=$({ groff -man -ww -z "man/$1.1"; MANWIDTH=200 man --warnings -l "man/$1.1" >shown.txt; } 2>&1)
  [[ -z $warnings ]] || echo "FAIL $1: $warnings" >>warnings.txt
  col -b <shown.txt
}
touch warnings.txt

# below COMMAND: the commands of a command. flags COMMAND...: the long flags in the command's help.
below() { "$BANDANA" "$1" --help | awk '/^Subcommands:/ { on = 1; next } !NF { on = 0 } on && /^  [^ ]/ { print $1 }'; }
flags() { "$BANDANA" "$@" --help | grep -oE '^ +(-h,)?--[a-z-]+' | grep -oE -e '--[a-z-]+' || true; }

plain bandana >page.txt
for command in "${commands[@]}"; do
  grep -qE "^ +$command( |\$)" page.txt || fail "bandana(1) does not name $command"
done
commands_of_commands=0
for command in "${commands[@]}"; do
  plain "bandana-$command" >page.txt
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
    grep -qx "$section" page.txt || fail "bandana-$command(1) has no section $section"
  done
  grep -qE "^ +bandana-$command - [a-zA-Z].*[^.]\$" page.txt || fail "bandana-$command(1) has no line for man's index"
  for flag in $(flags "$command"); do
    grep -qE -e "^ +(-h, )?$flag( |\$)" page.txt || fail "bandana-$command(1) does not explain $flag"
  done
  known=" $(flags | tr '\n' ' ') $(flags "$command" | tr '\n' ' ') "
  # calibrate and store have commands of their own.
  for sub in $(below "$command"); do
    ((++commands_of_commands))
    grep -qE "^   $sub\$" page.txt || fail "bandana-$command(1) does not name $sub"
    for flag in $(flags "$command" "$sub"); do
      known+="$flag "
      grep -qE -e "^ +(-h, )?$flag( |\$)" page.txt || fail "bandana-$command(1) does not explain $flag"
    done
  done
  while read -r example; do
    grep -qF -- "$example" <("$BANDANA" "$command" --help) || fail "$command --help does not show the example: $example"
    for word in $example; do
      if [[ $word == --* && $known != *" $word "* ]]; then fail "an example of $command has $word, which it does not know"; fi
    done
  done < <(sed -n '/^EXAMPLES$/,/^[A-Z]/p' page.txt | grep -oE '^ +bandana .*' | sed 's/^ *//')
done
((commands_of_commands > 10)) || fail "only $commands_of_commands commands of commands were found"
[[ ! -s warnings.txt ]] || fail "$(<warnings.txt)"

# One page alone, and a name that is wrong.
[[ $("$BANDANA" manual bandana-run) == "$(<man/bandana-run.1)" ]] || fail "manual bandana-run prints another page"
said=$("$BANDANA" manual bandana-rum 2>&1) && fail "there is a page bandana-rum"
[[ $said == *bandana-run* ]] || fail "no nearest page in: $said"
"$BANDANA" --help | grep -q 'manual\|completions' && fail "--help shows the commands that only packages need"

exit $((failures > 0))
