#!/usr/bin/env bash
# The unit is valid and hardened: exposure at most 2.0 as systemd-analyze counts it. Skips without the tool.
# Usage: service_files.sh UNIT_FILE SYSUSERS TMPFILES
set -euo pipefail
unit="$1"; sysusers="$2"; tmpfiles="$3"
grep -q '^u *skep ' "$sysusers" || { echo "$sysusers names no user skep"; exit 1; }
grep -q '^d *\/var\/lib\/skep ' "$tmpfiles" || { echo "$tmpfiles names no /var/lib/skep"; exit 1; }
grep -q '@SKEP_' "$unit" && { echo "$unit has unfilled paths"; exit 1; }
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not here: unit not judged"; exit 77; }
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cp "$unit" "$dir/skepd.service"
# The programs are not installed here: everything else must verify.
problems="$(systemd-analyze verify --man=no "$dir/skepd.service" 2>&1 | grep -F skepd.service | grep -vE 'is not executable|No such file' || true)"
[[ -z "$problems" ]] || { echo "$problems"; exit 1; }
systemd-analyze security --offline=yes --threshold=20 "$dir/skepd.service" | tail -1
