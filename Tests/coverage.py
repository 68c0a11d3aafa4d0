"""Adds up by target what `llvm-cov export -summary-only` says of each file, as a table of Markdown.

    llvm-cov export -summary-only PROGRAM -instr-profile PROFILE | coverage.py
"""

import collections
import json
import sys


def main() -> None:
    lines: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for file in json.load(sys.stdin)["data"][0]["files"]:
        target = file["filename"].rpartition("/Sources/")[2].split("/")[0]
        if "/Sources/" not in file["filename"] or "/.build" in file["filename"] or "/Tests/" in file["filename"]:
            continue
        for name in (target, "**all**"):
            lines[name][0] += file["summary"]["lines"]["covered"]
            lines[name][1] += file["summary"]["lines"]["count"]
    if not lines:
        sys.exit("coverage: there is no file of Sources in what llvm-cov says")
    print("| target | lines | run by a test |\n|---|---|---|")
    for name, (covered, count) in sorted(lines.items(), key=lambda item: item[1][0] / max(item[1][1], 1)):
        print(f"| {name} | {count:,} | {100 * covered / max(count, 1):.1f} % |")


if __name__ == "__main__":
    main()
