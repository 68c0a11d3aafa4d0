#!/usr/bin/env bash
# Tries what package.sh has made, as root, each in namespaces of its own, so that nothing of this machine changes:
#
#   the .deb       is installed in a Debian without Swift, goes through the README's first session, its service starts, makes a
#                  backup, is upgraded and purged, and then only data are left; lintian finds no error and no warning
#   the archive    is installed into a folder
#   the image      runs as its user, in its own files alone, which it cannot write, until its health check says that it is ready;
#                  SIGTERM ends an event stream in order
#   the checksums  are right, and the SPDX document lists each Swift package that was linked
#
#   deploy/package/test.sh [FOLDER]    by default .build/package/out
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh
root=$PWD
out=$(realpath "${1:-.build/package/out}")
[ "$(id -u)" -eq 0 ] || { echo "this test needs root, for namespaces" >&2; exit 64; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "$*" >&2; exit 1; }
export -f fail

checksums() { (cd "$out" && sha256sum --check --strict SHA256SUMS); }
step "checksums" checksums

# With versions and revisions; its names are those of the program that is in the packages.
contents() {
    /usr/bin/python3 - "$out"/freshet-*.spdx.json deploy/package/dependencies.json "$(dpkg-deb --field "$out"/freshet_*.deb Version)" <<'PYTHON'
import json, pathlib, sys
document, dependencies = (json.loads(pathlib.Path(place).read_text()) for place in sys.argv[1:3])
version = sys.argv[3]
listed = {(one["name"], one["versionInfo"], one["downloadLocation"].partition("@")[2]) for one in document["packages"]}
linked = {(pin["identity"], pin["state"]["version"], pin["state"]["revision"]) for pin in dependencies["pins"]}
assert linked and linked <= listed, f"not in the SPDX document: {sorted(linked - listed)}"
assert document["name"] == f"freshet-{version}" and ("freshet", version, "") in listed, f"the document is not about {version}"
ids = {one["SPDXID"] for one in document["packages"]}
related = {one["relatedSpdxElement"] for one in document["relationships"]}
assert len(ids) == len(document["packages"]) and related == ids, "the document's relations do not name each package once"
PYTHON
}
step "the contents as SPDX" contents

# What a download and a container have to carry: the program without symbols, and without ICU's data (CICUData).
size() {
    dpkg-deb --fsys-tarfile "$out"/freshet_*.deb | tar -xO ./usr/bin/freshet > "$place/freshet"
    echo "the program has $(stat -c %s "$place/freshet") bytes"
    [ "$(stat -c %s "$place/freshet")" -lt 60000000 ] || { echo "that is 60 MB or more"; return 1; }
}
step "the program's size" size

# The median of eleven runs. Other work on the machine may take time, so only ten times as long is a fault.
quick() {
    chmod +x "$place/freshet"
    /usr/bin/python3 - "$place/freshet" <<'PYTHON' | tee "$place/figure"
import statistics, subprocess, sys, time
times = []
for _ in range(11):
    start = time.perf_counter()
    subprocess.run([sys.argv[1], "version"], check=True, stdout=subprocess.DEVNULL)
    times.append(1000 * (time.perf_counter() - start))
median = statistics.median(times)
print(f"freshet version takes {median:.0f} ms (it should take at most 50), from {min(times):.0f} to {max(times):.0f}")
assert median < 500, "freshet version is slow"
PYTHON
}
step "the program's start" quick
cat "$place/figure" >&2

archive() {
    tar -xJf "$out"/freshet-*-linux-*.tar.xz -C "$place"
    DESTDIR=$place/installed "$place"/freshet-*-linux-*/install.sh
    "$place/installed/usr/bin/freshet" version
    [ -f "$place/installed/etc/freshet/freshet.yaml" ] && [ -f "$place/installed/etc/systemd/system/freshet.service" ]
}
step "the archive" archive

linted() { lintian --fail-on error,warning --tag-display-limit 0 "$out"/freshet_*.deb; }
step "lintian" linted

# A Debian without Swift and without our libraries, but with what the trial needs. It is kept for the next time.
debian=$root/.build/package/debian.tar
fetch() {
    mkdir -p "$(dirname "$debian")"
    mmdebstrap --variant=apt --include=curl,man-db,python3,systemd-sysv bookworm "$debian.part.tar" && mv "$debian.part.tar" "$debian"
}
[ -e "$debian" ] || step "fetching a Debian" fetch

