#!/bin/sh
# Installs what is beside it: the program, its pages and completions, systemd units and, where there is none, a configuration.
#
#   ./install.sh                        into /usr, as root
#   PREFIX=$HOME/.local ./install.sh    the program, pages and completions alone
set -eu
cd "$(dirname "$0")"

missing=$(ldd usr/bin/freshet | sed -n 's/^[[:space:]]*\(.*\) => not found$/\1/p')
if [ -n "$missing" ]; then
    echo "these libraries are missing: $missing" >&2
    echo "on Debian: apt-get install libnats3.4 libnghttp2-14 libsimdjson14 libsqlite3-0 libssl3 libstdc++6 zlib1g" >&2
    exit 1
fi

prefix=${PREFIX:-/usr}
# The program that is replaced stays, for `freshet upgrade`: it may have to decide what it has accepted.
installed="${DESTDIR:-}$prefix/bin/freshet"
if [ -x "$installed" ] && ! cmp -s usr/bin/freshet "$installed"; then
    mkdir -p "${DESTDIR:-}$prefix/lib/freshet"
    cp -p "$installed" "${DESTDIR:-}$prefix/lib/freshet/freshet-previous"
fi
(cd usr && find . -type f) | while read -r file; do
    mode=644
    [ "$file" != ./bin/freshet ] || mode=755
    mkdir -p "${DESTDIR:-}$prefix/$(dirname "$file")"
    install -m "$mode" "usr/$file" "${DESTDIR:-}$prefix/$file"
done
[ "$prefix" = /usr ] || exit 0

mkdir -p "${DESTDIR:-}/etc/freshet" "${DESTDIR:-}/etc/systemd/system"
install -m 644 lib/systemd/system/* "${DESTDIR:-}/etc/systemd/system/"
[ -e "${DESTDIR:-}/etc/freshet/freshet.yaml" ] || install -m 640 etc/freshet/freshet.yaml "${DESTDIR:-}/etc/freshet/freshet.yaml"
if [ -z "${DESTDIR:-}" ]; then
    getent passwd freshet >/dev/null || useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin freshet
    chown -R root:freshet /etc/freshet
    chmod 750 /etc/freshet
    [ ! -d /run/systemd/system ] || systemctl daemon-reload
fi
