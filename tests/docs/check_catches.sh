#!/usr/bin/env bash
# check_names.sh reports each kind of name that leads nowhere, check_rules.sh rules and tests without each other.
# Usage: check_catches.sh DIRECTORY_OF_THE_CHECK
set -euo pipefail
here="$(cd "$1" && pwd)"
check="$here/check_names.sh"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{docs,deploy,storage/base,server,client/cli,proto}
cd "$work"
echo '  Add(app, "show", "tables", "status")' > client/cli/command_definitions.cc
printf '[txn]\n#timeout = "300s"\n' > deploy/skepd.toml
touch storage/base/clock.h
echo '`clock.h` says the time' > storage/base/README.md
good='`storage/base/clock.h`, `skepctl show tables`, `txn.timeout`, `skepd --txn.timeout 5s`'
echo "$good" > README.md
"$check" . >/dev/null || { echo "a tree without fault was reported:"; "$check" . || true; exit 1; }

catches() {  # catches WHAT EXPECTED-TEXT
  local output
  if output="$("$check" .)"; then echo "not reported: $1"; exit 1; fi
  grep -qF "$2" <<<"$output" || { echo "reported in other words: $1"; echo "$output"; exit 1; }
  echo "$good" > README.md
}
echo '`storage/base/sundial.h`' > README.md; catches "a path" "there is no storage/base/sundial.h"
echo '`sundial.cc`' > README.md; catches "a file" "there is no sundial.cc"
echo '`skepctl show partitions`' > README.md; catches "a command" "no command 'skepctl show partitions'"
echo '`skepctl shwo tables`' > README.md; catches "a first word" "no command 'skepctl shwo'"
echo '`txn.patience`' > README.md; catches "a key" "no key txn.patience"
touch storage/base/sand.cc; catches "a source file" "does not say what storage/base/sand.cc is for"

# check_rules.sh: a rule without a test, a test without a rule.
rules="$here/check_rules.sh"
mkdir -p tests/server
echo '- **R-26** A session goes on.' > docs/rules.md
echo 'TEST(Session, R26GoesOn) {}  // LCM-1' > tests/server/session_test.cc
if output="$("$rules" .)"; then echo "not reported: a number without a rule"; exit 1; fi
grep -qF "names LCM-1" <<<"$output" || { echo "reported in other words: $output"; exit 1; }
printf -- '- **R-26** A session goes on.\n- **LCM-1** Blocked.\n- **LCM-2** Overlap.\n' > docs/rules.md
if output="$("$rules" .)"; then echo "not reported: a rule without a test"; exit 1; fi
[[ "$output" == "LCM-2 is named by no test" ]] || { echo "reported in other words: $output"; exit 1; }
sed -i 's/LCM-1/LCM-1…3/' tests/server/session_test.cc
printf -- '- **LCM-3** Strangers.\n' >> docs/rules.md
"$rules" . >/dev/null || { echo "a tree without fault was reported:"; "$rules" .; exit 1; }
echo "every kind is caught"
