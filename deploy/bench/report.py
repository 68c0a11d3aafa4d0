"""Prints the tables of docs/performance.md from the results that `make bench` wrote.

    python3 deploy/bench/report.py docs/performance/<date>.json
"""

import dataclasses
import json
import pathlib
import re
import statistics
import sys

from rows import Row, short

SIZE = re.compile(r",? ?([\d,]+)( k)? instances")


def table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def targets(rows: list[Row]) -> str:
    """The rows that have a target."""
    lines = []
    for row in rows:
        if row.target is None and row.verdict != "absent":
            continue
        cells = row.cells()
        cells[-1] = cells[-1].replace("MISSED", "**missed**")
        lines.append(cells)
    return table(["", "row", "freshet", "reference", "ratio", "spread", "target", ""], lines)


def questions(rows: list[Row]) -> str:
    """What each question takes each index."""
    peers = ["PostgreSQL GIN", "PostgreSQL GIN, server alone", "PostgreSQL GIN, execution", "CRoaring", "SQLite", "Redis"]
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.name.startswith("match, ") and row.peer in peers and row.references:
            line = lines.setdefault(row.name.removeprefix("match, "), {"": f"**{short(statistics.median(row.figures))}**"})
            line[row.peer] = short(statistics.median(row.references))
    return table(["microseconds", "freshet", *peers], [[name, line[""], *(line.get(peer, "") for peer in peers)]
                                                       for name, line in lines.items()])


def sizes(rows: list[Row]) -> str:
    """What each thing costs by number of instances."""
    columns: set[int] = set()
    lines: dict[str, dict[int, str]] = {}
    for row in rows:
        size = SIZE.search(row.name)
        if row.id not in ("P5", "P7", "P8", "P8b", "P12") or not size or not row.figures or "configurations" in row.name:
            continue
        count = int(size.group(1).replace(",", "")) * (1000 if size.group(2) else 1)
        name = SIZE.sub("", re.sub(r", [\d,]+ hits$", "", row.name)) + f", {row.unit}"
        columns.add(count)
        lines.setdefault(name, {})[count] = short(statistics.median(row.figures))
    counts = sorted(columns)
    return table(["", *(f"{count:,}" for count in counts)],
                 [[name, *(line.get(count, "") for count in counts)] for name, line in lines.items() if len(line) > 1])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    members = {field.name for field in dataclasses.fields(Row)}
    rows = [Row(**{name: value for name, value in row.items() if name in members}) for row in results["rows"]]
    print("\n\n".join([targets(rows), questions(rows), sizes(rows)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
