#!/usr/bin/env bash
# Runs every row beside its peers and prints one table; `bench.py --help` has the options, which are passed on.
# Peers that `make bench-setup` did not install are reported as absent.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "building the release programs (some minutes the first time)"
swift build -c release --product freshet 2>&1 | tail -1
swift build -c release --product BenchmarkRows 2>&1 | tail -1
swift build -c release --product BenchmarkTransport 2>&1 | tail -1
swift build -c release --product BenchmarkJournal 2>&1 | tail -1
exec .venv/bin/python deploy/bench/bench.py --program .build/release/freshet \
    --rows-program .build/release/BenchmarkRows "$@"
