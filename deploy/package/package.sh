#!/usr/bin/env bash
# Makes the packages of what is committed (HEAD): a .deb, a tar archive with an installer, an image in OCI's layout, a list of what is
# in them (SPDX) and checksums, in .build/package/out. The same commit, compiler and Debian packages give the same bytes: times are
# the commit's, files are sorted, no path of this machine is in the program, and the compiler runs at the same addresses each time.
#
#   deploy/package/package.sh
#   PROGRAM=FILE deploy/package/package.sh    packs a program that is built already
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh
umask 022
export LC_ALL=C.UTF-8 TZ=UTC
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
# The compiler and the package manager are Swift programs: otherwise their sets have another order in each run.
export SWIFT_DETERMINISTIC_HASHING=1
# The compiler orders some instructions by the addresses of its own objects, e.g. where it unrolls a loop over a few tuples.
addresses=(setarch --addr-no-randomize)
if ! "${addresses[@]}" true 2>/dev/null; then
    echo "this system does not fix addresses (setarch --addr-no-randomize): another build of the program may have other bytes" >&2
    addresses=()
fi

root=$PWD
work=$root/.build/package
source=$work/source
out=$work/out
architecture=$(dpkg --print-architecture)
rm -rf "$out" "$work"/{deb,debs,tree,base,image,archive,shlibs}
mkdir -p "$source" "$out" "$work"/{tree,shlibs/debian,debs,base,archive}

if [ -n "$(git status --porcelain)" ]; then
    echo "there are changes that are not committed: they are not in the packages" >&2
fi
# With an index of its own, so that files that are the same as the last time stay untouched, and are not compiled again.
GIT_INDEX_FILE=$work/index git --work-tree="$source" read-tree --reset -u HEAD
# The versions that were tested; a clean checkout has none of its own.
cp "$source/deploy/package/dependencies.json" "$source/Package.resolved"

if [ -z "${PROGRAM:-}" ]; then
    # Foundation's data for languages stay out (CICUData): the symbol that they have.
    resources=$(swiftc -static-stdlib -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    icu=$(nm "$resources/linux/lib_FoundationICU.a" 2>/dev/null | sed -n 's/.* R \(icudt[0-9]*_dat\)$/\1/p')
    flags=(-c release --product freshet --static-swift-stdlib --disable-local-rpath --package-path "$source" --scratch-path "$work/build"
        --force-resolved-versions -Xswiftc -file-prefix-map -Xswiftc "$work=." -Xcc "-ffile-prefix-map=$work=."
        -Xcc "-DFRESHET_ICU_DATA=$icu")
    step "building the release program (some ten minutes the first time)" "${addresses[@]}" swift build "${flags[@]}"
    PROGRAM=$(swift build "${flags[@]}" --show-bin-path)/freshet
fi

# What the .deb, the archive and the image have in common.
tree=$work/tree
install -D -m 0755 "$PROGRAM" "$tree/usr/bin/freshet"
program=$tree/usr/bin/freshet
strip --strip-all "$program"
# Two builds differ in these alone: the compiler's hashes for its next build, which become zeros, and the linker's hash of all that
# is stripped here, which becomes the commit. Without the sections the program would have no read-only relocations (RELRO).
objcopy --dump-section .swift_modhash="$work/modhash" "$program" /dev/null
head -c "$(stat -c %s "$work/modhash")" /dev/zero > "$work/zeros"
printf '\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0%b' "$(git rev-parse HEAD | sed 's/../\\x&/g')" > "$work/build-id"
objcopy --update-section .swift_modhash="$work/zeros" --update-section .note.gnu.build-id="$work/build-id" "$program"
version=$("$program" version)
day=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)
name=freshet-$version-linux-$architecture

