"""Says what is in the packages, as an SPDX 2.3 document: the program, the Swift packages that are linked into it, Swift's runtime, and
the Debian packages whose files the image has."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def package(name: str, version: str, location: str, purl: str, **more: object) -> dict:
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}"), "name": name, "versionInfo": version,
        "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    } | more


def swift_packages(dependencies: pathlib.Path) -> list[dict]:
    packages = []
    for pin in json.loads(dependencies.read_text())["pins"]:
        place, state = pin["location"].removesuffix(".git"), pin["state"]
        purl = f"pkg:swift/{place.removeprefix('https://')}@{state['version']}"
        packages.append(package(pin["identity"], state["version"], f"git+{place}.git@{state['revision']}", purl))
    return packages


def debian_packages(debs: pathlib.Path) -> list[dict]:
    packages = []
    for deb in sorted(debs.glob("*.deb")):
        words = subprocess.run(
            ["dpkg-deb", "--show", "--showformat", "${Package} ${Version} ${Architecture}", deb],
            check=True, stdout=subprocess.PIPE, text=True,
        ).stdout.split()
        purl = f"pkg:deb/debian/{words[0]}@{words[1]}?arch={words[2]}&distro=bookworm"
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        packages.append(package(words[0], words[1], "NOASSERTION", purl.replace("+", "%2B"),
                                checksums=[{"algorithm": "SHA256", "checksumValue": digest}]))
    return packages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("dependencies", "debs", "program"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("version", "swift"):
        parser.add_argument(f"--{name}", required=True)
    told = parser.parse_args()
    digest = hashlib.sha256(told.program.read_bytes()).hexdigest()
    program = package("freshet", told.version, "NOASSERTION", f"pkg:generic/freshet@{told.version}", licenseDeclared="Apache-2.0",
                      licenseConcluded="Apache-2.0", primaryPackagePurpose="APPLICATION",
                      checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    runtime = package("swift-runtime", told.swift, "https://www.swift.org/install/linux/", f"pkg:generic/swift@{told.swift}",
                      licenseDeclared="Apache-2.0 WITH Swift-exception")
    linked = [*swift_packages(told.dependencies), runtime]
    beside = debian_packages(told.debs)
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program["SPDXID"]}]
    for each, kind in [(part, "STATIC_LINK") for part in linked] + [(part, "DEPENDS_ON") for part in beside]:
        relations.append({"spdxElementId": program["SPDXID"], "relationshipType": kind, "relatedSpdxElement": each["SPDXID"]})
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"freshet-{told.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/freshet-{told.version}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: deploy/package/contents.py"]},
        "packages": [program, *linked, *beside], "relationships": relations,
    }, indent=1))


if __name__ == "__main__":
    main()
