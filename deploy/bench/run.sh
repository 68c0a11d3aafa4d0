#!/usr/bin/env bash
# Runs every row beside its peers and prints one table; `bench.py --help` has the options, which are passed on.
# Peers that `make bench-setup` did not install are reported as absent.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh
for product in freshet BenchmarkRows BenchmarkTransport BenchmarkJournal; do
    step "building the release program $product (some minutes the first time)" swift build -c release --product "$product"
done
exec .venv/bin/python deploy/bench/bench.py --program .build/release/freshet \
    --rows-program .build/release/BenchmarkRows "$@"
