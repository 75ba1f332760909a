#!/usr/bin/env bash
# clang-tidy with .clang-tidy over server/, storage/, client/ and proto/wire, or over the files named; a finding is a
# failure. Reads the compile commands of build/clang, which it configures; the generated sources must be built.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy-14 >/dev/null || { echo "tidy: install clang-tidy-14" >&2; exit 1; }
cmake --preset clang >/dev/null
cmake --build build/clang --target skep_proto skep_orc_proto >/dev/null
if (($#)); then
  files=("$@")
else
  mapfile -t files < <(git ls-files 'server/*.cc' 'storage/*.cc' 'client/*.cc' 'proto/wire/*.cc')
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy-14 -p build/clang --quiet
