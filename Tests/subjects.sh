#!/usr/bin/env bash
# Checks the subjects of the commits since BASE, by default since this branch left origin/main or main: an area, a colon, and what the
# code now does, in at most 72 characters. Where there is no such history (an export, a shallow clone) there is nothing to check.
#
#   Tests/subjects.sh [BASE]
set -uo pipefail
base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null)}
subjects=$(git log --no-merges --format=%s "$base..HEAD" 2>/dev/null) || exit 0
wrong=$(awk 'NF && (!/^[a-z][a-z0-9 ,\/-]*: ./ || length > 72)' <<< "$subjects")
[ -z "$wrong" ] || { printf 'a commit needs "area: what the code now does", in at most 72 characters:\n%s\n' "$wrong" >&2; exit 1; }
