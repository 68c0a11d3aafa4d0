#!/usr/bin/env bash
# ROUNDS crashes, every abuse probe, then mixed load for MINUTES: memory and descriptors must stay flat, no push may fail, the books must
# balance.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh
step "building the release program (some minutes the first time)" swift build -c release --product freshet
echo "${ROUNDS:-300} crashes (the tests are built first)"
make crash ROUNDS="${ROUNDS:-300}"
echo "abuse probes (some minutes)"
.venv/bin/python deploy/bench/probes --program .build/release/freshet
exec .venv/bin/python deploy/bench/soak.py --program .build/release/freshet --minutes "${MINUTES:-60}" "$@"
