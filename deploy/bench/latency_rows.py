"""Rows of the latency from a push to its decision, by an open-loop load of the project's own generator."""

import argparse
import json
import pathlib
import subprocess

from disk import sync_milliseconds
from rows import Row

SCENARIO = pathlib.Path(__file__).with_name("latency.yaml")
# Commits are this far apart while several callers append: what a push waits for before anything is decided.
COMMIT_MS = 3


def latency_rows(options: argparse.Namespace) -> list[Row]:
    """From a push to its durable answer and to its decision, at 20,000 a second, counted from when each was due."""
    figures: dict[tuple[str, str], list[float]] = {}
    syncs, behind = [], 0
    for number in range(min(3, options.rounds)):
        told = json.loads(subprocess.run([options.program, "bench", SCENARIO, "--quiet", "--json"], check=True, stdout=subprocess.PIPE).stdout)
        stages = told["loads"][0]["latencyMicroseconds"]
        for stage in ("accepted", "decided"):
            for part in ("p50", "p99"):
                figures.setdefault((stage, part), []).append(stages[stage][part] / 1000)
        behind += told["generator"]["wasBottleneck"]
        syncs.append(sync_milliseconds(options.folder, 200)[197])
        print(f"  round {number + 1}: " + ", ".join(f"{stage} {part} {spans[-1]:.1f} ms" for (stage, part), spans in figures.items())
              + (", the generator was behind" if told["generator"]["wasBottleneck"] else ""), flush=True)
    note = f"the generator was behind in {behind} of {len(syncs)} rounds" if behind else ""
    rows = []
    for part, limit in (("p50", 3), ("p99", 10)):
        rows.append(Row("P4", f"push to its decision, {part}, 20,000 a second; {COMMIT_MS} ms of it between commits", "ms",
                        figures["decided", part], target=limit + COMMIT_MS, at_least=False, note=note))
        rows.append(Row("P4", f"push to its durable answer, {part}", "ms", figures["accepted", part]))
    return rows + [Row("P4", "one fdatasync of 64 KiB, p99", "ms", syncs)]
