#!/usr/bin/env bash
# Prints the section of CHANGELOG.md about a version, for the tag and the page of the release. Fails if there is none, or if its
# heading has no day, as in "## 0.2.0 (2026-12-01)".
#
#   deploy/release-notes.sh VERSION [CHANGELOG]
set -euo pipefail
version=${1:?a version, as in 0.2.0}
file=${2:-$(dirname "$0")/../CHANGELOG.md}

heading=$(awk -v version="$version" '$1 == "##" && $2 == version' "$file")
if [ -z "$heading" ]; then
    echo "$file has no section about $version" >&2
    exit 1
fi
if ! [[ $heading =~ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$ ]]; then
    echo "$file: \"$heading\" has no day; write it as \"## $version ($(date +%F))\"" >&2
    exit 1
fi
echo "Freshet ${heading#\#\# }"
awk -v version="$version" '$1 == "##" { inside = $2 == version; next } inside' "$file"
