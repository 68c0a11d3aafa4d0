"""Prints the table of docs/performance.md from the results that `make bench` wrote.

    python3 deploy/bench/report.py docs/performance/<date>.json
"""

import dataclasses
import json
import pathlib
import sys

from rows import Row


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    members = {field.name for field in dataclasses.fields(Row)}
    rows = [Row(**{name: value for name, value in row.items() if name in members}) for row in results["rows"]]
    print("| | row | freshet | reference | ratio | spread | target | |\n|---|---|---|---|---|---|---|---|")
    for row in rows:
        cells = row.cells()
        if row.verdict == "MISSED":
            cells[-1] = cells[-1].replace("MISSED", "**missed**")
        print(f"| {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
