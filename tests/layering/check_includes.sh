#!/usr/bin/env bash
# Fails on an include that goes upward or sideways between rooms (rules.txt), on a third-party header in a room
# that may not see it (externals.txt), and on SQL outside storage/meta. Usage: check_includes.sh SOURCE_ROOT
set -euo pipefail
root="${1:?source root}"
here="$(cd "$(dirname "$0")" && pwd)"
cd "$root"

declare -A direct
while IFS=: read -r room allowed; do
  [[ "$room" =~ ^#|^$ ]] && continue
  direct["$room"]="$allowed"
done < "$here/rules.txt"

# closure ROOM: every room reachable from it, itself and the two open ones included.
closure() {
  local -A seen=([storage/base]=1 [storage/model]=1)
  local queue=("$1") room next
  while ((${#queue[@]})); do
    room="${queue[0]}"; queue=("${queue[@]:1}")
    seen["$room"]=1
    for next in ${direct[$room]:-}; do [[ -n "${seen[$next]:-}" ]] || queue+=("$next"); done
  done
  echo "${!seen[@]}"
}

# room_of PATH: the longest room that is a prefix of it.
room_of() {
  local path="$1" best="" room
  for room in "${!direct[@]}"; do
    [[ "$path" == "$room"/* && ${#room} -gt ${#best} ]] && best="$room"
  done
  echo "$best"
}

failures=0
fail() { echo "$1"; failures=$((failures + 1)); }
checked=0
for room in "${!direct[@]}"; do
  [[ -d "$room" ]] || continue
  allowed=" $(closure "$room") "
  while IFS= read -r hit; do
    file="${hit%%:*}"; line="${hit#*:}"
    [[ "$(room_of "$file")" == "$room" ]] || continue
    header="$(sed -E 's/.*#include [<"]([^>"]*)[>"].*/\1/' <<<"$line")"
    checked=$((checked + 1))
    target="$(room_of "$header")"
    if [[ -n "$target" && "$target" != "$room" && "$allowed" != *" $target "* ]]; then
      fail "$file includes $header: $room may not include $target"
    fi
    if [[ "$header" == tests/* ]]; then fail "$file includes $header: production code may not include tests"; fi
    while IFS= read -r rule; do
      [[ "$rule" =~ ^#|^$ ]] && continue
      pattern="${rule%:*}"; rooms=" ${rule##*:} "
      if [[ "$header" =~ $pattern && "$rooms" != *" $room "* ]]; then
        fail "$file includes $header: only$rooms may see it"
      fi
    done < "$here/externals.txt"
  done < <(grep -rnE '^#include ' --include='*.h' --include='*.cc' "$room" | sed -E 's/^([^:]*):[0-9]+:/\1:/')
done

while IFS= read -r hit; do
  fail "SQL outside storage/meta: $hit"
done < <(grep -rnE '"(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|PRAGMA) ' --include='*.h' --include='*.cc' \
           storage server client proto 2>/dev/null | grep -vE '^storage/meta/|^client/ddl/|^client/cli/|^client/examples/' || true)

((checked > 0)) || { echo "no include was looked at: wrong root?"; exit 1; }
if ((failures)); then echo "$failures violations in $checked includes"; exit 1; fi
echo "$checked includes follow the layers"
