#!/usr/bin/env bash
# What `cmake --install` puts in place is complete: programs that start away from the build tree, service files, and a
# client library that find_package(Skep) finds and the worked example builds and runs against.
# Usage: install_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build="$1"; source="$2"
work="$(mktemp -d)"
daemon=0
finish() {
  if ((daemon)); then kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "install_test: $*" >&2; exit 1; }

prefix="$work/opt/skep"
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in sbin/skepd bin/skepctl lib/systemd/system/skepd.service lib/sysusers.d/skep.conf lib/tmpfiles.d/skep.conf \
            share/skep/warehouse.conf etc/skep/skepd.toml include/skep/session.h share/doc/skep/README.md \
            share/doc/skep/docs/architecture.md; do
  [[ -e "$prefix/$file" ]] || fail "$file was not installed"
done
# What the unit names is what was installed, also under another prefix than that of the build.
unit="$prefix/lib/systemd/system/skepd.service"
for path in $(grep -oE '(=|:| )/[^ ]*(skepd|skepd\.toml|README\.md)( |$)' "$unit" | tr -d '=: '); do
  [[ "$path" == "$prefix"/* && -e "$path" ]] || fail "the unit names $path, which was not installed"
done
"$prefix/sbin/skepd" --version >/dev/null || fail "the installed skepd does not start"
"$prefix/bin/skepctl" --version >/dev/null || fail "the installed skepctl does not start"
if ldd "$prefix/bin/skepctl" | grep -q "$build"; then fail "the installed skepctl needs the build tree"; fi

mkdir "$work/consumer"
cp "$source/client/examples/orders.cc" "$work/consumer/"
cat > "$work/consumer/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Skep REQUIRED)
add_executable(orders orders.cc)
target_link_libraries(orders PRIVATE Skep::client)
CMAKE
cmake -S "$work/consumer" -B "$work/consumer/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$work/consumer/build" >"$work/consumer.log" || { tail -30 "$work/consumer.log"; false; } || fail "the example does not build against the installed library"

mkdir "$work/warehouse" "$work/store"
"$prefix/sbin/skepd" --server.listen "unix:$work/s" --store.path "$work/store/skep.db" --warehouse.roots "$work/warehouse" \
  --cleaner.interval 100ms 2>"$work/log" &
daemon=$!
for _ in $(seq 100); do
  "$prefix/bin/skepctl" --endpoint "unix:$work/s" status >/dev/null 2>&1 && break
  kill -0 "$daemon" 2>/dev/null || fail "the installed skepd ended: $(cat "$work/log")"
  sleep 0.1
done
"$work/consumer/build/orders" "unix:$work/s" | grep -q 'the cleaner removed what the base replaced' ||
  fail "the example did not run to its end"
echo "installed programs and library work"
