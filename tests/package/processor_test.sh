#!/usr/bin/env bash
# On an emulated processor that is too old, program and library say so. On one that is just new enough, they run.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/lib.sh"

# on CPU COMMAND...: sets $said and $status. QEMU warns of features that it does not emulate.
on() {
  status=0
  said=$(qemu-x86_64 -cpu "$1" "${@:2}" 2>&1) || status=$?
  said=$(grep -v '^qemu-x86_64: warning' <<<"$said" || true)
}
wanted='bandana: this processor has no '

# Nehalem has no AVX at all, Ivy Bridge (here: Sandy Bridge without what QEMU lacks) no AVX2.
for cpu in Nehalem SandyBridge Haswell,-avx2 Haswell,-bmi2 Haswell,-fma; do
  for command in --version 'list algorithms'; do
    # shellcheck disable=SC2086
    on $cpu "$BANDANA" $command
    ((status == 4)) || fail "$cpu: $command: exit $status: $said"
    [[ $said == "$wanted"* && $said == *'. Use another machine'* ]] || fail "$cpu: $said"
  done
done
on Haswell,-bmi2 "$BANDANA" --version
[[ $said == "${wanted}bmi2."* ]] || fail "without bmi2: $said"

for cpu in Haswell max; do
  on $cpu "$BANDANA" --version
  [[ $status == 0 && $said =~ ^bandana\ [0-9.]+$ ]] || fail "$cpu: exit $status: $said"
done

# A program of somebody else that only loads the library gets the message, too, and not a signal.
library=$(ldd "$BANDANA" | awk '$1 ~ /^libbandana\.so/ { print $3 }')
if [[ -n $library ]]; then
  cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  puts(library ? "loaded" : dlerror());
  return argc - 2;
}
C
  "$BANDANA_CXX" -x c loads.c -o loads
  on Nehalem ./loads "$library"
  [[ $status == 4 && $said == "$wanted"* ]] || fail "loaded on Nehalem: exit $status: $said"
  on Haswell ./loads "$library"
  [[ $status == 0 && $said == loaded ]] || fail "loaded on Haswell: exit $status: $said"
fi

exit $((failures > 0))
