"""Rows of the engine and its timers, in a process of their own: no sockets, no log."""

import argparse

from rows import Row
from session import Session, lines

# Topics of a tenth of all instances, or nearly: one has 10 %, nine have 3 % each.
BURSTS = ["k0", "k1,k2,k3", "k4,k5,k6", "k7,k8,k9"]
# Milliseconds per million hits, at ten million instances; and of one slice.
TARGETS = {"every match reloads at once": 350, "every match waits": 120}
LONGEST_SLICE = 5


def burst_rows(session: Session, count: int) -> list[Row]:
    """The first push to each tenth finds every budget open, the second finds reloads on their way, the third finds a push waiting."""
    found = []
    for name in ("every match reloads at once", "every match waits", "every match joins what waits"):
        answers = [session.ask("burst", topics) for topics in BURSTS]
        matched, issued = (sum(answer[member] for answer in answers) for member in ("matched", "issued"))
        # Scaled to a million: no tenth is exactly one.
        scaled = [answer["microseconds"] / 1000 * 1e6 / answer["matched"] for answer in answers]
        target = TARGETS.get(name) if count == 10_000_000 else None
        found.append(Row("P5", f"burst, {name}, {count:,} instances, per million hits", "ms", scaled,
                         target=target, at_least=False, note=f"{issued / matched:.0%} issued"))
        found.append(Row("P5", f"burst, {name}, {count:,} instances, longest slice", "ms",
                         [max(answer["first"], answer["longest"]) / 1000 for answer in answers],
                         target=LONGEST_SLICE if target else None, at_least=False))
    return found


def engine_rows(options: argparse.Namespace) -> list[Row]:
    """The engine: bursts, pushes to one host, registrations, memory."""
    found = []
    for count in options.sizes:
        session = Session(options.rows_program, "engine", str(count))
        try:
            size = f"{count:,} instances"
            found.append(Row("P8", f"bytes an instance, everything in, its first reload outstanding, {size}", "B",
                             [session.loaded["resident"]], target=340 if count == 10_000_000 else None, at_least=False))
            found.append(Row("P7", f"instances registered a second in the engine, {size}", "/s",
                             [session.loaded["perSecond"]]))
            found += burst_rows(session, count)
            pushes = [session.ask("pushes", min(20_000, count // 6))["microseconds"] for _ in range(options.rounds)]
            found.append(Row("P8b", f"a push to one host in the engine, {size}", "us", pushes,
                             target={1_000_000: 1.2, 10_000_000: 1.6}.get(count), at_least=False))
            if count == options.instances:
                found += question_rows(session, options.rounds, size)
            rates = [session.ask("reregister", min(count, 150_000))["perSecond"] for _ in range(options.rounds)]
            found.append(Row("P7", f"instances re-registered a second in the engine, {size}", "/s", rates,
                             target=0.45e6 if count == 10_000_000 else None))
        finally:
            session.stop()
        if count == max(options.sizes):
            found.append(resting_row(options.rows_program, count))
    return found


def resting_row(program: str, count: int) -> Row:
    """Memory where hosts acknowledge their first reloads while others still register."""
    session = Session(program, "engine", str(count), "resting")
    try:
        return Row("P8", f"bytes an instance, everything in, at rest, {count:,} instances", "B", [session.loaded["resident"]],
                   target=200 if count == 10_000_000 else None, at_least=False)
    finally:
        session.stop()


def question_rows(session: Session, rounds: int, size: str) -> list[Row]:
    """Questions of operators and senders, which the partition answers between two entries."""
    tries = [session.ask("try", "*") for _ in range(rounds)]
    asked = [session.ask("ask", 1000)["microseconds"] / 1000 for _ in range(rounds)]
    target = {"target": 5, "at_least": False}
    return [
        Row("questions", f"maxMatched: the matches of a push to all, counted, {size}", "ms", [one["counting"] / 1000 for one in tries], **target),
        Row("questions", f"a dry run of a push to all, {size}", "ms", [one["deciding"] / 1000 for one in tries], **target),
        Row("questions", f"GET /v1/instances/…, {size}", "ms", asked, **target),
    ]


def timer_rows(options: argparse.Namespace) -> list[Row]:
    """The timing wheel."""
    count = max(options.sizes)
    runs = [lines(options.rows_program, "timers", str(count))["timers"] for _ in range(min(3, options.rounds))]
    if any(run["left"] for run in runs):
        raise RuntimeError("timers were left over")

    def row(name: str, member: str, unit: str, target: float, at_least: bool = True) -> Row:
        return Row("timers", f"{name}, {count:,} timers", unit, [run[member] for run in runs],
                   target=target if count == 10_000_000 else None, at_least=at_least)

    return [
        row("armed a second, in order", "arm", "/s", 20e6),
        row("armed anew a second, in no order", "rearm", "/s", 20e6),
        row("fired a second", "fire", "/s", 15e6),
        row("longest second", "maxTick", "us", 2000, at_least=False),
        row("bytes a timer", "resident", "B", 10, at_least=False),
    ]
