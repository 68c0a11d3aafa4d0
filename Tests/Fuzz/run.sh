#!/usr/bin/env bash
# Lets libFuzzer look for match patterns that trap the parser or change their meaning.
#
#   Tests/Fuzz/run.sh                 ten minutes
#   SECONDS_MAX=60 Tests/Fuzz/run.sh  shorter
#
# Starts from the texts in Corpus/; texts of interest go to .build/fuzz/corpus, failing ones to .build/fuzz/crash-*.
# Exits with 1 if anything fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh
out=$PWD/.build/fuzz
mkdir -p "$out/corpus"

# What the parser needs, with libFuzzer's instrumentation, beside the usual build.
for target in IntentMatching APNSWire; do
    step "compiling $target" swift build -c release --target $target --scratch-path "$out/build" -Xswiftc -sanitize=fuzzer
done
# Cross-target API is `package`: the name of the package is the folder's.
mapfile -t objects < <(find "$out/build/release/" -name '*.o')
maps=()
for map in "$out"/build/release/*.build/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
step "compiling PatternFuzz" swiftc -swift-version 6 -O -parse-as-library -sanitize=fuzzer -I "$out/build/release/Modules" \
    -package-name "$(basename "$PWD" | tr '[:upper:]' '[:lower:]')" -enable-upcoming-feature InternalImportsByDefault \
    -enable-upcoming-feature MemberImportVisibility -module-name PatternFuzz Tests/Fuzz/PatternFuzz.swift "${objects[@]}" \
    "${maps[@]}" -lsimdjson -lstdc++ -o "$out/PatternFuzz"

# libFuzzer tells its own progress.
exec "$out/PatternFuzz" "$out/corpus" Tests/Fuzz/Corpus -max_total_time="${SECONDS_MAX:-600}" -max_len=4096 \
    -dict=Tests/Fuzz/pattern.dict -artifact_prefix="$out/" -print_final_stats=1 -verbosity="${VERBOSITY:-1}"