# It runs there as a unit of systemd, without a network.
mkdir -p "$place/system"
tar -xf "$debian" -C "$place/system"
echo "127.0.0.1 localhost" > "$place/system/etc/hosts"
cat > "$place/system/tried.sh" <<'INSIDE'
set -euxo pipefail
fail() { echo "$*" >&2; exit 1; }
listed() { find /etc /usr /var/lib /var/backups \( -path /var/lib/dpkg -o -path /var/lib/systemd \) -prune -o -print | sort; }
ready() { curl --silent --show-error --fail --cacert /etc/freshet/certs/ca.pem https://localhost:9443/readyz; }
! command -v swift || fail "this Debian has a Swift"

listed > /tmp/before
DEBIAN_FRONTEND=noninteractive apt-get install --yes /out/freshet_*.deb
freshet version
[ "$(stat -c '%U:%G %a' /etc/freshet)" = "root:freshet 750" ] || fail "/etc/freshet has other rights"
man --warnings freshet-init > /dev/null
bash -c '. /usr/share/bash-completion/completions/freshet && complete -p freshet' > /dev/null
# The README, command by command, with the program that was installed.
unshare --mount-proc --net --pid --fork --kill-child \
    python3 /repository/Tests/Pages/run.py --inside --program /usr/bin/freshet /repository/README.md

# The service starts as it was installed, and a copy is made of its log.
systemctl start freshet.service
ready
systemctl start freshet-backup.service
freshet log verify --data /var/backups/freshet/*
systemctl enable --now freshet.service freshet-backup.timer
dpkg --verify freshet

# A later version keeps this one, and restarts the service.
before=$(systemctl show --property MainPID freshet.service)
dpkg-deb -R /out/freshet_*.deb /tmp/later
sed -i 's/^Version: .*/&+later/' /tmp/later/DEBIAN/control
dpkg-deb -Zgzip -z1 --build /tmp/later /tmp/later.deb > /dev/null
dpkg --install /tmp/later.deb
cmp /usr/bin/freshet /usr/lib/freshet/freshet-previous
[ "$(systemctl show --property MainPID freshet.service)" != "$before" ] || fail "an upgrade has not restarted the service"
ready

# A purge leaves data, and nothing else but what was changed.
dpkg --purge freshet
! systemctl is-active freshet.service || fail "the service runs after a purge"
[ -e /var/lib/freshet/journal.format ] && [ -n "$(ls /var/backups/freshet)" ] || fail "a purge has removed data"
rm -r /var/lib/freshet /var/backups/freshet
dpkg --install /out/freshet_*.deb
echo changed >> /etc/freshet/certs/server.pem
dpkg --purge freshet
[ "$(ls /etc/freshet/certs)" = server.pem ] || fail "left of the certificates: $(ls /etc/freshet/certs)"
rm -r /etc/freshet
left=$(listed | comm -13 /tmp/before - && find /var/lib/systemd -name '*freshet*')
[ -z "$left" ] || fail "left by a purge: $left"
! getent passwd freshet || fail "left by a purge: the user freshet"
INSIDE
cat > "$place/system/etc/systemd/system/tried.service" <<'UNIT'
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/bin/bash /tried.sh
TimeoutStartSec=900
StandardOutput=append:/tried.log
StandardError=inherit
UNIT

# systemd-nspawn wants a /run in memory.
in_debian() {
    unshare --mount bash -c 'mount -t tmpfs tmpfs /run && exec systemd-nspawn "$@"' - --quiet --register=no --keep-unit \
        --console=pipe --directory="$place/system" --bind-ro="$out:/out" --bind-ro="$root:/repository" "$@"
}
package() {
    in_debian bash -ec 'apt-get update
        for field in Depends Recommends; do
            DEBIAN_FRONTEND=noninteractive apt-get satisfy --yes "$(dpkg-deb --field /out/freshet_*.deb $field)"
        done'
    in_debian --private-network --boot systemd.unit=tried.service || { cat "$place/system/tried.log"; return 1; }
}
step "the .deb, its service, and the README's first session with it" package

cat > "$place/image.sh" <<'INSIDE'
set -euo pipefail
system=$1
ip link set lo up 2>/dev/null || python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))'
# A container's environment, user and files, as its configuration says. As with Compose's read_only, a volume and /tmp alone can
# be written.
mapfile -t environment < "$system.environment"
user=$(cat "$system.user")
mkdir -p "$system/proc" "$system/dev"
mount --bind "$system" "$system"
mount -t proc proc "$system/proc"
mount -t tmpfs tmpfs "$system/tmp"
install -d -o "${user%:*}" -g "${user#*:}" -m 0700 "$system.volume"
mount --bind "$system.volume" "$system/var/lib/freshet"
mount -o remount,bind,ro "$system"
! touch "$system/etc/freshet/written" 2>/dev/null || fail "the image's root can be written"
run=(env -i "${environment[@]}" /usr/sbin/chroot --userspec "$user" "$system" /usr/bin/freshet)
[ "$user" != 0:0 ] && [ ! -e "$system/bin/sh" ] || fail "the image runs as root, or has a shell"
"${run[@]}" version
"${run[@]}" init /var/lib/freshet/trial --yes > /dev/null
"${run[@]}" serve --config /var/lib/freshet/trial/freshet.yaml 2> "$system.log" &
gateway=$!
until "${run[@]}" health > "$system.health" 2>&1; do
    kill -0 "$gateway" 2>/dev/null || { cat "$system.log" >&2; fail "the image's gateway ended"; }
    read -r -t 0.2 <> <(:) || true
