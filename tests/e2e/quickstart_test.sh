#!/usr/bin/env bash
# The README's first command runs to its end and shows every step. Usage: quickstart_test.sh SOURCE_DIR
set -euo pipefail
output="$("$1/deploy/quickstart.sh")"
for text in 'INSERT orders 1 and 2' 'delete_delta_0000003_0000003_0000/bucket_00000' 'still sees the same rows: yes' \
            'base_0000003_v' 'PAID' 'skepd ended with exit code 0'; do
  grep -qF "$text" <<<"$output" || { echo "$output"; echo "quickstart_test: not shown: $text"; exit 1; }
done
echo "the quick start shows every step"
