#!/usr/bin/env bash
# A development CA, a server certificate, a client certificate and a provider key, made with openssl alone.
# The files have the names and the contents that `freshet certs` gives them. Files that exist already are kept.
#
#   certs-example/make-certs.sh FOLDER [DNS NAME OR IP ADDRESS OF THE SERVER ...]
set -euo pipefail
umask 077

[ "$#" -ge 1 ] || { echo "usage: $0 FOLDER [NAME OR ADDRESS ...]" >&2; exit 64; }
out=$1
shift
[ "$#" -ge 1 ] || set -- localhost 127.0.0.1 ::1
days=365

mkdir -p "$out"
cd "$out"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && ! git check-ignore --quiet ca.key; then
    echo "$0: $out is in a git work tree; private keys do not belong there" >&2
    cd / && rmdir --ignore-fail-on-non-empty "$OLDPWD"
    exit 1
fi

key() { [ -f "$1" ] || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# issue NAME SUBJECT EXTENSIONS: a key and a certificate that the CA signs.
issue() {
    key "$1.key"
    [ ! -f "$1.pem" ] || return 0
    openssl req -new -key "$1.key" -subj "$2" |
        openssl x509 -req -sha256 -days "$days" -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 16)" \
            -extfile <(printf 'basicConstraints = critical, CA:false\nkeyUsage = critical, digitalSignature\n%s\n' "$3") \
            -out "$1.pem"
    chmod 644 "$1.pem"
}

# The CA: its key signs certificates and nothing else.
key ca.key
if [ ! -f ca.pem ]; then
    openssl req -x509 -new -sha256 -days 3650 -key ca.key -subj "/CN=Freshet development CA" \
        -addext "basicConstraints = critical, CA:true, pathlen:0" -addext "keyUsage = critical, keyCertSign, cRLSign" \
        -out ca.pem
    chmod 644 ca.pem
fi

# The server: clients look at the names in subjectAltName only.
names=()
for name in "$@"; do
    if [[ $name == *:* || $name =~ ^[0-9]+(\.[0-9]+){3}$ ]]; then names+=("IP:$name"); else names+=("DNS:$name"); fi
done
list=$(IFS=,; echo "${names[*]}")
issue server "/CN=$1" "extendedKeyUsage = serverAuth"$'\n'"subjectAltName = $list"

# A client certificate, for apps that allow one instead of a provider token.
issue client "/CN=freshet development client" "extendedKeyUsage = clientAuth"

# The provider key, in the form of Apple's .p8, and the public half, which is all that the gateway needs.
key provider-key.p8
if [ ! -f provider-key.public.pem ]; then
    openssl pkey -in provider-key.p8 -pubout -out provider-key.public.pem
    chmod 644 provider-key.public.pem
fi
