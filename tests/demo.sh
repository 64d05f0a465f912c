#!/usr/bin/env bash
# Shows penstock at work on this machine, in network namespaces: builds it, starts two penstock
# hosts and three backends, spreads requests, drains a backend live. Leaves no trace.
set -euo pipefail

usage() {
  echo "usage: demo.sh [--keep]     (needs root)"
  echo "  --keep   leave everything running at the end and print commands to try"
}

keep=false
case "${1-}" in
  --keep) keep=true ;;
  -h | --help) usage && exit 0 ;;
  "") ;;
  *) usage >&2 && exit 2 ;;
esac
if (($# > 1)); then
  usage >&2
  exit 2
fi

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(dirname "$tests")
build=$repository/build/release
log=$repository/build/demo.log
export PENSTOCK_LAB=demo PENSTOCK_BUILD=$build
lab=$tests/lab/lab
vip=203.0.113.10
drained=10.3.1.2

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf 'demo.sh: %s\n' "$*" >&2
  exit 1
}

clean_up() {
  local code=$?
  rm -f "${spread-}"
  trap - EXIT
  if ((code != 0)) || [[ $keep == false ]]; then
    "$lab" down || echo "demo.sh: could not clean up; try: PENSTOCK_LAB=demo $lab down" >&2
  fi
  exit "$code"
}

# On a terminal the build shows its progress itself; elsewhere thousands of lines help nobody.
quietly() {
  if [[ -t 1 ]]; then
    "$@"
  else
    "$@" >>"$log" 2>&1 || {
      tail -n 30 "$log" >&2
      return 1
    }
  fi
}

build_penstock() {
  "$tests/install_packages.sh" || fail "packages are missing; install them as said above"
  mkdir -p "$repository/build"
  : >"$log"
  cd "$repository"
  quietly cmake --preset release || fail "cannot configure the build; the reason is above"
  quietly cmake --build --preset release || fail "the build failed; the reason is above"
  cd - >/dev/null
}

on_both_hosts() {
  "$lab" ctl lb1 "$@"
  "$lab" ctl lb2 "$@"
}

show_decapsulators() {
  local backend
  for backend in be1 be2 be3; do
    "$lab" exec "$backend" "$build/bin/penstock-decap" counters eth0 |
      awk -v name="$backend" '/^ipip/ && $2 > 0 { printf "%-8s %-12s %8d packets\n", name, $1, $2 }'
  done
}

run_demo() {
  say "300 requests to http://$vip/, spread over three backends"
  "$lab" spread 300

  say "be1 is drained live, on both hosts: penstockctl backend drain web $drained"
  on_both_hosts backend drain web "$drained"
  "$lab" ctl lb1 get backends
  # A client that uses a port again within 5 s may still mean the old connection, and is sent after
  # it; this client may, as the servers close first and it remembers no port.
  sleep 6

  say "300 more requests: none goes to be1"
  "$lab" spread 300 | tee "$spread"
  if grep -q '^be1 ' "$spread"; then
    fail "be1 took new connections although it is drained"
  fi

  say "be1 comes back: penstockctl backend undrain web $drained"
  on_both_hosts backend undrain web "$drained"
  "$lab" spread 300

  say "What the backends unwrapped: IPv4 in IPv4, straight from the penstock hosts"
  show_decapsulators

  say "What lb1 counted"
  "$lab" ctl lb1 counters --nonzero
}

print_what_to_try() {
  local ctl=$build/bin/penstockctl socket=/run/penstock-lab/demo
  cat <<END

== It keeps running. Try:
  ip netns exec penstock-demo-client curl http://$vip/
  ip netns exec penstock-demo-client curl 'http://[2001:db8:53::10]/'
  $ctl --target unix:$socket/lb1.sock get backends
  $ctl --target unix:$socket/lb2.sock get pools -o json
  ip netns exec penstock-demo-router tcpdump -ni r-be1 proto 4      # the tunnel, on its way to be1
  export PENSTOCK_LAB=demo
  $lab spread 1000
  $lab route lb2                # all traffic through the second host
and stop it with:
  PENSTOCK_LAB=demo $lab down
END
}

((EUID == 0)) || fail "needs root for network namespaces; run: sudo $0"
say "Building penstock (the first time takes some minutes; log: $log)"
build_penstock
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
spread=$(mktemp)

say "Starting a client, a router, two penstock hosts and three backends"
"$lab" up
"$lab" status
run_demo
if [[ $keep == true ]]; then
  print_what_to_try
else
  say "Done; everything is removed again"
fi