"$program" --experimental-dump-help > "$work/dump.json"
/usr/bin/python3 "$source/deploy/package/manual.py" "$work/dump.json" "$tree/usr/share/man/man1" --date "$day" --version "$version"
gzip -9n "$tree"/usr/share/man/man1/*.1
share=$tree/usr/share
mkdir -p "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d,doc/freshet/examples}
# Completions are read, not run.
"$program" --generate-completion-script bash | sed '1{/^#!/d}' > "$share/bash-completion/completions/freshet"
"$program" --generate-completion-script zsh > "$share/zsh/vendor-completions/_freshet"
"$program" --generate-completion-script fish > "$share/fish/vendor_completions.d/freshet.fish"
install -D -m 0644 -t "$tree/lib/systemd/system" "$source"/deploy/{freshet.service,freshet-backup.service,freshet-backup.timer}
sed -i 's,/usr/local/bin/,/usr/bin/,' "$tree"/lib/systemd/system/*
install -D -m 0640 "$source/deploy/freshet.example.yaml" "$tree/etc/freshet/freshet.yaml"
install -m 0644 "$source"/{README.md,SECURITY.md} "$share/doc/freshet/"
gzip -9nc "$source/CHANGELOG.md" > "$share/doc/freshet/CHANGELOG.md.gz"
maintainer=$(sed -n 's/^Maintainer: //p' "$source/deploy/package/debian/control")
printf 'freshet (%s) bookworm; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$share/doc/freshet/changelog.gz"
install -D -m 0644 "$source/deploy/package/debian/lintian-overrides" "$share/lintian/overrides/freshet"
install -m 0644 "$source/deploy/package/debian/copyright" "$share/doc/freshet/copyright"
cp -r "$source"/deploy/{prometheus,grafana,policies} "$share/doc/freshet/examples/"
find "$tree" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +

# The .deb.
printf 'Source: freshet\n\nPackage: freshet\nArchitecture: any\nDescription: none\n' > "$work/shlibs/debian/control"
deb=$work/deb
cp -a "$tree" "$deb"
mkdir "$deb/DEBIAN"
libraries=$(cd "$work/shlibs" && dpkg-shlibdeps -O -S"$deb" "$deb/usr/bin/freshet" | sed -n 's/^shlibs:Depends=//p')
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@LIBRARIES@/$libraries/" \
    -e "s/@SIZE@/$(du -sk --apparent-size "$tree" | cut -f1)/" "$source/deploy/package/debian/control" > "$deb/DEBIAN/control"
install -m 0755 "$source"/deploy/package/debian/{preinst,postinst,prerm,postrm} "$deb/DEBIAN/"
echo /etc/freshet/freshet.yaml > "$deb/DEBIAN/conffiles"
(cd "$deb" && find lib usr -type f -print0 | sort -z | xargs -0 md5sum) > "$deb/DEBIAN/md5sums"
find "$deb" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
step "packing the .deb" dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$deb" "$out/freshet_${version}_$architecture.deb"

# The archive.
cp -a "$tree" "$work/archive/$name"
install -m 0755 "$source/deploy/package/install.sh" "$work/archive/$name/install.sh"
install -m 0644 "$source/LICENSE" "$work/archive/$name/LICENSE"
pack() { tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work/archive" -c "$name" | xz -6 -T1 > "$1"; }
step "packing the archive" pack "$out/$name.tar.xz"

# The image: a few of Debian's packages, unpacked, and the program.
mapfile -t packages < <(sed -e 's/#.*//' -e 's/ .*//' -e '/^$/d' "$source/deploy/package/image-packages.txt")
fetch() { (cd "$work/debs" && apt-get download "${packages[@]}"); }
step "fetching Debian's packages for the image" fetch
for file in "$work"/debs/*.deb; do dpkg-deb -x "$file" "$work/base"; done
step "making the image" /usr/bin/python3 "$source/deploy/package/image.py" --base "$work/base" --debs "$work/debs" --tree "$tree" \
    --layout "$work/image" --architecture "$architecture" --version "$version"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work/image" -cf "$out/$name-oci.tar" .

/usr/bin/python3 "$source/deploy/package/contents.py" --dependencies "$source/deploy/package/dependencies.json" --debs "$work/debs" \
    --program "$program" --version "$version" --swift "$(swift --version 2>/dev/null | sed -n 's/^Swift version \([0-9.]*\).*/\1/p')" \
    > "$out/freshet-$version.spdx.json"
(cd "$out" && sha256sum -- * > SHA256SUMS)
echo "made in $out:" >&2
(cd "$out" && ls -l --block-size=1 | awk 'NR > 1 { printf "%12d  %s\n", $5, $9 }')
