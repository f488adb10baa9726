#!/usr/bin/env bash
# Plants violations in small trees, and checks that script/check_includes and script/check_text find each of them and
# accept what is clean.

set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../script" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# plant FILE LINE...: makes a fresh clean tree that has FILE with these lines.
plant() {
  local file=$1
  shift
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/$(dirname "$file")" "$scratch/tree/src/bandana"/{core,privacy,algorithms,sim,service,lab}
  git -C "$scratch" init -q tree
  cd "$scratch/tree"
  echo '#include <vector>' >src/bandana/core/ids.h
  echo '#include "bandana/core/ids.h"' >src/bandana/privacy/wire.h
  printf '#include "%s"\n' bandana/privacy/wire.h bandana/algorithms/a.h >src/bandana/sim/driver.h
  printf '#include "%s"\n' bandana/privacy/wire.h federation.pb.h >src/bandana/service/driver.h
  printf '#include "%s"\n' bandana/sim/driver.h bandana/service/driver.h >src/bandana/lab/runner.cc
  echo 'void Declassify(std::string_view reason);' >src/bandana/privacy/declassify.h
  echo 'void F() { Declassify("the trigger of FedUCB reads raw data"); }' >src/bandana/algorithms/a.h
  printf '%s\n' "$@" >"$file"
}

fail() { echo "FAIL: $*"; failures=$((failures + 1)); }

# passes CHECK NAME: expects that CHECK accepts the tree.
passes() {
  local output
  if ! output=$("$scripts/$1" "$scratch/tree" 2>&1); then fail "$2: rejected:"$'\n'"$output"; fi
}

# catches CHECK NAME EXPECTED: expects status 1 and EXPECTED in the output.
catches() {
  local output status=0
  output=$("$scripts/$1" "$scratch/tree" 2>&1) || status=$?
  if [[ $status != 1 ]]; then fail "$2: status $status, not 1"; fi
  if [[ $output != *"$3"* ]]; then fail "$2: no '$3' in: $output"; fi
}

plant README.md 'clean'
passes check_includes 'clean tree'
passes check_text 'clean tree'

plant src/bandana/core/bad.h '#pragma once' '#include "bandana/privacy/wire.h"'
catches check_includes 'core includes privacy' 'src/bandana/core/bad.h:2: core must not include privacy'
plant src/bandana/algorithms/bad.cc '#include "bandana/lab/runner.h"'
catches check_includes 'algorithms includes lab' 'algorithms must not include lab'
plant src/bandana/algorithms/deep/bad.cc '  #  include <bandana/sim/driver.h>'
catches check_includes 'angle brackets, in a subfolder' 'algorithms must not include sim'
plant src/bandana/core/bad.cc '#include "../sim/driver.h"'
catches check_includes 'relative path' 'core must not include sim'
plant src/bandana/sim/bad.cc '#include "bandana/service/driver.h"'
catches check_includes 'sim includes service' 'sim must not include service'
plant src/bandana/service/bad.cc '#include "bandana/sim/driver.h"'
catches check_includes 'service includes sim' 'service must not include sim'
plant src/bandana/audit/bad.cc '#include "bandana/service/driver.h"'
catches check_includes 'audit includes service' 'only audit/deployed may include service'
plant src/bandana/lab/bad.cc '#include "bandana/audit/deployed/target.h"'
catches check_includes 'lab includes what needs the service' 'lab must not include what needs the service'
plant src/bandana/audit/deployed/good.cc '#include "bandana/service/driver.h"'
passes check_includes 'audit/deployed includes service'
plant src/bandana/misc/bad.cc 'int x;'
catches check_includes 'unknown folder' "folder 'misc' has no place"

for folder in algorithms lab; do
  plant "src/bandana/$folder/bad.cc" '#include "bandana/privacy/wire.h"'
  catches check_includes "wire.h from $folder" "$folder must not open sealed reports"
  plant "src/bandana/$folder/bad.cc" '#include "bandana/core/noise_door.h"'
  catches check_includes "noise_door.h from $folder" "$folder must not make its own noise"
done

plant src/bandana/algorithms/users/bad.h 'int x;' 'void Report(NoiseGen& noise);'
catches check_includes 'NoiseGen in algorithms' 'src/bandana/algorithms/users/bad.h:2: algorithms must not name NoiseGen'
plant src/bandana/algorithms/good.h '// NoiseGen is for mechanisms.'
passes check_includes 'NoiseGen in a comment'

plant src/bandana/algorithms/bad.cc 'void F(const char* why) { Declassify(why); }'
catches check_includes 'Declassify(variable)' 'needs its reason as a string literal'
plant src/bandana/algorithms/bad.cc 'void F() {' '  Declassify(' '      std::string(kWhy) + "x");' '}'
catches check_includes 'Declassify(expression)' 'src/bandana/algorithms/bad.cc:2: Declassify('
plant src/bandana/algorithms/good.cc '// Declassify(why) and "quotes' '/*' '#include "bandana/lab/runner.h"' '*/' \
  'int n = 1'"'"'000;' 'void F() { Declassify(' '    "a reason, (with brackets)"); }' 'const char* s = "// not a comment";'
passes check_includes 'comments and literals'

# The text is spelled in pieces, because this file is checked as well.
plant notes.md "see /""home/someone/x"
catches check_text 'machine path' 'notes.md:1:'
plant notes.md "see https://example.org/""home/page and a/""work/b"
passes check_text 'paths that are none of a machine'
plant web/package-lock.json '"resolved"'': "https://registry.example.org/x.tgz"'
catches check_text 'registry host' 'registry host'
plant src/bandana/core/later.cc "// TO""DO: later"
catches check_text 'unfinished work' 'unfinished'
plant src/bandana/core/later.cc '// METHODOLOGY'
passes check_text 'no word of it'
plant notes.md "// FIX""ME"
echo notes.md >.gitignore
passes check_text 'ignored file'

plant src/bandana/sim/bad.cc 'Refuse("x", "0 with environment.link");'
catches check_text 'a TOML key below the lab' 'src/bandana/sim/bad.cc:1:'
plant src/bandana/sim/good.cc '#include "proto/federation.pb.h"' 'Refuse("model", privacy.model, "one of" + privacy.text);'
passes check_text 'code beside texts'
plant src/bandana/lab/good.cc 'Refuse("environment.link");'
passes check_text 'a TOML key in the lab'
plant src/bandana/sim/bad.cc 'InvalidField(Part::kFacts, "agents", 0, "1");'
catches check_text 'no field of Facts' 'no field of Facts'

if ((failures)); then echo "$failures failures"; exit 1; fi
echo 'lint_test: all passed'
