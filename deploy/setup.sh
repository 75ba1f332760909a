#!/usr/bin/env bash
# Installs what this machine lacks to build and run Skep (Debian 12): packages by apt-get, and Arrow C++ from the
# pinned pyarrow wheel, unpacked into build/deps, unless an Arrow C++ is installed. Safe to repeat; does nothing
# when nothing is missing. No Python is needed at run time.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

install_packages() {
  command -v dpkg-query >/dev/null || fail "this is no Debian system: install the packages of deploy/packages.txt by hand"
  local missing=() package
  while read -r package; do
    [[ -z "$package" || "$package" == \#* ]] && continue
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done < "$root/deploy/packages.txt"
  ((${#missing[@]})) || return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "run as root once, or install: ${missing[*]}"
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

install_arrow() {
  local deps="$root/build/deps"
  if find /usr/lib /usr/local/lib -maxdepth 4 -name 'ArrowConfig.cmake' 2>/dev/null | grep -q .; then return 0; fi
  local pin
  pin="$(cksum < "$root/deploy/pyarrow.txt")"
  [[ -f "$deps/pyarrow.pin" && "$(cat "$deps/pyarrow.pin")" == "$pin" ]] && return 0
  case "$(uname -m)" in x86_64) ;; *) fail "no pinned Arrow wheel for $(uname -m): install Arrow C++ and run again" ;; esac
  say "fetching Arrow C++ (the pyarrow wheel of deploy/pyarrow.txt)"
  local work
  work="$(mktemp -d)"
  python3 -m pip download --quiet --disable-pip-version-check --require-hashes -r "$root/deploy/pyarrow.txt" \
    --no-deps --only-binary=:all: --python-version 311 --implementation cp --abi cp311 \
    --platform manylinux_2_28_x86_64 -d "$work" >&2
  mkdir -p "$deps"
  rm -rf "$deps/pyarrow"
  unzip -q -o "$work"/pyarrow-*.whl 'pyarrow/include/*' 'pyarrow/libarrow.so*' 'pyarrow/libarrow_compute.so*' \
    'pyarrow/libparquet.so*' 'pyarrow-*.dist-info/*' -d "$deps"
  rm -rf "$work"
  echo "$pin" > "$deps/pyarrow.pin"
}

install_packages
install_arrow
