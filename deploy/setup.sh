#!/usr/bin/env bash
# Installs what Freshet is built and tested with: Debian packages, and the Python clients in .venv.
# Does nothing, quickly, where everything is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/step.sh

if ! command -v swift >/dev/null 2>&1; then
    echo "setup: no 'swift' on the PATH. Install Swift 6.2 or newer (https://www.swift.org/install/linux/debian/12/)." >&2
    exit 1
fi

missing=()
while read -r _ package; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done < <(grep -v '^#' deploy/packages.txt)

if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
    export DEBIAN_FRONTEND=noninteractive
    step "reading Debian's lists of packages" "${as_root[@]}" apt-get update
    step "installing ${missing[*]}" "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
fi

# The clients are pinned in a file; its checksum says whether the environment is the one it describes.
wanted=$(sha256sum deploy/requirements.txt | cut -d' ' -f1)
if [ "$(cat .venv/requirements.sha256 2>/dev/null || true)" != "$wanted" ]; then
    rm -rf .venv
    step "making .venv" /usr/bin/python3 -m venv .venv
    step "installing the Python clients into .venv" .venv/bin/pip install --disable-pip-version-check -r deploy/requirements.txt
    echo "$wanted" > .venv/requirements.sha256
fi
