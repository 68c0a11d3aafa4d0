#!/usr/bin/env bash
# Compares the gateway with its peers in one run and prints ratios. ROUNDS and SECONDS_PER_RUN set how long it takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "building the release program (some minutes the first time)"
swift build -c release --product freshet 2>&1 | tail -1
exec .venv/bin/python deploy/bench/bench.py --program .build/release/freshet \
    --rounds "${ROUNDS:-5}" --seconds "${SECONDS_PER_RUN:-10}" "$@"
