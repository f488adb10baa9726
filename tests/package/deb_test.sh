#!/usr/bin/env bash
# Packs the build, installs the packages by apt into a fresh Debian, and uses them there: the demo, Python, a C++ program.
# In the end nothing may be left of them.
#
# It needs root (or sudo without a password) and Debian's mirror, which it learns from this machine's apt. Without them it is
# skipped, and under CI=true it fails. What it downloads stays in ~/.cache/bandana/debian, so that the next run is fast.

set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

# cannot WHY: ends the test, which cannot run here.
cannot() {
  echo "SKIP: $*"
  if [[ ${CI:-} == true ]]; then exit 1; fi
  exit 77
}

# Mounts and processes of a namespace vanish with it.
if [[ ${1:-} != inside ]]; then
  as_root=()
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null || cannot "neither root nor sudo without a password"
    as_root=(sudo -n -E)
  fi
  "${as_root[@]}" unshare --mount --pid --fork --kill-child --mount-proc true || cannot "no namespace of its own for mounts"
  exec "${as_root[@]}" unshare --mount --pid --fork --kill-child --mount-proc bash "$here/deb_test.sh" inside
fi

# shellcheck source=tests/system/lib.sh
source "$here/../system/lib.sh"
# shellcheck source=script/lib.sh
source "$BANDANA_SOURCE/script/lib.sh"

# All mounts are below $root, and the first one is $root itself. Nothing is deleted while one of them is left, and never
# across a mount: below $root there is the machine's /proc.
root=$scratch/root
unmount_and_clean() {
  cd /
  if mountpoint -q "$root"; then umount --recursive "$root" || umount --recursive --lazy "$root" || true; fi
  local mounts
  mounts=$(</proc/self/mountinfo)
  if [[ -z $mounts || $mounts == *" $scratch/"* ]]; then
    echo "$scratch is left, because something is mounted there"
    return
  fi
  rm -rf --one-file-system "$scratch"
}
trap unmount_and_clean EXIT

for command in debootstrap dpkg-deb dpkg-shlibdeps file cpack; do
  has $command || cannot "no $command; script/bootstrap --package installs it"
done

# step NAME COMMAND...: runs COMMAND, says how long it took, and ends the test if it fails.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" >step.txt 2>&1 </dev/null || status=$?
  echo "$name: $((SECONDS - start)) s"
  if ((status)); then
    tail -n 40 step.txt
    fail "$name: exit $status"
    exit 1
  fi
}

# The packages. Debian's names for the parts, and what each one needs.
step "pack" make_package "$BANDANA_BUILD" "$scratch/packages"
library=$(cd packages && ls libbandana[0-9]*.deb | cut -d_ -f1)
for package in bandana "$library" libbandana-dev python3-bandana; do
  [[ -f $(echo packages/"$package"_*.deb) ]] ||
    { fail "no package $package: script/test --label package configures the build for it"; exit 1; }
done
# field PACKAGE FIELD WANTED...: checks that the field holds each of WANTED.
field() {
  local value wanted package=$1 name=$2
  value=$(dpkg-deb -f "packages/${package}"_*.deb "$name")
  shift 2
  for wanted; do [[ ", $value," == *", $wanted"* ]] || fail "$package: $name has no '$wanted': $value"; done
}
version=$(dpkg-deb -f packages/bandana_*.deb Version)
for package in bandana libbandana-dev python3-bandana; do field "$package" Depends "$library (= $version)"; done
field bandana Depends 'libc6 (>=' 'libgrpc++1.51' 'libstdc++6 (>='
field "$library" Depends 'libc6 (>=' 'libssl3' 'libfmt9'
field libbandana-dev Depends libabsl-dev libeigen3-dev libfmt-dev
field python3-bandana Depends 'python3 (>=' 'python3 (<<' python3-numpy

# A fresh Debian of this machine's release, because the build is linked with that release's libraries.
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
architecture=$(dpkg --print-architecture)
mapfile -t sources < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
  awk -v suite="$suite" '$4 == "Debian" && index($2, suite) == 1 { print $1, $2, $3 }')
mirror=$(printf '%s\n' "${sources[@]}" | awk -v suite="$suite" '$2 == suite { print $1; exit }')
[[ -n $mirror ]] || cannot "this machine's apt knows no mirror of Debian $suite"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/bandana/debian
mkdir -p "$cache/archives"
exec 9>"$cache/lock"
flock 9
mkdir "$root"
if (($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) > 6 * 1024 * 1024)); then
  mount -t tmpfs -o size=4g,mode=755 bandana "$root"
else
  mount --bind "$root" "$root"
fi
base=$cache/base-$suite-$architecture.tar
find "$cache" -maxdepth 1 -name 'base-*.tar' -mtime +30 -delete
if [[ -f $base ]]; then
  step "unpack the base system" tar -C "$root" -xpf "$base" --numeric-owner
