# shellcheck shell=bash
# Helpers of the scripts. To be sourced after `set -euo pipefail`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Objects do not depend on the folder of the clone, so that a second clone finds them in the cache. Precompiled headers,
# which hold no code of ours, are cached only if time and macros need not match exactly.
export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1

note() { printf '%s\n' "$*" >&2; }
die() { note "${0##*/}: $*"; exit 1; }

# The comment at the top of the calling script is its help.
show_help() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0; }
bad_usage() { note "${0##*/}: $*"; note "See ${0##*/} --help."; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }

# The clone may belong to another user, for example in a container. Whoever runs its scripts trusts it already.
git_() { git -c safe.directory="$ROOT" -C "$ROOT" "$@"; }

# Prints the C++ files of the work tree, tracked or new, relative to the root.
cxx_files() {
  git_ ls-files --cached --others --exclude-standard -- \
      'include/*.h' 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'benchmarks/*.h' 'benchmarks/*.cc' \
      'bindings/*.h' 'bindings/*.cc' 'examples/*.cc' |
    sort -u | while IFS= read -r file; do if [[ -f $ROOT/$file ]]; then printf '%s\n' "$file"; fi; done
}

# Prints the number of jobs: all cores, but at most one job per 1.5 GiB of memory, because gRPC and Eigen are heavy to
# compile.
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

# configure PRESET: Ninja notices changes of CMakeLists.txt by itself, but not changes of the presets.
configure() {
  local dir
  dir=$(build_dir "$1")
  if [[ ! -f $dir/build.ninja || $ROOT/CMakePresets.json -nt $dir/build.ninja ]]; then
    (cd "$ROOT" && cmake --preset "$1" >/dev/null)  # errors and warnings still show
  fi
}

# Runs a command without address randomisation: wide randomisation leaves no room for a sanitizer's shadow memory.
steady_addresses() {
  if has setarch && setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

# stage NAME COMMAND...: runs COMMAND, says how long it took, and returns its status.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  note "==> $name"
  "$@" || status=$?
  note "==> $name: $([[ $status == 0 ]] && echo passed || echo "FAILED ($status)"), $((SECONDS - start)) s"
  return "$status"
}

# Lets the release build have all that the Debian packages contain, where Debian wants it.
configure_package() {
  configure release
  cmake -DBANDANA_PYTHON=ON -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" "$ROOT/build" >/dev/null
}

# make_package BUILD OUT: packs the build into OUT/*.deb. The date of the changelog is that of the commit.
make_package() {
  local epoch
  epoch=${SOURCE_DATE_EPOCH:-$(git_ log -1 --format=%ct 2>/dev/null || date +%s)}
  SOURCE_DATE_EPOCH=$epoch cpack --config "$1/CPackConfig.cmake" -B "$2" >"$1/cpack.txt" 2>&1 || {
    cat "$1/cpack.txt" >&2
    return 1
  }
  rm -rf "$2/_CPack_Packages"
}
