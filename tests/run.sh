#!/usr/bin/env bash
# Installs what is missing, builds, runs the tests. Exits non-zero on any failure.
#
#   tests/run.sh         all tests but the slow ones, in the dev build; with CI set skipped fixtures are a failure
#   tests/run.sh --all   also slow tests, the rooms touched by the last 20 commits under AddressSanitizer, the tsan
#                        and the clang build
#
# SKEP_FIXTURES names the folder of real table files (default ../shared/fixtures).
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root"
all=0
case "${1:-}" in
  "") ;;
  --all) all=1 ;;
  *) sed -n '2,8p' "$0"; exit 2 ;;
esac
export SKEP_FIXTURES="${SKEP_FIXTURES:-$root/../shared/fixtures}"
jobs="$(nproc)"

deploy/setup.sh

build() {  # build PRESET [TARGET...]
  local preset="$1"; shift
  cmake --preset "$preset" >/dev/null
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  cmake --build "build/$preset" -j "$jobs" "${targets[@]}"
}

run() {  # run PRESET CTEST-ARGS...
  local preset="$1"; shift
  ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
}

# Test binaries of the rooms that the last 20 commits touched; of the three at the heart without history.
touched_tests() {
  local rooms
  rooms="$(git log -n 20 --name-only --format= 2>/dev/null | grep -oE '^(storage|server|client)/[a-z]+|^proto/wire' |
    sort -u || true)"
  [[ -n "$rooms" ]] || rooms="storage/acid storage/format server/state"
  local room folder
  for room in $rooms; do
    folder="tests/$room"
    [[ -f "$folder/CMakeLists.txt" ]] || continue
    grep -oE 'skep_test\([a-z_0-9]+' "$folder/CMakeLists.txt" | cut -d'(' -f2
  done | sort -u
}

no_skips() {  # a test that skipped for want of fixtures proves nothing
  local log="$1/Testing/Temporary/LastTest.log"
  if grep -F '[  SKIPPED ]' "$log"; then
    echo "tests were skipped: with CI set that is a failure (is SKEP_FIXTURES=$SKEP_FIXTURES there?)"
    return 1
  fi
}

build dev
run dev -LE slow
[[ -z "${CI:-}" ]] || no_skips build/dev

if ((all)); then
  mapfile -t tests < <(touched_tests)
  if ((${#tests[@]})); then
    build asan "${tests[@]}"
    run asan -R "^($(IFS='|'; echo "${tests[*]}"))\$" -LE slow
  fi
  run dev -L slow
  build tsan
  TSAN_OPTIONS="ignore_noninstrumented_modules=1" run tsan -LE 'slow|e2e'
  build clang
fi
echo "all tests passed"
