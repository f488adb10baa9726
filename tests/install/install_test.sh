#!/usr/bin/env bash
# Installs the build into an empty folder and uses it as a stranger would: builds examples/ with find_package and with
# pkg-config, runs them, loads a plugin, and sees wrong flags, wrong libraries and wrong plugins refused.
# $BANDANA_BUILD is the build folder, $BANDANA_CXX the compiler.

set -euo pipefail
# shellcheck source=tests/system/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/lib.sh"

# says TEXT PART: checks that TEXT holds PART.
says() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }

prefix=$scratch/prefix
cmake --install "$BANDANA_BUILD" --prefix "$prefix" >installed.txt
program=$prefix/bin/bandana
library=$(dirname "$(find "$prefix" -name libbandana.so)")

# The installed program finds its library, and says the version that the packages say.
version=$("$program" --version)
says "$version" "bandana $(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --modversion bandana)"

# The library shows names of its own namespace only.
foreign=$(nm -D --defined-only -C "$library/libbandana.so" | cut -d' ' -f3- |
  grep -Ev '(^| )(non-virtual thunk to |virtual thunk to |(vtable|typeinfo|typeinfo name|VTT|guard variable) for )?bandana::' |
  grep -Fv "bandana::" | head -n 3 || true)
[[ -z $foreign ]] || fail "symbols of others are visible: $foreign"

# The folder of examples is a project of its own.
cp -r "$BANDANA_SOURCE/examples" examples
cmake -S examples -B built -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$BANDANA_CXX" \
  ${BANDANA_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER="$BANDANA_LAUNCHER"} >configured.txt
cmake --build built --parallel 2 >built.txt || { cat built.txt; fail "the examples do not build"; }
for name in dp_dpe fed_ucb hdp_mab ldp_sgd own_world; do
  said=$("built/example_$name") || fail "example_$name: exit $?"
  says "$said" regret
  says "$said" '-DP of one '  # claims as all programs print them: the guarantee, the unit and the adversary
  says "$said" ' against '
done
said=$(built/example_experiment "$scratch/results") || fail "example_experiment: exit $?"
says "$said" "central  regret"
says "$said" '(5, 1e-06)-DP of one client'
[[ -f results/report.html ]] || fail "the experiment left no report"

# So does pkg-config.
flags=$(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs bandana)
# shellcheck disable=SC2086
"$BANDANA_CXX" examples/own_world.cc -o own_world $flags -Wl,-rpath,"$library" || fail "pkg-config's flags do not do"
[[ $(./own_world) == "$(built/example_own_world)" ]] || fail "own_world by pkg-config prints something else"

# A plugin has a name and options, runs like any algorithm, and every result says whose code it is.
plugin=built/libown_algorithm.so
cat >own.toml <<'TOML'
horizon = 5_000
replicates = 2
[environment]
dimension = 3
actions = 20
population = 10_000
[algorithm]
name = "own-elimination"
[privacy]
model = "central"
epsilon = 5
delta = 1e-6
TOML
says "$("$program" list algorithms own-elimination --plugin $plugin)" "algorithm.growth = 3"
says "$("$program" list algorithms own-elimination --plugin $plugin)" "It comes from the plugin libown_algorithm.so"
says "$("$program" run own.toml --plugin $plugin --out own --quiet)" "(5, 1e-06)"
digest=$(sha256sum $plugin | cut -d' ' -f1)
says "$(<own/spec.toml)" "# plugin libown_algorithm.so (SHA-256 $digest)"
says "$(<own/summary.json)" "This algorithm is code of the plugin libown_algorithm.so (SHA-256 $digest)"
says "$(<own/report.html)" "This algorithm is code of the plugin libown_algorithm.so"
said=$("$program" run own.toml --set algorithm.growth=99 --plugin $plugin --out bad 2>&1) && fail "growth = 99 was accepted"
says "$said" "algorithm.growth = 99"
says "$said" "(1, 16]"
said=$("$program" run own.toml --out bad 2>&1) && fail "the plugin's name is known without the plugin"
says "$said" 'algorithm.name = own-elimination'

# refuses PART FILE: the file is no plugin for this program, and the message has PART.
refuses() {
  local said status=0
  said=$("$program" list algorithms --plugin "$2" 2>&1) || status=$?
  ((status == 2)) || fail "--plugin $2: exit $status"
  says "$said" "$1"
}
refuses "cannot be read" nothing.so
refuses "nothing.so" nothing.so
echo "no library" >text.so
refuses "text.so" text.so
echo 'int nothing;' | "$BANDANA_CXX" -x c++ -shared -fPIC -o other.so -
refuses "is no plugin" other.so
echo 'extern "C" const char* bandana_plugin_abi() { return "0.1 other"; } extern "C" void bandana_plugin_add() {}' |
  "$BANDANA_CXX" -x c++ -shared -fPIC -o old.so -
refuses "was built for Bandana 0.1 other" old.so
"$BANDANA_CXX" -x c++ -shared -fPIC -o taken.so $flags - <<'CC'
#include <bandana/algorithm.h>
BANDANA_PLUGIN(registry) {
  bandana::Family family = **bandana::Families().FindFamily("dp-dpe");
  return registry.Add(family);
}
CC
refuses "a name that no other algorithm has" taken.so

# Two guards: other flags do not compile, and headers of another kind do not link.
echo '#include <bandana/bandana.h>
int main() {}' >guard.cc
said=$("$BANDANA_CXX" -std=c++20 -march=x86-64 -I"$prefix/include" $(pkg-config --cflags eigen3) -c guard.cc 2>&1) &&
  fail "a program with another -march compiles"
says "$said" "compile with the flags of bandana::bandana"
cp -r "$prefix/include" other_include
sed -i 's/kAbi_[0-9a-zA-Z_]*/kAbi_of_another/' other_include/bandana/config.h
# shellcheck disable=SC2086
said=$("$BANDANA_CXX" -Iother_include $flags guard.cc -L"$library" -lbandana 2>&1) && fail "headers of another kind link"
says "$said" "kAbi_of_another"

exit $((failures > 0))
