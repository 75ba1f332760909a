#!/usr/bin/env bash
# Installs what is missing, builds, runs the tests. Exits non-zero on any failure.
#
#   tests/run.sh         all tests but the slow ones, in the dev build; with CI set fixtures that are not there are a
#                        failure
#   tests/run.sh --asan  also, under AddressSanitizer and UndefinedBehaviorSanitizer, those of the rooms that the last
#                        20 commits touched
#   tests/run.sh --all   also slow tests, everything under both sanitizers and under ThreadSanitizer, the Clang build
#                        (thread-safety analysis) and clang-tidy
#
# SKEP_FIXTURES names the folder of real table files (default ../shared/fixtures).
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root"
all=0
asan=0
case "${1:-}" in
  "") ;;
  --asan) asan=1 ;;
  --all) all=1 ;;
  *) sed -n '2,12p' "$0"; exit 2 ;;
esac
export SKEP_FIXTURES="${SKEP_FIXTURES:-$root/../shared/fixtures}"
jobs="$(nproc)"
asan_steps=300  # about 12 minutes on two cores without ccache

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

# Rooms that the last 20 commits touched, the last one first. The oldest commit known is not looked at: in a shallow
# clone it seems to have made every file.
touched_rooms() {
  local oldest
  oldest="$(git rev-list --max-parents=0 HEAD)" || return 0
  # shellcheck disable=SC2086
  git log -n 20 --name-only --format= HEAD --not $oldest | sed 's#^tests/##' |
    grep -oE '^(storage|server|client)/[a-z]+|^proto' | awk '!seen[$0]++' || true
}

tests_of() {  # tests_of ROOM: its test binaries
  [[ ! -f "tests/$1/CMakeLists.txt" ]] || sed -nE 's/^skep_test\(([a-z_0-9]+).*/\1/p' "tests/$1/CMakeLists.txt"
}

steps_to() {  # steps_to PRESET TARGET...: what is left to compile and link
  local preset="$1"; shift
  ninja -C "build/$preset" -n "$@" | sed -nE '$s#^\[[0-9]+/([0-9]+)\].*#\1#p'
}

# Takes rooms as long as the build stays within asan_steps; sets asan_tests, says what it took and why.
choose_asan_tests() {
  local because="touched by the last 20 commits, the last one first" room steps candidates took=() left=()
  local rooms
  mapfile -t rooms < <(touched_rooms)
  if ((${#rooms[@]} == 0)); then
    rooms=(storage/acid storage/format server/state)
    because="there is no history to choose by"
  fi
  asan_tests=()
  for room in "${rooms[@]}"; do
    mapfile -t candidates < <(tests_of "$room")
    ((${#candidates[@]})) || continue
    steps="$(steps_to asan "${asan_tests[@]}" "${candidates[@]}")"
    if ((${steps:-0} > asan_steps)); then
      left+=("$room")
      continue
    fi
    asan_tests+=("${candidates[@]}")
    took+=("$room")
  done
  echo "sanitizers: ${took[*]} ($because)"
  ((${#left[@]} == 0)) || echo "sanitizers: not ${left[*]} (more than $asan_steps build steps; tests/run.sh --all has them)"
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
  run dev -L slow
  build asan
  run asan -LE slow
  build tsan
  run tsan -LE slow
  build clang
  tests/tidy.sh
elif ((asan)); then
  cmake --preset asan >/dev/null
  choose_asan_tests
  build asan "${asan_tests[@]}"
  run asan -R "^($(IFS='|'; echo "${asan_tests[*]}"))\$" -LE slow
  [[ -z "${CI:-}" ]] || no_skips build/asan
fi
echo "all tests passed"
