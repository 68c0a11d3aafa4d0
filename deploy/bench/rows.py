"""A row of the table: a figure, its reference in the same interleaved run, how far both spread, and the target."""

import dataclasses
import statistics


@dataclasses.dataclass
class Row:
    """One figure.

    `figures` and `references` are in `unit`, one a round, both of the same round at the same place. `values` are what the target is
    held against: ratios where there is a reference, otherwise the figures themselves.
    """

    id: str
    name: str
    unit: str
    figures: list[float]
    peer: str = ""
    references: list[float] = dataclasses.field(default_factory=list)
    target: float | None = None
    at_least: bool = True
    # Whether the reference is divided by the figure: times, where less is better. None: the figures are held against the target.
    times_faster: bool | None = None
    note: str = ""

    @property
    def values(self) -> list[float]:
        if self.times_faster is None or not self.references:
            return self.figures
        pairs = zip(self.figures, self.references)
        return [other / own if self.times_faster else own / other for own, other in pairs]

    @property
    def is_absent(self) -> bool:
        return not self.figures or (self.times_faster is not None and not self.references)

    def meets(self, value: float) -> bool:
        return value >= self.target if self.at_least else value <= self.target

    @property
    def verdict(self) -> str:
        if self.is_absent:
            return "absent"
        if self.target is None:
            return "shown"
        if self.meets(statistics.median(self.values)):
            return "met"
        return "within spread" if any(self.meets(value) for value in self.values) else "MISSED"

    def as_json(self) -> dict:
        return dataclasses.asdict(self) | {"verdict": self.verdict, "values": self.values}

    def cells(self) -> list[str]:
        def span(numbers: list[float], unit: str = "") -> str:
            return f"{short(statistics.median(numbers))}{unit}" if numbers else "-"

        is_ratio = self.times_faster is not None and bool(self.references)
        ratio = f"{short(statistics.median(self.values))} x" if is_ratio else ""
        spread = f"{short(min(self.values))} to {short(max(self.values))}" if len(self.values) > 1 else ""
        target = "" if self.target is None else f"{'>=' if self.at_least else '<='} {short(self.target)}"
        reference = f"{self.peer}: {span(self.references)}" if self.references else self.peer
        return [self.id, self.name, span(self.figures, f" {self.unit}"), reference, ratio, spread, target,
                self.verdict + (f" ({self.note})" if self.note else "")]


def absent(id: str, name: str, peer: str, why: str, **rest) -> Row:
    """A row without a figure or without its reference: never a row that is won."""
    return Row(id, name, rest.pop("unit", ""), rest.pop("figures", []), peer=peer, note=why, **rest)


def short(number: float) -> str:
    """Three digits that count."""
    if number == 0:
        return "0"
    # What rounds to a million is one.
    if abs(number) >= 999_500:
        return f"{number / 1e6:.3g} M"
    if abs(number) >= 10_000:
        return f"{number / 1000:.3g} k"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def table(rows: list[Row]) -> str:
    head = ["", "row", "freshet", "reference", "ratio", "spread", "target", ""]
    lines = [head] + [row.cells() for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
