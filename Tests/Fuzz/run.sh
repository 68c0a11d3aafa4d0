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
mkdir -p "$out/include" "$out/corpus"

cat > "$out/include/module.modulemap" <<MAP
module CKernels { header "$PWD/Sources/CKernels/include/CKernels.h" export * }
module CSimdjson { header "$PWD/Sources/CSimdjson/include/CSimdjson.h" export * }
MAP

step "compiling CKernels" clang -O2 -c Sources/CKernels/CKernels.c -I Sources/CKernels/include -o "$out/CKernels.o"
step "compiling CSimdjson" clang++ -std=c++17 -O2 -c Sources/CSimdjson/CSimdjson.cpp -I Sources/CSimdjson/include -o "$out/CSimdjson.o"

# Cross-target API is `package`, so that everything is compiled as one package.
flags=(-swift-version 6 -O -wmo -parse-as-library -package-name freshet -sanitize=fuzzer -I "$out" -I "$out/include"
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility)
for module in WidgetModel IntentMatching APNSWire; do
    find "Sources/$module" -name '*.swift' | sort > "$out/$module.files"
    step "compiling $module" swiftc "${flags[@]}" -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
        -emit-object -o "$out/$module.o" "@$out/$module.files"
done
step "compiling PatternFuzz" swiftc "${flags[@]}" -module-name PatternFuzz Tests/Fuzz/PatternFuzz.swift "$out"/{WidgetModel,IntentMatching,APNSWire}.o \
    "$out"/{CKernels,CSimdjson}.o -lsimdjson -lstdc++ -o "$out/PatternFuzz"

# libFuzzer tells its own progress.
exec "$out/PatternFuzz" "$out/corpus" Tests/Fuzz/Corpus -max_total_time="${SECONDS_MAX:-600}" -max_len=4096 \
    -dict=Tests/Fuzz/pattern.dict -artifact_prefix="$out/" -print_final_stats=1 -verbosity="${VERBOSITY:-1}"
