"""Draws what things cost at 10 thousand to 10 million instances from the results that `make bench` wrote.

    python3 deploy/bench/chart.py docs/performance/<date>.json docs/performance/cost-by-size.svg

Matplotlib draws: Debian's python3-matplotlib, which `make bench-setup` installs.
"""

import json
import pathlib
import re
import statistics
import sys

from matplotlib import pyplot

# Rows by the words that their names begin with, and what the chart calls them.
SERIES = {
    "match, 100 hits": "match: 100 hits, us",
    "match a hit, topic and leagues": "match: 0.9 % of all, ns a hit",
    "match a hit, a tenth of all": "match: 10 % of all, ns a hit",
    "one re-registration in the index": "re-registration in the index, us",
    "a push to one host in the engine": "push to one host in the engine, us",
    "burst, every match reloads": "burst: a hit that reloads, ns",
    "burst, every match waits": "burst: a hit that waits, ns",
}
SIZE = re.compile(r"([\d,]+)( k)? instances")


def points(rows: list[dict]) -> dict[str, list[tuple[int, float]]]:
    """Medians by series and number of instances."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        size = SIZE.search(row["name"])
        if not size or not row["figures"] or "longest slice" in row["name"]:
            continue
        count = int(size.group(1).replace(",", "")) * (1000 if size.group(2) else 1)
        for start, label in SERIES.items():
            # Milliseconds for a million hits are nanoseconds for one.
            if row["name"].startswith(start):
                found.setdefault(label, []).append((count, statistics.median(row["figures"])))
    return {label: sorted(values) for label, values in found.items() if len(values) > 1}


def draw(series: dict[str, list[tuple[int, float]]], caption: str, file: str) -> None:
    # The same results give the same file, with its words as text.
    pyplot.rcParams.update({"svg.hashsalt": "freshet", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    for label, values in sorted(series.items(), key=lambda item: -item[1][-1][1]):
        axes.loglog(*zip(*values), marker="o", markersize=4, label=label)
    axes.set(title=caption, xlabel="instances")
    axes.title.set_size("small")
    axes.grid(color="#dddddd")
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False)
    figure.savefig(file, format="svg", metadata={"Date": None})


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    series = points(results["rows"])
    if not series:
        print("no row of these results has more than one size")
        return 1
    machine = results["machine"]
    caption = f"Cost by number of instances, one core, {machine['processor']}, {results['date']}; both axes logarithmic"
    draw(series, caption, sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
