"""Makes an image in OCI's layout of two layers: Debian's libraries, and the program. Times, owners and order are fixed.

The image runs as a user of its own, with the data directory and the configuration as places to mount something.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import stat
import subprocess
import tarfile

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
# As a number, since systems that forbid root look at numbers.
USER = 10001
# What no program of the image reads.
LEFT_OUT = ("usr/share/man/", "usr/share/locale/", "usr/share/lintian/", "usr/share/doc/", "usr/share/bash-completion/",
            "usr/share/zsh/", "usr/share/fish/", "lib/systemd/", "usr/sbin/", "usr/share/ca-certificates/", "etc/ca-certificates/",
            "usr/share/nodejs/", "usr/lib/nodejs/")
# Debian's terms are to stay with its files.
KEPT = ("/copyright",)


class Layer:
    """A tar archive in memory. Its members are sorted by name, in any order of adding."""

    def __init__(self) -> None:
        self.members: dict[str, tuple[tarfile.TarInfo, bytes]] = {}

    def add(self, name: str, *, data: bytes = b"", mode: int = 0o644, kind: bytes = tarfile.REGTYPE, link: str = "",
            owner: int = 0) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.type, info.linkname = len(data), mode, kind, link
        info.mtime, info.uid, info.gid = EPOCH, owner, owner
        self.members[name] = (info, data)

    def add_folder(self, name: str, mode: int = 0o755, owner: int = 0) -> None:
        self.add(name, mode=mode, kind=tarfile.DIRTYPE, owner=owner)

    def add_tree(self, folder: pathlib.Path) -> None:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            is_kept = name.endswith(KEPT) and not path.is_dir()
            if f"{name}/".startswith(LEFT_OUT) and not is_kept:
                continue
            if path.is_symlink():
                self.add(name, kind=tarfile.SYMTYPE, link=os.readlink(path), mode=0o777)
            elif path.is_dir():
                self.add_folder(name)
            else:
                mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                self.add(name, data=path.read_bytes(), mode=mode)

    def bytes(self) -> bytes:
        # What is above a member comes before it, also where it was left out.
        for name in list(self.members):
            for above in pathlib.PurePosixPath(name).parents:
                if str(above) != "." and str(above) not in self.members:
                    self.add_folder(str(above))
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name in sorted(self.members):
                info, data = self.members[name]
                archive.addfile(info, io.BytesIO(data))
        return buffer.getvalue()


def base_layer(base: pathlib.Path, debs: pathlib.Path) -> Layer:
    layer = Layer()
    layer.add_tree(base)
    # ca-certificates makes this file when it is installed.
    authorities = sorted((base / "usr/share/ca-certificates").rglob("*.crt"))
    layer.add("etc/ssl/certs/ca-certificates.crt", data=b"".join(path.read_bytes() for path in authorities))
    layer.add("etc/nsswitch.conf", data=b"passwd: files\ngroup: files\nhosts: files dns\n")
    layer.add("etc/passwd", data=f"root:x:0:0:root:/:/\nfreshet:x:{USER}:{USER}:Freshet:/var/lib/freshet:/\n".encode())
    layer.add("etc/group", data=f"root:x:0:\nfreshet:x:{USER}:\n".encode())
    layer.add_folder("tmp", mode=0o1777)
    # By which scanners know the versions.
    for deb in sorted(debs.glob("*.deb")):
        control = subprocess.run(["dpkg-deb", "-f", deb], check=True, stdout=subprocess.PIPE).stdout
        layer.add(f"var/lib/dpkg/status.d/{deb.name.split('_')[0]}", data=control)
    return layer


def program_layer(tree: pathlib.Path) -> Layer:
    layer = Layer()
    layer.add_tree(tree)
    layer.add_folder("etc/freshet")
    layer.add_folder("var/lib/freshet", mode=0o700, owner=USER)
    return layer


class Layout:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / "blobs/sha256").mkdir(parents=True)
        (folder / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))

    def blob(self, data: bytes, kind: str) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    def json(self, value: dict, kind: str) -> dict:
        return self.blob(json.dumps(value, separators=(",", ":"), sort_keys=True).encode(), kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("base", "debs", "tree", "layout"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("architecture", "version"):
        parser.add_argument(f"--{name}", required=True)
    told = parser.parse_args()
    layout = Layout(told.layout)
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    layers, digests = [], []
    for layer in (base_layer(told.base, told.debs), program_layer(told.tree)):
        data = layer.bytes()
        digests.append(f"sha256:{hashlib.sha256(data).hexdigest()}")
        layers.append(layout.blob(gzip.compress(data, 6, mtime=0), "layer.v1.tar+gzip"))
    labels = {"org.opencontainers.image.title": "Freshet", "org.opencontainers.image.version": told.version,
              "org.opencontainers.image.licenses": "Apache-2.0"}
    config = layout.json({
        "created": created, "architecture": told.architecture, "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": "/var/lib/freshet", "Entrypoint": ["/usr/bin/freshet"],
            "Cmd": ["serve", "--config", "/etc/freshet/freshet.yaml"],
            # A container's own network: what is published is said when it is run.
            "Env": ["PATH=/usr/bin", "FRESHET_LISTENERS_PUSH_ADDRESS=0.0.0.0", "FRESHET_LISTENERS_HOST_ADDRESS=0.0.0.0",
                    "FRESHET_LISTENERS_OPS_ADDRESS=0.0.0.0", "FRESHET_LISTENERS_HEALTH_ENABLED=true",
                    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.arena_max=4"],
            "ExposedPorts": {"2197/tcp": {}, "8443/tcp": {}, "9443/tcp": {}}, "Volumes": {"/var/lib/freshet": {}},
            "StopSignal": "SIGTERM", "Labels": labels,
            # OCI's configuration has no word for it; Docker and Podman take it from here.
            "Healthcheck": {"Test": ["CMD", "/usr/bin/freshet", "health"], "Interval": 30_000_000_000,
                            "Timeout": 10_000_000_000, "StartPeriod": 60_000_000_000, "Retries": 3},
        },
        "rootfs": {"type": "layers", "diff_ids": digests},
        "history": [{"created": created, "created_by": "Debian's packages"}, {"created": created, "created_by": "freshet"}],
    }, "config.v1+json")
    manifest = layout.json({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
                            "layers": layers, "annotations": labels}, "manifest.v1+json")
    # `podman load` takes the whole name from here: the version alone would become localhost/VERSION:latest.
    manifest |= {"platform": {"architecture": told.architecture, "os": "linux"},
                 "annotations": {"org.opencontainers.image.ref.name": f"freshet:{told.version}"}}
    (told.layout / "index.json").write_text(json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest],
    }, separators=(",", ":")))


if __name__ == "__main__":
    main()