done
grep -q '"ready":true' "$system.health"
[ "$(stat -c %u "$system/proc/$gateway")" = "${user%:*}" ] || fail "the gateway runs as another user"

# SIGTERM drains: an event stream under way ends as HTTP/2 says, instead of with its connection.
authorization=$("${run[@]}" token mint --header --key /var/lib/freshet/trial/certs/provider-key.p8 --kid F6G7H8J9K0 --team A1B2C3D4E5)
address=https://localhost:8443/v1/hosts/$(printf %064x 17)
asks=(curl --silent --show-error --fail --http2 --no-buffer --cacert "$system.volume/trial/certs/ca.pem" -H "$authorization")
"${asks[@]}" -X PUT "$address/widgets" > /dev/null \
    -d '{"app": "com.example.scores", "host": "h", "instances": [{"id": "w", "kind": "scores", "family": "systemSmall", "configuration": {"team": "one"}}]}'
"${asks[@]}" "$address/events" > "$system.stream" &
stream=$!
until grep -q '^event: reload' "$system.stream"; do
    kill -0 "$stream" || fail "the event stream ended"
    read -r -t 0.2 <> <(:) || true
done
kill "$gateway"
wait "$gateway"
wait "$stream" || fail "SIGTERM has broken the event stream"
grep -q '"draining"' "$system.log" && grep -q '"stopped"' "$system.log"
INSIDE

image() {
    mkdir "$place/layout" "$place/image"
    tar -xf "$out"/freshet-*-oci.tar -C "$place/layout"
    /usr/bin/python3 - "$place/layout" "$place/image" <<'PYTHON'
import hashlib, json, pathlib, sys, tarfile
layout, system = map(pathlib.Path, sys.argv[1:])


def blob(descriptor: dict) -> bytes:
    digest = descriptor["digest"].removeprefix("sha256:")
    data = (layout / "blobs/sha256" / digest).read_bytes()
    assert hashlib.sha256(data).hexdigest() == digest and len(data) == descriptor["size"], descriptor
    return data


entry = json.loads((layout / "index.json").read_text())["manifests"][0]
manifest = json.loads(blob(entry))
config = json.loads(blob(manifest["config"]))
for layer in manifest["layers"]:
    blob(layer)
    with tarfile.open(layout / "blobs/sha256" / layer["digest"].removeprefix("sha256:")) as archive:
        archive.extractall(system, numeric_owner=True)
version = config["config"]["Labels"]["org.opencontainers.image.version"]
assert entry["annotations"]["org.opencontainers.image.ref.name"] == f"freshet:{version}"
assert config["config"]["Entrypoint"] == ["/usr/bin/freshet"] and config["config"]["Cmd"][0] == "serve"
assert config["config"]["Healthcheck"]["Test"] == ["CMD", "/usr/bin/freshet", "health"]
pathlib.Path(f"{system}.user").write_text(config["config"]["User"])
pathlib.Path(f"{system}.environment").write_text("\n".join(config["config"]["Env"]) + "\n")
PYTHON
    unshare --mount --net --pid --fork --kill-child bash "$place/image.sh" "$place/image"
}
step "the image" image
