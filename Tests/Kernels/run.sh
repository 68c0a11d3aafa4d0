#!/usr/bin/env bash
# Tests CKernels with every compiler there is: clang and gcc for this processor, and Debian's cross compiler for aarch64,
# run under qemu. A compiler that is not installed is skipped, with a message (apt-get install gcc-aarch64-linux-gnu
# qemu-user).
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/kernels
mkdir -p "$out"

check() { # name, how to run it, compiler
    local name=$1 runner=$2
    shift 2
    if ! command -v "$1" >/dev/null || { [ -n "$runner" ] && ! command -v "${runner%% *}" >/dev/null; }; then
        echo "KernelsTest, $name: skipped, no $1${runner:+ or no ${runner%% *}}"
        return
    fi
    "$@" -O2 -Wall -Wextra -Werror -I Sources/CKernels/include Sources/CKernels/*.c Tests/Kernels/KernelsTest.c \
        -o "$out/$name"
    echo -n "$name: "
    $runner "$out/$name"
}

check native-clang "" clang
check native-gcc "" gcc
# The function that picks a variant must not call the sanitiser, which is not there yet. It wants libdispatch, which
# comes with Swift.
libraries=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/lib/swift/linux
check address-sanitiser "" clang -fsanitize=address,undefined -fno-sanitize-recover=all -fuse-ld=lld
check thread-sanitiser "" clang -fsanitize=thread -L "$libraries" -Wl,-rpath,"$libraries" -ldispatch -lBlocksRuntime
check aarch64 "qemu-aarch64 -L /usr/aarch64-linux-gnu" aarch64-linux-gnu-gcc
