#!/usr/bin/env bash
# Runs a gateway that was built with the thread sanitiser, in two partitions on a disk, under a load of senders, hosts and
# operators, has it read its configuration again, and drains it. The sanitiser's reports are in FOLDER/gateway.log.
#
#   Tests/ThreadSanitiser/serve.sh PROGRAM FOLDER [DRIVER]    DRIVER sends the load; without it PROGRAM does
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "$1")
folder=$2
driver=$(realpath "${3:-$1}")
load=$PWD/Tests/ThreadSanitiser/load.yaml
suppressions=$PWD/Tests/ThreadSanitiser/suppressions
preload=$(realpath "$folder/mutex.so")
rm -rf "$folder/trial"
"$driver" init "$folder/trial" --yes > "$folder/init.log"
cd "$folder/trial"
log=../gateway.log
: > "$log"

TSAN_OPTIONS="halt_on_error=0 exitcode=66 history_size=4 suppressions=$suppressions" LD_PRELOAD=$preload \
    "$program" serve --config freshet.yaml --set partitions=2 \
    --set listeners.push.port=0 --set listeners.host.port=0 --set listeners.ops.port=0 > "$log" 2>&1 &
gateway=$!
trap 'kill "$gateway" 2>/dev/null || true' EXIT
until grep -q '"message":"ready"' "$log"; do
    kill -0 "$gateway" || { cat "$log"; exit 1; }
    sleep 0.2
done
port() { grep '"message":"ready"' "$log" | grep -o "\"$1\":\"[0-9]*\"" | grep -o '[0-9]*'; }

operators() {
    local token route
    token=$(cat data/operator-token)
    while :; do
        for route in stats history apps kinds instances hosts pushes budget forecast senders partitions upstreams config; do
            curl --silent --max-time 30 --cacert certs/ca.pem --header "authorization: bearer $token" \
                --output /dev/null "https://localhost:$(port ops)/v1/$route" || true
        done
        kill -HUP "$gateway" || return 0
    done
}
operators &
asking=$!
status=0
"$driver" bench "$load" --push-port "$(port push)" --host-port "$(port host)" --ca certs/ca.pem \
    --key certs/provider-key.p8 --kid F6G7H8J9K0 --team A1B2C3D4E5 --quiet || status=1
kill "$asking" 2>/dev/null || true
kill -TERM "$gateway"
wait "$gateway" || status=1
trap - EXIT
grep -A 40 '^WARNING: ThreadSanitizer' "$log" || true
exit $status
