#!/usr/bin/env bash
# Fails where the docs name what is not there: paths and files between backticks in every *.md, source files of a room
# that its README leaves out, commands of skepctl in docs, headers and messages, keys of skepd in docs.
# Usage: check_names.sh SOURCE_ROOT
set -euo pipefail
cd "${1:?source root}"
problems=0
problem() { echo "$1"; problems=$((problems + 1)); }
mapfile -t files < <(find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's|^\./||' | sort)
listing="$(printf '%s\n' "${files[@]}")"

# there PATTERN: a path, also with * or {a,b}; every alternative must be there.
there() {
  local path
  for path in $(eval "echo $1"); do compgen -G "$path" >/dev/null || return 1; done
}

for doc in $(grep '\.md$' <<<"$listing"); do
  folder="$(dirname "$doc")"
  while read -r name; do
    if [[ "$name" =~ ^(storage|server|client|proto|tests|deploy|docs)/[]A-Za-z0-9_./*{,}[-]*$ ]]; then
      there "$name" || problem "$doc: there is no $name"
    elif [[ "$name" =~ ^[a-z_0-9*]+\.(h|cc|sh|proto|toml|\*)$ ]]; then
      there "$folder/$name" || grep -qE "/${name//\*/[^/]*}\$" <<<"$listing" || problem "$doc: there is no $name"
    fi
  done < <(grep -oE '`[^` ]+`' "$doc" | tr -d '`' | sort -u)
done

# Every source file of a room stands in its README, by its stem or under a pattern like `*_commands.cc`.
for readme in $(grep -E '^(storage|server|client|proto)/.*README\.md$' <<<"$listing"); do
  folder="$(dirname "$readme")"
  patterns="$(grep -oE '[a-z_0-9]*\*[a-z_0-9]*' "$readme" | sed 's/\*/.*/' | grep '[a-z]' | sort -u || true)"
  for file in $(grep -E "^$folder/[^/]+\.(cc|h|proto)\$" <<<"$listing"); do
    stem="$(basename "$file")"; stem="${stem%.*}"
    grep -qE "(^|[^a-z_0-9])$stem([^a-z_0-9]|\$)" "$readme" && continue
    [[ -n "$patterns" ]] && grep -qxE "$(paste -sd'|' <<<"$patterns")" <<<"$stem" && continue
    problem "$readme does not say what $file is for"
  done
done

# `skepctl show tables` and the like: each word pair must be a command.
definitions=client/cli/command_definitions.cc
known="$(grep -oE '"[a-z]+"' "$definitions" | tr -d '"' | sort -u)"
while IFS=: read -r file first second; do
  grep -qx "$first" <<<"$known" || { problem "$file: there is no command 'skepctl $first'"; continue; }
  case "$first" in
    show | explain | create | register | drop | abort | release)
      [[ -z "$second" ]] || grep -qx "$second" <<<"$known" || problem "$file: there is no command 'skepctl $first $second'" ;;
  esac
done < <(grep -rHoP '(`|"|  |: |\()\Kskepctl [a-z]+( [a-z]+)?' --include='*.md' --include='*.h' --include='*.cc' \
           --include='*.proto' --include='*.sh' README.md docs deploy storage server client proto |
         sed -E 's/:skepctl ([a-z]+) ?/:\1:/' | sort -u)

# Keys of the configuration: `txn.timeout`, `--txn.timeout`.
keys="$(grep -oE '^\[[a-z]+\]|^#?[a-z_]+ = ' deploy/skepd.toml |
        awk '/^\[/ {gsub(/[][]/, ""); section = $0; next} {sub(/^#/, ""); print section "." $1}')"
sections="$(cut -d. -f1 <<<"$keys" | sort -u | paste -sd'|')"
while IFS=: read -r file key; do
  grep -qx "${key//-/_}" <<<"$keys" || grep -qE "(^|/)$key\$" <<<"$listing" || problem "$file: there is no key $key"
done < <(grep -rHoE "(\`|--)($sections)\.[a-z_-]+(\`| )" --include='*.md' --include='*.sh' README.md docs deploy client server |
         sed -E 's/:[`-]*([a-z]+\.[a-z_-]+).$/:\1/' | sort -u)

((problems == 0)) || { echo "$problems names in the docs lead nowhere"; exit 1; }
echo "every name in the docs is there"
