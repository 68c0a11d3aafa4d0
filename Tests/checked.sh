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
mkdir -p "$folder"

# The sanitiser has to be silent about data that a Mutex guards, and to find races on other data.
prove_thread_sanitiser() {
    clang -O1 -shared -fPIC -Wall -Wextra -Werror -o "$folder/mutex.so" Tests/ThreadSanitiser/mutex.c
    swiftc -sanitize=thread -g -parse-as-library -o "$folder/threads" Tests/ThreadSanitiser/Threads.swift
    LD_PRELOAD=$PWD/$folder/mutex.so "$folder/threads" > "$folder/guarded" 2>&1 \
        || { cat "$folder/guarded"; echo "the thread sanitiser does not see Swift's Mutex" >&2; return 1; }
    if LD_PRELOAD=$PWD/$folder/mutex.so "$folder/threads" racy > "$folder/racy" 2>&1; then
        echo "the thread sanitiser misses a race" >&2
        return 1
    fi
}

case $what in
    thread)
        filter='^(HTTPTransport|Gateway|JournalSQLite|Journaling|Ownership|Telemetry|TLS)Tests\.'
        # Swift 6.3 makes an invalid cast of an inout argument in swift-collections' hash table, which nothing here calls, and
        # LLVM's verifier ends the build for it.
        options=(--sanitize=thread -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify)
        found='^WARNING: ThreadSanitizer'
        prove_thread_sanitiser
        preload=$PWD/$folder/mutex.so
        export TSAN_OPTIONS="halt_on_error=0 exitcode=66 history_size=4 suppressions=$PWD/Tests/ThreadSanitiser/suppressions"
        ;;
    address)
        filter='^(APNSWire|HTTP2|HTTPTransport|IntentMatching|JournalSQLite|Journaling|Storage|TLS)Tests\.'
        options=(--sanitize=address)
        found='ERROR: AddressSanitizer'
        # Swift's runtime keeps metadata until the end, which is no leak.
        export ASAN_OPTIONS="detect_leaks=0"
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

swift build --build-tests --scratch-path "$folder" "${options[@]}"
tests=$folder/debug/freshetPackageTests.xctest
# Slow tests are ten times as slow here: one seed of each finds the same kinds of fault, and with few tests at once each comes to
# its end within the time that a test waits for a condition.
export FRESHET_SEEDS=${FRESHET_SEEDS:-1} SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 LLVM_PROFILE_FILE=$folder/%p.profraw
rm -f "$folder"/*.profraw
status=0
# The end-to-end tests run the program of .build, which is another one.
env ${preload:+LD_PRELOAD="$preload"} "$tests" --skip-build --disable-xctest --testing-library swift-testing \
    --filter "${FILTER:-$filter}" --skip '^EndToEndTests\.' > >(tee "$log") 2>&1 || status=1

# A gateway refuses variables that set no key of its configuration.
if [ "$what" = thread ]; then env -u FRESHET_SEEDS Tests/ThreadSanitiser/serve.sh "$folder/debug/freshet" "$folder" || status=1; fi
if [ "$what" = coverage ]; then
    # The compiler's own: those of another LLVM do not read its profiles.
    PATH=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/../../bin:$PATH
    llvm-profdata merge -sparse "$folder"/*.profraw -o "$folder/coverage.profdata"
    llvm-cov export -summary-only "$tests" -instr-profile "$folder/coverage.profdata" | python3 Tests/coverage.py
elif grep -qE "$found" "$log"; then
    echo
    echo "What the sanitiser found, each place once (the whole log is $log):"
    grep '^SUMMARY: ' "$log" | sort | uniq -c | sort -rn
    status=1
fi
exit $status
