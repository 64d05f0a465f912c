#!/usr/bin/env bash
# Installs what is needed, builds every variant and runs every test. Ends with the closing line of
# ctest; exit 0 only if everything passed.
#
# usage: sudo tests/run.sh      PENSTOCK_FUZZ_SECONDS: seconds for each fuzzer (default 5)
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repository"

say() { printf '\n== %s (%s)\n' "$*" "$(date +%T)"; }
fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 1
}

((EUID == 0)) || fail "needs root for packages and network namespaces; run: sudo $0"

say "Packages"
tests/install_packages.sh
mkdir -p build

# build PRESET [cmake --build options]: the compiler's output only when it fails.
build() {
  local log=build/$1.log
  say "Build: $*"
  cmake --preset "$1" >"$log" 2>&1 || { cat "$log" >&2 && fail "cannot configure $1"; }
  cmake --build --preset "$@" >"$log" 2>&1 || { tail -n 60 "$log" >&2 && fail "cannot build $1"; }
}
# test_leg PRESET [ctest options]: a leg that matches no test fails.
test_leg() {
  say "Test: $*"
  ctest --preset "$1" --no-tests=error "${@:2}" || fail "tests failed: $*"
}

build release
build release --target all_verify_interface_header_sets
build clang
build tsan
# Without those that have no threads and take minutes there; the address sanitizer runs them.
test_leg tsan -L unit -E '^(lb_tables_test|lb_floods_test|churn_simulation_test)$'
build fuzz
test_leg fuzz -L fuzz
build asan
# Debian's protobuf is not instrumented, so what it puts into containers looks like an overflow.
ASAN_OPTIONS=detect_container_overflow=0 test_leg asan -LE 'lab|dpdk'
test_leg release
