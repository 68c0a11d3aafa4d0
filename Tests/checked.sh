#!/usr/bin/env bash
# Builds the tests with a sanitiser, or with coverage, in a folder of their own, and runs those of FILTER.
#
#   Tests/checked.sh thread      races: suites with threads
#   Tests/checked.sh address     memory: suites that call C or have unsafe code
#   Tests/checked.sh coverage    which lines of Sources a test runs, as a table by target
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?thread, address or coverage}
folder=.build-$what
log=$folder/log
options=()
case $what in
    thread)
        filter='^(HTTPTransport|Gateway|JournalSQLite|Journaling|Ownership|Telemetry|TLS)Tests\.'
        # Swift 6.3 makes an invalid cast of an inout argument in swift-collections' hash table, which nothing here calls, and
        # LLVM's verifier ends the build for it.
        options=(--sanitize=thread -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify)
        export TSAN_OPTIONS="suppressions=$PWD/Tests/thread.supp halt_on_error=0 exitcode=66 history_size=4"
        ;;
    address)
        filter='^(APNSWire|HTTP2|HTTPTransport|IntentMatching|JournalSQLite|Journaling|Storage|TLS)Tests\.'
        options=(--sanitize=address)
        # Swift's runtime keeps metadata until the end, which is no leak.
        export ASAN_OPTIONS="detect_leaks=0 detect_stack_use_after_return=1"
        ;;
    coverage)
        filter='Tests\.'
        options=(--enable-code-coverage)
        ;;
    *)
        echo "$0: there is no check $what, but thread, address and coverage" >&2
        exit 2
        ;;
esac

mkdir -p "$folder"
swift build --build-tests --scratch-path "$folder" "${options[@]}"
# What is slow by itself is ten times as slow here: fewer seeds find the same kinds of fault.
export FRESHET_SEEDS=${FRESHET_SEEDS:-2}
status=0
swift test --skip-build --disable-xctest --scratch-path "$folder" "${options[@]}" --filter "${FILTER:-$filter}" \
    --skip "${SKIP:-^EndToEndTests\\.}" 2>&1 | tee "$log" || status=1

if [ "$what" = coverage ]; then
    llvm-cov export -summary-only "$folder"/debug/freshetPackageTests.xctest \
        -instr-profile "$folder"/debug/codecov/default.profdata | python3 Tests/coverage.py
elif grep -qE '^(WARNING: ThreadSanitizer|==[0-9]+==ERROR: AddressSanitizer)' "$log"; then
    echo
    echo "What the sanitiser found (the whole log is $log):"
    grep -A 12 -E '^(WARNING: ThreadSanitizer|==[0-9]+==ERROR: AddressSanitizer|SUMMARY: )' "$log" | head -200
    status=1
fi
exit $status
