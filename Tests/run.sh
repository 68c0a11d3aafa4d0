#!/usr/bin/env bash
# Runs every test, all groups even where one fails. The end lists the failures and their reasons, since they stand
# thousands of lines further up by then: the end of a log is enough.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=.build/test-logs
# Where a test says which seed it runs, as long as it does.
seeds=.build/running-seeds
# Tests that compute for minutes would keep those that wait for sockets, programs and browsers from their turn.
computing='^(Engine|IntentMatching|Simulation)Tests\.'
failed=0
# How long each step took, said at the end.
took=''

note() { # step
    took+=", $1 $SECONDS s"
    SECONDS=0
}

group() { # name, command
    local name=$1
    shift
    "$@" 2>&1 | tee "$logs/$name.log" || failed=1
    note "$name"
}

SECONDS=0
# shellcheck disable=SC2086 # several options are several words
swift build --build-tests ${BUILD_OPTIONS:-} || exit 1
note build
rm -rf "$logs" "$seeds"
mkdir -p "$logs"
# Each of these starts programs and browsers: all of them at once would only wait for each other.
SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 group waiting swift test --skip-build --disable-xctest --skip "$computing"
group computing swift test --skip-build --disable-xctest --filter "$computing"
group faults .venv/bin/python Tests/EngineFaults/plant.py --check
group kernels Tests/Kernels/run.sh
group deploy .venv/bin/python -m pytest -q -p no:cacheprovider Tests/Deploy

if [ "$failed" -ne 0 ]; then
    echo
    echo "What failed (whole logs in $logs):"
    awk '/^✘ .*recorded an issue|^✘ Test run|^FAILED |^error:|[Ff]atal error|unexpected signal/ { print; told = /recorded/; next }
         told && /^↳/ { print; next } { told = 0 }' "$logs"/*.log
    if [ -n "$(ls "$seeds" 2>/dev/null)" ]; then
        echo
        echo "What ran when a process died (docs/testing.md says how to run one seed):"
        ls "$seeds"
    fi
fi
echo
echo "Steps: ${took#, }"
exit "$failed"
