#!/usr/bin/env bash
# Tries what package.sh has made, as root, each in namespaces of its own, so that nothing of this machine changes:
#
#   the .deb       is installed over a copy of this system, begins as `freshet init` says, goes through the README's first session,
#                  is removed and purged, and then nothing of it is left; lintian finds no error and no warning
#   the archive    is installed into a folder
#   the image      runs as its user, in its own files alone, until its health check says that it is ready
#   the checksums  are right
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

# What a download and a container have to carry: the program without symbols, and without ICU's data (CICUData).
size() {
    dpkg-deb --fsys-tarfile "$out"/freshet_*.deb | tar -xO ./usr/bin/freshet > "$place/freshet"
    echo "the program has $(stat -c %s "$place/freshet") bytes"
    [ "$(stat -c %s "$place/freshet")" -lt 60000000 ] || fail "the program has 60 MB or more"
}
step "the program's size" size

archive() {
    tar -xJf "$out"/freshet-*-linux-*.tar.xz -C "$place"
    DESTDIR=$place/installed "$place"/freshet-*-linux-*/install.sh
    "$place/installed/usr/bin/freshet" version
    [ -f "$place/installed/etc/freshet/freshet.yaml" ] && [ -f "$place/installed/etc/systemd/system/freshet.service" ]
}
step "the archive" archive

linted() { lintian --fail-on error,warning --tag-display-limit 0 "$out"/freshet_*.deb; }
if command -v lintian >/dev/null; then step "lintian" linted; else echo "lintian: not installed, left out" >&2; fi

# This system below, what the package does above: in memory, and gone with the namespace.
cat > "$place/deb.sh" <<'INSIDE'
set -euo pipefail
out=$1 root=$2 place=$3
mount --make-rprivate /
mount -t tmpfs tmpfs "$place"
mkdir "$place"/{upper,work,system}
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/system"
mkdir -p "$place/system/out" "$place/system/root"
mount --bind "$out" "$place/system/out"
mount --bind "$root" "$place/system/root"
mount -t proc proc "$place/system/proc"
mount --rbind /dev "$place/system/dev"
in_system() { chroot "$place/system" "$@"; }
listed() { (cd "$place/system" && find etc lib usr var/lib -path var/lib/dpkg -prune -o -path usr/share/info -prune -o -path var/lib/systemd -prune -o -print | sort); }

listed > "$place/before"
in_system env DEBIAN_FRONTEND=noninteractive dpkg --install "/out/$(basename "$out"/freshet_*.deb)"
in_system freshet version
[ "$(in_system stat -c '%U:%G %a' /etc/freshet)" = "root:freshet 750" ] || fail "/etc/freshet has other rights"
in_system man --warnings freshet-init > /dev/null
in_system bash -c '. /usr/share/bash-completion/completions/freshet && complete -p freshet' > /dev/null
in_system /bin/bash -ec 'cd /tmp && freshet init trial --yes > printed && freshet check-config --config trial/freshet.yaml'
# The README, command by command, with the program that was installed.
in_system /root/.venv/bin/python /root/Tests/Pages/run.py --inside --program /usr/bin/freshet /root/README.md
in_system dpkg --verify freshet
# A later version keeps this one.
dpkg-deb -R "$out"/freshet_*.deb "$place/later"
sed -i 's/^Version: .*/&+later/' "$place/later/DEBIAN/control"
dpkg-deb --build "$place/later" "$place/system/later.deb" > /dev/null
in_system env DEBIAN_FRONTEND=noninteractive dpkg --install /later.deb
in_system cmp /usr/bin/freshet /usr/lib/freshet/freshet-previous
rm "$place/system/later.deb"
in_system dpkg --purge freshet
listed > "$place/after"
left=$(comm -13 "$place/before" "$place/after")
[ -z "$left" ] || fail "left by a purge: $left"
in_system getent passwd freshet && fail "left by a purge: the user freshet" || true
INSIDE
step "the .deb, and the README's first session with it" \
    unshare --mount --net --pid --fork --kill-child bash "$place/deb.sh" "$out" "$root" "$place"

cat > "$place/image.sh" <<'INSIDE'
set -euo pipefail
system=$1
ip link set lo up 2>/dev/null || python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))'
mkdir -p "$system/proc" "$system/dev"
mount -t proc proc "$system/proc"
# A container's environment, user and files, as its configuration says.
mapfile -t environment < "$system.environment"
user=$(cat "$system.user")
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
kill "$gateway"
wait "$gateway"
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


manifest = json.loads(blob(json.loads((layout / "index.json").read_text())["manifests"][0]))
config = json.loads(blob(manifest["config"]))
for layer in manifest["layers"]:
    blob(layer)
    with tarfile.open(layout / "blobs/sha256" / layer["digest"].removeprefix("sha256:")) as archive:
        archive.extractall(system, numeric_owner=True)
assert config["config"]["Entrypoint"] == ["/usr/bin/freshet"] and config["config"]["Cmd"][0] == "serve"
assert config["config"]["Healthcheck"]["Test"] == ["CMD", "/usr/bin/freshet", "health"]
pathlib.Path(f"{system}.user").write_text(config["config"]["User"])
pathlib.Path(f"{system}.environment").write_text("\n".join(config["config"]["Env"]) + "\n")
PYTHON
    unshare --mount --net --pid --fork --kill-child bash "$place/image.sh" "$place/image"
}
step "the image" image
