#!/usr/bin/env bash
# Runs a fuzzer on a copy of its corpus and says what it did. Fails on a finding, on an empty corpus
# and when nothing was executed.
#
# usage: run_fuzzer.sh FUZZER CORPUS      PENSTOCK_FUZZ_SECONDS: how long (default 5)
set -euo pipefail

fuzzer=$1
corpus=$2
seconds=${PENSTOCK_FUZZ_SECONDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ -z $(find "$corpus" -type f -print -quit) ]]; then
  echo "empty corpus: $corpus" >&2
  exit 1
fi
mkdir "$work/corpus"
cp -r "$corpus/." "$work/corpus"
if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="$PWD/" "$work/corpus" >"$work/log" 2>&1; then
  tail -n 60 "$work/log" >&2
  exit 1
fi
executions=$(awk '/stat::number_of_executed_units/ { print $2 }' "$work/log")
edges=$(grep -o 'cov: [0-9]*' "$work/log" | tail -n 1 | cut -d' ' -f2)
echo "$(basename "$fuzzer"): ${executions:-0} executions, ${edges:-0} edges"
((${executions:-0} > 1000 && ${edges:-0} > 20))
