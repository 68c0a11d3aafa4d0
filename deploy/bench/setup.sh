#!/usr/bin/env bash
# Installs the peers that `make bench` measures beside Freshet, and builds those that have to be built.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh

missing=()
while read -r package _; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done < <(grep -v '^#' deploy/bench/packages.txt)
if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
    export DEBIAN_FRONTEND=noninteractive
    # The servers are started by the rows themselves, in folders of their own: none is to run as a service.
    "${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
    echo "create_main_cluster = false" | "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/freshet.conf >/dev/null
    step "reading Debian's lists of packages" "${as_root[@]}" apt-get update
    step "installing ${missing[*]}" "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
fi

step "building the Hummingbird server (some minutes the first time)" \
    swift build -c release --package-path Tests/Benchmarks/HummingbirdServer --scratch-path .build/hummingbird
