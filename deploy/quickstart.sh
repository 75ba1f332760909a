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

step "Build: skepd, skepctl and the example (about ten minutes the first time on two cores)"
mkdir -p build
log="$root/build/quickstart.log"
build() {
  cmake --preset dev -DSKEP_BUILD_TESTS="${SKEP_BUILD_TESTS:-ON}" &&
    cmake --build build/dev -j "$(nproc)" --target skepd skepctl skep_orders
}
# A person sees the build go on; elsewhere its output is shown only where it fails.
if [[ -t 1 ]]; then build; else build >"$log" 2>&1 || { tail -40 "$log" >&2; exit 1; }; fi
bin="$root/build/dev"
skepctl() { "$bin/client/cli/skepctl" "$@"; }

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
echo "\$ skepd --server.listen $SKEP_ENDPOINT --store.path $home/store/skep.db --warehouse.roots $home/warehouse"
"$bin/server/daemon/skepd" --server.listen "$SKEP_ENDPOINT" --store.path "$home/store/skep.db" \
  --warehouse.roots "$home/warehouse" --cleaner.interval 200ms >"$home/skepd.out" 2>"$home/skepd.log" &
daemon=$!
for _ in $(seq 100); do
  skepctl status >/dev/null 2>&1 && break
  kill -0 "$daemon" 2>/dev/null || { cat "$home/skepd.log" >&2; exit 1; }
  sleep 0.1
done
show skepctl status

step "The worked example: insert, update, delete, a long reader, a major compaction"
echo "\$ skep_orders $SKEP_ENDPOINT"
"$bin/client/examples/skep_orders" "$SKEP_ENDPOINT"

step "The same table from the operator's side"
show skepctl show tables
show skepctl show compactions
show skepctl show deltas sales.orders
show skepctl read sales.orders --row-ids
echo "Without the daemon, from the files alone:"
show skepctl dump "$home/warehouse/sales.db/orders" --stats -o jsonl
echo "What the daemon remembers, in SQLite:"
show sqlite3 -readonly -header -column "$home/store/skep.db" \
  "SELECT table_id, database_name, table_name, kind, next_write_id FROM tables"

step "Stop skepd"
kill -TERM "$daemon"
wait "$daemon"
daemon=0
echo "skepd ended with exit code 0."
((keep)) && echo "Store, log and table lie in $home."
echo "The programs: build/dev/server/daemon/skepd, build/dev/client/cli/skepctl. Next: README.md, section \"Using it\"."
