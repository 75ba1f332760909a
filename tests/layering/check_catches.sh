#!/usr/bin/env bash
# Builds a tiny tree with one violation of each kind and expects check_includes.sh to name every one of them.
set -euo pipefail
here="${1:?folder of check_includes.sh}"
tree="$(mktemp -d)"
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{storage/acid,server/state,client/session}
echo '#include "server/state/state.h"' > "$tree/storage/acid/upward.h"
echo '#include <sqlite3.h>' > "$tree/server/state/sql_library.h"
echo '#include "tests/testing/fake.h"' > "$tree/client/session/test_code.h"
echo 'const char* q = "SELECT 1";' > "$tree/server/state/query.cc"
echo '#include "storage/model/ids.h"' > "$tree/storage/acid/fine.h"
output="$("$here/check_includes.sh" "$tree")" && { echo "violations were not noticed"; exit 1; }
for name in upward.h sql_library.h test_code.h query.cc; do
  grep -q "$name" <<<"$output" || { echo "not noticed: $name"; echo "$output"; exit 1; }
done
grep -q fine.h <<<"$output" && { echo "a correct include was refused"; exit 1; }
echo "every kind of violation is noticed"
