# shellcheck shell=bash
# What the scripts share. Sourced, after `set -euo pipefail`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Objects do not depend on where the clone lies, so that a second one finds them in the cache.
export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1

note() { printf '%s\n' "$*" >&2; }
die() { note "${0##*/}: $*"; exit 1; }

# The comment at the top of the calling script is its help.
show_help() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0; }
bad_usage() { note "${0##*/}: $*"; note "See ${0##*/} --help."; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }

# The clone may belong to another user, as in a container: who runs its scripts trusts it already.
git_() { git -c safe.directory="$ROOT" -C "$ROOT" "$@"; }

# C++ files as they stand, tracked or new, relative to the root.
cxx_files() {
  git_ ls-files --cached --others --exclude-standard -- \
      'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'benchmarks/*.h' 'benchmarks/*.cc' \
      'bindings/*.h' 'bindings/*.cc' |
    sort -u | while IFS= read -r file; do if [[ -f $ROOT/$file ]]; then printf '%s\n' "$file"; fi; done
}

# All cores, but no more than one job per 1.5 GiB of memory: gRPC and Eigen are heavy to compile.
job_count() {
  local kib limit n
  kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  if limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) && [[ $limit =~ ^[0-9]+$ ]]; then
    if ((limit / 1024 < kib)); then kib=$((limit / 1024)); fi
  fi
  n=$((kib / (1536 * 1024)))
  if ((n < 1)); then n=1; fi
  if ((n > $(nproc))); then n=$(nproc); fi
  echo "$n"
}

build_dir() { if [[ $1 == release ]]; then echo "$ROOT/build"; else echo "$ROOT/build-$1"; fi; }

# configure PRESET: Ninja sees changes of CMakeLists.txt by itself, but not those of the presets.
configure() {
  local dir
  dir=$(build_dir "$1")
  if [[ ! -f $dir/build.ninja || $ROOT/CMakePresets.json -nt $dir/build.ninja ]]; then
    (cd "$ROOT" && cmake --preset "$1" >/dev/null)  # errors and warnings still show
  fi
}

# A sanitizer cannot place its shadow memory where the kernel randomises addresses widely.
steady_addresses() {
  if has setarch && setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

# stage NAME COMMAND...: runs it and says how long it took; its status is the command's.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  note "==> $name"
  "$@" || status=$?
  note "==> $name: $([[ $status == 0 ]] && echo passed || echo "FAILED ($status)"), $((SECONDS - start)) s"
  return "$status"
}