else
  debootstrap=(debootstrap --variant=minbase --include=ca-certificates --cache-dir="$cache/archives"
    --arch="$architecture" "$suite" "$root" "$mirror")
  start=$SECONDS
  if ! "${debootstrap[@]}" >debootstrap.txt 2>&1 9>&-; then
    tail -n 5 debootstrap.txt
    cannot "debootstrap cannot make the base system: is the mirror within reach?"
  fi
  echo "debootstrap: $((SECONDS - start)) s"
  tar -C "$root" -cpf "$base.new" --numeric-owner --exclude=./var/cache/apt/archives/*.deb . && mv "$base.new" "$base"
fi

# Downloads are copied in and out. The cache itself is never mounted where the test deletes.
find "$cache/archives" -maxdepth 1 -name '*.deb' -mtime +60 -delete
find "$cache/archives" -maxdepth 1 -name '*.deb' -exec cp -p -t "$root/var/cache/apt/archives" {} +
mount -t proc proc "$root/proc"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
printf 'deb %s\n' "${sources[@]}" >"$root/etc/apt/sources.list"
apt-config dump Acquire | grep -E '^Acquire::(http|https|Check-Valid-Until|ForceIP)' >"$root/etc/apt/apt.conf.d/90host" || true
printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' 'Acquire::Retries "3";' \
  >"$root/etc/apt/apt.conf.d/91test"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/test"
mkdir "$root/packages"
cp packages/*.deb "$root/packages/"

# in_root COMMAND...: runs a command in the fresh system, with nothing of this one's environment.
in_root() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" 9>&-
}
# installs PACKAGE...: by their names, from /packages.
installs() {
  local files=() package
  for package; do files+=("/packages/$(cd packages && echo "$package"_*.deb)"); done
  in_root apt-get -qq install -y "${files[@]}"
}
# says TEXT PART: checks that TEXT holds PART.
says() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }

step "apt-get update" in_root apt-get -qq update

# The program alone, with what it depends on and nothing else.
step "install bandana" installs "$library" bandana
says "$(in_root bandana --version)" "bandana ${version%-*}"
for page in bandana bandana-run bandana-demo; do
  gzip -dc "$root/usr/share/man/man1/$page.1.gz" | grep -q '^\.SH NAME' || fail "no manual page $page"
done
says "$(in_root bash -c '. /usr/share/bash-completion/completions/bandana; COMP_WORDS=(bandana list alg) COMP_CWORD=2; _bandana; echo "${COMPREPLY[@]}"')" algorithms
says "$(in_root cat /usr/share/doc/bandana/copyright)" Apache-2.0
for package in bandana "$library"; do
  for file in copyright changelog.Debian.gz; do
    [[ -s $root/usr/share/doc/$package/$file ]] || fail "$package has no $file"
  done
done
step "bandana demo" in_root bandana demo --out /tmp/demo --quiet
[[ -s $root/tmp/demo/report.html ]] || fail "the demo left no report"
step "bandana run" in_root bandana run /usr/share/doc/bandana/examples/experiments/p2-context.toml \
  --set horizon=2000 --set replicates=1 --out /tmp/run --quiet

# Python, with numpy and without what the package only recommends.
step "install python3-bandana" installs python3-bandana
said=$(in_root python3 -c '
import bandana
result = bandana.run({"horizon": 1000, "environment": {"dimension": 3, "actions": 10},
                      "algorithm": {"name": "dp-dpe"}, "privacy": {"model": "none"}})
print(len(result.points), "point by", bandana.__version__, bandana.__file__)
print([line.split()[-1] for line in open("/proc/self/maps") if "libbandana.so" in line][0])') || fail "Python: exit $?"
says "$said" "1 point by ${version%-*} /usr/lib/python3/dist-packages/bandana/__init__.py"
says "$said" "/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/libbandana.so"
[[ -n $(find "$root/usr/lib/python3/dist-packages/bandana" -name '*.pyc') ]] || fail "the Python modules are not compiled"

# A C++ program, by pkg-config.
step "install libbandana-dev" installs libbandana-dev
step "install g++" in_root apt-get -qq install -y g++ pkg-config
step "compile a C++ program" in_root sh -c \
  'cd /tmp && g++ /usr/share/doc/bandana/examples/own_world.cc -o own_world $(pkg-config --cflags --libs bandana)'
says "$(in_root /tmp/own_world)" regret
[[ -f $(echo "$root"/usr/lib/*/cmake/bandana/bandanaConfig.cmake) ]] || fail "no files for CMake"

# They go without a trace.
step "purge" in_root apt-get -qq purge -y "$library" bandana libbandana-dev python3-bandana
left=$(find "$root/usr" "$root/etc" "$root/var/lib" -iname '*bandana*' -print -quit)
[[ -z $left ]] || fail "after the purge there is $left"
cp -n -p "$root"/var/cache/apt/archives/*.deb "$cache/archives/"

echo "in all: $SECONDS s"
exit $((failures > 0))
