#!/usr/bin/env bash
# Installs the Debian 12 packages that building, testing and the demo need. Safe to run again: it
# asks apt only when something is missing.
set -euo pipefail

packages=(
  # build
  build-essential cmake ninja-build pkg-config ccache clang-14 libclang-rt-14-dev clang-format-14 lld-14
  # libraries
  dpdk dpdk-dev libdpdk-dev libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libabsl-dev libspdlog-dev libfmt-dev libcli11-dev libyaml-cpp-dev libgtest-dev libgmock-dev libbpf-dev libpcap-dev
  libsqlite3-dev
  # lab: namespaces, real TCP at both ends, a second opinion on packets
  iproute2 iputils-ping ethtool procps curl jq nginx-light bpftool tcpdump python3 python3-scapy
  python3-grpcio python3-protobuf python3-yaml
  # penstockd on emulated NICs; the guest's kernel is downloaded by its test and not installed
  qemu-system-x86 busybox-static cpio
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
if ((EUID != 0)); then
  echo "install_packages.sh: needs root to install: ${missing[*]}; run it with sudo" >&2
  exit 1
fi
echo "installing ${#missing[@]} packages"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A package's service must not start: the lab starts what it needs, inside its own namespaces.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$log" "$policy"' EXIT
fi
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "install_packages.sh: apt-get failed; packages wanted: ${missing[*]}" >&2
  exit 1
fi
