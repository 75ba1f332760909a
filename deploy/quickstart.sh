#!/usr/bin/env bash
# From a clean Debian 12 machine to a compacted Hive ACID table: installs what is missing, builds, starts skepd on a
# temporary directory, runs the worked example against it (client/examples/orders.cc), shows it from the operator's
# side, stops the daemon. Leaves nothing behind but the build; --keep keeps the temporary directory.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root"
keep=0
case "${1:-}" in
  "") ;;
  --keep) keep=1 ;;
  *) sed -n '2,4p' "$0"; exit 2 ;;
esac

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
if [[ ! -t 1 ]]; then step() { printf '\n== %s\n' "$*"; }; fi
show() { printf '$ %s\n' "$*"; "$@"; }

step "Set-up: Debian packages and Arrow"
deploy/setup.sh

step "Build: skepd, skepctl and the example (the first build takes some minutes)"
cmake --preset dev -DSKEP_BUILD_TESTS="${SKEP_BUILD_TESTS:-ON}" >/dev/null
cmake --build build/dev -j "$(nproc)" --target skepd skepctl skep_orders >/dev/null
bin="$root/build/dev"

home="$(mktemp -d "${TMPDIR:-/tmp}/skep-quickstart.XXXXXX")"
daemon=0
finish() {
  if ((daemon)); then kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; fi
  ((keep)) || rm -rf "$home"
}
trap finish EXIT
mkdir -p "$home/warehouse" "$home/store"
export SKEP_ENDPOINT="unix:$home/skepd.sock"

step "Start skepd: store in $home/store, warehouse in $home/warehouse"
"$bin/server/daemon/skepd" --server.listen "$SKEP_ENDPOINT" --store.path "$home/store/skep.db" \
  --warehouse.roots "$home/warehouse" --cleaner.interval 200ms >"$home/skepd.out" 2>"$home/skepd.log" &
daemon=$!
for _ in $(seq 100); do
  "$bin/client/cli/skepctl" status >/dev/null 2>&1 && break
  kill -0 "$daemon" 2>/dev/null || { cat "$home/skepd.log" >&2; exit 1; }
  sleep 0.1
done
show "$bin/client/cli/skepctl" status

step "The worked example: insert, update, delete, a long reader, a major compaction"
"$bin/client/examples/skep_orders" "$SKEP_ENDPOINT"

step "The same table from the operator's side"
show "$bin/client/cli/skepctl" show tables
show "$bin/client/cli/skepctl" show compactions
show "$bin/client/cli/skepctl" read sales.orders --row-ids
show "$bin/client/cli/skepctl" dump "$home/warehouse/sales.db/orders" --stats -o jsonl
show sqlite3 -readonly -header -column "$home/store/skep.db" \
  "SELECT table_id, database_name, table_name, kind, next_write_id FROM tables"

step "Stop skepd"
kill -TERM "$daemon"
wait "$daemon"
daemon=0
echo "skepd ended with exit code 0. Next: README.md, docs/architecture.md, skepctl --help."
