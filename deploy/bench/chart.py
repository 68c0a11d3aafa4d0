"""Draws what things cost at 10 thousand to 10 million instances from the results that `make bench` wrote.

    python3 deploy/bench/chart.py docs/performance/<date>.json docs/performance/cost-by-size.svg
"""

import json
import math
import pathlib
import re
import statistics
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 480, 70, 300, 30, 50
COLOURS = ["#0b6e99", "#b3541e", "#3f7d20", "#7a3e9d", "#a11d33", "#555555", "#c2a000", "#1f4e5f"]
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
        if not size or not row["figures"]:
            continue
        count = int(size.group(1).replace(",", "")) * (1000 if size.group(2) else 1)
        for start, label in SERIES.items():
            # Milliseconds for a million hits are nanoseconds for one.
            if row["name"].startswith(start):
                found.setdefault(label, []).append((count, statistics.median(row["figures"])))
    return {label: sorted(values) for label, values in found.items() if len(values) > 1}


def svg(series: dict[str, list[tuple[int, float]]], caption: str) -> str:
    sizes = [size for values in series.values() for size, _ in values]
    costs = [cost for values in series.values() for _, cost in values]
    first, last = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(cost: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(cost) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="18">{caption}</text>']
    for power in range(low, high + 1):
        at = y(10 ** power)
        out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
                   f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10 ** power:g}</text>')
    for power in range(first, last + 1):
        at = x(10 ** power)
        label = f"{10 ** power // 1000:,} k" if power < 6 else f"{10 ** power // 1_000_000:,} M"
        out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#dddddd"/>'
                   f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">instances</text>')
    # Labels stand by the last point, pushed apart where they would lie on each other.
    places: list[float] = []
    for number, (label, values) in enumerate(sorted(series.items(), key=lambda item: -item[1][-1][1])):
        colour = COLOURS[number % len(COLOURS)]
        path = "L".join(f"{x(size):.1f} {y(cost):.1f}" for size, cost in values)
        dots = "".join(f'<circle cx="{x(size):.1f}" cy="{y(cost):.1f}" r="3"/>' for size, cost in values)
        place = max(y(values[-1][1]) + 4, places[-1] + 15 if places else 0)
        places.append(place)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/><g fill="{colour}">{dots}'
                   f'<text x="{WIDTH - RIGHT + 12}" y="{place:.1f}">{label}</text></g>')
    return "\n".join(out + ["</svg>"]) + "\n"


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
    pathlib.Path(sys.argv[2]).write_text(svg(series, caption))
    return 0


if __name__ == "__main__":
    sys.exit(main())
