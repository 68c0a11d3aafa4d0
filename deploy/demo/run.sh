#!/usr/bin/env bash
# The demo: builds the program, makes certificates, starts a gateway and lets demo.py play a day with it.
# KEEP=1 leaves the gateway running afterwards; HOSTS sets how many hosts there are (10000). JOURNAL=jetstream has the log on a NATS
# broker of its own. PICTURES=folder takes pictures instead, the last with WIDGETS widgets (0 for none). PROGRAM is a program that is
# built already.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh

root=$PWD
demo=$root/.demo
program=${PROGRAM:-$root/.build/release/freshet}
kid=DEMOKEY001
team=DEMOTEAM01

if [ -z "${PROGRAM:-}" ]; then
    step "building the release program (some minutes the first time)" swift build -c release --product freshet
fi

if [ -f "$demo/pid" ] && kill -0 "$(cat "$demo/pid")" 2>/dev/null; then
    echo "a demo gateway is running already (pid $(cat "$demo/pid")): kill it first" >&2
    exit 1
fi
rm -rf "$demo"
mkdir -p "$demo"
"$program" certs --out "$demo/certs" >/dev/null
"$program" token mint --key "$demo/certs/provider-key.p8" --kid $kid --team $team > "$demo/token"

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
push=${PUSH_PORT:-$(free_port)}
host=${HOST_PORT:-$(free_port)}
ops=${OPS_PORT:-$(free_port)}
page=${PAGE_PORT:-$(free_port)}
provider=${PROVIDER_PORT:-$(free_port)}
sed -e "s/@PUSH@/$push/" -e "s/@HOST@/$host/" -e "s/@OPS@/$ops/" -e "s/@PAGE@/$page/" -e "s/@PROVIDER@/$provider/" "$root/deploy/demo/demo.yaml" > "$demo/freshet.yaml"

pid=
broker_pid=
stop() {
    # The gateway first: it writes to the log until it has ended.
    for process in $pid $broker_pid; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -f "$demo/pid"
}
trap stop EXIT

case "${JOURNAL:-sqlite}" in
    sqlite) ;;
    jetstream)
        # The port is the system's choice, and the gateway waits for a broker that is starting.
        broker=$(free_port)
        (
            umask 077
            for user in freshet system; do openssl rand -hex 24 > "$demo/$user-password"; done
            cat > "$demo/broker.conf" <<BROKER
listen: 127.0.0.1:$broker
jetstream { store_dir: "$demo/broker", sync_interval: always }
accounts {
  SYS: { users: [ { user: system, password: "$(cat "$demo/system-password")" } ] }
  FRESHET: { jetstream: enabled, users: [ { user: freshet, password: "$(cat "$demo/freshet-password")" } ] }
}
system_account: SYS
BROKER
        )
        cat >> "$demo/freshet.yaml" <<GATEWAY
journal:
  jetstream:
    servers: ["nats://127.0.0.1:$broker"]
    replicas: 1
    maxStreamBytes: 512MiB
    credentials: {user: freshet, file: freshet-password}
    systemCredentials: {user: system, file: system-password}
GATEWAY
        .venv/bin/nats-server -c "$demo/broker.conf" 2> "$demo/broker.log" &
        broker_pid=$!
        ;;
    *)
        echo "JOURNAL is sqlite or jetstream, not $JOURNAL" >&2
        exit 1
        ;;
esac
"$program" serve --config "$demo/freshet.yaml" 2> "$demo/gateway.log" &
pid=$!
echo "$pid" > "$demo/pid"

# Ready when it says so; a gateway that has died says why in its log.
until curl --silent --fail --cacert "$demo/certs/ca.pem" "https://localhost:$ops/readyz" >/dev/null 2>&1; do
    if ! kill -0 "$pid" 2>/dev/null; then
        cat "$demo/gateway.log" >&2
        exit 1
    fi
    read -r -t 0.2 <> <(:) || true
done
echo "the gateway is ready: push $push, host $host, ops $ops"
echo

# The web page that is a host, and the timeline provider behind it.
start_page() {
    cat > "$demo/state.json" <<'STATE'
{"scores": {"seahawks": {"opponent": "rams", "us": 14, "them": 10, "minute": 52},
            "bears": {"opponent": "jets", "us": 3, "them": 3, "minute": 18}},
 "characters": {"panda": {"health": 40}, "spouty": {"health": 85}}}
STATE
    /usr/bin/python3 docs/examples/provider-python/provider.py --port "$provider" --state "$demo/state.json" \
        > "$demo/provider.log" 2>&1 &
    provider_pid=$!
    /usr/bin/python3 -m http.server "$page" --bind 127.0.0.1 --directory docs/examples/host-web \
        > "$demo/page.log" 2>&1 &
    page_pid=$!
    # None of the tokens that demo.py counts up for its hosts, which are of another app.
    token=$(printf 'fe%062x' 1)
    credential=$("$program" token host --key "$demo/certs/provider-key.p8" --kid $kid --team $team \
        --app com.example.page --push-token "$token")
    page_url="http://127.0.0.1:$page/#gateway=https://localhost:$host&app=com.example.page&token=$token&credential=$credential"
}

told=(--ca "$demo/certs/ca.pem" --token "$demo/token" --key "$demo/certs/provider-key.p8" --kid $kid --team $team
    --push-port "$push" --host-port "$host" --ops-port "$ops"
    --operator-token "$demo/data/operator-token" --hosts "${HOSTS:-10000}")

if [ -n "${PICTURES:-}" ]; then
    start_page
    trap 'kill "$provider_pid" "$page_pid" 2>/dev/null || true; stop' EXIT
    .venv/bin/python deploy/demo/pictures.py "${told[@]}" --page "$page_url" --state "$demo/state.json" \
        --provider-pid "$provider_pid" --program "$program" --folder "$PICTURES" --widgets "${WIDGETS:-0}"
    exit
fi

.venv/bin/python deploy/demo/demo.py "${told[@]}"

if [ -n "${KEEP:-}" ]; then
    trap - EXIT
    start_page
    disown "$pid" $broker_pid "$provider_pid" "$page_pid"
    FRESHET_CONTEXTS="$demo/contexts.yaml" "$program" context set demo --server "https://localhost:$ops" \
        --push-server "https://localhost:$push" --host-server "https://localhost:$host" --ca "$demo/certs/ca.pem" \
        --data "$demo/data" --key "$demo/certs/provider-key.p8" --kid $kid --team $team > /dev/null
    cat <<EOF

The gateway keeps running (pid $pid, log .demo/gateway.log). Try:
  export FRESHET_CONTEXTS=$demo/contexts.yaml PATH=$(dirname "$program"):\$PATH
  freshet status
  freshet instances show com.example.scores/phone-1:scores-1
  freshet send --app com.example.scores --kind scores --match '{"team":["rams"]}' --dry-run

The dashboard, in a browser on this machine (freshet trust .demo/certs/ca.pem lets it do so without a warning):
  $(FRESHET_CONTEXTS="$demo/contexts.yaml" "$program" dashboard)

A host to look at, in a browser on this machine (open https://localhost:$host once before and accept its certificate):
  $page_url
Score: change .demo/state.json, then push:
  freshet send --app com.example.page --kind scores --match '{"team":["seahawks"]}' --priority 10

Stop it with: kill $pid $broker_pid $provider_pid $page_pid
EOF
fi
